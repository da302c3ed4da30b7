"""Columns that say nothing: one value in every row, none, or what another column says."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.table.columns.column_types import as_texts, is_bytes
from deepcac.table.columns.description import LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.types import Ids

_MOST_LEVELS = 30  # of a column of which another one may be a level
_MOST_COLUMNS = 2_000  # that are compared with each other


def find_constants(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of one value, and columns without any."""
    for name in table.predictors:
        values = _codes(table, name)
        if values is not None and (values == values[0]).all():
            note = "empty" if values[0] < 0 else "constant"
            yield Finding(note, (name,), certain=LEAVE_OUT)


def find_duplicates(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that say what an earlier one says, or whether it has one of its levels."""
    names = table.predictors[:_MOST_COLUMNS]
    codes = {name: _codes(table, name) for name in names}
    there = {name: values for name, values in codes.items() if values is not None}
    first: dict[bytes, str] = {}
    for name, values in there.items():
        # Levels are alike if they are numbered alike in the order of the rows. Values that are
        # different in most rows are so by chance.
        alike = values if values.max() < len(values) / 2 else _values(table, name)
        key = alike.tobytes()
        if key in first:
            yield Finding(f"says the same as {first[key]!r}", (name,), certain=LEAVE_OUT)
        first.setdefault(key, name)
    levels = _levels(there, {*first.values()})
    for name in first.values():
        if there[name].max() == 1 and there[name].min() == 0:
            other = levels.get(there[name].astype(bool).tobytes())
            other = other or levels.get((~there[name].astype(bool)).tobytes())
            if other is not None:
                yield Finding(f"is one of the levels of {other!r}", (name,), certain=LEAVE_OUT)


def _levels(codes: dict[str, Ids], names: set[str]) -> dict[bytes, str]:
    """Return the rows of each level of columns with several, and their column."""
    levels: dict[bytes, str] = {}
    for name in sorted(names, key=list(codes).index):
        values = codes[name]
        if 2 <= values.max() < _MOST_LEVELS:
            for level in range(values.max() + 1):
                levels.setdefault((values == level).tobytes(), name)
    return levels


def _values(table: ExaminedTable, name: str) -> Ids:
    """Return a number for each cell that is equal for equal texts of any column."""
    texts = as_texts(table.cells(name)).to_pandas().astype(str).to_numpy()
    return pd.util.hash_array(texts).astype(np.int64)


def _codes(table: ExaminedTable, name: str) -> Ids | None:
    """Return a number for each different cell in the order of the rows; -1 where missing."""
    cells = table.cells(name)
    if pa.types.is_nested(cells.type) or is_bytes(cells.type):
        return None
    return np.asarray(pd.factorize(as_texts(cells).to_pandas())[0], dtype=np.int64)
