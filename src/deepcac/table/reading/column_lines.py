"""One line a column of a table: what it is, what is missing, what its values are like."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.small_cells import FEW, SMALL, WITHHELD
from deepcac.table.reading.cells import numbers, plain
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, EncodedColumn

HEAD = ("column", "kind", "missing", "values", "remark")


def column_lines(rows: pa.Table, columns: tuple[EncodedColumn, ...]) -> list[tuple[str, ...]]:
    """Return `HEAD` for each column; numbers as quartiles, categories as shares.

    No smallest or largest value is shown: each is that of one patient. Nor is a level, how many
    values are missing or there, where that are fewer than five, nor what would tell it.
    """
    return [_line(rows, column) for column in columns]


def _line(rows: pa.Table, column: EncodedColumn) -> tuple[str, ...]:
    share = column.missing / max(rows.num_rows, 1)
    missing = f"{column.missing:,} ({100 * share:.1f} %)" if column.missing else "0"
    if 0 < column.missing < FEW:
        missing = f"under {FEW}"
    elif 0 < rows.num_rows - column.missing < FEW:
        missing = f"all but under {FEW}"
    return (column.name, column.kind, missing, _values(rows, column), column.note)


def _values(rows: pa.Table, column: EncodedColumn) -> str:
    cells = plain(rows[column.name])
    if column.kind == NUMBER:
        seen = numbers(cells, column.name)
        if np.isfinite(seen).sum() < SMALL:
            return WITHHELD
        low, middle, high = np.nanquantile(seen, (0.25, 0.5, 0.75))
        return f"{middle:,.4g} ({low:,.4g} to {high:,.4g})"
    if column.kind == CATEGORY:
        counts = pc.value_counts(cells.drop_null()).to_pylist()
        ordered = sorted(counts, key=lambda one: (-one["counts"], str(one["values"])))
        named = [one for one in ordered[:4] if one["counts"] >= FEW]
        shown = [f"{one['values']} {100 * one['counts'] / len(cells):.0f} %" for one in named]
        told = column.missing if column.missing >= FEW else 0
        if 0 < len(cells) - told - sum(one["counts"] for one in named) < FEW:
            shown[-1] = f"{named[-1]['values']} {WITHHELD}"  # the shares would tell the rest
        return ", ".join(shown) + (", …" if len(ordered) > len(named) else "")
    return ""
