"""The search for the clusters that share a label (Vilalta, Achari & Eick 2003, section 3.2)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from deepcac.decomposition.configuration import (
    Configuration,
    Group,
    configurations,
    n_configurations,
    separate,
    whole,
    with_merged,
)
from deepcac.errors import ConfigError

Ties = Literal["separate", "merge"]
MOST_CONFIGURATIONS = 20_000


class Accuracy(Protocol):
    """Validation accuracy of configurations."""

    def focus(self, configuration: Configuration, active: int) -> None:
        """Announce that only class `active` will differ from this configuration from now on."""

    def __call__(self, configuration: Configuration) -> float:
        """Return the validation accuracy."""


class Step(NamedTuple):
    """One set of clusters that was tried.

    Attributes
    ----------
    active : int
        Class whose clusters they are.
    clusters : tuple of int
        The clusters that share a label.
    before, accuracy : float
        Validation accuracy without the merge and with it.
    taken : bool
        Whether it is in the result.
    """

    active: int
    clusters: Group
    before: float
    accuracy: float
    taken: bool


class Found(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    configuration : Configuration
    accuracy : float
        On the validation rows.
    steps : tuple of Step
        Every merge that the greedy search tried, in order.
    reverted : bool
        Whether the original classes were restored, as nothing was better than they.
    """

    configuration: Configuration
    accuracy: float
    steps: tuple[Step, ...]
    reverted: bool


def greedy(
    counts: Sequence[int], accuracy: Accuracy, *, ties: Ties = "separate", revert: bool = True
) -> Found:
    """Merge the clusters of one class after the other (Algorithm 2).

    Sets of two clusters that raise the validation accuracy are ranked by it; a set that shares a
    cluster with a higher one is pruned. The sets left grow by one cluster at a time, as long as
    that raises the accuracy further. At last a set that shares a cluster with a larger one is
    pruned. Of equal accuracy the set of the lower numbers ranks higher. Each class starts from
    the classes before it as they were decided.

    Parameters
    ----------
    counts : sequence of int
        Clusters of each class.
    accuracy : Accuracy
    ties : {"separate", "merge"}
        What happens to a merge that does not change the accuracy; the paper does not merge.
    revert : bool
        Restore the original classes if none of this is better than they are, which section 6.2
        reports and Algorithm 2 alone does not do.
    """
    configuration, steps = separate(counts), []
    for active in range(len(counts)):
        accuracy.focus(configuration, active)
        tried, merged = _merge_class(configuration, active, accuracy, ties)
        steps += [step._replace(taken=frozenset(step.clusters) in merged) for step in tried]
        configuration = _with_class(configuration, active, merged)
    best = Found(configuration, accuracy(configuration), tuple(steps), False)
    return _or_whole(best, counts, accuracy) if revert else best


def exhaustive(counts: Sequence[int], accuracy: Accuracy) -> Found:
    """Try every configuration; on ties the one with fewer groups wins, then the first.

    Raises
    ------
    ConfigError
        There are more than 20,000.
    """
    total = n_configurations(counts)
    if total > MOST_CONFIGURATIONS:
        raise ConfigError(
            f"{total} configurations of {tuple(counts)} clusters; "
            "lower max_clusters, or use search='greedy'"
        )
    best, top, before = separate(counts), (-1.0, 0), None
    for configuration in configurations(counts):
        if configuration[:-1] != before:
            before = configuration[:-1]
            accuracy.focus(configuration, len(counts) - 1)
        rank = accuracy(configuration), -sum(len(partition) for partition in configuration)
        if rank > top:
            best, top = configuration, rank
    return Found(best, top[0], (), False)


def _merge_class(
    configuration: Configuration, active: int, accuracy: Accuracy, ties: Ties
) -> tuple[list[Step], list[frozenset[int]]]:
    """Return the merges tried and the disjoint sets to merge."""
    clusters = range(len(configuration[active]))
    base = accuracy(configuration)
    level = {frozenset([c]): base for c in clusters}
    tried: list[Step] = []
    merged: list[frozenset[int]] = []
    while level:
        better: dict[frozenset[int], float] = {}
        for grown, before in _grown(level, clusters).items():
            reached = accuracy(_with_class(configuration, active, [grown]))
            tried.append(Step(active, tuple(sorted(grown)), before, reached, False))
            if reached > before or (ties == "merge" and reached == before):
                better[grown] = reached
        level = _without_overlap(better)
        merged = [s for s in merged if not any(s & larger for larger in level)] + list(level)
    return tried, merged


def _grown(level: dict[frozenset[int], float], clusters: range) -> dict[frozenset[int], float]:
    """Return each set with one cluster more, and the accuracy that it must surpass."""
    return {s | {c}: before for s, before in level.items() for c in clusters if c not in s}


def _without_overlap(sets: dict[frozenset[int], float]) -> dict[frozenset[int], float]:
    """Keep the best sets that share no cluster."""
    left: dict[frozenset[int], float] = {}
    for clusters in sorted(sets, key=lambda s: (-sets[s], sorted(s))):
        if not any(clusters & other for other in left):
            left[clusters] = sets[clusters]
    return left


def _with_class(
    configuration: Configuration, active: int, sets: Sequence[frozenset[int]]
) -> Configuration:
    """Return the configuration with these groups of class `active` merged."""
    changed = with_merged(configuration[active], sets)
    return (*configuration[:active], changed, *configuration[active + 1 :])


def _or_whole(best: Found, counts: Sequence[int], accuracy: Accuracy) -> Found:
    """Return `best`, or the undivided classes where it is no more accurate than they are."""
    original = whole(counts)
    if best.configuration == original:
        return best
    accuracy.focus(original, 0)
    before = accuracy(original)
    if best.accuracy > before:
        return best
    steps = tuple(step._replace(taken=False) for step in best.steps)
    return Found(original, before, steps, True)
