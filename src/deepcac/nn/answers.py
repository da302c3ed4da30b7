"""Prediction by a fitted network: the mixin of all deep classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy.typing as npt
import torch
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from deepcac.linear.base_classifiers import class_log_odds
from deepcac.nn.fitting import data
from deepcac.nn.inputs import Mask, Preparation, check_inputs
from deepcac.nn.layers.networks import AnyAutoencoder, Prediction
from deepcac.types import Array, Ids

ArrayLike = npt.ArrayLike


class Network(nn.Module, ABC):
    """Base of the networks; one forward pass gives latents, memberships and class scores.

    Attributes
    ----------
    autoencoder : Autoencoder or SequenceAutoencoder
        Makes the latents.
    """

    autoencoder: AnyAutoencoder

    @abstractmethod
    def predict(self, x: Tensor) -> Prediction:
        """Return latents, memberships and class scores of rows `x`."""


class NetworkAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Prediction by a fitted network.

    Attributes
    ----------
    network_ : Network
    classes_ : ndarray of shape (n_classes,)
    """

    network_: Any
    classes_: npt.NDArray[Any]
    latent: int
    n_threads: int
    _preparation: Preparation | None

    def predict_proba(self, X: ArrayLike, mask: Mask | None = None) -> Array:
        """Return class probabilities, shape (n, n_classes)."""
        return self._numpy(self._predict(X, mask).probability)

    def decision_function(self, X: ArrayLike, mask: Mask | None = None) -> Array:
        """Return log-odds of `predict_proba`, (n,) for two classes, else (n, n_classes)."""
        return class_log_odds(self.predict_proba(X, mask))

    def logits(self, X: ArrayLike, mask: Mask | None = None) -> Array:
        """Return the decision value of each class before the softmax, shape (n, n_classes)."""
        return self._numpy(self._predict(X, mask).logits)

    def predict(self, X: ArrayLike, mask: Mask | None = None) -> npt.NDArray[Any]:
        """Return the most probable class label of each row."""
        most = self.predict_proba(X, mask).argmax(axis=1)
        return self.classes_[most]

    def embed(self, X: ArrayLike, mask: Mask | None = None) -> Array:
        """Return the latents in which the clusters live, shape (n, latent)."""
        return self._numpy(self._predict(X, mask).latent)

    def transform(self, X: ArrayLike) -> Array:
        """Return the latents, as `embed` does, shape (n, latent)."""
        return self.embed(X)

    def assign(self, X: ArrayLike, mask: Mask | None = None) -> Ids:
        """Return the (most probable) cluster of each row."""
        return self._predict(X, mask).membership.argmax(dim=1).cpu().numpy()

    def _predict(self, X: ArrayLike, mask: Mask | None) -> Prediction:
        check_is_fitted(self, "network_")
        missing = self._preparation is not None
        features = check_inputs(self, X, reset=False, missing=missing)
        device = next(self.network_.parameters()).device
        with data.session(device, 0, self.n_threads):
            return self._answer(self._inputs(features, mask, device))

    def _inputs(self, X: Array, mask: Mask | None, device: torch.device) -> Tensor:
        if self._preparation is None:
            return data.as_inputs(X, mask, device)
        return self._preparation.rows(X, mask, device)

    def _answer(self, x: Tensor) -> Prediction:
        return predict_in_chunks(self.network_, x)

    @property
    def _n_features_out(self) -> int:
        return self.latent

    @staticmethod
    def _numpy(values: Tensor) -> Array:
        return values.cpu().double().numpy()  # some devices have no float64


def predict_in_chunks(network: Network, x: Tensor) -> Prediction:
    """Predict without gradients, in chunks of rows that bound the memory."""
    with torch.no_grad():
        parts = [network.predict(part) for part in data.chunks(x)]
    return Prediction(*(torch.cat(field) for field in zip(*parts, strict=True)))
