"""Columns that are filled for one class alone."""

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.description import KEEP, LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_FEWEST = 20  # filled rows
_CHANCE = 0.001  # of so many rows of that class, were they any rows


def find_filled_after(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns with a value in rows of one class alone, as if it was written afterwards."""
    if table.codes is None:
        return
    for name in table.predictors:
        present = np.asarray(pc.is_valid(table.cells(name)).to_numpy())
        filled = int(present.sum())
        if not _FEWEST <= filled < len(present):
            continue
        inside = np.unique(table.codes[present])
        if len(inside) == 1 and np.mean(table.codes == inside[0]) ** filled < _CHANCE:
            yield Finding(
                f"{name!r} is filled in {format_count(filled)} rows, all of one class: was it "
                "written after the outcome?",
                (name,),
                (LEAVE_OUT, KEEP),
            )
