"""Scores of validated risks: of all patients, at thresholds, by site, and after updates."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from deepcac.judging.draws import units
from deepcac.scoring.calibration import calibration_intercept, log_odds, recalibrated
from deepcac.scoring.censored import observed_risk
from deepcac.scoring.resampled_scores import (
    AUROC,
    ICI,
    SLOPE,
    Estimate,
    Patients,
    estimate,
    index_interval,
    patient_draws,
    resampled_benefits,
    score_intervals,
)
from deepcac.table.elsewhere.folds import FEWEST_TO_JUDGE
from deepcac.table.pages.place_pictures import PlaceRisks, over_sites
from deepcac.table.pages.subgroups import levels_of
from deepcac.table.risk_model import RiskModel, refitted
from deepcac.table.validation.validated_risks import Validated
from deepcac.types import Array, Flags

FOLDS = 10
FEWEST_TO_POOL = 5  # sites; of fewer the spread between sites is hardly known
NONE, INTERCEPT_ONLY, BOTH, REFIT = (
    "none", "intercept", "intercept and slope", "all coefficients",
)  # fmt: skip
_INDEX_DRAWS = 200  # a fit of the curve in each
_NO_NUMBER = float("nan")

Scores = dict[str, Estimate]
Learn = Callable[[npt.NDArray[np.intp], npt.NDArray[np.intp]], Array]


class Benefit(NamedTuple):
    """Net benefit at a threshold: a patient, of the largest one, and of treating everybody."""

    threshold: float
    value: Estimate
    standardised: Estimate
    everybody: Estimate


class Validation:
    """The scores of validated risks, each made when it is first asked for.

    Parameters
    ----------
    validated : Validated
    """

    def __init__(self, validated: Validated) -> None:
        self.validated = validated
        self.draws = patient_draws(validated.unit)

    @cached_property
    def scores(self) -> dict[str, Scores]:
        """Scores by event."""
        return {
            event: patient_scores(whom, self.draws)
            for event, whom in self.validated.patients.items()
        }

    @cached_property
    def share(self) -> float:
        """Share of the (first) event: at a horizon the estimated risk of it."""
        whom = next(iter(self.validated.patients.values()))
        return float(whom.y.mean()) if whom.follow is None else observed_risk(whom.follow)[0]

    def benefits(self, thresholds: Array) -> list[Benefit]:
        """Return the net benefit at thresholds (T,) of two classes."""
        (whom,) = self.validated.patients.values()
        counts = np.hstack([np.ones((len(whom.y), 1), np.uint8), self.draws])
        everybody = whom._replace(risk=np.ones(len(whom.y)))
        share = (whom.y @ whom.weights(counts)) / counts.sum(axis=0, dtype=np.float64)
        largest = np.where(share > 0, share, np.nan)
        benefits = []
        for t in thresholds.tolist():
            drawn, of_all = (resampled_benefits(who, counts, t) for who in (whom, everybody))
            benefits.append(Benefit(t, *map(_estimate, (drawn, drawn / largest, of_all))))
        return benefits

    @cached_property
    def places(self) -> tuple[list[PlaceRisks], list[str]]:
        """Sites with ten rows of each outcome, the largest first, and the names of the others."""
        validated = self.validated
        if validated.site is None or len(validated.patients) > 1:
            return [], []
        (whom,) = validated.patients.values()
        places, few = [], []
        for name, inside in levels_of(validated.table, validated.site):
            if np.bincount(whom.take(inside).labelled, minlength=2).min() < FEWEST_TO_JUDGE:
                few.append(name)
                continue
            patients = whom.take(inside)
            scores = score_intervals(patients, self.draws[inside])
            places.append(PlaceRisks(name, patients, validated.unit[inside], scores))
        return sorted(places, key=lambda place: -len(place.patients.y)), few

    def over_places(self, name: str) -> Any:
        """Return a score pooled over sites; None of fewer than five."""
        places, _ = self.places
        return over_sites(places, name) if len(places) >= FEWEST_TO_POOL else None

    @cached_property
    def updates(self) -> dict[str, Scores]:
        """Scores of updated risks of patients on whom the update was not fitted; of two classes."""
        (whom,) = self.validated.patients.values()
        risks = updated_risks(self.validated, whom)
        return {
            name: score_intervals(whom._replace(risk=risk), self.draws)
            for name, risk in risks.items()
        }


def patient_scores(whom: Patients, draws: npt.NDArray[Any]) -> Scores:
    """Return all scores of patients.

    Equal risks have no slope, and an AUROC without an interval; a perfect ranking has no slope.
    """
    scores = score_intervals(whom, draws)
    scores[ICI] = index_interval(whom, draws[:, :_INDEX_DRAWS])
    equal = np.ptp(whom.risk) == 0
    if equal:
        scores[AUROC] = Estimate(scores[AUROC].value, *[_NO_NUMBER] * 3)
    if equal or scores[AUROC].value in (0, 1):
        scores[SLOPE] = Estimate(*[_NO_NUMBER] * 4)
    return scores


def _estimate(drawn: Array) -> Estimate:
    return estimate("", float(drawn[0]), drawn[1:])


def updated_risks(validated: Validated, whom: Patients) -> dict[str, Array]:
    """Return risks after each kind of update, fitted in ten folds on the other patients.

    The update "all coefficients" is that of a logistic regression of `deepcac fit`, with splines or
    without, whose columns, knots, clusters and penalty stay.
    """
    ways: dict[str, Learn] = {
        INTERCEPT_ONLY: lambda train, test: _shifted(whom, train, test),
        BOTH: lambda train, test: _mended(whom, train, test),
    }
    model, X = validated.source.model, validated.X
    if isinstance(model, RiskModel) and not model.boosted and X is not None:
        ways[REFIT] = lambda train, test: _refitted(model, X, whom, train, test)
    risks = {NONE: whom.risk} | {name: np.empty(len(whom.y)) for name in ways}
    for train, test in _folds(validated, whom):
        for name, learn in ways.items():
            risks[name][test] = learn(train, test)
    return risks


def _folds(
    validated: Validated, whom: Patients
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Return rows to fit and rows to judge; rows of a patient stay together."""
    label, place = units(whom.y, validated.table.group)
    parts = min(FOLDS, int(np.unique(label, return_counts=True)[1].min()))
    folds = StratifiedKFold(parts, shuffle=True, random_state=0)
    rows = np.arange(len(label))[place]
    return [
        (np.flatnonzero(~inside), np.flatnonzero(inside))
        for _, test in folds.split(label, label)
        for inside in [np.isin(rows, test)]
    ]


def _weighted(whom: Patients, train: npt.NDArray[np.intp]) -> tuple[Patients, Array, Flags]:
    """Return patients to fit on, how many each stands for, and who stands for any."""
    part = whom.take(train)
    weight = np.ones(len(train)) if part.follow is None else part.follow.weights()
    return part, weight, weight > 0


def _shifted(whom: Patients, train: npt.NDArray[np.intp], test: npt.NDArray[np.intp]) -> Array:
    part, weight, _ = _weighted(whom, train)
    shift = calibration_intercept(part.y, part.risk, weight)
    return np.asarray(1 / (1 + np.exp(-log_odds(whom.risk[test]) - shift)))


def _mended(whom: Patients, train: npt.NDArray[np.intp], test: npt.NDArray[np.intp]) -> Array:
    part, weight, _ = _weighted(whom, train)
    return recalibrated(part.y, part.risk, weight).of(whom.risk[test])


def _refitted(
    model: RiskModel,
    X: Array,
    whom: Patients,
    train: npt.NDArray[np.intp],
    test: npt.NDArray[np.intp],
) -> Array:
    part, weight, labelled = _weighted(whom, train)
    learnt = refitted(model, X[train][labelled], part.y[labelled], weight[labelled])
    return learnt.answers(X[test])[0][:, 1]
