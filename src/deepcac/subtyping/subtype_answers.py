"""What a fitted SubtypeClassifier says of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from deepcac.base_classifiers import log_odds
from deepcac.nn.data import session
from deepcac.numeric_table import check_table
from deepcac.subtyping.boosted import BoostedFolds
from deepcac.subtyping.contributions import contributions
from deepcac.subtyping.crossfit import answer
from deepcac.subtyping.gates import Gates
from deepcac.subtyping.heads import Blend, Heads
from deepcac.subtyping.packed import PackedNetworks, full_logits
from deepcac.subtyping.smooth_inputs import SmoothInputs

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
ArrayLike = npt.ArrayLike


class SubtypeAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Prediction by fitted parts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    penalty_ : float or None
    """

    classes_: npt.NDArray[Any]
    penalty_: float | None
    n_features_in_: int
    n_threads: int
    _inputs: SmoothInputs
    _networks: PackedNetworks
    _boosted: BoostedFolds | None
    _blend: Blend
    _gates: Gates
    _heads: Heads

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities, shape (n, n_classes)."""
        rows, x = self._read(X)
        with self._session():
            outputs = [answer(self._networks, x)]
            if self._boosted is not None:
                trees = self._boosted.outputs(rows, self.n_threads)
                outputs.append(torch.as_tensor(trees, device=x.device))
            logits = self._blend.logits(torch.stack(outputs))
            if self.penalty_ is not None:
                parts = self._parts(x)
                gates = self._gates.weigh(parts.flatten(1).cpu().numpy())
                logits = logits + self._heads.change(torch.as_tensor(gates, device=x.device), parts)
        return full_logits(logits).softmax(dim=1).cpu().numpy()

    def decision_function(self, X: ArrayLike) -> Array:
        """Return log-odds of `predict_proba`, (n,) for two classes, else (n, n_classes)."""
        return log_odds(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> npt.NDArray[Any]:
        """Return the most probable class label of each row."""
        most = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most]

    def contributions(self, X: ArrayLike) -> Array:
        """Return what each variable adds to the networks' log-odds.

        Returns
        -------
        ndarray of shape (n, d), or (n, n_classes, d) for more than two classes
            Against an average patient.
        """
        parts = self._parts_of(X)
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def transform(self, X: ArrayLike) -> Array:
        """Return the contributions in one row a patient, where the subtypes live."""
        parts = self._parts_of(X)
        return parts.reshape(len(parts), -1)

    def weigh(self, X: ArrayLike) -> Array:
        """Return how much each row belongs to each subtype, shape (n, n_subtypes_)."""
        return self._gates.weigh(self.transform(X))

    def assign(self, X: ArrayLike) -> Ids:
        """Return the subtype of each row, shape (n,)."""
        return self.weigh(X).argmax(axis=1)

    def _read(self, X: ArrayLike) -> tuple[Array, Tensor]:
        check_is_fitted(self, "heads_")
        rows = check_table(self, X, reset=False, missing=True)
        return rows, self._inputs.rows(rows, next(self._networks.parameters()).device)

    def _session(self) -> Any:
        return session(next(self._networks.parameters()).device, 0, self.n_threads)

    def _parts(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the contributions (n, n_outputs, d) of rows, by weights of the members."""
        origin = self._inputs.origin
        return contributions(self._networks, x, origin, self.n_features_in_, weight)

    def _parts_of(self, X: ArrayLike) -> Array:
        _, x = self._read(X)
        with self._session():
            return self._parts(x).cpu().numpy()

    @property
    def _n_features_out(self) -> int:
        return self._gates.centres.shape[1]
