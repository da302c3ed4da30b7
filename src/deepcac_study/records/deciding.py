"""What of a record decides anything: threshold-free scores of each split, and plain facts.

F1, accuracy and min(Se, +P) hang on one threshold, a silhouette on labels: last digits move them
by points, and no verdict should rest on that. So they are shown beside a repeat, but not judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from deepcac.errors import ConfigError
from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import parse_contender
from deepcac.judging.random_partitions import best_trials
from deepcac.judging.trial_record import PARTS, TrialRecord, from_content
from deepcac.judging.trial_scores import METRICS
from deepcac.types import Floats
from deepcac_study.catalogue.methods import methods
from deepcac_study.records.record import summarise

Record = Mapping[str, Any]


class Family(StrEnum):
    """Records whose repeats differ alike."""

    LINES = "linear classifiers"
    TREES = "trees"
    NEIGHBOURS = "nearest neighbours"
    CLUSTERS = "CAC, k-means and other clusters"
    TIES = "CAC, splits where another alpha was as good"
    NETWORKS = "networks"
    PUBLISHED = "networks, as published"
    SEQUENCES = "networks on sequences"
    JUDGED = "judge"
    JUDGED_NETWORKS = "judge, networks"
    METRICS = "supervised k-means, by pairs"
    ORACLES = "supervised k-means, Iterative and Spectral"
    DECOMPOSITION = "class decomposition"
    THEOREMS = "theorems"


# Families whose splits a last digit moves: they are measured in deviations over the splits.
BY_DEVIATION = (Family.NETWORKS, Family.PUBLISHED, Family.SEQUENCES, Family.JUDGED_NETWORKS)
SCORES = ("auroc", "auprc", "brier", "log_loss")
OTHER, LOSS = "other", "loss"
# Of the validation F1 that chooses alpha: nearer ones are a tie, which last digits break.
TIE = 0.001
_MACRO = ("auroc_macro", "auprc_macro")
SHOWN = ("f1", "f1_macro", "accuracy", "min_se_pp", "silhouette")
_UNJUDGED = {*SHOWN, "ari", "nmi", "ece", "seconds", "machine", "digest", "history", "summary"}
# Settings that came out of the fit: of another alpha, or one row moved, they are others.
_OF_THE_FIT = {"n_clusters_found", "collapsed", "polarisation"}
_SETTINGS = ("inputs", "effort", "budget", "shares")
_EXACT = {"missing", "strength"}  # numbers with a fraction that no arithmetic changes
_FACTS = {
    *("arm", "base", "contender", "dataset", "draws", "events", "k", "labels", "learner"),
    *("method", "n_classes", "n_columns", "n_features", "n_rows", "n_source", "n_target", "n_test"),
    *("n_train", "n_validation", "protocol", "question", "reference", "rows", "schema", "seed"),
    *("status", "stratified", "switches", "synthetic", "test", "train", "verdict"),
    *_EXACT,
}
_PLACES = {
    **{
        "theory/": Family.THEOREMS,
        "bias_variance/": Family.DECOMPOSITION,
    },
    **{"decomposition/": Family.DECOMPOSITION, "as_published/decomposition/": Family.DECOMPOSITION},
}


@dataclass(frozen=True)
class ScoreSeries:
    """One score of a shipped record and of its repeat, over the splits.

    Attributes
    ----------
    family : Family
    score : str
        One of `SCORES`, or `OTHER`.
    place : str
        Where it stands in the record.
    shipped, again : ndarray of shape (n_splits,)
    """

    family: Family
    score: str
    place: str
    shipped: Floats
    again: Floats


def family(path: str, record: Record) -> Family:
    """Return the family of the record at a path below ``results``."""
    place = next((name for start, name in _PLACES.items() if path.startswith(start)), None)
    if place is not None:
        return place
    if path.startswith("skmeans/"):
        return Family.METRICS if record.get("method") in ("none", "pair") else Family.ORACLES
    if "method" not in record:
        return _judged_family(str(record.get("contender", "")))
    method = methods()[record["method"]]
    if method.sequence:
        return Family.SEQUENCES
    if method.family == "deep":
        return Family.NETWORKS if record["protocol"] == "sound" else Family.PUBLISHED
    noise = Family[method.learner.noise.upper()]
    return noise if noise == Family.NEIGHBOURS or method.arm == "base" else Family.CLUSTERS


def _judged_family(contender: str) -> Family:
    try:
        network = parse_contender(contender).network
    except ConfigError:  # a record that names no model
        network = False
    return Family.JUDGED_NETWORKS if network else Family.JUDGED


def deciding(path: str, shipped: Record, again: Record) -> Iterator[ScoreSeries]:
    """Yield what decides in a record and its repeat.

    Of a run these are the splits' threshold-free scores; of trials, those of the trials that
    either side chose; of any other record, its numbers with a fraction. A place that one side
    lacks has NaN there.
    """
    if "splits" in shipped and "summary" in shipped:
        pairs = list(zip(shipped["splits"], again["splits"], strict=False))
        tied = [_is_tie(*pair) for pair in pairs]
        tied += [False] * (len(shipped["splits"]) - len(pairs))
        for kind, wanted in ((family(path, shipped), False), (Family.TIES, True)):
            for name in (*SCORES, *_MACRO):
                values = [_metric(side["splits"], name) for side in (shipped, again)]
                for side in values:
                    side[: len(tied)] = [
                        value if tie == wanted else np.nan
                        for value, tie in zip(side, tied, strict=False)
                    ]
                yield from _series(kind, name, f"splits.{name}", *values)
        return
    if isinstance(shipped.get("contenders"), Mapping):
        both = [
            {name: from_content(entry) for name, entry in side["contenders"].items()}
            for side in (shipped, again)
        ]
        for name in both[0]:
            yield from _trials(_judged_family(name), name, both[0][name], both[1][name])
        yield from _table_risks(shipped, again, both)
    elif _has_trials(shipped):
        sides = from_content(shipped), from_content(again)
        yield from _trials(family(path, shipped), "", *sides)
    else:
        yield from _plain(path, shipped, again)


def _is_tie(shipped: Record, again: Record) -> bool:
    """Say whether a split has another alpha than its repeat, to which both were alike.

    The repeat's own F1 decides, because a forged record could claim any.
    """
    given = [side.get("hyperparameters", {}) for side in (shipped, again)]
    ours, theirs = (side.get("alpha") for side in given)
    scores = given[1].get("alpha_f1")
    if ours == theirs or not scores:
        return False
    by_alpha = {float(alpha): f1 for alpha, f1 in scores.items()}
    return ours in by_alpha and max(by_alpha.values()) - by_alpha[ours] <= TIE


def another_setting(shipped: Record, again: Record) -> tuple[str, Any, Any] | None:
    """Return the first setting of a split that is another in the repeat, with both values.

    An alpha that won a tie is none.
    """
    pairs = zip(shipped.get("splits", ()), again.get("splits", ()), strict=False)
    for number, (split, other) in enumerate(pairs):
        ours, theirs = _plain_settings(split), _plain_settings(other)
        for name in sorted({*ours, *theirs}):
            if ours.get(name) != theirs.get(name) and not (
                name == "alpha" and _is_tie(split, other)
            ):
                place = f"splits.{number}.hyperparameters.{name}"
                return place, ours.get(name), theirs.get(name)
    return None


def _plain_settings(split: Record) -> dict[str, Any]:
    """Return the settings of a split; what was learnt for it, such as a metric, is none."""
    given = split.get("hyperparameters", {})
    return {
        name: x
        for name, x in given.items()
        if name not in _OF_THE_FIT and not isinstance(x, Mapping | list)
    }


def facts(record: Record) -> dict[str, Any]:
    """Return what every repeat must give exactly: names, sizes, seeds, settings, verdicts."""
    return {place: value for place, value in leaves(record) if _is_fact(place, value)}


def _is_fact(place: str, value: Any) -> bool:
    parts = place.split(".")
    if parts[0] in _SETTINGS or (parts[0] == "trials" and len(parts) > 2):
        return True
    return _name(parts) in (_EXACT if isinstance(value, float) else _FACTS)


def summary_fault(record: Record) -> tuple[str, float, float] | None:
    """Return place, value and right value of a mean or sd that is not that of the splits."""
    if not ("splits" in record and "summary" in record):
        return None
    right = summarise(record["splits"])
    for name, values in record["summary"].items():
        for kind, value in values.items():
            wanted = right.get(name, {}).get(kind, np.nan)
            if not abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted)):
                return f"summary.{name}.{kind}", value, wanted
    return None


def shown(record: Record) -> dict[str, float]:
    """Return the means of what is shown, but not judged."""
    means = record.get("summary")
    return {n: means[n]["mean"] for n in SHOWN if n in means} if isinstance(means, Mapping) else {}


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each plain value of a record with its place, but for timings and the machine."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in ("machine", "digest", "whole_digest", "seconds"):
                yield from leaves(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{place}.{number}")
    else:
        yield place, value


def _name(parts: Sequence[str]) -> str:
    """Return the last part of a place that is no number."""
    return next((part for part in reversed(parts) if not part.isdigit()), "")


def _metric(splits: Sequence[Record], name: str) -> list[float]:
    values = [split["metrics"].get(name) for split in splits]
    return [np.nan if value is None else float(value) for value in values]


def _series(
    kind: Family, name: str, place: str, ours: Sequence[float], theirs: Sequence[float]
) -> Iterator[ScoreSeries]:
    """Yield a score unless neither side has it; the shorter side lacks values."""
    sides = [np.full(max(len(ours), len(theirs)), np.nan) for _ in range(2)]
    for side, values in zip(sides, (ours, theirs), strict=True):
        side[: len(values)] = values
    if not all(np.isnan(side).all() for side in sides):
        score = name.removesuffix("_macro")
        yield ScoreSeries(kind, score if score in SCORES else OTHER, place, *sides)


def _has_trials(record: Record) -> bool:
    samples = record.get("resamples") or [{}]
    return "trials" in record and "trials" in samples[0]


def _trials(
    kind: Family, place: str, shipped: TrialRecord, again: TrialRecord
) -> Iterator[ScoreSeries]:
    """Yield validation and test scores of the trials that either side chose, by each score.

    Another trial is chosen in a repeat where two are level on the validation rows. Both sides'
    scores of both trials are compared, so a forged choice is seen and a tie is none.
    """
    sides = shipped, again
    if shipped.scores.shape != again.scores.shape:
        raise ValueError("other resamples or trials")
    ways = (TUNED, CLUSTERED) if shipped.clustered else (TUNED,)
    for name in SCORES:
        choices = [choose(side, way, name).trials for side in sides for way in ways]
        chosen = [sorted(set(trials)) for trials in zip(*choices, strict=True)]
        for part in PARTS:
            ours, theirs = (
                [float(scores[j, t]) for j, trials in enumerate(chosen) for t in trials]
                for scores in (side.score(part, name) for side in sides)
            )
            yield from _series(kind, name, f"{place}.{part}.{name}".strip("."), ours, theirs)
    risks = [
        (ours[trial], theirs[trial])
        for ours, theirs in zip(shipped.risks, again.risks, strict=True)
        for trial in ours.keys() & theirs.keys()
    ]
    yield from _risks(kind, place, risks)
    yield from _partitions(kind, place, shipped, again)


def _partitions(
    kind: Family, place: str, shipped: TrialRecord, again: TrialRecord
) -> Iterator[ScoreSeries]:
    """Yield the scores in each random partition of the trials that both sides chose, if any.

    A side that has those of other trials than it chose is a `ValueError`.
    """
    for side in (shipped, again):
        for scores, draws in zip(side.scores, side.partitions, strict=bool(side.partitions)):
            if sorted(draws) != best_trials(scores):
                raise ValueError("random partitions of trials that were not chosen")
    pairs = [
        (ours[t], theirs[t])
        for ours, theirs in zip(shipped.partitions, again.partitions, strict=True)
        for t in sorted(ours.keys() & theirs.keys())
    ]
    if not pairs:
        return
    ours, theirs = (np.concatenate(draws) for draws in zip(*pairs, strict=True))
    for name in SCORES:
        for j, part in enumerate(PARTS):
            where = f"{place}.partitions.{part}.{name}".strip(".")
            values = (side[:, j, METRICS.index(name)].tolist() for side in (ours, theirs))
            yield from _series(kind, name, where, *values)


def _table_risks(
    shipped: Record, again: Record, records: Sequence[Mapping[str, TrialRecord]]
) -> Iterator[ScoreSeries]:
    """Yield calibration and net benefit where both sides chose the same trial."""
    for name in records[0]:
        pairs = []
        for way in (TUNED, CLUSTERED):
            if not shipped["risks"] or way not in shipped["risks"][0].get(name, {}):
                continue
            chosen = [choose(open_to(side, name), way, "log_loss").trials for side in records]
            pairs += [
                (sample[name][way], other[name][way])
                for sample, other, a, b in zip(
                    shipped["risks"], again["risks"], *chosen, strict=True
                )
                if a == b
            ]
        yield from _risks(_judged_family(name), name, pairs)


def _risks(
    kind: Family, place: str, pairs: Sequence[tuple[Record, Record]]
) -> Iterator[ScoreSeries]:
    """Yield each measure of risks, over the splits."""
    values: dict[str, tuple[list[float], list[float]]] = {}
    for pair in pairs:
        for ours, theirs in zip(*(list(leaves(side)) for side in pair), strict=True):
            both = values.setdefault(ours[0].partition(".")[0], ([], []))
            for side, (_, value) in zip(both, (ours, theirs), strict=True):
                side.append(np.nan if value is None else float(value))
    for name, both in values.items():
        yield from _series(kind, name, f"{place}.risks.{name}".strip("."), *both)


def _plain(path: str, shipped: Record, again: Record) -> Iterator[ScoreSeries]:
    """Yield the numbers with a fraction of a record that is neither a run nor trials."""
    ours, theirs = (
        {place: value for place, value in leaves(side) if _is_judged(place, value)}
        for side in (shipped, again)
    )
    together: dict[str, list[str]] = {}
    for place in ours | theirs:
        parts = place.split(".")
        together.setdefault(".".join(p for p in parts if not p.isdigit()), []).append(place)
    kind = family(path, shipped)
    for name, places in together.items():
        if path.startswith("skmeans/") and _name(name.split(".")) != LOSS:
            continue  # C and what follows from it are chosen by last digits
        values = [[side.get(place, np.nan) for place in places] for side in (ours, theirs)]
        yield from _series(kind, _name(name.split(".")), name, *values)


def _is_judged(place: str, value: Any) -> bool:
    judged = isinstance(value, float) and not _UNJUDGED & set(place.split("."))
    return judged and not _is_fact(place, value)
