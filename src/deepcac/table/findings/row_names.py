"""Columns that name a row: ids, numbers of rows, free text, names of persons."""

import re
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.table.columns.cell_texts import NAMES_A_ROW, ROW_NAMES
from deepcac.table.columns.cells import as_texts, is_numeric
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, leave_out
from deepcac.table.reading.table_encoder import ID_NOTE
from deepcac.types import Array, Ids

_FEWEST = 50  # different texts or numbers from which they may name rows
_SURELY_PLACE = re.compile(rf"__index_level_\d+__|{re.escape(ROW_NAMES)}")
_PLACE = re.compile(
    rf"{_SURELY_PLACE.pattern}|level_0|unnamed: \d+|rownames?|row[._ ](names?|nr|no|number)|index"
    "|x",
    re.IGNORECASE,
)
_MOSTLY_STEPS = 0.9  # of a column that counts the rows of several tables in one
PLACE_NOTE = "it says which row it is"


def find_row_names(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that are another value in (nearly) every row."""
    for name in table.predictors:
        cells = table.cells(name)
        note = PLACE_NOTE if _SURELY_PLACE.fullmatch(name) else ""
        if not note and table.is_text(name):
            note = _free_text(cells)
        elif not note and is_numeric(cells.type) and not pa.types.is_boolean(cells.type):
            values = np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
            note = _row_number(name, values, table.number)
        if note:
            yield leave_out(name, note)


def _free_text(cells: pa.ChunkedArray) -> str:
    distinct = len(pc.unique(as_texts(cells).drop_null()))
    if distinct <= max(_FEWEST, (len(cells) - cells.null_count) / 3):
        return ""
    return f"free text or {ID_NOTE}: {distinct:,} different texts"


def _row_number(name: str, values: Array, number: Ids) -> str:
    """Return why numbers (n,) name the rows, if they do."""
    there = np.isfinite(values)
    seen = values[there]
    if len(seen) <= _FEWEST:
        return ""
    distinct = there.all() and len(np.unique(seen)) == len(seen)
    if distinct and (seen == np.floor(seen)).all():
        if NAMES_A_ROW.fullmatch(name) and not _PLACE.fullmatch(name):
            return f"looks like {ID_NOTE}"
        steps = np.diff(seen)
        if _PLACE.fullmatch(name) or (steps == 1).all() or (steps == -1).all():
            return PLACE_NOTE
    if _PLACE.fullmatch(name):
        follows = np.mean(np.diff(seen) == np.diff(number[there])) >= _MOSTLY_STEPS
        return PLACE_NOTE if follows else ""
    return ""
