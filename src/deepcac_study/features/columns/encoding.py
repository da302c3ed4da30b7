"""Tidy columns to feature columns: numbers as they are, categories one-hot or as ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.types import Array
from deepcac_study.catalogue.variables import levels_of


def indicators(
    name: str,
    values: npt.NDArray[Any],
    levels: Sequence[str] | Mapping[str, int],
    *,
    missing: bool = False,
) -> dict[str, Array]:
    """Return one 0/1 column per level, named ``name=level``, of shape (n,).

    Values are text, None where missing, or codes, which a mapping of `levels` translates. A value
    that is no level is 0 in all columns. With `missing`, rows without a value get a column
    ``name=missing``.
    """
    coded = levels.items() if isinstance(levels, Mapping) else zip(levels, levels, strict=True)
    columns = {f"{name}={level}": (values == code).astype(np.float64) for level, code in coded}
    if missing:
        columns[f"{name}=missing"] = pd.isna(values).astype(np.float64)
    return columns


def one_hot(table: pa.Table, names: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """One-hot encode the columns of a tidy table; return X (n, d) and d names.

    Numbers are kept, NaN where missing. A category becomes one 0/1 column per level that occurs,
    named ``variable=level``; rows without a value get an extra column, ``variable=missing``. A
    category of two levels without missing values becomes one column, for the second. A constant
    column is left out.
    """
    columns: dict[str, Array] = {}
    for name in names:
        levels, column = levels_of(table.schema.field(name)), table[name]
        if levels is None:
            columns[name] = _numbers(column)
            continue
        missing = column.null_count > 0
        shown = levels if len(levels) != 2 or missing else levels[1:]
        columns |= indicators(name, column.to_numpy(), shown, missing=missing)
    varied = {name: column for name, column in columns.items() if _varies(column)}
    if not varied:
        raise DataError("no column varies; a feature file needs at least one")
    return np.column_stack(list(varied.values())), tuple(varied)


def ranks(table: pa.Table, names: Sequence[str], *, missing: str) -> Array:
    """Replace every value, numbers included, by its rank among the column's distinct values.

    The published Adult features are such ranks (switch U2): rank 0 is the smallest number or the
    first category by code point; `missing` is the raw file's text for a missing category.
    """
    coded = [
        pc.fill_null(table[name], missing) if _is_text(table, name) else table[name]
        for name in names
    ]
    return np.column_stack(
        [np.unique(column.to_numpy(), return_inverse=True)[1] for column in coded]
    ).astype(np.float64)


def class_ids(table: pa.Table, name: str) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Return class ids from 0, and the classes by id: the levels that occur, in order.

    Classes of a column of numbers are its values, from the smallest.
    """
    if name not in table.column_names:
        raise DataError(f"no column {name!r}, the label; there are {', '.join(table.column_names)}")
    levels = levels_of(table.schema.field(name))
    if levels is None:
        values = pc.unique(table[name])
        if values.null_count:
            row = pc.index(pc.is_null(table[name]), True).as_py() + 1
            raise DataError(f"data row {row} has no label ({name})")
        ordered = values.take(pc.array_sort_indices(values))
        codes = pc.index_in(table[name], value_set=ordered)
        return codes.to_numpy().astype(np.int64), tuple(map(str, ordered.to_pylist()))
    present = set(pc.unique(table[name]).to_pylist())
    classes = tuple(level for level in levels if level in present)
    if present - set(classes):
        raise DataError(f"class {min(present - set(classes))!r} is none of {', '.join(levels)}")
    codes = pc.index_in(table[name], value_set=pa.array(classes, pa.string()))
    return codes.to_numpy().astype(np.int64), classes


def _is_text(table: pa.Table, name: str) -> bool:
    return pa.types.is_string(table.schema.field(name).type)


def _numbers(column: pa.ChunkedArray) -> Array:
    return pc.fill_null(column.cast(pa.float64()), np.nan).to_numpy()


def _varies(column: Array) -> bool:
    """Return whether the column has two values, a missing one counted as a value."""
    seen = column[~np.isnan(column)]
    return bool(len(seen) and (np.isnan(column).any() or (seen != seen[0]).any()))
