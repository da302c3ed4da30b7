"""What the classifiers of the clusters say of new rows: nearest centroid, then its classifier."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from deepcac.base_classifiers import class_scores

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _base_has(method: str) -> Any:
    def check(self: "LocalPrediction") -> bool:
        return hasattr(self._base(), method)

    return available_if(check)


class LocalPrediction:
    """Prediction by the classifier of the nearest centroid (CAC v1, section 5.4).

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (k, d)
    estimators_ : list of estimator
        The fitted classifier of each cluster, on class ids.
    classes_ : ndarray of shape (n_classes,)
    """

    base_estimator: Any
    cluster_centers_: Floats
    estimators_: list[Any]
    classes_: npt.NDArray[Any]

    def _base(self) -> Any:
        if self.base_estimator is None:
            return LogisticRegression(max_iter=1000)
        return self.base_estimator

    def assign(self, X: npt.ArrayLike) -> Ints:
        """Return the nearest cluster of each row of `X` (n, d) (CAC v1 section 5.4)."""
        return self._nearest(self._rows(X))

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the class of each row of `X` (n, d)."""
        rows = self._rows(X)
        return self.classes_[self._local_predict(rows)]

    @_base_has("predict_proba")
    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return class probabilities of shape (n, n_classes), row by row in the order of `X`."""
        return self._scores(self._rows(X))

    @_base_has("decision_function")
    def decision_function(self, X: npt.ArrayLike) -> Floats:
        """Return decision values, (n,) for two classes, else (n, n_classes).

        The constant classifier of a one-class cluster has 1 for its class and -1 for others.
        """
        rows = self._rows(X)
        scores = self._by_cluster(rows, (len(rows), len(self.classes_)), self._decision)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _rows(self, X: npt.ArrayLike) -> Floats:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _nearest(self, X: Floats) -> Ints:
        return pairwise_distances_argmin(self._space(X), self.cluster_centers_).astype(np.int64)

    def _space(self, X: Floats) -> Floats:
        """Return the rows as the clusters see them."""
        return X

    def _decision(self, model: Any, X: Floats) -> Floats:
        if isinstance(model, DummyClassifier):
            return 2.0 * class_scores(model, X, len(self.classes_)) - 1.0
        return class_scores(model, X, len(self.classes_), probabilities=False)

    def _scores(self, X: Floats) -> Floats:
        n_classes = len(self.classes_)
        return self._by_cluster(
            X, (len(X), n_classes), lambda model, rows: class_scores(model, rows, n_classes)
        )

    def _local_predict(self, X: Floats) -> Ints:
        codes = self._by_cluster(X, (len(X),), lambda model, rows: model.predict(rows))
        return codes.astype(np.int64)

    def _by_cluster(self, X: Floats, shape: tuple[int, ...], ask: Any) -> Floats:
        """Ask each cluster's classifier about its own rows, and put the answers in place."""
        nearest = self._nearest(X)
        answers = np.empty(shape)
        for j, model in enumerate(self.estimators_):
            rows = np.flatnonzero(nearest == j)
            if len(rows):
                answers[rows] = ask(model, X[rows])
        return answers
