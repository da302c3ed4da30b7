"""The scikit-learn interface that all deep classifiers share."""

from __future__ import annotations

import os
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, check_random_state

from deepcac.errors import DataError
from deepcac.files.saved_models import check_patients
from deepcac.html_summary import SummaryHTML
from deepcac.nn.answers import Network, NetworkAnswers, predict_in_chunks
from deepcac.nn.fitting import data
from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.fitting.pretrain import most_epochs, pretrain
from deepcac.nn.fitting.progress import Progress
from deepcac.nn.fitting.stopping import auprc, evaluate
from deepcac.nn.fitting.training import Budget, Curve, Report, no_report
from deepcac.nn.inputs import Mask, Preparation, check_inputs, warn_if_unscaled
from deepcac.nn.layers.networks import AnyAutoencoder, LocalPredictors, autoencoder_for
from deepcac.nn.model_file import read_model, write_model
from deepcac.numeric_table import (
    check_class_weight,
    check_classes,
    check_two_classes,
    check_weights,
)
from deepcac.sklearn_compat import Interval, StrOptions
from deepcac.types import Array, Ids

_COUNTS = ("latent", "hidden", "local_hidden", "n_clusters", "max_epochs", "patience", "n_threads")
_WEIGHTS = ("alpha", "beta", "gamma", "l1", "l2", "m", "delta", "weight_decay")
_ABOVE_ZERO = ("lr", "s", "temperature")
_COUNT = Interval(Integral, 1, None, closed="left")

# What the parameters may be, unless a network asks for more.
CONSTRAINTS: dict[str, list[Any]] = {
    **{name: [_COUNT] for name in _COUNTS},
    **{name: [Interval(Real, 0, None, closed="left")] for name in _WEIGHTS},
    **{name: [Interval(Real, 0, None, closed="neither")] for name in _ABOVE_ZERO},
    "pretrain_epochs": [_COUNT, None],
    "batch_size": [_COUNT, None],
    "dropout": [Interval(Real, 0, 1, closed="left")],
    "answer": [StrOptions({"logits", "probabilities"})],
    "assignment": [StrOptions({"hard", "soft"})],
    "preprocess": [StrOptions({"auto"}), None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "device": [str],
    "random_state": ["random_state"],
    "verbose": ["boolean", Integral],
}


ArrayLike = npt.ArrayLike
Validation = tuple[ArrayLike, Any] | tuple[ArrayLike, Any, Mask | None]
Part = tuple[Array, npt.NDArray[Any], Mask | None]

VALIDATION_SHARE = 0.24  # 18 of 75: what the papers' 57 / 18 / 25 leave for stopping


@dataclass(kw_only=True, eq=False, repr=False)
class DeepClassifier(SummaryHTML, NetworkAnswers, ClassifierMixin, BaseEstimator, ABC):
    """Base of the deep classifiers; a subclass adds its loss and stages.

    Parameters
    ----------
    preprocess : {"auto"} or None
        "auto" imputes, flags missing values and standardises, as learnt from the training rows,
        and clips at 5 standard deviations; None uses rows as they are.
    latent, hidden, local_hidden : int
        Units of the latent, of the autoencoder's hidden layer and of a local predictor's.
    lr : float
        Adam's rate in every stage but the pre-training, where it is 2e-3.
    weight_decay : float
        Weight of the squared parameters in every stage but the pre-training.
    dropout : float
        Share of a local predictor's hidden units that are left out in training.
    max_epochs, patience : int
        Most epochs of a stage, and epochs without a better validation AUPRC before it ends. The
        pre-training ends after 5 epochs without a smaller reconstruction error on validation rows.
    pretrain_epochs : int or None
        Most epochs of the autoencoder's pre-training; None is `max_epochs`, but at most 100, or
        30 for sequences.
    batch_size : int or None
        Rows per step; None gives about 32 steps per epoch, from 64 to 1024 rows each (256 for
        sequences), as in the pre-training.
    device : str
        ``"auto"`` takes a GPU if there is one.
    n_threads : int
        Threads of torch and BLAS; results are the same bytes for one build and thread count.
    class_weight : {"balanced"}, dict or None
        How often rows of each class are drawn, times their `sample_weight`; "balanced" draws all
        classes equally often. Probabilities are then those of a balanced population.
    random_state : int, RandomState or None
        Seed of every random choice.
    verbose : bool
        Whether each epoch prints a line, with an estimate of the time left in its stage.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    subtypes_ : ndarray of shape (n,)
        Cluster of each row of `fit`, including those it held out.
    n_clusters_found_ : int
        Clusters with at least one of these rows.
    class_counts_ : ndarray of shape (n_clusters, n_classes)
        Rows of each class in each cluster, of these rows.
    held_out_ : ndarray of int
        Positions of the rows that `fit` held out to stop the training; empty if it was given some.
    best_epoch_ : dict of str to int
        Epoch of each stage, from 1, whose parameters were restored.
    history_ : dict of str to list of float
        Loss and validation score of each epoch, by stage.
    seconds_ : dict of str to float
        Wall time by stage.
    status_ : {"ok", "diverged"}
        Whether a loss stopped being finite; the network is then that of the best epoch before.
    network_ : Network
        The fitted network.

    Warns
    -----
    ConvergenceWarning
        A loss stopped being finite, clusters lost all their rows, or a stage ended at its most
        epochs while its validation score could still rise.
    """

    latent: int = 32
    hidden: int = 64
    local_hidden: int = 30
    lr: float = 2e-3
    weight_decay: float = 0.0
    dropout: float = 0.0
    max_epochs: int = 100
    pretrain_epochs: int | None = None
    patience: int = 10
    batch_size: int | None = None
    preprocess: Literal["auto"] | None = "auto"
    class_weight: Any = None
    device: str = "auto"
    n_threads: int = 1
    random_state: Any = None
    verbose: bool = False
    # Of the training rows, and how far it is, while a network is fitted; no parameters.
    _weight: Any = field(default=None, init=False)
    _progress: Any = field(default=None, init=False)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS
    _measure = staticmethod(auprc)  # of class ids and class scores; stops the training

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: Validation | None = None,
        mask: Mask | None = None,
        pretrained: AnyAutoencoder | None = None,
    ) -> Self:
        """Train on rows and labels, stopping early on validation rows.

        Parameters
        ----------
        X : array of shape (n, d) or (n, steps, variables)
            Features; NaN is missing, unless `preprocess` is None.
        y : array of shape (n,)
            Class labels, at least two.
        sample_weight : array of shape (n,), optional
            How often a row is drawn for a batch, relative to the others; only ratios count. A row
            of weight 0 is left out. Other weights do not affect the scaling, the score of the
            validation rows, or the CAC clusters from which CAC-DMNN starts.
        validation : (X, y) or (X, y, mask), optional
            Rows that stop the training; without them 24 % of the rows are held out, stratified.
        mask : ndarray of bool, shape of X
            True where a sequence value was measured; None means everywhere but at NaN.
        pretrained : Autoencoder or SequenceAutoencoder
            From `deepcac.nn.fitting.pretrain`, for these rows; it is copied. Without it one is
            pre-trained here.
        """
        self._validate_params()
        given = self._check(X, y, mask, reset=True)
        seed = self.random_state
        fixed = isinstance(seed, (int, np.integer))
        self._seed = int(seed) if fixed else check_random_state(seed).randint(2**31 - 1)
        used, weight = self._row_weights(given, sample_weight)
        if validation is None:
            (train, fitted_rows), (stopping, held_out) = self._hold_out(_at(given, used))
            self.held_out_ = used[held_out]
        else:
            rows_val, labels_val, *masks = validation
            stopping = self._check(rows_val, labels_val, masks[0] if masks else None, reset=False)
            train, fitted_rows = _at(given, used), np.arange(len(used))
            self.held_out_ = np.empty(0, dtype=np.int64)
        self.classes_, _ = check_classes(np.concatenate([train[1], stopping[1]]))
        check_two_classes(self.classes_)
        unlearnt = np.setdiff1d(given[1], self.classes_).tolist()
        if unlearnt:
            raise DataError(f"all rows of class {unlearnt[0]!r} have weight 0; leave them out")
        _check_parts(train[1], stopping[1], validation is not None)
        if self.preprocess is None:
            warn_if_unscaled(self, train[0])
        self._preparation = None if self.preprocess is None else Preparation(train[0], train[2])
        device = data.find_device(self.device)
        rows = self._rows(*train, device)
        if weight is not None:
            rows = replace(rows, weight=_ratios(weight[fitted_rows]))
        self._fit_network(rows, self._rows(*stopping, device), pretrained)
        with data.session(device, self._seed, self.n_threads):
            membership = predict_in_chunks(self.network_, self._rows(*given, device).x).membership
        self.subtypes_ = membership.argmax(dim=1).cpu().numpy()
        self.n_clusters_found_ = len(np.unique(self.subtypes_))
        codes = np.searchsorted(self.classes_, given[1])
        self.class_counts_ = np.zeros((membership.shape[1], len(self.classes_)), dtype=np.int64)
        np.add.at(self.class_counts_, (self.subtypes_, codes), 1)
        self._warn()
        return self

    def _fit_network(
        self, train: TensorRows, validation: TensorRows, pretrained: AnyAutoencoder | None
    ) -> None:
        """Build and train ``network_``; set the attributes on history, epochs, times and status."""
        self.history_: dict[str, list[float]] = {}
        self.best_epoch_: dict[str, int] = {}
        self.seconds_: dict[str, float] = {}
        self.status_ = "ok"
        self._capped: list[str] = []
        self._weight = train.weight
        self._progress = None
        self._shape = tuple(train.x.shape[1:])
        device = train.x.device
        with data.session(device, self._seed, self.n_threads):
            self.network_ = self._build().to(device)
            self._start(self.network_, train, validation, pretrained)
            self._train(self.network_, train, validation)
            self.network_.eval()
        self._weight = None

    def _warn(self) -> None:
        """Warn of divergence, of empty clusters, and of stages that ended at their most epochs."""
        name = type(self).__name__
        if self.status_ == "diverged":
            _warn_of(f"{name} diverged; the best epoch before is kept. Lower lr or scale the rows")
        if self.n_clusters_found_ < len(self.class_counts_):
            _warn_of(
                f"{name} found {self.n_clusters_found_} of n_clusters={len(self.class_counts_)} "
                "clusters; the others have no row. Ask for fewer, or lower lr"
            )
        if self._capped:
            longer = "pretrain_epochs" if self._capped == ["pretrain"] else "max_epochs"
            _warn_of(
                f"{name} ended {' and '.join(self._capped)} at the most epochs while the "
                f"validation score could still rise; raise {longer}"
            )

    @abstractmethod
    def _build(self) -> Any:
        """Make the network, untrained, for the shape and classes seen by `fit`."""

    @abstractmethod
    def _train(self, network: Any, train: TensorRows, validation: TensorRows) -> None:
        """Train the stages of the method; the autoencoder is pre-trained already."""

    def save(self, path: str | os.PathLike[str], *, small_clusters: bool = False) -> None:
        """Write the fitted estimator as safetensors, its settings as JSON in the header.

        As `deepcac.save`, it refuses a cluster of fewer than eight rows but for `small_clusters`.
        """
        check_is_fitted(self, "network_")
        check_patients(self, small_clusters=small_clusters)
        write_model(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Self:
        """Read an estimator that `save` wrote; nothing in the file is executed."""
        return read_model(path, cls, device)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.preprocess is not None
        return tags

    def _check(self, X: ArrayLike, y: Any, mask: Mask | None, *, reset: bool) -> Part:
        """Return validated rows with their labels and their mask."""
        missing = self.preprocess is not None
        rows, labels = check_inputs(self, X, y, reset=reset, missing=missing)
        return rows, labels, data.checked_mask(mask, rows)

    def _rows(
        self, X: Array, y: npt.NDArray[Any], mask: Mask | None, device: torch.device
    ) -> TensorRows:
        ids = torch.as_tensor(np.searchsorted(self.classes_, y), device=device)
        return TensorRows(self._inputs(X, mask, device), ids)

    def _row_weights(
        self, given: Part, sample_weight: ArrayLike | None
    ) -> tuple[Ids, npt.NDArray[np.float64] | None]:
        """Return the positions of rows with positive weight, and the weights; None if all equal."""
        X, y, _ = given
        weight = check_weights(self, sample_weight, X)
        if self.class_weight is not None:
            by_class = self._class_weights(y, weight)
            weight = by_class if weight is None else weight * by_class
        if weight is None:
            return np.arange(len(y)), None
        used = np.flatnonzero(weight > 0)
        if not len(used):
            raise DataError("class_weight leaves no row; give the classes weights above 0")
        weight = weight[used]
        return used, None if (weight == weight[0]).all() else weight

    def _class_weights(
        self, y: npt.NDArray[Any], weight: npt.NDArray[np.float64] | None
    ) -> npt.NDArray[np.float64]:
        """Return each row's class weight (n,); "balanced" equalises the classes' total weights."""
        classes, codes = np.unique(y, return_inverse=True)
        check_class_weight(self.class_weight, classes)
        if weight is None or self.class_weight != "balanced":
            return np.asarray(compute_sample_weight(self.class_weight, y))
        # Divided by the largest, so that equal weights give the result without weights, bit by bit.
        total = np.bincount(codes, weight / weight.max())
        factor = np.zeros(len(classes))
        factor[total > 0] = total.sum() / ((total > 0).sum() * total[total > 0])
        return factor[codes]

    def _hold_out(self, given: Part) -> tuple[tuple[Part, Ids], tuple[Part, Ids]]:
        """Split off validation rows, stratified if possible; return both parts with positions."""
        y = given[1]
        counts = np.bincount(check_classes(y)[1])
        if VALIDATION_SHARE * len(y) < len(counts):
            raise DataError(
                f"{len(y)} rows are too few to hold back validation rows of {len(counts)} classes; "
                f"{ceil(len(counts) / VALIDATION_SHARE)} are enough"
            )
        train, validation = train_test_split(
            np.arange(len(y)),
            test_size=VALIDATION_SHARE,
            random_state=self._seed,
            stratify=y if counts.min() > 1 else None,
        )
        return (_at(given, train), train), (_at(given, validation), validation)

    def _start(
        self,
        network: Network,
        train: TensorRows,
        validation: TensorRows,
        pretrained: AnyAutoencoder | None,
    ) -> None:
        """Load the pre-trained autoencoder into the network; pre-train one if none is given."""
        with self._timed("pretrain"):
            if pretrained is None:
                longest = self.pretrain_epochs or min(self.max_epochs, most_epochs(train.x))
                # The seed of a separate pre-training, so that both ways give the same result.
                with data.session(train.x.device, self._seed, self.n_threads):
                    pretrained, curve = pretrain(
                        train.x,
                        validation.x,
                        self.hidden,
                        self.latent,
                        longest,
                        self._report(),
                        train.weight,
                        self._make_autoencoder,
                    )
                self._record("pretrain", curve)
            network.autoencoder.load_state_dict(pretrained.state_dict())

    def _make_autoencoder(self) -> AnyAutoencoder:
        return autoencoder_for(self._shape, self.hidden, self.latent)

    def _make_predictors(self, k: int) -> LocalPredictors:
        """Return `k` local predictors of all classes."""
        return LocalPredictors(k, self.latent, self.local_hidden, len(self.classes_), self.dropout)

    def _score(self, network: Network, validation: TensorRows) -> float:
        """Return the validation score of a network that has its classifiers."""
        answer = predict_in_chunks(network, validation.x)
        return evaluate(self._measure, validation.y, answer.probability)

    def budget(self, n_rows: int) -> Budget:
        """Return the limits and settings of a stage on `n_rows` training rows, during `fit`."""
        return Budget(
            max_epochs=self.max_epochs,
            patience=self.patience,
            batch_size=self.batch_size or data.default_batch_size(n_rows, len(self._shape) == 2),
            lr=self.lr,
            weight_decay=self.weight_decay,
            report=self._report(),
            weight=self._weight,
        )

    def _report(self) -> Report:
        """Return the callback after each epoch: the progress of the stage, or nothing."""
        return no_report if self._progress is None else self._progress

    def _record(self, stage: str, curve: Curve) -> None:
        """Store the curve and best epoch of a stage, and whether it diverged or hit its limit."""
        self.history_[f"{stage}_loss"] = curve.loss
        self.history_[f"{stage}_score"] = curve.score
        self.best_epoch_[stage] = curve.best_epoch
        if curve.diverged:
            self.status_ = "diverged"
        if curve.capped:
            self._capped.append(stage)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to ``seconds_``, and show its progress if `verbose`."""
        start = time.perf_counter()
        self._progress = Progress(stage) if self.verbose else None
        yield
        if self._progress is not None:
            self._progress.close()
        self._progress = None
        seconds = time.perf_counter() - start
        self.seconds_[stage] = self.seconds_.get(stage, 0.0) + seconds


def _ratios(weight: npt.NDArray[np.float64]) -> torch.Tensor:
    """Return weights as float32, relative to the largest if that is out of float32's range."""
    most = float(weight.max())
    scaled = weight if 1e-20 <= most <= 1e20 else weight / most
    return torch.as_tensor(scaled, dtype=torch.float32)


def _check_parts(train: npt.NDArray[Any], stopping: npt.NDArray[Any], given: bool) -> None:
    """Raise `DataError` for training or validation labels of one class: AUPRC needs two."""
    for name, labels in (("training", train), ("validation", stopping)):
        if (labels == labels[0]).all():
            way = "give validation rows of two classes" if given else "give validation=(X, y)"
            if given and labels is train:
                way = "move rows of another class from validation=(X, y) to X and y"
            raise DataError(f"the {name} rows are all of class {labels.tolist()[0]!r}; {way}")


def _at(part: Part, positions: Ids) -> Part:
    """Return the rows at some positions."""
    X, y, mask = part
    if len(positions) == len(y) and bool((positions == np.arange(len(y))).all()):
        return part
    return X[positions], y[positions], None if mask is None else mask[positions]


def _warn_of(text: str) -> None:
    """Issue a `ConvergenceWarning` that points at the call of `fit`."""
    warnings.warn(text, ConvergenceWarning, stacklevel=4)
