"""Subgroups of patients whose risks are judged once or at a horizon: of other places, by a time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.scoring.bootstrap import SplitScores, poisson_weights, weighted_scores
from deepcac.scoring.calibration import log_odds
from deepcac.scoring.resampled_scores import (
    AUROC,
    RATIO,
    SLOPE,
    Patients,
    estimate,
    mean_where_defined,
    resampled_benefits,
    slopes,
)
from deepcac.scoring.small_cells import FEW, format_count
from deepcac.table.comparison_words import signed
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages import subgroup_differences
from deepcac.table.pages.subgroup_differences import Scored, differences_from_largest, gap_table
from deepcac.table.pages.subgroups import (
    APART,
    FEWEST_EVENTS,
    WITHOUT,
    levels_of,
    net_true_positives,
)
from deepcac.types import Array, Flags

CHANGE, BENEFIT = "change with clusters", "net benefit"
_DIGITS = {AUROC: 3, CHANGE: 4, RATIO: 2, SLOPE: 2, BENEFIT: 1}
_SIGNED = (CHANGE, BENEFIT)
_DRAWS, _FEWER_DRAWS, _MANY = 200, 100, 50_000


class JudgedPart(NamedTuple):
    """Patients that one model judges: those of a place, or the test part of a resample.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their places in the table.
    patients : Patients
        With the risks of the best model without clusters, or of the only one.
    clustered : ndarray of shape (n,) or None
        Risks of the best model with clusters; None where no other model is judged.
    """

    rows: npt.NDArray[np.intp]
    patients: Patients
    clustered: Array | None = None

    @property
    def rankable(self) -> bool:
        """Whether there are both outcomes; one that is not known is neither."""
        y, follow = self.patients.y, self.patients.follow
        y = y if follow is None else y[follow.outcome_known]
        return bool(0 < y.sum() < len(y))

    def take(self, inside: Flags) -> "JudgedPart":
        """Return the part of the patients who are inside."""
        clustered = None if self.clustered is None else self.clustered[inside]
        return JudgedPart(self.rows[inside], self.patients.take(inside), clustered)


def subgroup_lines(
    table: LabelledTable,
    judged: Sequence[JudgedPart],
    columns: Sequence[str],
    threshold: float,
) -> dict[str, Any] | None:
    """Return the table of subgroups: scores over all parts, with 95 % intervals; None of no column.

    Patients are drawn again with all their predictions; the models stay as they are. The AUROC is
    the mean of parts with both outcomes, so that no pair is of two models; the other scores are of
    all patients.

    Parameters
    ----------
    table : LabelledTable
        Whose rows are judged.
    columns : sequence of str
        Those that make subgroups.
    threshold : float
        Risk from which a patient is treated.
    """
    if not columns:
        return None
    draws = _draws(table, judged)
    shown: list[_Level] = []
    few: list[str] = []
    for column in columns:
        levels, left_out = _levels(table, judged, draws, column, threshold)
        shown += levels
        few += left_out
    scored = {
        column: (
            max(levels, key=lambda level: level.rows).name,
            {level.name: _scored(level.scores) for level in levels},
        )
        for column in columns
        if (levels := [level for level in shown if level.column == column])
    }
    compared = all(part.clustered is not None for part in judged)
    whose = WITHOUT if compared else ""
    treated = net_true_positives(threshold, whose)
    change = [CHANGE] * compared
    return {
        "head": ("subgroup", "rows", "events", "AUROC", *change, "O/E", SLOPE, treated),
        "rows": [_line(level) for level in shown],
        "few": ", ".join(dict.fromkeys(few)),
        **gap_table(differences_from_largest(scored), threshold, whose),
    }


class _Level(NamedTuple):
    """A subgroup with enough events: its counts, its scores in each draw."""

    column: str
    name: str
    rows: int
    events: int
    scores: dict[str, Array]


def _levels(
    table: LabelledTable,
    judged: Sequence[JudgedPart],
    draws: Sequence[npt.NDArray[np.uint8]],
    column: str,
    threshold: float,
) -> tuple[list[_Level], list[str]]:
    """Return the subgroups of a column with enough events, and the names of the others."""
    rows, y = np.concatenate([part.rows for part in judged]), table.features.label
    labelled = np.ones(len(y), np.bool_) if table.follow is None else table.follow.outcome_known
    shown, few = [], []
    for name, inside in levels_of(table, column):
        tested = np.unique(rows[inside[rows]])
        counts = np.bincount(y[tested[labelled[tested]]], minlength=2)
        parts = [part.take(inside[part.rows]) for part in judged]
        enough = bool(counts.min() >= FEWEST_EVENTS)
        if not enough or not any(part.rankable for part in parts):
            shown_as = name if inside.sum() >= FEW else "(a level of few rows)"
            few.append(f"{column} {shown_as}{APART * enough}")
            continue
        counted = [d[inside[part.rows]] for d, part in zip(draws, judged, strict=True)]
        scores = scores_of(parts, counted, threshold)
        shown.append(_Level(column, name, len(tested), int(counts[1]), scores))
    return shown, few


def _line(level: _Level) -> tuple[str, ...]:
    sizes = map(format_count, (level.rows, level.events))
    return (f"{level.column} {level.name}", *sizes, *_cells(level.scores))


def _scored(scores: Mapping[str, Array]) -> Scored:
    """Return the scores of the model without clusters as differences are made of them."""
    measures = {
        subgroup_differences.AUROC: scores[AUROC],
        subgroup_differences.OE: np.log(np.maximum(scores[RATIO], 1e-9)),
        subgroup_differences.SLOPES: scores[SLOPE],
        subgroup_differences.BENEFIT: scores[BENEFIT],
    }
    return Scored(
        {name: float(score[0]) for name, score in measures.items()},
        {name: score[1:] for name, score in measures.items()},
    )


def _draws(table: LabelledTable, judged: Sequence[JudgedPart]) -> list[npt.NDArray[np.uint8]]:
    """Return how often each patient of each part is there, as they are and in each draw."""
    n = len(table.features.label)
    patient = (
        np.arange(n) if table.group is None else np.unique(table.group, return_inverse=True)[1]
    )
    draws = _DRAWS if sum(len(part.rows) for part in judged) < _MANY else _FEWER_DRAWS
    weights = poisson_weights(int(patient.max()) + 1, draws)
    weights = np.hstack([np.ones((len(weights), 1), np.uint8), weights])
    return [weights[patient[part.rows]] for part in judged]


def scores_of(
    parts: Sequence[JudgedPart], draws: Sequence[npt.NDArray[Any]], threshold: float
) -> dict[str, Array]:
    """Return each score of a subgroup in each draw of its patients, shape (r,) each.

    The first draw is of all patients once. AUROC, O/E and slope are NaN in a draw that lacks one
    outcome. A draw that risks rank perfectly, where they do not rank all patients so, has no slope,
    and its AUROC is taken half a pair of patients short of 1, or above 0: log odds have no end.
    """
    weights = [part.patients.weights(d) for part, d in zip(parts, draws, strict=True)]
    rankable = [(part, w) for part, w in zip(parts, weights, strict=True) if part.rankable]
    without = mean_where_defined(
        [_aurocs(part.patients.y, part.patients.risk, w) for part, w in rankable]
    )
    clustered = [
        _aurocs(part.patients.y, part.clustered, w)
        for part, w in rankable
        if part.clustered is not None
    ]
    change = {CHANGE: mean_where_defined(clustered) - without} if clustered else {}
    y, risk = (
        np.concatenate([getattr(part.patients, name) for part in parts]) for name in ("y", "risk")
    )
    weight, counts = np.vstack(weights), np.vstack(draws)
    net = [
        resampled_benefits(part.patients, d, threshold) * d.sum(axis=0, dtype=np.float64)
        for part, d in zip(parts, draws, strict=True)
        if len(part.rows)
    ]
    events, others = y @ weight, (1 - y) @ weight
    both_there = (events > 0) & (others > 0)
    perfect = ((without <= 0) | (without >= 1)) & (0 < without[0] < 1)
    half = 0.5 / np.maximum(events * others, 1)
    return {
        AUROC: np.where(perfect, np.clip(without, half, 1 - half), without),
        **change,
        RATIO: np.where(both_there, events / (risk @ counts), np.nan),
        SLOPE: np.where(both_there & ~perfect, slopes(y, log_odds(risk), weight)[0], np.nan),
        BENEFIT: 1000 * np.nansum(net, axis=0) / counts.sum(axis=0, dtype=np.float64),
    }


def _aurocs(y: npt.NDArray[np.int64], risk: Array, weight: Array) -> Array:
    rows = np.arange(len(y))
    return weighted_scores(SplitScores(rows, y, np.zeros_like(rows), risk), weight)["auroc"]


def _cells(scores: Mapping[str, Array]) -> list[str]:
    cells = []
    for name, digits in _DIGITS.items():
        if name not in scores:
            continue
        summary = estimate(name, float(scores[name][0]), scores[name][1:])
        value, low, high = (
            signed(end, digits) if name in _SIGNED else f"{end:z.{digits}f}" for end in summary[:3]
        )
        cells.append(f"{value} ({low} to {high})")
    return cells
