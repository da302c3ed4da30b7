"""Scores of validated risks: of all patients, by site, and after updates."""

import numpy as np

from deepcac.scoring.calibration import calibration_intercept, log_odds, recalibrated
from deepcac.scoring.resampled_scores import (
    AUROC,
    ICI,
    SLOPE,
    Estimate,
    Patients,
    index_interval,
    score_intervals,
)
from deepcac.table.choice_folds import patient_folds
from deepcac.table.pages.score_tables import Place
from deepcac.table.pages.subgroups import levels_of
from deepcac.table.predictions import Predictions
from deepcac.table.risk_model import RiskModel, refitted
from deepcac.table.second_table import FEWEST_TO_JUDGE
from deepcac.table.validation.validated_risks import Validated
from deepcac.types import Array

FOLDS = 10
NONE, INTERCEPT_ONLY, BOTH, REFIT = (
    "none", "intercept", "intercept and slope", "all coefficients",
)  # fmt: skip
_INDEX_DRAWS = 200  # a fit of the curve in each
_NO_NUMBER = float("nan")

Scores = dict[str, Estimate]


def event_scores(predictions: Predictions) -> Scores:
    """Return all scores of one event.

    Equal risks have no slope, and an AUROC without an interval; a perfect ranking has no slope.
    """
    (name,) = predictions.risk
    whom, draws = predictions.of(name), predictions.draws
    scores = score_intervals(whom, draws)
    scores[ICI] = index_interval(whom, draws[:, :_INDEX_DRAWS])
    equal = np.ptp(whom.risk) == 0
    if equal:
        scores[AUROC] = Estimate(scores[AUROC].value, *[_NO_NUMBER] * 3)
    if equal or scores[AUROC].value in (0, 1):
        scores[SLOPE] = Estimate(*[_NO_NUMBER] * 4)
    return scores


def site_places(validated: Validated) -> tuple[dict[str, Place], list[str]]:
    """Return sites with ten rows of each outcome, the largest first, and the names of the others.

    None of an outcome of more than two classes.
    """
    if validated.site is None or len(validated.predictions) > 1:
        return {}, []
    (predictions,) = validated.predictions.values()
    places, few = {}, []
    for name, inside in levels_of(validated.table, validated.site):
        part = predictions.take(inside)
        if part.outcomes.min() < FEWEST_TO_JUDGE:
            few.append(name)
            continue
        whom = part.of(validated.source.name)
        scores = score_intervals(whom, predictions.draws[inside])
        places[name] = Place(part, scores)
    ordered = sorted(places, key=lambda name: -places[name].predictions.rows)
    return {name: places[name] for name in ordered}, few


def updates(validated: Validated) -> dict[str, Scores]:
    """Return scores of updated risks of patients on whom the update was not fitted.

    Of two classes.
    """
    (predictions,) = validated.predictions.values()
    whom = predictions.of(validated.source.name)
    risks = updated_risks(validated, whom)
    return {
        name: score_intervals(whom._replace(risk=risk), predictions.draws)
        for name, risk in risks.items()
    }


def updated_risks(validated: Validated, whom: Patients) -> dict[str, Array]:
    """Return risks after each kind of update, fitted in ten folds on the other patients.

    The update "all coefficients" is that of a logistic regression of `deepcac fit`, with splines or
    without, whose columns, knots, clusters and penalty stay.
    """
    risks = {NONE: whom.risk} | {name: np.empty(len(whom.y)) for name in (INTERCEPT_ONLY, BOTH)}
    model, X = validated.source.model, validated.X
    for test in patient_folds(whom.y, validated.table.group, FOLDS, 0):
        train = np.setdiff1d(np.arange(len(whom.y)), test)
        part, given = whom.take(train), whom.risk[test]
        weight = np.ones(len(train)) if part.follow is None else part.follow.weights()
        shift = calibration_intercept(part.y, part.risk, weight)
        risks[INTERCEPT_ONLY][test] = 1 / (1 + np.exp(-log_odds(given) - shift))
        risks[BOTH][test] = recalibrated(part.y, part.risk, weight).of(given)
        if isinstance(model, RiskModel) and not model.boosted and X is not None:
            labelled = weight > 0
            learnt = refitted(model, X[train][labelled], part.y[labelled], weight[labelled])
            refits = risks.setdefault(REFIT, np.empty(len(whom.y)))
            refits[test] = learnt.answers(X[test])[0][:, 1]
    return risks
