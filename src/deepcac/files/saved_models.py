"""What a model file of any kind promises: bounded, whole, of a known version, possible numbers."""

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


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Tell whatever a damaged model brings about as a `DataError` of one line."""
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


def check_clusters(model: Any) -> None:
    """Refuse to write a cluster whose centre would tell of single rows.

    Looked at are an estimator and the estimators in it, such as the steps of a pipeline.
    """
    if isinstance(model, list | tuple | dict):
        for part in model.values() if isinstance(model, dict) else model:
            check_clusters(part)
    if not isinstance(model, BaseEstimator):
        return
    sizes = np.bincount(getattr(model, "subtypes_", np.empty(0, np.int64)))
    small = [number for number, size in enumerate(sizes) if 0 < size < FEW]
    if small:
        raise DataError(
            f"cluster {small[0]} of {type(model).__name__} holds fewer than {FEW} rows, which a "
            "saved model would tell; fit fewer clusters, or say small_clusters=True and keep the "
            "file as you keep the table"
        )
    for value in vars(model).values():
        check_clusters(value)


def check_size(path: str | os.PathLike[str], most: int = MOST_BYTES) -> None:
    """Refuse what is no file, or one that is too large to be read without harm."""
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file")
    size = Path(path).stat().st_size
    if size > most:
        raise DataError(f"{path}: {size:,} bytes; a model file has {most:,} at most")


def check_version(path: str | os.PathLike[str], version: Any) -> None:
    """Warn of a model that another version of the package wrote."""
    if not isinstance(version, str) or len(version) > 40:
        raise DataError("its version is no text")
    if version != __version__:
        warnings.warn(
            f"{path}: saved by deepcac {version}, this is {__version__}; its answers may differ",
            VersionWarning,
            stacklevel=3,
        )


def check_count(what: str, value: Any, least: int = 0) -> int:
    """Return a count, which no float and no bool is."""
    if type(value) is not int or not least <= value < 2**53:
        raise DataError(f"{what} is {str(value)[:40]}, a count from {least} was expected")
    return value


def check_array(
    what: str, values: Any, shape: Sequence[int], kind: type = np.float64, *, above: bool = False
) -> npt.NDArray[Any]:
    """Return an array that has this shape and type, and only numbers that can be learnt.

    Parameters
    ----------
    what : str
        For the message.
    values : ndarray
    shape : sequence of int
    kind : type
        Of its values.
    above : bool
        Whether all of them are above 0, as spreads are.
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
    """Return ids (n,) from 0 to below `end`."""
    ids = check_array(what, values, np.shape(values)[:1], np.int64)
    if not ((ids >= 0) & (ids < end)).all():
        raise DataError(f"{what} has ids beyond 0 to {end - 1}")
    return ids


def check_classes_of(what: str, values: npt.NDArray[Any], least: int = 2) -> npt.NDArray[Any]:
    """Return class labels (c,), sorted and each once."""
    distinct = values.ndim == 1 and np.array_equal(np.unique(values), values)
    if not distinct or len(values) < least:
        raise DataError(f"{what} are not {least} or more labels in order, each once")
    return values
