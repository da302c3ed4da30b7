"""Risks in several places: scores pooled over them, calibration and net benefit in each."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from scipy import stats

from deepcac.pages.figures import Figure
from deepcac.scoring.calibration import calibration_curve, recalibrated
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.resampled_scores import (
    AUROC,
    RATIO,
    SLOPE,
    Estimate,
    Patients,
    perfect_ranking,
    resampled_benefits,
    scaled,
    unscaled,
)
from deepcac.table.pages.risk_pictures import (
    MOST_PANELS,
    calibration_lines,
    decision_lines,
    draw_calibration,
    draw_decision,
    panels,
)
from deepcac.types import Array

AS_THEY_ARE, REFITTED, TREAT_ALL = "risks as they are", "risks recalibrated", "treat all"
POOLED = (AUROC, RATIO, SLOPE)
_POINTS = 25  # of a curve


class PlaceRisks(NamedTuple):
    """Patients of a place, and how well their risks are.

    Attributes
    ----------
    name : str
    patients : Patients
    unit : ndarray of shape (n,) or None
        Whose row each is; None where each row is a patient.
    scores : dict of str to Estimate
        By `deepcac.scoring.resampled_scores.SCORES`.
    """

    name: str
    patients: Patients
    unit: npt.NDArray[Any] | None
    scores: Mapping[str, Estimate]


class Spread(NamedTuple):
    """A score over places: its mean with a 95 % interval, and where that of a new place lies."""

    mean: float
    low: float
    high: float
    new_low: float
    new_high: float


def over_sites(places: Sequence[PlaceRisks], name: str) -> Spread | None:
    """Pool a score over places by random effects; None of fewer than two.

    The log odds of the AUROC are pooled, the log of O/E, and the slope itself (Snell et al. 2018).
    """
    if len(places) < 2:
        return None
    values, errors = zip(*(_scaled_score(place, name) for place in places), strict=True)
    pooled = pool_sites(list(values), list(errors))
    half = float(stats.t.ppf(0.975, pooled.freedom)) * pooled.error
    ends = (pooled.mean, pooled.mean - half, pooled.mean + half, pooled.new_low, pooled.new_high)
    return Spread(*unscaled(name, np.array(ends)).tolist())


def _scaled_score(place: PlaceRisks, name: str) -> tuple[float, float]:
    """Return a score of a place, on its `scaled` form, and its error."""
    score = place.scores[name]
    if name == AUROC and score.value >= 1:
        return perfect_ranking(*np.bincount(place.patients.labelled, minlength=2)[::-1].tolist())
    return float(scaled(name, np.array(score.value))), max(score.error, 1e-9)


def mended(whom: Patients) -> Patients:
    """Return the patients with risks whose intercept and slope are refitted on them."""
    weight = None if whom.follow is None else whom.follow.weights()
    return whom._replace(risk=recalibrated(whom.y, whom.risk, weight).risk)


def treatments(whom: Patients, updated: Patients | None = None) -> dict[str, Patients]:
    """Return whom to treat by what: by their risks, by updated ones, everybody."""
    named = {AS_THEY_ARE: whom} | ({} if updated is None else {REFITTED: updated})
    return named | {TREAT_ALL: whom._replace(risk=np.ones(len(whom.y)))}


def benefit_curves(named: Mapping[str, Patients], thresholds: Array) -> dict[str, Array]:
    """Return threshold and net benefit (2, T) of each treatment, and of treating nobody."""
    lines = {
        what: np.vstack([thresholds, [_benefit(whom, float(t)) for t in thresholds]])
        for what, whom in named.items()
    }
    return lines | {"treat none": np.vstack([thresholds, 0 * thresholds])}


def _benefit(whom: Patients, threshold: float) -> float:
    return float(resampled_benefits(whom, np.ones((len(whom.y), 1)), threshold)[0])


def calibration_panels(places: Sequence[PlaceRisks], event: str, *, mend: bool = True) -> Figure:
    """Draw smooth calibration curves, with `mend` also after recalibration, a panel per place."""
    curves = {}
    for place in places[:MOST_PANELS]:
        whom = place.patients
        patient = np.arange(len(whom.y)) if place.unit is None else place.unit
        weight = None if whom.follow is None else whom.follow.weights()
        named = {AS_THEY_ARE: whom} | ({REFITTED: mended(whom)} if mend else {})
        curves[place.name] = {
            what: calibration_curve(whom.y, patients.risk, patient, weight)
            for what, patients in named.items()
        }

    def panel(axis: Axes, name: str) -> None:
        draw_calibration(axis, curves[name])
        axis.set(ylim=(0, 1), ylabel="observed share")

    size, draw = panels(list(curves), panel)
    how = ": the risks as they are, and with intercept and slope refitted on the same patients"
    return Figure(
        id="place_calibration",
        title="Are the risks right there?",
        caption=f"Share of {event} at each predicted risk, with a pointwise 95 % interval"
        f"{how * mend}. On the dotted line risks are right.{_only(places)}",
        section="places",
        size=size,
        draw=draw,
        head=("place", "risks", "risk", "observed", "low", "high"),
        data=[(name, *line) for name, drawn in curves.items() for line in calibration_lines(drawn)],
    )


def benefit_panels(places: Sequence[PlaceRisks], ends: Array) -> Figure:
    """Draw net benefit between thresholds before and after recalibration, a panel per place."""
    grid = np.linspace(ends[0], ends[-1], _POINTS)
    lines = {
        place.name: benefit_curves(treatments(place.patients, mended(place.patients)), grid)
        for place in places[:MOST_PANELS]
    }
    size, draw = panels(list(lines), lambda axis, name: draw_decision(axis, lines[name]))
    return Figure(
        id="place_benefit",
        title="Is acting on the risks worth it there?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        f"the threshold, per patient.{_only(places)}",
        section="places",
        size=size,
        draw=draw,
        head=("place", "treated_by", "threshold", "net_benefit"),
        data=[(name, *point) for name, drawn in lines.items() for point in decision_lines(drawn)],
    )


def _only(places: Sequence[PlaceRisks]) -> str:
    if len(places) <= MOST_PANELS:
        return ""
    return f" The {MOST_PANELS} largest of {len(places)} places are drawn."
