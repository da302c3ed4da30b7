"""A logistic regression, or class shares, as a plane of the log odds."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from deepcac.judging.fitting import FEWEST
from deepcac.table.coarse_states import coarse_counts
from deepcac.types import Array, Ids


@dataclass(frozen=True)
class Plane:
    """A fitted logistic regression, or the class shares where none can be had.

    Attributes
    ----------
    coef : ndarray of shape (c, q)
        One row for two classes, else one per class; zeros for shares.
    intercept : ndarray of shape (c,)
    """

    coef: Array
    intercept: Array

    def probability(self, X: Array) -> Array:
        """Return probabilities of shape (n, n_classes)."""
        return class_probabilities(X @ self.coef.T + self.intercept)


def class_probabilities(scores: Array) -> Array:
    """Return the probabilities (n, n_classes) of log odds: one column of them for two classes."""
    if scores.shape[1] == 1:
        return np.hstack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))


def constant_scores(y: Ids, overall: Array) -> Array | None:
    """Return the log odds of rows that are too few for a model; None where they are not.

    They are the class shares, smoothed by those of all rows (n_classes,).
    """
    counts = np.bincount(y, minlength=len(overall))
    if len(y) >= FEWEST and counts.min() >= 2:
        return None
    coarse = coarse_counts(counts)
    scores = np.log((coarse + overall) / (coarse.sum() + 1))
    return np.asarray(scores[1:] - scores[:1] if len(overall) == 2 else scores)


def fit_plane(X: Array, y: Ids, weight: Array, overall: Array, C: float) -> Plane:
    """Fit one cluster; its class shares (`constant_scores`) where a model cannot be had."""
    scores = constant_scores(y, overall)
    if scores is not None:
        return Plane(np.zeros((len(scores), X.shape[1])), scores)
    model = LogisticRegression(C=C, max_iter=1000).fit(X, y, sample_weight=weight)
    return Plane(model.coef_, model.intercept_)
