"""Row ids of tidy tables from flat files."""

import numpy as np
import pyarrow as pa


def with_row_id(table: pa.Table) -> pa.Table:
    """Prepend the row number, from 1, as column ``row_id``."""
    return table.add_column(0, "row_id", pa.array(np.arange(1, table.num_rows + 1)))
