"""Preparation of a user's rows as input of a network, in `fit` and in prediction."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepcac.errors import DataError, ScaleWarning
from deepcac.files.saved_models import check_array
from deepcac.nn.fitting.data import as_inputs, checked_mask
from deepcac.numeric_table import NO_CLASSES, check_table, column_names, validated
from deepcac.preprocess import SequenceScaler, TableScaler, cut_far
from deepcac.types import Array, Flags

Mask = Flags
LARGE = 10.0  # a column with this mean or spread is not scaled


def check_inputs(
    estimator: Any, X: npt.ArrayLike, y: Any = NO_CLASSES, *, reset: bool, missing: bool
) -> Any:
    """Validate a table (n, d) or sequences (n, steps, variables), as a pair with `y` if given.

    `reset` stores the number of variables in the estimator, else it is checked.
    """
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    variables = shape[2] if len(shape) == 3 else None
    if reset:
        estimator._variables = variables
    else:
        _check_variables(shape, variables, estimator._variables)
    if variables is None:
        return check_table(estimator, X, y, reset=reset, missing=missing)
    finite: Any = "allow-nan" if missing else True
    return validated(estimator, X, y, reset=reset, allow_nd=True, ensure_all_finite=finite)


def _check_variables(shape: tuple[int, ...], given: int | None, fitted: int | None) -> None:
    """Raise `DataError` if the number of axes or variables differs from that of `fit`."""
    if given == fitted or len(shape) not in (2, 3):
        return
    if given is None:
        raise DataError(
            f"X has 2 axes {shape}; the network was fitted to sequences (n, steps, {fitted}) of 3"
        )
    if fitted is None:
        raise DataError(f"X has 3 axes {shape}; the network was fitted to a table (n, d) of 2")
    raise DataError(f"X has {given} variables a step; the network was fitted to {fitted}")


class Preparation:
    """Imputation, flags of missing values and scaling, learnt from training rows.

    Standardised values are clipped.

    Parameters
    ----------
    X : ndarray of shape (n, d) or (n, steps, variables)
        Training rows; NaN is missing.
    mask : ndarray of bool, shape of X, or None
        True where a sequence value was measured.
    """

    def __init__(self, X: Array, mask: Mask | None) -> None:
        if X.ndim == 2:
            self.scaler: Any = TableScaler().fit(X)
            if not self.scaler.kept_.any():
                raise DataError("all columns of X are constant; there is nothing to learn from")
        else:
            self.scaler = SequenceScaler.fit(np.where(measured(X, mask), X, np.nan))

    def rows(self, X: Array, mask: Mask | None, device: torch.device) -> Tensor:
        """Return rows (n, ...) as input of a network."""
        if X.ndim == 2:
            return as_inputs(cut_far(self.scaler.transform(X)), mask, device)
        observed = measured(X, mask)
        scaled = self.scaler.transform(np.where(observed, X, np.nan))
        return as_inputs(cut_far(scaled), observed, device)

    def tensors(self) -> dict[str, Tensor]:
        """Return the learnt arrays by name."""
        table = isinstance(self.scaler, TableScaler)
        learnt = self.scaler.learnt() if table else vars(self.scaler)
        return {name: torch.as_tensor(value) for name, value in learnt.items()}

    @classmethod
    def of(cls, tensors: dict[str, Tensor]) -> Preparation:
        """Return the preparation with these learnt `tensors`."""
        values = {name: tensor.numpy() for name, tensor in tensors.items()}
        preparation = cls.__new__(cls)
        if set(values) != {"mean", "scale"}:
            preparation.scaler = TableScaler.of(values)
            return preparation
        variables = len(check_array("mean", values["mean"], np.shape(values["mean"])[:1]))
        preparation.scaler = SequenceScaler(
            values["mean"], check_array("scale", values["scale"], (variables,), above=True)
        )
        return preparation

    @property
    def n_inputs(self) -> int:
        """Number of columns that a network gets."""
        table = isinstance(self.scaler, TableScaler)
        return len(self.scaler.mean_) if table else 2 * len(self.scaler.mean)


def measured(X: Array, mask: Mask | None) -> Mask:
    """Return where a sequence value was measured: neither NaN nor masked."""
    observed, given = ~np.isnan(X), checked_mask(mask, X)
    return observed if given is None else observed & given


def warn_if_unscaled(estimator: Any, X: Array) -> None:
    """Warn (`ScaleWarning`) if a column of a table has a mean or spread above `LARGE`."""
    if X.ndim != 2:
        return
    size = np.maximum(np.abs(X.mean(axis=0)), X.std(axis=0))
    if size.max() > LARGE:
        column = int(size.argmax())
        warnings.warn(
            f"column {column_names(estimator)[column]!r} has a mean or spread of {size[column]:.3g}"
            ", which ruins the training; set preprocess='auto' or standardise first",
            ScaleWarning,
            stacklevel=3,
        )
