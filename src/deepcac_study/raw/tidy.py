"""What tidy tables of flat files share."""

import numpy as np
import pyarrow as pa


def with_row_id(table: pa.Table) -> pa.Table:
    """Put the row number, from 1, in front as ``row_id``."""
    return table.add_column(0, "row_id", pa.array(np.arange(1, table.num_rows + 1)))
