"""The scikit-learn face that all deep classifiers share."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from deepcac.errors import DataError
from deepcac.nn import data
from deepcac.nn.data import Rows
from deepcac.nn.networks import AnyAutoencoder, LocalPredictors, Prediction, autoencoder_for
from deepcac.nn.persistence import read_tensors, write_tensors
from deepcac.nn.pretrain import pretrain
from deepcac.nn.stopping import auprc, evaluate
from deepcac.nn.training import Budget, Curve

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Part = tuple[Array, npt.NDArray[Any], Mask | None]

VALIDATION_SHARE = 0.24  # 18 of 75: what the papers' 57 / 18 / 25 leave for stopping


class Network(nn.Module, ABC):
    """What an estimator trains; says everything about a row in one forward pass.

    Attributes
    ----------
    autoencoder : Autoencoder or SequenceAutoencoder
        Makes the latents.
    """

    autoencoder: AnyAutoencoder

    @abstractmethod
    def predict(self, x: Tensor) -> Prediction:
        """Return latents, memberships and class scores of rows `x`."""


@dataclass(kw_only=True, eq=False, repr=False)
class DeepClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of the deep classifiers; a subclass adds its own loss and stages.

    Parameters
    ----------
    latent, hidden, local_hidden : int
        Units of the latent, of the autoencoder's hidden layer and of a local predictor's.
    lr : float
        Adam's rate.
    weight_decay : float
        Weight of the squared parameters in every stage but the pre-training.
    dropout : float
        Share of a local predictor's hidden units that are left out in training.
    max_epochs, patience : int
        Epochs of a stage at most, and without a better validation AUPRC before it ends.
    batch_size : int or None
        Rows a step; None gives about 32 steps an epoch, from 64 to 1024 rows each.
    device : str
        ``"auto"`` takes a GPU if there is one.
    n_threads : int
        Threads of torch and BLAS; results are the same bytes for one build and thread count.
    random_state : int
        Seed of every random choice.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    subtypes_ : ndarray of shape (n_train,)
        Cluster of each training row, in the order of `fit` (without rows it held out).
    history_ : dict of str to list of float
        Loss and validation score of each epoch, by stage.
    seconds_ : dict of str to float
        Wall time by stage.
    status_ : {"ok", "diverged"}
        Whether a loss stopped being finite; the network is then that of the best epoch before.
    network_ : Network
        The fitted network.
    """

    latent: int = 32
    hidden: int = 64
    local_hidden: int = 30
    lr: float = 2e-3
    weight_decay: float = 0.0
    dropout: float = 0.0
    max_epochs: int = 100
    patience: int = 10
    batch_size: int | None = None
    device: str = "auto"
    n_threads: int = 1
    random_state: int = 0

    _measure = staticmethod(auprc)  # of class ids and class scores; stops the training

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        X_val: npt.ArrayLike | None = None,
        y_val: npt.ArrayLike | None = None,
        mask: Mask | None = None,
        mask_val: Mask | None = None,
        pretrained: AnyAutoencoder | None = None,
    ) -> Self:
        """Train on rows and labels, stopping early on validation rows.

        Parameters
        ----------
        X : array of shape (n, d) or (n, steps, variables)
            Scaled features without missing values.
        y : array of shape (n,)
            Class labels, at least two.
        X_val, y_val : arrays
            Validation rows; without them 24 % of the rows are held out, stratified.
        mask, mask_val : ndarray of bool, shape of X and X_val
            True where a sequence value was measured; None means everywhere.
        pretrained : Autoencoder or SequenceAutoencoder
            Of `deepcac.nn.pretrain`, for these rows; it is copied. Without it one is
            pre-trained here.
        """
        features, labels = validate_data(self, X, y, allow_nd=True)
        check_classification_targets(labels)
        if X_val is None:
            parts = self._hold_out(features, labels, mask)
        else:
            held_out = validate_data(self, X_val, reset=False, allow_nd=True)
            parts = (features, labels, mask), (held_out, np.asarray(y_val), mask_val)
        self.classes_ = np.unique(np.concatenate([labels, parts[1][1]]))
        if len(self.classes_) < 2:
            raise DataError("y holds one class only; a classifier needs two")
        device = data.find_device(self.device)
        train, validation = (self._rows(*part, device) for part in parts)
        self.history_: dict[str, list[float]] = {}
        self.seconds_: dict[str, float] = {}
        self.status_ = "ok"
        self._shape = tuple(train.x.shape[1:])
        with data.session(device, self.random_state, self.n_threads):
            self.network_ = self._build().to(device)
            self._start(self.network_, train, validation, pretrained)
            self._train(self.network_, train, validation)
            self.network_.eval()
            membership = predict_in_chunks(self.network_, train.x).membership
        self.subtypes_ = membership.argmax(dim=1).cpu().numpy()
        return self

    @abstractmethod
    def _build(self) -> Any:
        """Make the network, untrained, for the shape and classes seen by `fit`."""

    @abstractmethod
    def _train(self, network: Any, train: Rows, validation: Rows) -> None:
        """Train the stages of the method; the autoencoder is pre-trained already."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator as safetensors, its settings as JSON in the header."""
        check_is_fitted(self, "network_")
        header = {
            "estimator": type(self).__name__,
            "parameters": self.get_params(),
            "classes": self.classes_.tolist(),
            "n_features": self.n_features_in_,
            "shape": list(self._shape),
            "history": self.history_,
            "status": self.status_,
        }
        subtypes = torch.as_tensor(self.subtypes_)
        write_tensors(path, {**self.network_.state_dict(), "subtypes_": subtypes}, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Read an estimator that `save` wrote; nothing in the file is executed."""
        header, tensors = read_tensors(path)
        found = header.get("estimator")
        if found != cls.__name__:
            raise DataError(f"{path}: holds {found}, not {cls.__name__}; load it as that")
        model = cls(**{**header["parameters"], "device": device})
        model.classes_ = np.array(header["classes"])
        model.n_features_in_ = header["n_features"]
        model._shape = tuple(header["shape"])
        model.history_, model.status_ = header["history"], header["status"]
        model.subtypes_ = tensors.pop("subtypes_").numpy()
        model.seconds_ = {}
        model.network_ = model._build().to(data.find_device(device)).eval()
        model.network_.load_state_dict(tensors)
        return model

    def predict_proba(self, X: npt.ArrayLike, mask: Mask | None = None) -> Array:
        """Return class probabilities, shape (n, n_classes)."""
        return self._numpy(self._predict(X, mask).probability)

    def logits(self, X: npt.ArrayLike, mask: Mask | None = None) -> Array:
        """Return the decision value of each class before the softmax, shape (n, n_classes)."""
        return self._numpy(self._predict(X, mask).logits)

    def predict(self, X: npt.ArrayLike, mask: Mask | None = None) -> npt.NDArray[Any]:
        """Return the most probable class label of each row."""
        most = self.predict_proba(X, mask).argmax(axis=1)
        return self.classes_[most]

    def embed(self, X: npt.ArrayLike, mask: Mask | None = None) -> Array:
        """Return the latents in which the clusters live, shape (n, latent)."""
        return self._numpy(self._predict(X, mask).latent)

    def assign(self, X: npt.ArrayLike, mask: Mask | None = None) -> Ids:
        """Return the (most probable) cluster of each row."""
        return self._predict(X, mask).membership.argmax(dim=1).cpu().numpy()

    def _predict(self, X: npt.ArrayLike, mask: Mask | None) -> Prediction:
        check_is_fitted(self, "network_")
        features = validate_data(self, X, reset=False, allow_nd=True)
        device = next(self.network_.parameters()).device
        with data.session(device, self.random_state, self.n_threads):
            return self._answer(data.as_inputs(features, mask, device))

    def _answer(self, x: Tensor) -> Prediction:
        return predict_in_chunks(self.network_, x)

    @staticmethod
    def _numpy(values: Tensor) -> Array:
        return values.double().cpu().numpy()

    def _rows(self, X: Array, y: npt.NDArray[Any], mask: Mask | None, device: torch.device) -> Rows:
        ids = torch.as_tensor(np.searchsorted(self.classes_, y), device=device)
        return Rows(data.as_inputs(X, mask, device), ids)

    def _hold_out(self, X: Array, y: npt.NDArray[Any], mask: Mask | None) -> tuple[Part, Part]:
        _, counts = np.unique(y, return_counts=True)
        train, validation = train_test_split(
            np.arange(len(y)),
            test_size=VALIDATION_SHARE,
            random_state=self.random_state,
            stratify=y if counts.min() > 1 else None,
        )
        masks = (None, None) if mask is None else (mask[train], mask[validation])
        return (X[train], y[train], masks[0]), (X[validation], y[validation], masks[1])

    def _start(
        self, network: Network, train: Rows, validation: Rows, pretrained: AnyAutoencoder | None
    ) -> None:
        """Give the network the pre-trained autoencoder, pre-training one if none is given."""
        with self._timed("pretrain"):
            if pretrained is None:
                pretrained, curve = pretrain(train.x, validation.x, self.hidden, self.latent)
                self._record("pretrain", curve)
            network.autoencoder.load_state_dict(pretrained.state_dict())

    def _make_autoencoder(self) -> AnyAutoencoder:
        return autoencoder_for(self._shape, self.hidden, self.latent)

    def _make_predictors(self, k: int) -> LocalPredictors:
        return LocalPredictors(k, self.latent, self.local_hidden, len(self.classes_), self.dropout)

    def _score(self, network: Network, validation: Rows) -> float:
        """Return the validation score of a network that has its classifiers."""
        answer = predict_in_chunks(network, validation.x)
        return evaluate(self._measure, validation.y, answer.probability)

    def budget(self, n_rows: int) -> Budget:
        """Return what a stage on `n_rows` training rows may spend, once fitted."""
        return Budget(
            max_epochs=self.max_epochs,
            patience=self.patience,
            batch_size=self.batch_size or data.default_batch_size(n_rows, len(self._shape) == 2),
            lr=self.lr,
            weight_decay=self.weight_decay,
        )

    def _record(self, stage: str, curve: Curve) -> None:
        self.history_[f"{stage}_loss"] = curve.loss
        self.history_[f"{stage}_score"] = curve.score
        if curve.diverged:
            self.status_ = "diverged"

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds_[stage] = time.perf_counter() - start


def predict_in_chunks(network: Network, x: Tensor) -> Prediction:
    """Predict without gradients, some rows at a time."""
    with torch.no_grad():
        parts = [network.predict(part) for part in x.split(data.CHUNK)]
    return Prediction(*(torch.cat(field) for field in zip(*parts, strict=True)))
