"""Columns that say nothing, or that cannot be read, and a header that is none."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from deepcac.table.columns.cells import as_texts
from deepcac.table.columns.description import KEEP, LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, leave_out
from deepcac.table.reading.class_labels import alike_spellings
from deepcac.types import Ids

_MOST_LEVELS = 30  # of a column of which another one may be a level
_MOST_COLUMNS = 2_000  # that are compared with each other
_MOST_SPELLINGS = 100  # levels that are compared


def find_unreadable(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that the encoder refuses: an impossible number, two columns of one feature."""
    assert table.encoder  # it fills `unreadable`
    for name, why in table.unreadable.items():
        yield Finding(why, (name,), (LEAVE_OUT,))


def find_no_header(table: ExaminedTable) -> Iterator[Finding]:
    """Find a table in which most names could stand in their columns."""
    alike = [name for name in table.rows.column_names if _is_cell(table, name)]
    if len(alike) > table.rows.num_columns / 2:
        shown = ", ".join(map(repr, alike[:3]))
        text = f"The first line looks like a row ({shown}): is there no header? Add one."
        yield Finding(text, answers=(KEEP,))


def _is_cell(table: ExaminedTable, name: str) -> bool:
    """Tell whether a name could stand in its column: a number of many, or one of its texts."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", name):
        return not table.is_text(name)
    return table.is_text(name) and pc.index(table.cells(name), name).as_py() >= 0


def find_spellings(table: ExaminedTable) -> Iterator[Finding]:
    """Find levels that differ in case, spaces or signs only."""
    for name in filter(table.is_text, table.predictors):
        levels = pc.unique(table.cells(name)).drop_null().to_pylist()
        for texts in alike_spellings(levels) if len(levels) <= _MOST_SPELLINGS else ():
            text = (
                f"Column {name!r}: {', '.join(map(repr, texts))} are different levels. Spell them "
                "alike in the file, or keep them apart."
            )
            yield Finding(text, (name,), (KEEP, LEAVE_OUT))


def find_constants(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of one value, and columns without any."""
    for name in table.predictors:
        values = table.keys(name)
        if values is not None and (values == values[0]).all():
            yield leave_out(name, "empty" if values[0] < 0 else "constant")


def find_duplicates(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that say what another one says, or whether it has one of its levels.

    Of two columns that say the same the last by name stays, wherever they stand in the file.
    """
    names_down = sorted(table.predictors, reverse=True)[:_MOST_COLUMNS]
    codes = {name: table.keys(name) for name in names_down}
    there = {name: values for name, values in codes.items() if values is not None}
    first: dict[bytes, str] = {}
    for name, values in there.items():
        # Levels are alike if they are numbered alike in the order of the rows. Values that are
        # different in most rows that have one are so by chance.
        alike = values if values.max() < np.sum(values >= 0) / 2 else _values(table, name)
        key = alike.tobytes()
        if key in first:
            yield leave_out(name, f"says the same as {first[key]!r}")
        first.setdefault(key, name)
    names = {*first.values()}
    levels: dict[bytes, str] = {}
    for name, values in there.items():
        if name in names and 2 <= values.max() < _MOST_LEVELS:
            for level in range(values.max() + 1):
                levels.setdefault((values == level).tobytes(), name)
    for name in first.values():
        if there[name].max() == 1 and there[name].min() == 0:
            yes = there[name].astype(bool)
            other = levels.get(yes.tobytes()) or levels.get((~yes).tobytes())
            if other is not None:
                yield leave_out(name, f"is one of the levels of {other!r}")


def _values(table: ExaminedTable, name: str) -> Ids:
    """Return a number for each cell that is equal for equal texts of any column."""
    texts = as_texts(table.cells(name)).to_pandas().astype(str).to_numpy()
    return pd.util.hash_array(texts).astype(np.int64)
