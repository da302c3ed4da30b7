"""Comparison of a record with its repeat: facts must be equal, scores within a tolerance."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from deepcac.types import Floats
from deepcac_study.records.record import summarise

Record = Mapping[str, Any]
Place = tuple[str, ...]  # names and numbers on the way to a value

# What a fit went through or found: last digits move it, and no verdict rests on it. A summary is
# compared with its splits.
NO_SCORES = {
    *("summary", "history", "clusters", "hyperparameters"),
    *("C", "inner_loss", "slack", "validation_steps", "ari", "nmi", "silhouette", "ece"),
}
_SETTINGS = {"inputs", "effort", "budget", "shares"}
_FITTED = {"n_clusters_found", "collapsed", "polarisation"}  # among a split's hyper-parameters
_FACTS = {
    *("arm", "base", "contender", "dataset", "k", "learner", "method", "protocol", "question"),
    *("n_classes", "n_columns", "n_features", "n_rows", "n_test", "n_train", "n_validation"),
    *("reference", "rows", "schema", "seed", "status", "stratified", "switches", "synthetic"),
    *("test", "verdict"),
}
_FRACTIONS = {"missing", "strength"}  # facts with a fraction, which no arithmetic changes
_OF_A_CHOICE = {"risks", "partitions"}  # of the chosen trial, which may differ in a tie
# Validation F1s within this, or within one training row, tie: the last digits decide.
TIE = 0.001


class RepeatSeries(NamedTuple):
    """A score of a shipped record and of its repeat, over the splits; NaN where one lacks it."""

    place: str
    name: str
    shipped: Floats
    again: Floats


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the place and value of each leaf of a record, without timings and machine."""
    if isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, inner in pairs:
            if name not in ("machine", "digest", "whole_digest", "seconds"):
                yield from leaves(inner, (*place, str(name)))
    else:
        yield place, value


def facts(record: Record) -> dict[Place, Any]:
    """Return the names, sizes, seeds, settings and verdicts of a record."""
    return {place: value for place, value in leaves(record) if _is_fact(place, value)}


def _is_fact(place: Place, value: Any) -> bool:
    if place[0] in _SETTINGS or ("trials" in place and "resamples" not in place):
        return True
    if "hyperparameters" in place:  # deeper ones, such as a metric, were learnt
        return len(place) == 4 and place[-1] not in _FITTED
    return _name(place) in (_FRACTIONS if isinstance(value, float) else _FACTS)


def _name(place: Place) -> str:
    """Return the last part of a place that is not a number."""
    return next((part for part in reversed(place) if not part.isdigit()), "")


def fact_that_differs(shipped: Record, again: Record) -> tuple[str, Any, Any] | None:
    """Return place and both values of the first fact that differs in the repeat; None if none.

    A different alpha does not count if the shipped one scores as well in the repeat.
    """
    ours, theirs = facts(shipped), facts(again)
    for place in {**ours, **theirs}:
        pair = ours.get(place), theirs.get(place)
        same = pair[0] == pair[1] and (place in ours) == (place in theirs)
        if not same and not (place[-1] == "alpha" and _is_tie(again, place, pair[0])):
            return ".".join(place), *pair
    return None


def _is_tie(again: Record, place: Place, alpha: Any) -> bool:
    """Return whether alpha ties with the best by the F1s of the repeat."""
    split = again["splits"][int(place[1])]
    scores = split["hyperparameters"].get("alpha_f1") or {}
    by_alpha = {float(value): f1 for value, f1 in scores.items()}
    near = max(TIE, 1 / split["n_train"])
    return alpha in by_alpha and max(by_alpha.values()) - by_alpha[alpha] <= near


def summary_fault(record: Record) -> tuple[str, float, float] | None:
    """Return place, value and correct value of a mean or sd that does not fit the splits."""
    if "splits" in record and "summary" in record:
        right = dict(leaves(summarise(record["splits"])))
        for place, value in leaves(record["summary"]):
            wanted = right.get(place, np.nan)
            if not abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted)):
                return f"summary.{'.'.join(place)} is not that of the splits", value, wanted
    return None


def smallest_test(record: Record) -> int:
    """Return the rows of the smallest test part of a record; 0 if it has none."""
    sizes = [value for place, value in leaves(record) if place[-1] == "n_test"]
    if not sizes and "shares" in record:
        sizes = [int(record["n_rows"] * record["shares"]["test"])]
    return min(sizes, default=0)


def score_series(shipped: Record, again: Record) -> list[RepeatSeries]:
    """Return the scores of a record and its repeat: every float that is no fact.

    The first number in a place is the split.
    """
    together: dict[Place, dict[str, list[float]]] = {}
    for side, record in enumerate((shipped, again)):
        for place, value in leaves(record):
            if isinstance(value, float) and not (NO_SCORES & set(place) or _is_fact(place, value)):
                number = next((n for n, part in enumerate(place) if part.isdigit()), len(place))
                splits = together.setdefault(place[:number] + place[number + 1 :], {})
                pair = splits.setdefault("".join(place[number : number + 1]), [np.nan, np.nan])
                pair[side] = value
    found = []
    for place, splits in together.items():
        values = np.array(list(splits.values()), dtype=np.float64)
        if _OF_A_CHOICE & set(place):
            values = values[~np.isnan(values).any(axis=1)]
        if len(values):
            found.append(RepeatSeries(".".join(place), _name(place), values[:, 0], values[:, 1]))
    return found
