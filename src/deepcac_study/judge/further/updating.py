"""What a plain model does with labels of the target: all predictors beside the source's answer."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from deepcac.types import Array, Ids
from deepcac_study.judge.further.recalibrating import log_loss

PENALTIES = (3000.0, 1000.0, 300.0)  # of all weights, the most cautious first
_FEWEST = 2  # events, so that no fold is without
_FREE = 10.0  # the source's log odds, times this, are hardly penalised


def updated(odds: Array, points: Array, y: Ids, labelled: Ids, fold: Ids) -> Array:
    """Return log odds of all n rows after an update with m labelled ones, at positions `labelled`.

    A ridge logistic regression on the source's log odds and all predictors of the target (`points`,
    (n, q), standardised); folds choose the penalty. Where fewer than two rows have an outcome, the
    source's log odds stay as they are.
    """
    if np.bincount(y, minlength=2).min() < _FEWEST:
        return odds
    X = np.column_stack([_FREE * odds[labelled], points[labelled]])
    best = min(PENALTIES, key=lambda penalty: _loss(X, y, fold, penalty))
    model = _model(best).fit(X, y)
    weights = model.coef_[0]
    return np.asarray(_FREE * weights[0] * odds + points @ weights[1:] + model.intercept_[0])


def _loss(X: Array, y: Ids, fold: Ids, penalty: float) -> float:
    total = 0.0
    for fold_number in np.unique(fold):
        held_out = fold == fold_number
        model = _model(penalty).fit(X[~held_out], y[~held_out])
        total += log_loss(model.decision_function(X[held_out]), y[held_out]).sum()
    return total


def _model(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=1 / penalty, solver="lbfgs", max_iter=300)
