"""Tables of numbers and categories as the two arrays that the algorithms work on."""

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


MISSING = -1


def is_frame(X: Any) -> "TypeGuard[pd.DataFrame]":
    """Return whether this is a DataFrame, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


class Mixed(NamedTuple):
    """Rows with p numeric and q nominal columns.

    Attributes
    ----------
    numbers : ndarray of shape (n, p)
        NaN where missing.
    codes : ndarray of shape (n, q), int64
        Position of each value among its column's levels; -1 where missing.
    levels : ndarray of shape (q,), int64
        Number of levels of each nominal column.
    """

    numbers: Floats
    codes: Ints
    levels: Ints

    def take(self, rows: npt.NDArray[Any]) -> "Mixed":
        """Return the rows of a mask or at some positions."""
        return Mixed(self.numbers[rows], self.codes[rows], self.levels)


class Columns(NamedTuple):
    """Names and levels of a table's columns, as learnt in `fit`.

    Attributes
    ----------
    names : tuple of str
        Column names; empty for a plain array.
    levels : dict of str to tuple
        Levels of the nominal columns; every other column is numeric.
    """

    names: tuple[Any, ...]
    levels: dict[Any, tuple[Any, ...]]

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Learn the columns of a table; those of a plain array are all numeric."""
        if not is_frame(X):
            return cls((), {})
        import pandas as pd

        levels = {
            name: tuple(kind.categories)
            for name, kind in zip(X.columns, X.dtypes, strict=True)
            if isinstance(kind, pd.CategoricalDtype)
        }
        return cls(tuple(X.columns), levels)

    def encode(self, X: Any) -> Mixed:
        """Return the rows of a table, or of an array in the table's column order.

        A level that was not known becomes missing.

        Raises
        ------
        DataError
            A numeric column holds text.
        """
        if not self.names:
            numbers = np.asarray(X, dtype=np.float64)
            return Mixed(numbers, np.empty((len(numbers), 0), np.int64), np.empty(0, np.int64))
        import pandas as pd

        table = X if is_frame(X) else pd.DataFrame(X, columns=list(self.names))
        columns = [self._number(table[name]) for name in self.names if name not in self.levels]
        codes = [_positions(table[name], levels) for name, levels in self.levels.items()]
        sizes = np.array([len(levels) for levels in self.levels.values()], dtype=np.int64)
        return Mixed(
            _side_by_side(columns, len(table), np.float64),
            _side_by_side(codes, len(table), np.int64),
            sizes,
        )

    @staticmethod
    def _number(column: "pd.Series[Any]") -> Floats:
        """Return the column as floats; DataError if it is no number."""
        try:
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"column {column.name!r} is neither numeric nor of dtype 'category'; convert it"
            ) from error


def _positions(column: "pd.Series[Any]", levels: tuple[Any, ...]) -> npt.NDArray[np.integer]:
    """Return each value's position in `levels`, -1 for others."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and tuple(column.cat.categories) == levels:
        return column.cat.codes.to_numpy()
    return pd.Index(levels, dtype=object).get_indexer(column.astype(object))


def _side_by_side(columns: list[Any], n: int, dtype: Any) -> npt.NDArray[Any]:
    if not columns:
        return np.empty((n, 0), dtype)
    return np.ascontiguousarray(np.column_stack(columns), dtype=dtype)


class Filler(NamedTuple):
    """Imputation of missing values by means and most frequent levels.

    Attributes
    ----------
    means : ndarray of shape (p,)
        0 for a column without any value.
    modes : ndarray of shape (q,), int64
        The first of equally frequent levels.
    """

    means: Floats
    modes: Ints

    @classmethod
    def of(cls, rows: Mixed) -> "Filler":
        """Learn means and most frequent levels from rows."""
        present = ~np.isnan(rows.numbers)
        total = np.where(present, rows.numbers, 0.0).sum(axis=0)
        means = total / np.maximum(present.sum(axis=0), 1)
        modes = [
            np.bincount(column[column != MISSING], minlength=max(size, 1)).argmax()
            for column, size in zip(rows.codes.T, rows.levels, strict=True)
        ]
        return cls(means, np.array(modes, dtype=np.int64))

    def fill(self, rows: Mixed) -> Mixed:
        """Return the rows with missing values imputed."""
        return Mixed(
            np.where(np.isnan(rows.numbers), self.means, rows.numbers),
            np.where(rows.codes == MISSING, self.modes, rows.codes),
            rows.levels,
        )
