"""Verdicts on differences that come with an error of their own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from deepcac.judging.resamples import test_share
from deepcac.scoring.equivalence import NEVER, measured, verdict
from deepcac.scoring.margins import MARGINS
from deepcac.scoring.statistics import corrected_error, holm
from deepcac.types import Array

REAL = "real"  # cohort; every planted one is a family of its own
FAMILY = ["cohort", "question", "metric"]
# What `deepcac.scoring.equivalence.Difference` has, and whose p is adjusted under which name.
_SHOWN = ("low", "high", "detectable")
_ADJUSTED = {
    "p": "p_holm",
    "p_equivalent": "p_equivalent_holm",
    "better": "p_gain_excluded_holm",
}
_ALONE = "p_gain_excluded"
DERIVED = (*_SHOWN, _ALONE, *_ADJUSTED.values(), "verdict")


def decided(table: pd.DataFrame) -> pd.DataFrame:
    """Hold differences against their margins, and adjust for all of one question and metric.

    The table has the columns of `FAMILY`, ``mean``, ``error`` and ``freedom``; others go along.
    Rows without an error are not decided. Added are `DERIVED`: the 95 % interval, the smallest gain
    that would have been seen, the p of the one-sided test that the gain is the margin or more,
    adjusted p values, and the verdict. Where nothing differed it is `NEVER`, and the row belongs to
    no family.
    """
    if table.empty:
        return table
    whole = table.drop(columns=[name for name in DERIVED if name in table])
    tested = whole[(whole["error"] > 0) | ((whole["error"] == 0) & (whole["mean"] != 0))]
    family = [tested[name] for name in FAMILY]
    sizes = tested.groupby(family)["mean"].transform("size")
    given = zip(
        tested["mean"], tested["error"], tested["freedom"], tested["metric"], sizes, strict=True
    )
    estimates = [
        measured(mean, error, freedom, margin=MARGINS[metric], tests=n)
        for mean, error, freedom, metric, n in given
    ]
    names = (*_SHOWN, *_ADJUSTED)
    decisions = pd.DataFrame(
        {name: [getattr(estimate, name) for estimate in estimates] for name in names}, tested.index
    )
    for name, adjusted in _ADJUSTED.items():
        decisions[adjusted] = _adjusted(decisions[name], family)
    words = list(map(verdict, estimates, decisions["p_holm"], decisions["p_equivalent_holm"]))
    decisions = decisions.rename(columns={"better": _ALONE}).assign(verdict=words)
    whole = whole.join(decisions[[*DERIVED]])
    same = (whole["error"] == 0) & (whole["mean"] == 0)
    return whole.assign(verdict=whole["verdict"].mask(same, NEVER))


def _adjusted(p: "pd.Series[float]", family: "list[pd.Series[Any]]") -> "pd.Series[float]":
    adjusted = pd.Series(np.nan, p.index)
    for rows in p.groupby(family).groups.values():
        adjusted[rows] = holm(np.asarray(p[rows], dtype=np.float64))
    return adjusted


def resampled(
    resamples: Sequence[dict[str, Any]], ours: Sequence[float], theirs: Sequence[float]
) -> dict[str, Any]:
    """Return both mean scores and their difference, with its error over overlapping resamples.

    Resamples have ``n_train``, ``n_validation`` and ``n_test``.
    """
    values: Array = np.asarray(ours) - np.asarray(theirs)
    share = test_share({"resamples": resamples})
    return {
        "score": float(np.mean(ours)),
        "reference_score": float(np.mean(theirs)),
        "mean": float(values.mean()),
        "error": corrected_error(values, share / (1 - share)),
        "freedom": len(values) - 1,
    }
