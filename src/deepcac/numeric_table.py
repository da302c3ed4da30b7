"""Validation of rows and classes; errors are one line with the column and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter, validate_data

from deepcac.errors import ConfigError, DataError, DataTypeError, ScaleWarning
from deepcac.sklearn_compat import check_sample_weight
from deepcac.types import Floats

NO_CLASSES = "no_validation"  # what validate_data calls it
LARGEST = 1e150  # beyond it a square is infinite
UNEVEN = 10.0  # columns differ by scale if one spreads this many times as wide as the median one


def check_table(
    estimator: Any,
    X: Any,
    y: Any = NO_CLASSES,
    *,
    reset: bool,
    missing: bool = False,
    order: str | None = "C",
) -> Any:
    """Return rows as float64 of shape (n, d), as a pair with the classes if `y` is given.

    Parameters
    ----------
    estimator : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set (`reset`) or checked.
    X, y : array-like of shape (n, d) and (n,)
    reset : bool
        Whether this is `fit`.
    missing : bool
        Whether NaN is allowed.
    order : {"C"} or None
        Layout of the rows; None leaves it as it is.

    Raises
    ------
    DataError
        A column holds text, dates, NaN, inf or a value too large to square.
    """
    options = {"dtype": np.float64, "order": order, "ensure_all_finite": False, "reset": reset}
    arrays = validated(estimator, X, y, **options)
    check_values(arrays if isinstance(y, str) else arrays[0], column_names(estimator), missing)
    return arrays


def validated(estimator: Any, X: Any, y: Any = NO_CLASSES, **options: Any) -> Any:
    """Call scikit-learn's `validate_data`; its errors become a one-line `DataError`."""
    check_labels(y)
    try:
        return validate_data(estimator, X, y, **options)
    except (AttributeError, TypeError, ValueError) as error:
        other = _column_without_numbers(X)
        if other is not None:
            raise DataError(
                f"column {other!r} holds text or dates; make it numbers first, for example by "
                "OneHotEncoder"
            ) from error
        kind = DataTypeError if isinstance(error, TypeError) else DataError
        raise kind(" ".join(str(error).split())) from error


def check_values(rows: Floats, names: list[Any], missing: bool) -> None:
    """Raise `DataError` for NaN (unless `missing`), inf or values too large to square (n, d)."""
    fits = np.abs(rows) <= LARGEST
    if missing:
        fits |= np.isnan(rows)
    if fits.all():
        return
    row, column = np.argwhere(~fits)[0]
    value = rows[row, column]
    text = "NaN" if np.isnan(value) else f"{value:g}"
    why, way = "", "impute it first, for example by deepcac.preprocess.TableScaler"
    if not np.isnan(value):
        why, way = ", inf or too large to square", "make it missing or cut it"
    raise DataError(f"column {names[column]!r} holds {text}{why} in row {row}; {way}")


def check_labels(y: Any) -> None:
    """Raise `DataError` for labels (n,) with missing values or of mixed types."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.dtype.kind not in "fO":
        return
    if labels.dtype.kind == "f":
        absent = np.isnan(labels)
    else:
        absent = np.array([_is_absent(label) for label in labels], dtype=np.bool_)
    if absent.any():
        raise DataError(
            f"y contains NaN or None in place of a label, first in row {int(absent.argmax())} "
            f"({int(absent.sum())} in all); leave these rows out, or make a class of them"
        )
    texts = [isinstance(label, str) for label in labels] if labels.dtype.kind == "O" else []
    if any(texts) and not all(texts):
        first, second = labels[texts.index(True)], labels[texts.index(False)]
        raise DataError(f"y holds labels of several types, {first!r} and {second!r}; use one")


def _is_absent(label: Any) -> bool:
    """Return whether a label is None, NaN, NA or NaT."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def check_classes(y: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the classes and each row's index in them; continuous labels are a `ValueError`."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64)


def check_two_classes(classes: npt.NDArray[Any]) -> None:
    """Raise `DataError` for a single class."""
    if len(classes) < 2:
        raise DataError(f"y holds one class only ({classes.tolist()[0]!r}); a classifier needs two")


def check_classifier(base: Any) -> None:
    """Raise `TypeError` if `base` is not a classifier."""
    if not is_classifier(base):
        raise TypeError(
            f"base_estimator={type(base).__name__}() is no classifier; give one, such as "
            "LogisticRegression()"
        )


def check_weights(base: Any, sample_weight: npt.ArrayLike | None, X: Any) -> Floats | None:
    """Return row weights (n,) for the rows of `X`, or None.

    Raises
    ------
    ConfigError
        `base` takes none.
    """
    if sample_weight is None:
        return None
    if not has_fit_parameter(base, "sample_weight"):
        name = type(base).__name__
        raise ConfigError(f"{name} takes no sample_weight; leave it out or choose another base")
    return check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def check_class_weight(class_weight: Any, classes: npt.NDArray[Any]) -> None:
    """Raise `ConfigError` if a dict names an unknown label while it lacks a class.

    An unknown label alone is harmless: a part of the rows may lack a class.
    """
    if not isinstance(class_weight, Mapping):
        return
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown and any(label not in class_weight for label in labels):
        raise ConfigError(
            f"class_weight names {unknown[0]!r}, which is none of the classes "
            f"{', '.join(map(repr, labels))}"
        )


def codes_among(classes: npt.NDArray[Any], y: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return the index of each label in the classes of `fit`; an unknown one is a `DataError`."""
    labels = np.asarray(y)
    new = ~np.isin(labels, classes)
    if new.any():
        raise DataError(
            f"class {labels[new].tolist()[0]!r} is not among those of fit: {classes.tolist()}"
        )
    return np.searchsorted(classes, labels).astype(np.int64)


def hold_back(
    classes: npt.NDArray[np.int64], share: float, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return a random mask (n,) of a share of the rows of each class, but never all of them."""
    marked = np.zeros(len(classes), dtype=np.bool_)
    for j in range(classes.max() + 1):
        members = rng.permutation(np.flatnonzero(classes == j))
        marked[members[: min(round(share * len(members)), len(members) - 1)]] = True
    return marked


def residue(mean: Floats, scale: Floats, n: int | Floats) -> Floats:
    """Return the sd that rounding alone gives a constant column of `n` values.

    As bounded by Chan et al. (1983, section 3).
    """
    eps = np.finfo(np.float64).eps
    return np.sqrt(n * eps * scale**2 + (n * mean * eps) ** 2)


def warn_of_scales(rows: Floats, names: list[Any], way: str) -> None:
    """Warn (`ScaleWarning`) if a column's spread exceeds `UNEVEN` times the median one.

    `way` is advice that ends the message.
    """
    spread = rows.std(axis=0)
    varying = spread[spread > residue(rows.mean(axis=0), spread, len(rows))]
    if len(varying) > 1 and varying.max() > UNEVEN * np.median(varying):
        column = int(spread.argmax())
        warnings.warn(
            f"column {names[column]!r} spreads {spread[column] / np.median(varying):.0f} times as "
            f"wide as the median column and decides the clusters by itself; {way}",
            ScaleWarning,
            stacklevel=5,
        )


def column_names(estimator: Any) -> list[Any]:
    """Return the names of the columns of `fit`, or their positions."""
    return list(getattr(estimator, "feature_names_in_", range(estimator.n_features_in_)))


def _column_without_numbers(X: Any) -> Any:
    """Return the name of the first column of a DataFrame that is not numeric."""
    for name in getattr(X, "columns", ()):
        if getattr(X[name].dtype, "kind", "") in "mM":
            return name
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None
