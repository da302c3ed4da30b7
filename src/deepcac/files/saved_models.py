"""Checks of model files of any kind: size, damage, version, and numbers that `fit` can learn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from deepcac import __version__
from deepcac.errors import DataError, VersionWarning
from deepcac.task import FEW

MOST_BYTES, MOST_TEXT = 256 << 20, 12 << 20  # of a file; of the JSON in it, which grows when read
LARGEST, SMALLEST = 1e50, 1e-50  # of a learnt number; of a spread, from below
# What scikit-learn's estimators call rows of the fit or lone values of them, and means of classes.
_ROWS = (
    *("_fit_X", "X_train_", "X_fit_", "X_", "support_vectors_", "component_indices_"),
    *("X_thresholds_", "data_min_", "training_data_"),
)
_MEANS = ("theta_", "centroids_", "means_")
_KEEP = "; say {} and keep the file as you keep the table"
_FEWER = "; fit fewer clusters, or" + _KEEP.format("small_clusters=True").removeprefix(";")


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn any exception that reading a damaged model raises into a one-line `DataError`."""
    try:
        with np.errstate(all="ignore"):
            yield
    except Exception as error:  # a damaged file fails anywhere
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        cause = reason.removeprefix(f"{path}: ")
        if isinstance(error, DataError) and reason != cause:
            raise DataError(f"{path}: {cause}") from error
        raise DataError(
            f"{path}: not a readable model file ({cause}); fit and save it again"
        ) from (error)


def check_patients(
    model: Any,
    *,
    small_clusters: bool = False,
    trusted: bool = False,
    counts: npt.ArrayLike | None = None,
) -> None:
    """Raise `DataError` if a model file would describe single patients.

    The estimator is searched with all that it contains, such as the steps of a pipeline.

    Parameters
    ----------
    model : estimator
        Or a list or dict of estimators.
    small_clusters : bool
        Whether the mean of a cluster, or of a class in one, may be that of fewer than `FEW` rows.
    trusted : bool
        Whether rows and lone values may be written, as k-NN and support vectors hold them.
    counts : array-like of shape (n_classes,), optional
        Rows of each class that the model was fitted on, where it does not know them.
    """
    told = {"small_clusters": small_clusters, "trusted": trusted}
    for part in objects_in(model):
        held, kind = attributes_of(part), type(part).__name__
        if not trusted and any(name in held for name in _ROWS):
            raise DataError(f"{kind} holds patients' rows{_KEEP.format('trusted=True')}")
        sizes, of_classes = _sizes(held), held.get("class_count_") if counts is None else counts
        few = np.flatnonzero((sizes > 0) & (sizes < FEW))
        if len(few) and not small_clusters:
            raise DataError(
                f"cluster {few[0]} of {kind} holds fewer than {FEW} rows, which a saved model "
                f"would tell{_FEWER}"
            )
        if not small_clusters and any(name in held for name in _MEANS):
            if of_classes is None:
                raise DataError(
                    f"{kind} holds means of classes, and not of how many rows"
                    + _KEEP.format("small_clusters=True")
                )
            if ((np.asarray(of_classes) > 0) & (np.asarray(of_classes) < FEW)).any():
                raise DataError(
                    f"{kind} holds the mean of fewer than {FEW} rows of a class{_FEWER}"
                )
        if "training_rows_" in held:  # of each group of a class
            counts = np.bincount(held["subtypes_"][held["training_rows_"]])
        of_clusters = held.pop("estimators_", ()) if "class_counts_" in held else ()
        for local, own in zip(of_clusters, held.get("class_counts_", ()), strict=False):
            check_patients(local, **told, counts=own)
        check_patients(held, **told, counts=counts)


def _sizes(held: dict[str, Any]) -> npt.NDArray[Any]:
    """Return the number of rows of each cluster, or of each mean, among attributes."""
    if "class_counts_" in held:
        return np.sum(held["class_counts_"], axis=1)
    if "log_share" in held:  # of one class, in naive Bayes
        return np.array([held["size"]])
    return np.bincount(held.get("subtypes_", np.empty(0, np.int64)))


def attributes_of(part: Any) -> dict[str, Any]:
    """Return the attributes of an object by name."""
    return dict(part._asdict() if hasattr(part, "_asdict") else getattr(part, "__dict__", {}))


def objects_in(value: Any) -> Iterator[Any]:
    """Yield the estimators and records in a value: itself, or the items of a list or dict."""
    if isinstance(value, list | tuple | dict) and not hasattr(value, "_asdict"):
        for part in value.values() if isinstance(value, dict) else value:
            yield from objects_in(part)
    elif isinstance(value, BaseEstimator) or type(value).__module__.startswith("deepcac."):
        yield value


def check_size(path: str | os.PathLike[str], most: int = MOST_BYTES) -> None:
    """Raise `DataError` if there is no file, or one of more than `most` bytes."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file")
    size = Path(path).stat().st_size
    if size > most:
        raise DataError(f"{path}: {size:,} bytes; a model file has {most:,} at most")


def check_version(path: str | os.PathLike[str], version: Any) -> None:
    """Warn (`VersionWarning`) if another version of the package wrote the model."""
    if not isinstance(version, str) or len(version) > 40:
        raise DataError("its version is no text")
    if version != __version__:
        warnings.warn(
            f"{path}: saved by deepcac {version}, this is {__version__}; its answers may differ",
            VersionWarning,
            stacklevel=3,
        )


def check_count(what: str, value: Any, least: int = 0) -> int:
    """Return `value` if it is an int (no bool) of at least `least`; else raise `DataError`."""
    if type(value) is not int or not least <= value < 2**53:
        raise DataError(f"{what} is {str(value)[:40]}, a count from {least} was expected")
    return value


def check_array(
    what: str, values: Any, shape: Sequence[int], kind: type = np.float64, *, above: bool = False
) -> npt.NDArray[Any]:
    """Return an array of this shape and type, whose numbers are finite; else `DataError`.

    Parameters
    ----------
    what : str
        Name in the message.
    values : ndarray
    shape : sequence of int
    kind : type
        Type of the values.
    above : bool
        Whether all values must be above 0, as spreads are.
    """
    if not isinstance(values, np.ndarray) or values.dtype != kind:
        dtype = getattr(values, "dtype", type(values).__name__)
        raise DataError(f"{what} is {dtype}, {np.dtype(kind)} was expected")
    if values.shape != tuple(shape):
        raise DataError(f"{what} has shape {values.shape}, {tuple(shape)} was expected")
    if values.dtype.kind == "f":
        if not (np.abs(values) <= LARGEST).all():
            raise DataError(f"{what} is not finite, or beyond {LARGEST:g}")
        if above and not (values >= SMALLEST).all():
            raise DataError(f"{what} is not above 0")
    return values


def check_ids(what: str, values: Any, end: int) -> npt.NDArray[np.int64]:
    """Return ids (n,) if all are from 0 to `end` - 1; else raise `DataError`."""
    ids = check_array(what, values, np.shape(values)[:1], np.int64)
    if not ((ids >= 0) & (ids < end)).all():
        raise DataError(f"{what} has ids beyond 0 to {end - 1}")
    return ids


def check_classes_of(what: str, values: npt.NDArray[Any], least: int = 2) -> npt.NDArray[Any]:
    """Return class labels (c,), sorted, distinct and at least `least` of them; else `DataError`."""
    distinct = values.ndim == 1 and np.array_equal(np.unique(values), values)
    if not distinct or len(values) < least:
        raise DataError(f"{what} are not {least} or more labels in order, each once")
    return values
