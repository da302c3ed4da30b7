"""Outcomes planted on real rows by subtypes of known worth, and learners that know them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

from deepcac.cac.cluster import kmeans_labels
from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.choice import choose, open_to
from deepcac.judging.questions import Question, pairs
from deepcac.judging.resamples import OUTLIER
from deepcac.judging.trial_record import TrialRecord
from deepcac.preprocess import TableScaler
from deepcac.scoring.calibration import calibration_slope
from deepcac.scoring.censored import FollowUp, censoring_curve, observed_risk
from deepcac.scoring.equivalence import difference, verdict
from deepcac.types import Array, Ids

METRIC = "auroc"
TOLD = "told_"  # before the name of a learner that knows the true subtypes
ORACLE = Question("oracle", "What would the true subtypes give the same learner?")
REVERSED = 3  # columns whose weights point opposite ways in the two subtypes
FOLDS = 5
FEWEST_PLANTED, FEWEST_FOLLOWED = 8, 4  # rows of a class: a comparison refuses fewer, a split too
_DRAWS = 1000
_NOTHING = 1e-9  # spread of a column that is constant in a subtype


@dataclass(frozen=True)
class PlantingGround:
    """Rows on which outcomes are planted.

    `features` have the real label of two classes, `scaled` (n, q) are imputed and standardised.
    `risk` (n,) are log odds of that label by a logistic regression, shrunk to be calibrated on rows
    that it did not see. `subtype` (n,) has the two clusters of k-means, which a clustering finds
    most easily. `share` is that of the real label, weighted for censoring where it is an event by
    the horizon of `follow`.
    """

    features: FeatureMatrix
    scaled: Array
    risk: Array
    subtype: Ids
    share: float
    follow: FollowUp | None = None


def planting_ground(
    features: FeatureMatrix,
    seed: int = 0,
    follow: FollowUp | None = None,
    unit: Ids | None = None,
) -> PlantingGround:
    """Return rows with their risk and two subtypes; rows that are all alike are a `DataError`.

    With `follow` the risk is learnt from the rows whose outcome is known, weighted for censoring.
    `unit` tells whose row each row is: none is predicted by a model of other rows of its patient.
    """
    scaled, model, held_out, labelled, weight = _cross_fitted(features, follow, unit)
    y = features.label[labelled]
    slope = float(np.clip(calibration_slope(y, expit(held_out), weight), 0, 1))
    risk = slope * model.fit(scaled[labelled], y, weight).decision_function(scaled)
    share = float(np.average(y, weights=weight))
    subtype = kmeans_labels(scaled, 2, np.random.RandomState(seed))
    if len(np.unique(subtype)) < 2:
        raise DataError("the rows are all alike, so no subtypes can be planted")
    return PlantingGround(features, scaled, risk, subtype, share, follow)


def _cross_fitted(
    features: FeatureMatrix, follow: FollowUp | None, unit: Ids | None
) -> tuple[Array, LogisticRegression, Array, npt.NDArray[np.intp], Array | None]:
    """Return scaled rows, a logistic regression, and its log odds of rows it was not fitted to.

    With them come the places of the rows whose outcome is known, which the log odds are of, and
    their weights.
    """
    scaled = np.clip(TableScaler().fit_transform(features.X), -OUTLIER, OUTLIER)
    model = LogisticRegression(solver="newton-cholesky", max_iter=500)
    whole = None if follow is None else follow.weights()
    labelled = np.arange(len(scaled)) if whole is None else np.flatnonzero(whole)
    weight = None if whole is None else whole[labelled]
    patient = None if unit is None else unit[labelled]
    folds = FOLDS if patient is None else StratifiedGroupKFold(min(FOLDS, len(np.unique(patient))))
    held_out = cross_val_predict(
        model, scaled[labelled], features.label[labelled], groups=patient, cv=folds,
        method="decision_function", params={"sample_weight": weight},
    )  # fmt: skip
    return scaled, model, held_out, labelled, weight


def held_out_risk(
    features: FeatureMatrix, follow: FollowUp | None = None, unit: Ids | None = None
) -> tuple[Array, float]:
    """Return the risk of each row by a logistic regression of other rows, and its AUROC.

    With `follow` they are of the rows whose outcome at its horizon is known, with `unit` by rows of
    other patients.
    """
    _, _, odds, labelled, weight = _cross_fitted(features, follow, unit)
    auroc = roc_auc_score(features.label[labelled], odds, sample_weight=weight)
    return expit(odds), float(auroc)


def plant(ground: PlantingGround, strength: float, seed: int) -> tuple[FeatureMatrix, float]:
    """Draw outcomes that depend on the subtype, as frequent as the real one.

    `strength` is the log odds ratio of a standard deviation of a sum of `REVERSED` columns: plus
    this in one subtype, minus this in the other. It is added to the risk of the real label.

    Returned are the rows with the planted label, and the AUROC that knowing the subtype adds to a
    logistic regression of these columns, both fitted to the true risks, so that it is free of
    chance. A draw that leaves fewer than `FEWEST_PLANTED` rows of a class, of which the real label
    has more, is made again: a comparison would not take such a table.
    """
    rng = np.random.default_rng([seed, 41])
    sign = 2.0 * ground.subtype - 1.0
    odds = ground.risk + strength * sign * _direction(ground, rng)
    middle = brentq(lambda shift: expit(odds + shift).mean() - ground.share, -50, 50)
    true = expit(odds + middle)
    fewest = min(FEWEST_PLANTED, *np.bincount(ground.features.label, minlength=2))
    for _ in range(_DRAWS):
        label = (rng.random(len(true)) < true).astype(np.int64)
        if min(np.bincount(label, minlength=2)) >= fewest:
            break
    gain = _gain(ground, true) if strength else 0.0
    return replace(ground.features, label=label), gain


def planted_follow_up(follow: FollowUp, label: Ids, seed: int) -> FollowUp:
    """Return follow-up of planted events by the horizon, censored as the real one is.

    Times to the event are drawn from the real ones, times to censoring from their Kaplan-Meier
    curve. Of patients without the event as many have a competing event first as in the real table.
    A draw in which fewer than `FEWEST_FOLLOWED` have the event by the horizon is made again.
    """
    rng = np.random.default_rng([seed, 43])
    for _ in range(_DRAWS):
        planted = _followed(follow, label, rng)
        if planted.outcome.sum() >= FEWEST_FOLLOWED:
            break
    return planted


def _followed(follow: FollowUp, label: Ids, rng: np.random.Generator) -> FollowUp:
    n, horizon = len(label), follow.horizon
    rival = follow.other if follow.other is not None else np.zeros(n, np.bool_)
    inside = follow.time <= horizon
    event = np.where(label == 1, rng.choice(follow.time[follow.event & inside], n), np.inf)
    other = np.full(n, np.inf)
    if (rival & inside).any():
        risks = [observed_risk(FollowUp(follow.time, *kind)) for kind in (
            (follow.event, horizon, rival), (rival, horizon, follow.event),
        )]  # fmt: skip
        often = risks[1][0] / (1 - risks[0][0])
        drawn = (label == 0) & (rng.random(n) < often)
        other[drawn] = rng.choice(follow.time[rival & inside], int(drawn.sum()))
    curve = censoring_curve(follow.time, follow.ended)
    place = np.searchsorted(-curve.survival, -rng.random(n), side="left")
    lost = np.append(curve.time, np.inf)[place]
    first = np.minimum(event, other)
    time = np.minimum(np.minimum(first, lost), 2 * horizon)
    seen = first <= lost
    return FollowUp(
        time, seen & (event < np.inf), horizon,
        None if follow.other is None else seen & (other < np.inf),
    )  # fmt: skip


def _direction(ground: PlantingGround, rng: np.random.Generator) -> Array:
    """Return a sum of some columns, with mean 0 and variance 1 inside each subtype."""
    columns = np.empty_like(ground.scaled)
    for cluster_id in (0, 1):
        members = ground.subtype == cluster_id
        part = ground.scaled[members]
        spread = part.std(axis=0)
        columns[members] = np.where(
            spread > _NOTHING, (part - part.mean(axis=0)) / np.maximum(spread, _NOTHING), 0.0
        )
    varied = np.flatnonzero(columns.any(axis=0))
    total = columns[:, rng.choice(varied, min(REVERSED, len(varied)), replace=False)].sum(axis=1)
    for cluster_id in (0, 1):
        members = ground.subtype == cluster_id
        total[members] /= max(total[members].std(), _NOTHING)
    return total


def _gain(ground: PlantingGround, true: Array) -> float:
    second = ground.subtype[:, None].astype(np.float64)
    design = np.hstack([ground.scaled, second, ground.scaled * second])
    return _best_auroc(design, true) - _best_auroc(ground.scaled, true)


def _best_auroc(X: Array, true: Array) -> float:
    """Return the expected AUROC of the logistic regression that is fitted to true risks."""
    y, weight = np.repeat([0, 1], len(X)), np.concatenate([1 - true, true])
    model = LogisticRegression(solver="newton-cholesky", max_iter=500)
    odds = model.fit(np.tile(X, (2, 1)), y, weight).decision_function(X)
    return float(roc_auc_score(y, np.tile(odds, 2), sample_weight=weight))


def with_true_subtype(matrix: FeatureMatrix, subtype: Ids) -> FeatureMatrix:
    """Return rows with their true subtype as a column, and each column in the second alone.

    A line fitted on these has its own weights in each subtype.
    """
    second = (subtype == subtype.max())[:, None]
    names = ("true subtype", *(f"{name} in the second subtype" for name in matrix.names))
    X = np.hstack([matrix.X, second.astype(np.float64), np.where(second, matrix.X, 0.0)])
    return replace(matrix, X=X, names=(*matrix.names, *names))


def planted_comparisons(
    records: Mapping[str, TrialRecord], questions: Sequence[Question], margin: float
) -> list[dict[str, Any]]:
    """Return how each comparison on a planted cohort ended, by the given questions and `ORACLE`.

    Records (`trials.judge_rows`) are by contender; the name of one that knows the subtypes starts
    with `TOLD`. A row has ``question``, ``contender``, ``reference``, ``mean`` difference, ``p``
    and ``verdict`` at a test of its own.
    """
    contenders = sorted(name for name in records if not name.startswith(TOLD))
    asked = [(question, *pair) for question in questions for pair in pairs(question, contenders)]
    asked += [(ORACLE, TOLD + name, name) for name in contenders if TOLD + name in records]
    comparisons = []
    for question, name, reference in asked:
        ours = choose(open_to(records, name), question.choice, METRIC).scores
        theirs = choose(open_to(records, reference), question.reference_choice, METRIC).scores
        estimate = difference(ours - theirs, test_share=records[name].test_share, margin=margin)
        comparisons.append(
            {
                "question": question.id,
                "contender": name,
                "reference": reference,
                "mean": round(estimate.mean, 5),
                "p": round(estimate.p, 7),
                "verdict": verdict(estimate, estimate.p, estimate.p_equivalent),
            }
        )
    return comparisons
