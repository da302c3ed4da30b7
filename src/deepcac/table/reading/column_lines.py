"""One line per column of a table: what it is, what is missing, what its values are like."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.small_cells import FEW, WITHHELD, Flags, few_parts
from deepcac.table.page_text import page_text, quotable
from deepcac.table.reading.cells import is_text, numbers, plain
from deepcac.table.reading.column_types import as_texts
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, EncodedColumn
from deepcac.types import Ids

_MOST_LEVELS = 50  # of a column whose levels are parts of a page
_FEWEST_FOR_QUARTERS = 4 * FEW
HEAD = ("column", "kind", "missing", "values", "remark")


class ColumnCells(NamedTuple):
    """Which counts of a page's columns are withheld.

    Attributes
    ----------
    hidden : list of dict
        Of each column: level, or None for no value, to whether its count is withheld.
    beside : list of ndarray of bool
        Of each further table of the page: which of its parts are withheld.
    """

    hidden: list[dict[str | None, bool]]
    beside: list[Flags]

    @classmethod
    def of(
        cls, rows: pa.Table, columns: Sequence[EncodedColumn], beside: Sequence[Ids] = ()
    ) -> "ColumnCells":
        """Look at columns, and at further tables of the same rows, as one (`few_parts`)."""
        parts = [_parts(_as_encoded(rows, column)) for column in columns]
        tables = [*(number for _, number in parts), *beside]
        masks = few_parts(tables, np.zeros(rows.num_rows, dtype=np.int64))
        hidden = [
            dict(zip(levels, mask.tolist(), strict=True))
            for (levels, _), mask in zip(parts, masks, strict=False)
        ]
        return cls(hidden, masks[len(parts) :])

    def tell_missing(self, columns: Sequence[EncodedColumn], n: int) -> list[EncodedColumn]:
        """Return the columns of which a page shows how many of n values are missing."""
        return [
            column
            for column, hidden in zip(columns, self.hidden, strict=True)
            if column.missing >= FEW and n - column.missing >= FEW and not hidden.get(None)
        ]


def column_lines(
    rows: pa.Table, columns: Sequence[EncodedColumn], cells: ColumnCells | None = None
) -> list[tuple[str, ...]]:
    """Return `HEAD` for each column; numbers as quartiles, categories as shares.

    No smallest or largest value is shown: each is that of one patient. Nor is a level, how many
    values are missing or there, where that are fewer than five, nor what would tell it, on the
    page whose `ColumnCells` are given.
    """
    cells = ColumnCells.of(rows, columns) if cells is None else cells
    names = quotable(columns)
    return [
        (*_line(rows, column, hidden), page_text(column.note, names))
        for column, hidden in zip(columns, cells.hidden, strict=True)
    ]


def _as_encoded(rows: pa.Table, column: EncodedColumn) -> pa.ChunkedArray:
    """Return cells; those of a category as the texts that are its levels."""
    cells = plain(rows[column.name])
    return as_texts(cells) if column.kind == CATEGORY else cells


def _parts(cells: pa.ChunkedArray) -> tuple[list[str | None], Ids]:
    """Return what rows of a column have in common, None for no value, and the part of each."""
    levels = []
    if is_text(cells.type) or pa.types.is_boolean(cells.type):
        text = pc.cast(cells, pa.string())
        counts = pc.value_counts(text.drop_null()).to_pylist()
        levels = [str(entry["values"]) for entry in counts] if len(counts) <= _MOST_LEVELS else []
    if levels:
        number = pc.fill_null(pc.index_in(text, value_set=pa.array(levels)), len(levels))
        number = np.asarray(number.to_numpy(), dtype=np.int64)
    else:
        number = np.asarray(pc.is_null(cells).to_numpy(), dtype=np.int64)
        levels = [""]
    absent = [None] if (number == len(levels)).any() else []
    return [*levels, *absent] if (number < len(levels)).any() else [None], (
        number if (number < len(levels)).any() else np.zeros_like(number)
    )


def _line(
    rows: pa.Table, column: EncodedColumn, hidden: Mapping[str | None, bool]
) -> tuple[str, ...]:
    share = column.missing / max(rows.num_rows, 1)
    missing = f"{column.missing:,} ({100 * share:.1f} %)" if column.missing else "0"
    if 0 < column.missing < FEW:
        missing = f"under {FEW}"
    elif 0 < rows.num_rows - column.missing < FEW:
        missing = f"all but under {FEW}"
    elif hidden.get(None):
        missing = WITHHELD
    return (column.name, column.kind, missing, _values(rows, column, hidden))


def _values(rows: pa.Table, column: EncodedColumn, hidden: Mapping[str | None, bool]) -> str:
    cells = _as_encoded(rows, column)
    if column.kind == NUMBER:
        seen = numbers(cells, column.name, unit=column.unit)
        if np.isfinite(seen).sum() < _FEWEST_FOR_QUARTERS:
            return WITHHELD
        low, middle, high = np.nanquantile(seen, (0.25, 0.5, 0.75))
        return f"{middle:,.4g} ({low:,.4g} to {high:,.4g})"
    if column.kind == CATEGORY:
        n, counts = len(cells), pc.value_counts(cells.drop_null()).to_pylist()
        ordered = sorted(counts, key=lambda entry: (-entry["counts"], str(entry["values"])))
        named = [entry for entry in ordered[:4] if entry["counts"] >= FEW]
        shown = [
            f"{entry['values']} "
            + (
                WITHHELD
                if hidden.get(str(entry["values"]))
                else f"{100 * entry['counts'] / n:.0f} %"
            )
            for entry in named
        ]
        absent = column.missing if column.missing >= FEW else 0
        if 0 < n - absent - sum(entry["counts"] for entry in named) < FEW:
            shown[-1] = f"{named[-1]['values']} {WITHHELD}"  # the shares would tell the rest
        return ", ".join(shown) + (", …" if len(ordered) > len(named) else "")
    return ""
