"""Scores of single models at a horizon, with intervals by drawing the patients again."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.scoring.bootstrap import SplitScores, poisson_weights, weighted_scores
from deepcac.scoring.censored import FollowUp, resampled_weights
from deepcac.scoring.resampled_scores import (
    AUROC,
    BRIER,
    RATIO,
    Patients,
    estimate,
    resampled_benefits,
)
from deepcac.table.comparison_words import contender_name, signed
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.types import Array

SCORE_HEAD = (*("model", "AUROC(t)", "Brier(t)", "mean predicted risk", "observed / predicted"),)
_RISK = "mean risk"
_DIGITS = {AUROC: 3, BRIER: 4, _RISK: 3, RATIO: 2}
_DRAWS, _FEWER_DRAWS, _MANY = 200, 100, 50_000


class Judged(NamedTuple):
    """Risks of the test patients of one resample, by one model.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Places of the patients in the table.
    follow : FollowUp
        Theirs.
    risk : ndarray of shape (n,)
    """

    rows: npt.NDArray[np.intp]
    follow: FollowUp
    risk: Array

    @property
    def patients(self) -> Patients:
        """The patients with their risks."""
        return Patients(self.follow.outcome, self.risk, self.follow)


class Drawn(NamedTuple):
    """The test patients of one resample, as they are (in the first column) and in each draw.

    Attributes
    ----------
    counts : ndarray of shape (n, 1 + draws)
        How often each patient is there.
    weight : ndarray of shape (n, 1 + draws)
        How many patients each one stands for.
    """

    counts: npt.NDArray[np.uint8]
    weight: Array


def drawn_patients(judged: Sequence[Judged], unit: npt.NDArray[np.int64] | None) -> list[Drawn]:
    """Draw the patients of all resamples; one who is in several has the same count in each.

    `unit` tells whose row each row of the table is; None where each row is a patient.
    """
    tested = sum(len(resample.rows) for resample in judged)
    rows = 1 + max(int(resample.rows.max()) for resample in judged)
    place = np.arange(rows) if unit is None else np.unique(unit, return_inverse=True)[1]
    draws = _DRAWS if tested < _MANY else _FEWER_DRAWS
    weights = poisson_weights(int(place.max()) + 1, draws)
    drawn = []
    for resample in judged:
        counts = weights[place[resample.rows]]
        counts = np.hstack([np.ones((len(counts), 1), np.uint8), counts])
        drawn.append(Drawn(counts, counts * resampled_weights(resample.follow, counts)))
    return drawn


def score_line(judged: Sequence[Judged], drawn: Sequence[Drawn], name: str) -> tuple[str, ...]:
    """Return the means over resamples of what single models score, with 95 % intervals."""
    scores = [_scores(resample, draw) for resample, draw in zip(judged, drawn, strict=True)]
    cells = []
    for measure, digits in _DIGITS.items():
        mean = np.nanmean([score[measure] for score in scores], axis=0)
        summary = estimate(measure, float(mean[0]), mean[1:])
        low, high = (f"{end:z.{digits}f}" for end in (summary.low, summary.high))
        cells.append(f"{summary.value:.{digits}f} ({low} to {high})")
    return (contender_name(name), *cells)


def _scores(judged: Judged, drawn: Drawn) -> dict[str, Array]:
    """Return each score of one model, shape (1 + draws,), by the patients as they are and drawn."""
    y, risk = judged.follow.outcome, judged.risk
    rows = np.arange(len(y))
    size = drawn.counts.sum(axis=0, dtype=np.float64)
    expected = risk @ drawn.counts
    split = SplitScores(rows, y, np.zeros_like(rows), risk)
    return {
        AUROC: weighted_scores(split, drawn.weight)["auroc"],
        BRIER: ((y - risk) ** 2) @ drawn.weight / size,
        _RISK: expected / size,
        RATIO: (y @ drawn.weight) / expected,
    }


def rows_as_patients(table: LabelledTable) -> list[str]:
    """Say that intervals of observed risks do not know which rows are of one patient."""
    if table.follow is None or table.group is None:
        return []
    return [
        "The intervals of observed risks at the horizon take every row for a patient, so they are "
        "too narrow where patients have several rows."
    ]


def benefit_head(thresholds: Array) -> tuple[str, ...]:
    """Return the head of `benefit_lines`."""
    return ("model", *(f"at {100 * threshold:.3g} %" for threshold in thresholds))


def benefit_lines(
    judged: Mapping[str, Sequence[Judged]],
    drawn: Sequence[Drawn],
    thresholds: Array,
) -> list[tuple[str, ...]]:
    """Return net benefit at each threshold, in patients of 1,000, of each model and of all."""
    first = next(iter(judged.values()))
    everyone = [resample._replace(risk=np.ones(len(resample.risk))) for resample in first]
    named = {contender_name(name): resamples for name, resamples in judged.items()} | {
        "treat all": everyone
    }
    rows = [
        (name, *(_benefit(resamples, drawn, threshold) for threshold in thresholds))
        for name, resamples in named.items()
    ]
    return [*rows, ("treat none", *("0.0" for _ in thresholds))]


def _benefit(judged: Sequence[Judged], drawn: Sequence[Drawn], threshold: float) -> str:
    benefits = [
        resampled_benefits(resample.patients, draw.counts, threshold)
        for resample, draw in zip(judged, drawn, strict=True)
    ]
    mean = 1000 * np.mean(benefits, axis=0)
    summary = estimate("", float(mean[0]), mean[1:])
    return f"{signed(summary.value, 1)} ({signed(summary.low, 1)} to {signed(summary.high, 1)})"
