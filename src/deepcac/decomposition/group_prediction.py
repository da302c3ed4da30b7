"""Prediction of new rows by a classifier of groups, which are mapped back to classes."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from deepcac.decomposition.mixtures.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.mixtures.validation import check_rows
from deepcac.linear.base_classifiers import check_answers, class_log_odds
from deepcac.types import Floats, Ints


def _has_probabilities(self: "GroupPrediction") -> bool:
    return hasattr(self._base(), "predict_proba")


def _has_scores(self: "GroupPrediction") -> bool:
    """Return whether the base estimator has decisions or probabilities."""
    return hasattr(self._base(), "decision_function") or _has_probabilities(self)


class GroupPrediction(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Prediction by groups that are mapped back to classes (Vilalta, Achari & Eick 2003, 3.4).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimator_ : classifier
        Classifier of the groups, which are numbered from 0, class by class.
    """

    base_estimator: Any
    classes_: npt.NDArray[Any]
    estimator_: Any
    _class_of_group: Ints

    def assign(self, X: Any) -> Ints:
        """Return the group that the base estimator predicts for each row of `X` (n, d)."""
        rows = self._rows(X)
        return np.asarray(self.estimator_.predict(rows), dtype=np.int64)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of the group that the base estimator predicts (section 3.4)."""
        groups = self.assign(X)
        return self.classes_[self._class_of_group[groups]]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities (n, n_classes): the sums over the groups of each class."""
        return self._of_groups(self._rows(X)) @ np.eye(len(self.classes_))[self._class_of_group]

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> Floats:
        """Return log-odds of `predict_proba`, (n,) for two classes, else (n, n_classes).

        A base without probabilities gives the highest value among the groups of each class; of
        two classes the second less the first.
        """
        if _has_probabilities(self):
            return class_log_odds(self.predict_proba(X))
        rows = self._rows(X)
        if len(self._class_of_group) == 2:
            values = np.asarray(self.estimator_.decision_function(rows), dtype=np.float64)
            check_answers(values)
            return values
        values = self._of_groups(rows)
        best = [values[:, self._class_of_group == j].max(axis=1) for j in range(len(self.classes_))]
        return best[1] - best[0] if len(best) == 2 else np.column_stack(best)

    def transform(self, X: Any) -> Floats:
        """Return the base estimator's scores of each group, shape (n, n_groups).

        Probabilities if it has them, else decision values, else 1 for the group it predicts.
        """
        return self._of_groups(self._rows(X))

    @property
    def _n_features_out(self) -> int:
        return len(self._class_of_group)

    def _of_groups(self, rows: Any) -> Floats:
        """Return a column per group: probabilities, decisions or 0/1 predictions."""
        if not _has_scores(self):
            return np.eye(len(self._class_of_group))[self.estimator_.predict(rows)]
        ask = "predict_proba" if _has_probabilities(self) else "decision_function"
        values = np.asarray(getattr(self.estimator_, ask)(rows), dtype=np.float64)
        check_answers(values)
        return np.column_stack([-values, values]) if values.ndim == 1 else values

    def _base(self) -> Any:
        return MixedNaiveBayes() if self.base_estimator is None else self.base_estimator

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._base()).input_tags.allow_nan
        return tags
