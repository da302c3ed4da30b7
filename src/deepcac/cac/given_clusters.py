"""Local classifiers for clusters that were found elsewhere, and their scores: for experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier

from deepcac.cac.cluster import Clustering
from deepcac.cac.local_training import ArrayLike, LocalClassifier
from deepcac.cac.prediction import LocalPrediction
from deepcac.linear.base_classifiers import class_scores
from deepcac.types import Floats

Model = TypeVar("Model", bound=LocalClassifier)


def fit_labels(
    model: Model,
    X: ArrayLike,
    y: ArrayLike,
    labels: ArrayLike,
    start: Sequence[BaseEstimator] = (),
    sample_weight: ArrayLike | None = None,
) -> Model:
    """Fit one classifier per cluster; no row is moved, no cost computed.

    Parameters
    ----------
    model : LocalClassifier
    X, y, labels : array-like of shape (n, d), (n,) and (n,)
        Rows, classes and clusters.
    start : sequence of estimator
        Linear classifiers with ``warm_start`` start from these, the ``estimators_`` of nearly the
        same clusters.
    sample_weight : array-like of shape (n,), optional
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    model._keep(*model._learn_classes(X, y), np.asarray(labels), start, weights)
    return model


def fit_clusters(model: Model, X: ArrayLike, y: ArrayLike, clustering: Clustering) -> Model:
    """Fit one classifier per cluster of what `deepcac.cac.cluster` found for rows `X` (n, d)."""
    fit_labels(model, X, y, clustering.labels)
    model._record(clustering)
    return model


def local_scores(model: LocalPrediction, X: ArrayLike, n_classes: int | None = None) -> Floats:
    """Return the scores of the local classifiers, shape (n, n_classes), as records store them.

    Probabilities with 0 and 1 in a cluster of one class; else decision values with 1 and -1.
    `n_classes` is given where ``classes_`` are ids of which `fit` may have seen only some.
    """
    rows, seen = model._rows(X), len(model.classes_)
    probable = hasattr(model._base(), "predict_proba")

    def ask(j: int, local: Any, members: Floats) -> Floats:
        constant = isinstance(local, DummyClassifier)
        scores = class_scores(local, members, seen, probabilities=probable or constant)
        return 2.0 * scores - 1.0 if constant and not probable else scores

    scores = model._by_cluster(rows, (len(rows), seen), ask)
    if n_classes is None or n_classes == seen:
        return scores
    whole = np.full((len(rows), n_classes), 0.0 if probable else min(-1.0, scores.min()))
    whole[:, model.classes_] = scores
    return whole
