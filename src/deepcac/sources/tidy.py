"""What the tidy tables of the flat sources share: row ids, and the rows left after each step."""

import os
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from deepcac.storage import write_json


def with_row_id(table: pa.Table) -> pa.Table:
    """Put the row number, from 1, in front as ``row_id``."""
    return table.add_column(0, "row_id", pa.array(np.arange(1, table.num_rows + 1)))


def write_cohort(path: str | os.PathLike[str], counts: Mapping[str, int]) -> None:
    """Write a cohort flow: the rows that are left after each step, in order."""
    write_json(path, {"steps": [{"step": step, "rows": rows} for step, rows in counts.items()]})
