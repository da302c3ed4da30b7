"""Prediction of new rows: by the classifier of the nearest centroid."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from deepcac.linear.base_classifiers import check_answers, class_log_odds, class_scores
from deepcac.numeric_table import check_table
from deepcac.threads import few_threads
from deepcac.types import Floats, Ints

ArrayLike = npt.ArrayLike
_FAR = 1e3  # distances to the origin by distances between centroids


def _base_has(*methods: str) -> Any:
    """Make a method available if the base estimator has one of `methods`."""

    def check(self: LocalPrediction) -> bool:
        return any(hasattr(self._base(), method) for method in methods)

    return available_if(check)


class LocalPrediction(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Prediction by the classifier of the nearest centroid (CAC v1, section 5.4).

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (k, d)
    estimators_ : list of estimator
        The fitted classifier of each cluster, on class ids.
    classes_ : ndarray of shape (n_classes,)
    class_counts_ : ndarray of shape (k, n_classes)
    """

    base_estimator: Any
    cluster_centers_: Floats
    estimators_: list[Any]
    classes_: npt.NDArray[Any]
    class_counts_: Ints

    def assign(self, X: ArrayLike) -> Ints:
        """Return the nearest cluster of each row of `X` (n, d) (CAC v1 section 5.4)."""
        return self._nearest(self._rows(X))

    def transform(self, X: ArrayLike) -> Floats:
        """Return the distance of each row of `X` (n, d) to each centroid, shape (n, k)."""
        return euclidean_distances(*self._near_origin(self._rows(X)))

    def predict(self, X: ArrayLike) -> npt.NDArray[Any]:
        """Return the class of each row of `X` (n, d)."""
        rows = self._rows(X)
        return self.classes_[self._local_predict(rows)]

    @_base_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return class probabilities of shape (n, n_classes).

        A cluster of n rows of one class gives it (n + 1) / (n + n_classes): its shares with one
        row more of each class.
        """
        return self._scores(self._rows(X))

    @_base_has("decision_function", "predict_proba")
    def decision_function(self, X: ArrayLike) -> Floats:
        """Return log-odds, (n,) of the second of two classes, else (n, n_classes).

        They rank rows as `predict_proba` does. The decision values of a base classifier without
        probabilities are taken for log-odds.
        """
        rows = self._rows(X)
        if hasattr(self._base(), "predict_proba"):
            return class_log_odds(self._scores(rows))
        values = self._by_cluster(rows, (len(rows), len(self.classes_)), self._decision)
        return values[:, 1] if len(self.classes_) == 2 else values

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _base(self) -> Any:
        if self.base_estimator is None:
            return LogisticRegression(max_iter=1000)
        return self.base_estimator

    def _rows(self, X: ArrayLike) -> Floats:
        """Return the rows, checked against the fitted table."""
        check_is_fitted(self)
        return check_table(self, X, reset=False)

    def _nearest(self, X: Floats) -> Ints:
        """Return the cluster whose centre is nearest to each row."""
        with few_threads(X, len(self.cluster_centers_)):
            return pairwise_distances_argmin(*self._near_origin(X)).astype(np.int64)

    def _near_origin(self, X: Floats) -> tuple[Floats, Floats]:
        """Return rows and centroids, both centred where squares would lose digits otherwise."""
        rows, centres = self._space(X), self.cluster_centers_
        middle = centres.mean(axis=0)
        if np.linalg.norm(middle) <= _FAR * np.linalg.norm(centres - middle):
            return rows, centres
        return rows - middle, centres - middle

    def _space(self, X: Floats) -> Floats:
        """Return the rows as the clusters see them."""
        return X

    def _smoothed(self, j: int) -> Floats:
        """Return the shares of the classes in cluster j with one row more of each."""
        counts = self.class_counts_[j] + 1.0
        return counts / counts.sum()

    def _decision(self, j: int, model: Any, X: Floats) -> Floats:
        """Return log-odds (n, classes) by cluster j; no class that j lacks beats the others."""
        counts = self.class_counts_[j] + 1.0
        odds = np.log(counts) - np.log(counts.sum() - counts)
        if isinstance(model, DummyClassifier):
            return np.tile(odds, (len(X), 1))
        values = model.decision_function(X)
        if values.ndim == 1:
            values = np.column_stack([-values, values])
        scores = np.minimum(odds, values.min(axis=1, keepdims=True))
        scores[:, np.asarray(model.classes_, dtype=np.int64)] = values
        return scores

    def _scores(self, X: Floats) -> Floats:
        """Return scores (n, classes), each row's by the classifier of its cluster."""
        width = len(self.classes_)

        def ask(j: int, model: Any, rows: Floats) -> Floats:
            if isinstance(model, DummyClassifier):
                return np.tile(self._smoothed(j), (len(rows), 1))
            return class_scores(model, rows, width)

        return self._by_cluster(X, (len(X), width), ask)

    def _local_predict(self, X: Floats) -> Ints:
        codes = self._by_cluster(X, (len(X),), lambda j, model, rows: model.predict(rows))
        return codes.astype(np.int64)

    def _by_cluster(self, X: Floats, shape: tuple[int, ...], ask: Any) -> Floats:
        """Return ``ask(cluster, classifier, rows)`` of each cluster's nearest rows, in row order.

        `shape` is that of all answers; one that is not finite is an error (`check_answers`).
        """
        nearest = self._nearest(X)
        answers = np.empty(shape)
        for j, model in enumerate(self.estimators_):
            rows = np.flatnonzero(nearest == j)
            if len(rows):
                answers[rows] = ask(j, model, X[rows])
        check_answers(answers)
        return answers
