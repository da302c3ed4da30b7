"""Comparisons of scores: the runs that a rule compares, its checks, and the decision."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from deepcac.scoring.equivalence import LEVEL, Difference
from deepcac.scoring.statistics import holm
from deepcac_study.catalogue.methods import classifiers, parse_method
from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    LOST,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Ask,
    Decision,
    Outcome,
    Truth,
    above,
    equivalent,
    not_above,
    not_below,
    settled,
)
from deepcac_study.papers.evidence import (
    Arm,
    Evidence,
    lacking,
    nothing_left,
    test_share,
    without,
)
from deepcac_study.papers.names import printed_datasets, printed_methods, usual_k
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.rule import ClaimRule, function

_OF_EVERY = ("best", "higher in so many")  # lists that name a winner or number by data set


class Comparison(NamedTuple):
    """Arms on two sides that are compared; the best of each side counts."""

    dataset: str
    first: tuple[Arm, ...]
    second: tuple[Arm, ...] = ()

    def arms(self, rule: ClaimRule) -> tuple[Arm, ...]:
        """Return the arms of both sides; the rivals come first for claims on a list of winners."""
        sides = (self.second, self.first) if rule.check in _OF_EVERY else (self.first, self.second)
        return (*sides[0], *sides[1])

    def gap(self, evidence: Evidence) -> Difference:
        """Return the best of the first arms minus the best of the others; all must have runs."""
        others = [arm for arm in self.second if arm not in self.first]
        best = (max(a, key=lambda arm: evidence.standing(arm) or 0.0) for a in (self.first, others))
        gap = evidence.contrast(*best)
        assert gap is not None
        return gap


Comparisons = Sequence[Comparison]


def compare(rule: ClaimRule, evidence: Evidence) -> Decision:
    """Return the decision of a rule from those comparisons that open data can decide."""
    comparisons = _comparisons(rule)
    every_arm = [arm for comparison in comparisons for arm in comparison.arms(rule)]
    if rule.check == "finishes":
        return _another_program(rule, evidence, every_arm)
    available = [c for c in comparisons if not any(map(evidence.left_out, c.arms(rule)))]
    arms = [arm for comparison in available for arm in comparison.arms(rule)]
    if not available:
        return nothing_left(every_arm, evidence)
    if missing := lacking(arms, evidence):
        return missing
    check = CHECKS.get(rule.check) or function(rule.check)
    outcome = check(available, rule, evidence)
    if outcome.verdict == NOT_RUN:
        return Decision(NOT_RUN, outcome.figures)
    reason = f"{outcome.figures}{without(every_arm, evidence)}{outcome.note}"
    return Decision(outcome.verdict, reason, evidence.paths(arms))


@cache
def _comparisons(rule: ClaimRule) -> tuple[Comparison, ...]:
    """Return the comparisons of a rule; cached, as they do not depend on runs."""
    return tuple(_pairs_or_best(rule))


def _pairs_or_best(rule: ClaimRule) -> Iterator[Comparison]:
    """Yield the comparisons of a rule: pair by pair, or the best of each data set."""
    datasets = pd.DataFrame({"dataset": printed_datasets(rule.source)})
    chosen = datasets.query(rule.where, engine="python") if rule.where else datasets
    ks: list[int | None] = [int(k) for k in rule.k.split()] or [None]
    first, second = (_methods(rule, words) for words in (rule.methods, rule.than))
    for metric in rule.metrics:
        for i, dataset in enumerate(chosen["dataset"]):

            def arms(methods: Sequence[str], dataset=dataset, metric=metric) -> tuple[Arm, ...]:  # type: ignore[no-untyped-def]
                return tuple(_arm(rule, dataset, m, metric, k) for m in methods for k in ks)

            if rule.check == "best":  # one of `methods` a data set, with its k after a colon
                name, _, number = first[i].partition(":")
                best = _arm(rule, dataset, name, metric, int(number) if number else None)
                yield Comparison(dataset, (best,), arms(second))
            elif rule.group_by == "dataset":
                yield Comparison(dataset, arms(first), arms(second))
            elif rule.group_by:  # each method with all rivals of its kind
                rivals = [_methods(rule, words) for words in rule.than.split(" | ") if words]
                for method, *others in zip(first, *rivals, strict=True):
                    yield Comparison(dataset, arms([method]), arms(others))
            else:
                for k in ks:
                    for pair in _pairs(first, second):
                        sides = [(_arm(rule, dataset, name, metric, k),) for name in pair]
                        yield Comparison(dataset, *sides)


def _pairs(first: list[str], second: list[str]) -> list[tuple[str, ...]]:
    """Return pairs one to one if as many, every pair if not, or single names."""
    if not second:
        return [(name,) for name in first]
    if len(first) == len(second):
        return list(zip(first, second, strict=True))
    return [(name, other) for name in first for other in second]


def _methods(rule: ClaimRule, words: str) -> list[str]:
    """Return the methods in a column of a rule, with ``*``, ``printed`` and ``others`` expanded."""
    printed = printed_methods(rule.source)
    if words == "others":
        return [name for name in printed if name not in rule.methods.split()]
    names = printed if words == "printed" else words.split()
    spread = (
        [name.replace("*", x) for x in base_classifiers(rule.source)] if "*" in name else [name]
        for name in names
    )
    return [name for group in spread for name in group]


def base_classifiers(source: str) -> list[str]:
    """Return the base classifiers of a printed table of scores, in its order."""
    return [method for method in printed_methods(source) if method in classifiers()]


def _arm(rule: ClaimRule, dataset: str, method: str, metric: str, k: int | None) -> Arm:
    """Return an arm; a method that cannot read sequences has the static features."""
    parsed = parse_method(method)
    dataset = dataset if parsed.sequence else dataset.removesuffix("_ts")
    if k is None:
        k = usual_k(rule.paper, dataset, method)
        return Arm(dataset, method, k, metric, rule.paper, "_cv5" in rule.source)
    return Arm(dataset, method, k if parsed.clustered else 1, metric, rule.paper)


def _another_program(rule: ClaimRule, evidence: Evidence, arms: Sequence[Arm]) -> Decision:
    """Return the decision on a claim about another program, with a note on how our runs ended."""
    made = [run for arm in arms if (run := evidence.run(arm))]
    finished = sum(run.status == "ok" for run in made)
    reason = f"about {rule.words}; {finished} of {len(made)} runs of our own version finish"
    return Decision(NOT_DECIDABLE, reason, evidence.paths(arms))


def counted(ask: Ask, words: str) -> "Check":
    """Return a check that `ask` is true for the claimed share of the comparisons."""

    def check(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
        answers = [ask(comparison.gap(evidence)) for comparison in comparisons]
        counts = [answers.count(answer) for answer in (True, False, None)]
        share = rule.share(len(answers))
        figures = (
            f"{words} in {counts[0]} of {len(answers)}, not in {counts[1]}, undecided in "
            f"{counts[2]}; needed in {share:.0%}"
        )
        return Outcome(settled(answers, share), figures)

    return check


def significantly_higher(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
    """Check whether the first arms are significantly better (Holm over all pairs).

    A difference that is not significant is open, unless it is worse or equivalent. The rule's
    threshold has the levels that are not 0.05, by data set and k.
    """
    gaps = [comparison.gap(evidence) for comparison in comparisons]
    levels = [
        rule.named_numbers.get(f"{arm.dataset}:{arm.k}", LEVEL) for _, (arm, *_), _ in comparisons
    ]
    answers = [
        True if p < level and gap.mean > 0 else False if above(gap) is False else None
        for gap, p, level in zip(gaps, holm([gap.p for gap in gaps]), levels, strict=True)
    ]
    figures = (
        f"higher in {sum(gap.mean > 0 for gap in gaps)} of {len(gaps)}, "
        f"significantly in {answers.count(True)}, not better in {answers.count(False)}"
    )
    return Outcome(settled(answers), figures)


def by_dataset(answer: Callable[[Comparisons, ClaimRule, Evidence], Truth]) -> "Check":
    """Return a check that `answer` is true for the claimed share of the data sets."""

    def check(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
        names = dict.fromkeys(comparison.dataset for comparison in comparisons)
        answers = {
            name: answer([c for c in comparisons if c.dataset == name], rule, evidence)
            for name in names
        }
        share = 1.0 if rule.check in _OF_EVERY else rule.share(len(answers))
        listed = [
            f"{word} for {', '.join(which)}"
            for word, truth in (("true", True), ("false", False), ("undecided", None))
            if (which := [name for name, given in answers.items() if given is truth])
        ]
        verdict = settled(list(answers.values()), share)
        return Outcome(verdict, f"{'; '.join(listed)}; needed for {share:.0%}")

    return check


def best(ask: Ask) -> "Check":
    """Return a check that compares the best first arm with the best of the others."""
    return by_dataset(lambda comparisons, _, evidence: ask(comparisons[0].gap(evidence)))


def _in_so_many(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Truth:
    """Check whether the arms are above all rivals at least as often as claimed.

    So claims on two tables that the same runs decide can both hold.
    """
    wanted = rule.named_numbers[comparisons[0].dataset]
    answers = [
        [above(Comparison(name, first, (rival,)).gap(evidence)) for rival in rivals]
        for name, first, rivals in comparisons
    ]
    sure = sum(all(row) for row in answers)
    possible = sum(False not in row for row in answers)
    return True if sure >= wanted else None if possible >= wanted else False


Gains = dict[str, Gain]


def gains(judge: Callable[[Gains, ClaimRule], str]) -> "Check":
    """Return a check of the gain of mean over mean, in per cent, by data set or over all."""

    def check(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
        groups: dict[str, list[Comparison]] = {}
        for comparison in comparisons:
            groups.setdefault(rule.words or comparison.dataset, []).append(comparison)
        outcome = {name: _gain(group, evidence) for name, group in groups.items()}
        listed = ", ".join(f"{name} {gain} %" for name, gain in outcome.items())
        return Outcome(judge(outcome, rule), listed)

    return check


def _gain(comparisons: Comparisons, evidence: Evidence) -> Gain:
    """Return the relative gain of the first arms' sum over that of the second arms, in per cent."""
    first = _sums([comparison.first[0] for comparison in comparisons], evidence)
    second = _sums([comparison.second[0] for comparison in comparisons], evidence)
    run = evidence.run(comparisons[0].first[0])
    if run is None or len(first) != len(second):
        return Gain.pooled([[float(100 * (first.mean() / second.mean() - 1))]], 0.5)
    return Gain.pooled([100 * (first / second - 1)], test_share(run))


def _sums(arms: Sequence[Arm], evidence: Evidence) -> np.ndarray:
    """Return the sum of the arms' scores on each split, or of their means if splits differ."""
    scores = [evidence.per_split(arm) for arm in arms]
    if len({len(values) for values in scores}) > 1:
        scores = [values.mean(keepdims=True) for values in scores]
    return np.sum(scores, axis=0)


def from_to(gains: Gains, rule: ClaimRule, margin: float = 2.0) -> str:
    """Return the verdict on gains that range from one data set's to another's, within `margin`."""
    claimed = rule.named_numbers
    if not set(claimed) <= set(gains):
        return LOST
    means = {name: gain.mean for name, gain in gains.items()}
    ends = [min(means, key=means.__getitem__), max(means, key=means.__getitem__)]
    near = all(gains[n].reaches(v - margin, v + margin) for n, v in claimed.items())
    signs = [gain.positive for gain in gains.values()]
    if False in signs or (None in signs and not near):
        return FAILS
    if None in signs:
        return UNDECIDED
    return HOLDS if ends == [*claimed] and near else PARTLY


def all_positive(gains: Gains, _: ClaimRule) -> str:
    """Return the verdict on gains that should all be positive."""
    return settled([gain.positive for gain in gains.values()])


def near(gains: Gains, rule: ClaimRule) -> str:
    """Return the verdict on a gain that should be positive, and within a margin of a value."""
    (gain,), (value, margin) = gains.values(), rule.numbers
    return gain.near(value, margin)


def within(gains: Gains, rule: ClaimRule) -> str:
    """Return the verdict on gains that should all be positive and within a range."""
    signs = [gain.positive for gain in gains.values()]
    if False in signs:
        return FAILS
    if None in signs:
        return UNDECIDED
    low, high = rule.numbers
    return HOLDS if all(gain.reaches(low, high) for gain in gains.values()) else PARTLY


def largest(gains: Gains, rule: ClaimRule) -> str:
    """Return the verdict on gains of which one data set's should be the largest, by intervals."""
    name = rule.threshold
    others = [gain for other, gain in gains.items() if other != name]
    if name not in gains or not others:
        return LOST
    claimed = gains[name]
    if all(claimed.low > gain.high for gain in others):
        return HOLDS
    return FAILS if any(claimed.high < gain.low for gain in others) else UNDECIDED


Check = Callable[[Comparisons, ClaimRule, Evidence], Outcome]
CHECKS: dict[str, Check] = {
    "higher": counted(above, "higher"),
    "not higher": counted(not_above, "not higher"),
    "equivalent": counted(equivalent, "equivalent"),
    "not lower": counted(not_below, "no more than 0.01 below"),
    "significantly higher": significantly_higher,
    "best higher": best(above),
    "best not lower": best(not_below),
    "best": best(above),
    "higher in so many": by_dataset(_in_so_many),
    "gain near": gains(near),
    "gains from to": gains(from_to),
    "gains within": gains(within),
    "gains positive": gains(all_positive),
    "gain largest": gains(largest),
}
