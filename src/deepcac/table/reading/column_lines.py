"""One line per column of a table: what it is, what is missing, what its values are like."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.small_cells import FEW, SMALL, WITHHELD, few_parts
from deepcac.table.page_text import page_text, quotable
from deepcac.table.reading.cells import is_text, numbers, plain
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, EncodedColumn
from deepcac.types import Ids

_MOST_LEVELS = 50  # of a column whose levels are parts of a page
HEAD = ("column", "kind", "missing", "values", "remark")


def column_lines(rows: pa.Table, columns: tuple[EncodedColumn, ...]) -> list[tuple[str, ...]]:
    """Return `HEAD` for each column; numbers as quartiles, categories as shares.

    No smallest or largest value is shown: each is that of one patient. Nor is a level, how many
    values are missing or there, where that are fewer than five, nor what would tell it.
    """
    parts = [_parts(plain(rows[column.name])) for column in columns]
    hidden = few_parts([number for _, number in parts], np.zeros(rows.num_rows, dtype=np.int64))
    names = quotable(columns)
    return [
        (*_line(rows, column, dict(zip(named, mask.tolist(), strict=True))),
         page_text(column.note, names))
        for column, (named, _), mask in zip(columns, parts, hidden, strict=True)
    ]  # fmt: skip


def _parts(cells: pa.ChunkedArray) -> tuple[list[str | None], Ids]:
    """Return what rows of a column have in common, None for no value, and the part of each."""
    levels = []
    if is_text(cells.type) or pa.types.is_boolean(cells.type):
        counts = pc.value_counts(cells.drop_null()).to_pylist()
        levels = [str(entry["values"]) for entry in counts] if len(counts) <= _MOST_LEVELS else []
    if levels:
        text = pc.cast(cells, pa.string())
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
    cells = plain(rows[column.name])
    if column.kind == NUMBER:
        seen = numbers(cells, column.name)
        if np.isfinite(seen).sum() < SMALL:
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
