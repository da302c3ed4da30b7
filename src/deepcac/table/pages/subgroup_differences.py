"""How far a model's scores differ between subgroups of patients, and whether chance would do."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from deepcac.pages.wording import p_beside
from deepcac.scoring.bootstrap import SplitScores, poisson_weights, weighted_scores
from deepcac.scoring.resampled_scores import (
    RATIO,
    SLOPE,
    Patients,
    mean_where_defined,
    resampled_benefits,
    risk_scores,
)
from deepcac.scoring.statistics import holm
from deepcac.table.comparison_words import signed
from deepcac.table.held_out_risks import HeldOut
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.subgroups import WITHOUT, Subgroup, levels_of, net_true_positives
from deepcac.types import Array

AUROC, OE, SLOPES, BENEFIT = MEASURES = ("AUROC", "O/E", "slope", "net benefit")
_MOST_DRAWS, _FEWEST_DRAWS, _NUMBERS = 500, 100, 20_000_000


class Gap(NamedTuple):
    """A difference with its 95 % interval; of O/E it is a ratio. `p` is adjusted by Holm 1979."""

    value: float
    low: float
    high: float
    p: float


class SubgroupDifference(NamedTuple):
    """A subgroup and the largest one of its column.

    Attributes
    ----------
    column, name, reference : str
    gaps : dict of str to Gap
        By `MEASURES`.
    """

    column: str
    name: str
    reference: str
    gaps: dict[str, Gap]


class Scored(NamedTuple):
    """Scores of a subgroup by measure: what they are, and in each draw of the patients, (r,).

    Of O/E it is the logarithm.
    """

    value: dict[str, float]
    drawn: dict[str, Array]


def subgroup_differences(
    table: LabelledTable,
    held_out: HeldOut,
    subgroups: Sequence[Subgroup],
    model: str,
    threshold: float,
) -> list[SubgroupDifference]:
    """Compare the subgroups of each column with its largest one.

    Patients are drawn whole, with all their predictions, and are the same in both subgroups of a
    difference; the models stay as they are.

    Parameters
    ----------
    subgroups : sequence of Subgroup
        Those that are shown.
    model : str
        The contender whose risks are judged.
    threshold : float
        Risk from which a patient is treated.
    """
    _, place = np.unique(held_out.patient, return_inverse=True)
    draws = int(np.clip(_NUMBERS // len(held_out.y), _FEWEST_DRAWS, _MOST_DRAWS))
    weights = poisson_weights(int(place.max()) + 1, draws)[place]
    at = np.searchsorted(table.features.row_id, held_out.row)
    scored = {}
    for column in dict.fromkeys(subgroup.column for subgroup in subgroups):
        rows = dict(levels_of(table, column))
        names = [subgroup.name for subgroup in subgroups if subgroup.column == column]
        largest = max(names, key=lambda name: int(rows[name][at].sum()))
        scored[column] = (
            largest,
            {name: _scored(held_out, rows[name][at], model, threshold, weights) for name in names},
        )
    return differences_from_largest(scored)


def differences_from_largest(
    scored: Mapping[str, tuple[str, Mapping[str, Scored]]],
) -> list[SubgroupDifference]:
    """Return every subgroup minus the largest one of its column; all p are one family.

    Parameters
    ----------
    scored : mapping
        Column to the name of its largest subgroup, and the scores of each that is shown, by the
        same draws of the patients.
    """
    pairs, gaps = [], []
    for column, (largest, levels) in scored.items():
        for name in levels:
            if name != largest:
                pairs.append((column, name, largest))
                gaps += [_gap(measure, levels[name], levels[largest]) for measure in MEASURES]
    adjusted = holm([gap.p for gap in gaps])
    differences = [gap._replace(p=float(p)) for gap, p in zip(gaps, adjusted, strict=True)]
    size = len(MEASURES)
    return [
        SubgroupDifference(
            *pair, dict(zip(MEASURES, differences[j * size : (j + 1) * size], strict=True))
        )
        for j, pair in enumerate(pairs)
    ]


def _scored(
    held_out: HeldOut,
    inside: npt.NDArray[np.bool_],
    model: str,
    threshold: float,
    weights: npt.NDArray[np.uint8],
) -> Scored:
    """Score a model on some of the predictions, as they are and in each draw."""
    y, risk, resample = held_out.y[inside], held_out.risk[model][inside], held_out.resample[inside]
    once, drawn = np.ones((len(y), 1), np.uint8), weights[inside]
    both = []
    for counts in (once, drawn):
        whom = Patients(y, risk)
        scores = risk_scores(whom, counts)
        both.append(
            {
                AUROC: _mean_auroc(y, risk, resample, counts),
                OE: np.log(np.maximum(scores[RATIO], 1e-9)),
                SLOPES: scores[SLOPE],
                BENEFIT: 1000 * resampled_benefits(whom, counts, threshold),
            }
        )
    return Scored({name: float(score[0]) for name, score in both[0].items()}, both[1])


def _mean_auroc(
    y: npt.NDArray[np.int64],
    risk: Array,
    resample: npt.NDArray[np.int64],
    counts: npt.NDArray[np.uint8],
) -> Array:
    """Return the AUROC in each draw, shape (r,): the mean of resamples with both outcomes."""
    scores = []
    for j in np.unique(resample):
        rows = np.flatnonzero(resample == j)
        if 0 < y[rows].sum() < len(rows):
            split = SplitScores(rows, y[rows], np.zeros_like(rows), risk[rows])
            scores.append(weighted_scores(split, counts[rows])["auroc"])
    return mean_where_defined(scores)


def _gap(measure: str, ours: Scored, theirs: Scored) -> Gap:
    """Return the difference of a measure, with the normal interval of its bootstrap."""
    value = ours.value[measure] - theirs.value[measure]
    error = float(np.nanstd(ours.drawn[measure] - theirs.drawn[measure], ddof=1))
    half = float(norm.ppf(0.975)) * error
    p = float(2 * norm.sf(abs(value) / error)) if error > 0 else 1.0
    ends = (value, value - half, value + half)
    if measure == OE:
        ends = tuple(float(np.exp(end)) for end in ends)  # type: ignore[assignment]
    return Gap(*ends, p)


def gap_table(
    differences: Sequence[SubgroupDifference], threshold: float, whose: str = WITHOUT
) -> dict[str, Any]:
    """Return head and rows of a table of differences; `whose` as in `net_true_positives`."""
    treated = net_true_positives(threshold, whose)
    return {
        "gap_head": ("subgroup, minus the largest", "AUROC", "O/E, a ratio", "slope", treated),
        "gap_rows": [_gap_cells(difference) for difference in differences],
    }


def _gap_cells(difference: SubgroupDifference) -> tuple[str, ...]:
    digits = {AUROC: 3, SLOPES: 2, BENEFIT: 1}
    cells = []
    for measure, gap in difference.gaps.items():
        value, low, high = (
            f"{end:.2f}" if measure == OE else signed(end, digits[measure]) for end in gap[:3]
        )
        cells.append(f"{value} ({low} to {high}), p {p_beside(gap.p)}")
    return (f"{difference.column} {difference.name} – {difference.reference}", *cells)
