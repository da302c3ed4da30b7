"""Verdicts on differences that come with an error of their own."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from deepcac.judging.resamples import test_share
from deepcac.scoring.equivalence import NEVER, measured, verdict
from deepcac.scoring.statistics import corrected_error, holm
from deepcac.task import Array
from deepcac_study.catalogue.config import Judge

_MARGIN = Judge.model_validate({}).margin
MARGINS = {"auroc": _MARGIN, "auprc": _MARGIN, "log_loss": 0.005, "brier": 0.002}
FAMILY = ["question", "metric"]
# Of `deepcac.scoring.equivalence.Difference`, and whose p is adjusted under which name.
_SHOWN = ["low", "high", "detectable"]
_ADJUSTED = {
    "p": "p_holm",
    "p_equivalent": "p_equivalent_holm",
    "better": "p_gain_excluded_holm",
}


def decided(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Hold differences against their margins, and adjust for all of one question and metric.

    Parameters
    ----------
    rows : iterable of dict
        ``question``, ``metric``, ``mean``, ``error`` and ``freedom``; whatever else goes along.

    Returns
    -------
    DataFrame
        With ``low`` and ``high``, ``detectable``, ``p_gain_excluded`` of the one-sided test that
        the gain is the margin or more, the three adjusted p values, and ``verdict``. Where nothing
        differed the verdict is `NEVER`, and the row belongs to no family.
    """
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    own, whole = table[_differs(table)], table.drop(columns=["error", "freedom"])
    if own.empty:
        return whole.assign(verdict=NEVER)
    family = [own[name] for name in FAMILY]
    sizes = own.groupby(family)["mean"].transform("size")
    given = zip(own["mean"], own["error"], own["freedom"], own["metric"], sizes, strict=True)
    found = [
        measured(mean, error, freedom, margin=MARGINS[metric], tests=n)
        for mean, error, freedom, metric, n in given
    ]
    told = pd.DataFrame([vars(one) for one in found], own.index)
    for name, adjusted in _ADJUSTED.items():
        each = told[name].groupby(family)
        told[adjusted] = each.transform(lambda p: holm(p.to_numpy()))
    words = map(verdict, found, told["p_holm"], told["p_equivalent_holm"])
    shown = told[[*_SHOWN, "better", *_ADJUSTED.values()]].assign(verdict=list(words))
    told_too = shown.rename(columns={"better": "p_gain_excluded"})
    return whole.join(told_too).fillna({"verdict": NEVER})


def _differs(table: pd.DataFrame) -> "pd.Series[bool]":
    return (table["error"] > 0) | (table["mean"] != 0)


def resampled(
    resamples: Sequence[dict[str, Any]], ours: Sequence[float], theirs: Sequence[float]
) -> dict[str, Any]:
    """Return both mean scores and their difference, with its error over overlapping resamples.

    Parameters
    ----------
    resamples : sequence of dict
        With ``n_train``, ``n_validation`` and ``n_test``.
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
