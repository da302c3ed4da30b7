"""A first line that is a row."""

import re
from collections.abc import Iterator

import pyarrow.compute as pc

from deepcac.table.columns.description import KEEP
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding


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
