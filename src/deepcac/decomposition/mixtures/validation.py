"""Validation of tables that may hold categories."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from deepcac.decomposition.mixtures.mixed import is_frame
from deepcac.errors import DataError
from deepcac.numeric_table import NO_CLASSES, check_table, check_values, validated

if TYPE_CHECKING:
    import pandas as pd


def has_categories(X: Any) -> bool:
    """Return whether this is a DataFrame with a column of dtype "category"."""
    return is_frame(X) and any(str(kind) == "category" for kind in X.dtypes)


def check_rows(estimator: Any, X: Any, y: Any = NO_CLASSES, *, reset: bool = True) -> Any:
    """Return validated rows, as a pair with the classes if `y` is given.

    A DataFrame with categories stays one, its columns in the order of `fit`; all else becomes a
    float array, in which NaN is missing. An estimator fitted to categories also takes a plain
    array of the same columns.

    Parameters
    ----------
    estimator : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set (`reset`) or checked.
    X, y : array-like of shape (n, d) and (n,)
    reset : bool
        Whether this is `fit`.

    Raises
    ------
    DataError
        In a table with categories: infinite or too large values, columns other than those of
        `fit`, or names that are not strings.
    """
    nominal = has_categories(X) if reset else getattr(estimator, "_nominal", False)
    if reset:
        estimator._nominal = nominal
    if not nominal:
        return check_table(estimator, X, y, reset=reset, missing=True, order=None)
    table = X if reset or is_frame(X) else _named(estimator, X)
    if reset:
        validated(estimator, table, y, skip_check_array=True)
        if not hasattr(estimator, "feature_names_in_"):
            raise DataError(
                f"names of columns, such as {X.columns.tolist()[0]!r}, are no texts, so that "
                "predict could not find them again; set X.columns = X.columns.astype(str)"
            )
    else:
        table = _in_order(estimator, table)
    numbers = table.select_dtypes("number")
    values = numbers.to_numpy(np.float64, na_value=np.nan)
    check_values(values, numbers.columns.tolist(), missing=True)
    if isinstance(y, str):
        return table
    y = column_or_1d(y, warn=True)
    check_consistent_length(table, y)
    return table, y


def _named(estimator: Any, X: Any) -> "pd.DataFrame":
    """Return the rows as a frame with the fitted names; DataError for another width."""
    import pandas as pd

    values = np.asarray(X, dtype=object)
    names = estimator.feature_names_in_
    if values.ndim != 2 or values.shape[1] != len(names):
        raise DataError(f"rows of shape {values.shape}; the fitted table has {len(names)} columns")
    return pd.DataFrame(values, columns=names).infer_objects()


def _in_order(estimator: Any, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the fitted columns in their order; DataError if one is missing."""
    names = list(estimator.feature_names_in_)
    lost = [name for name in names if name not in table.columns]
    if lost:
        raise DataError(f"column {lost[0]!r} is missing; the estimator was fitted with it")
    return table[names]


def rows_at(X: Any, rows: Any) -> Any:
    """Return the rows of a table or an array at some positions."""
    return X.iloc[rows] if is_frame(X) else X[rows]
