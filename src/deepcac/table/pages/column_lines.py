"""One line per column of a table: what it is, what is missing, what its values are like."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import FEW, Count, OfSome, Share, Text, join_texts
from deepcac.table.column_differences import cohort_differences
from deepcac.table.columns.cells import as_texts, numbers, plain
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.page_text import page_text, quotable
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, EncodedColumn

_FEWEST_FOR_QUARTERS = 4 * FEW
HEAD = ("column", "kind", "missing", "values", "remark")


def column_table(rows: pa.Table, columns: Sequence[EncodedColumn]) -> Table:
    """Return the table of the columns of a page."""
    return Table.of_texts("columns", "Columns", HEAD, column_lines(rows, columns))


def cohort_table(first: LabelledTable, second: LabelledTable) -> Table:
    """Return the columns of the table that is learnt from beside those of the judged patients."""
    columns = first.encoder.used
    here, there = (
        {column.name: _line(table.rows, column)[3] for column in columns}
        for table in (first, second)
    )
    rows = [(name, here[name], there[name], gap) for name, gap in cohort_differences(first, second)]
    head = ("column", first.name, second.name, "standardised difference")
    return Table.of_texts("cohorts", "Both tables", head, rows)


def column_lines(rows: pa.Table, columns: Sequence[EncodedColumn]) -> list[tuple[str, ...]]:
    """Return `HEAD` for each column; numbers as quartiles, categories as shares.

    No smallest or largest value is named: each is that of one patient. Nor is a level of few.
    """
    names = quotable(columns)
    in_file = sorted(columns, key=lambda column: rows.column_names.index(column.name))
    return [(*_line(rows, column), page_text(column.note, names)) for column in in_file]


def _as_encoded(rows: pa.Table, column: EncodedColumn) -> pa.ChunkedArray:
    """Return cells; those of a category as the texts that are its levels."""
    cells = plain(rows[column.name])
    return as_texts(cells) if column.kind == CATEGORY else cells


def _line(rows: pa.Table, column: EncodedColumn) -> tuple[str, ...]:
    missing: Text = Count(column.missing)
    if column.missing:
        both = Text("{} ({})", missing, Share(column.missing, rows.num_rows))
        missing = OfSome(both, column.missing, instead=missing)
    return (column.name, column.kind, missing, _values(rows, column))


def _values(rows: pa.Table, column: EncodedColumn) -> str:
    cells = _as_encoded(rows, column)
    if column.kind == NUMBER:
        seen = numbers(cells, column.name)
        seen = seen[np.isfinite(seen)]
        low, middle, high = np.quantile(seen, (0.25, 0.5, 0.75)) if len(seen) else (np.nan,) * 3
        quarters = f"{middle:,.4g} ({low:,.4g} to {high:,.4g})"
        return OfSome(quarters, len(seen), _FEWEST_FOR_QUARTERS)
    if column.kind == CATEGORY:
        counts = pc.value_counts(cells.drop_null()).to_pylist()
        ordered = sorted(counts, key=lambda entry: (-entry["counts"], str(entry["values"])))
        shown = [
            Text("{} {}", str(entry["values"]), Share(entry["counts"], len(cells)))
            for entry in ordered[:4]
        ]
        common = sum(entry["counts"] >= FEW for entry in ordered[:4])
        others, level = (
            join_texts(", ", [*texts, *["…"] * (len(ordered) > len(texts))])
            for texts in (shown[:common], shown)
        )
        return Text.of(others, level.exact)
    return ""
