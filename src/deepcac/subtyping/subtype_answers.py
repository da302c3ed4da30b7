"""Prediction by a fitted SubtypeClassifier."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy.typing as npt
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from deepcac.linear.base_classifiers import class_log_odds
from deepcac.nn.fitting.data import session
from deepcac.numeric_table import check_table
from deepcac.subtyping.backbone import Backbone
from deepcac.subtyping.gates import Gates
from deepcac.subtyping.packed import full_logits
from deepcac.subtyping.subtype_heads import Heads
from deepcac.types import Array, Ids

ArrayLike = npt.ArrayLike


class SubtypeAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Mixin with the prediction methods.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    penalty_ : float or None
    """

    classes_: npt.NDArray[Any]
    penalty_: float | None
    n_threads: int
    _backbone: Backbone
    _gates: Gates
    _heads: Heads

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities, shape (n, n_classes)."""
        rows = self._rows(X)
        with self._session():
            logits, parts = self._backbone.answers(rows)
        if self.penalty_ is not None:
            gates = self._gates.weigh(parts.flatten(1).cpu().numpy())
            logits = logits + self._heads.change(torch.as_tensor(gates).to(logits), parts)
        return full_logits(logits).softmax(dim=1).cpu().numpy()

    def decision_function(self, X: ArrayLike) -> Array:
        """Return log-odds of `predict_proba`, (n,) for two classes, else (n, n_classes)."""
        return class_log_odds(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable class label of each row."""
        most = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most]

    def contributions(self, X: ArrayLike) -> Array:
        """Return the contribution of each variable to the log-odds through the networks.

        Without boosting and without heads they sum to the log-odds of `predict_proba` minus
        those of the average patient.

        Returns
        -------
        ndarray of shape (n, d), or (n, n_classes, d) for more than two classes
            Relative to a fictitious patient with the mean of each column.
        """
        parts = self._parts(X).cpu().numpy()
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def transform(self, X: ArrayLike) -> Array:
        """Return the contributions, one row per patient: the space of the subtypes."""
        return self._parts(X).flatten(1).cpu().numpy()

    def weigh(self, X: ArrayLike) -> Array:
        """Return the membership of each row in each subtype, shape (n, n_clusters_found_)."""
        points = self.transform(X)
        return self._gates.weigh(points)

    def assign(self, X: ArrayLike) -> Ids:
        """Return the subtype of each row, shape (n,)."""
        points = self.transform(X)
        return self._gates.assign(points)

    def _parts(self, X: ArrayLike) -> Tensor:
        """Return contributions to the blended log-odds, (n, n_outputs, d)."""
        rows = self._rows(X)
        with self._session():
            return self._backbone.explain(rows)

    def _rows(self, X: ArrayLike) -> Array:
        check_is_fitted(self, "heads_")
        return check_table(self, X, reset=False, missing=True)

    def _session(self) -> AbstractContextManager[None]:
        return session(self._heads.weight.device, 0, self.n_threads)

    @property
    def _n_features_out(self) -> int:
        return self._gates.centres.shape[1]
