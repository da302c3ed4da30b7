"""The columns of a table on a page: what each is and misses, how far it differs between groups."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.pages.sections import Block
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import (
    FEW,
    Count,
    OfSome,
    Share,
    Text,
    join_texts,
)
from deepcac.scoring.standardised_differences import category_difference, number_difference
from deepcac.table.columns.cells import as_texts, numbers, plain
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.pages.page_sections import page_text, quotable
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, EncodedColumn
from deepcac.types import Array, Flags, Ids

_FEWEST_FOR_QUARTERS = 4 * FEW
HEAD = ("column", "kind", "missing", "values", "remark")


def column_blocks(rows: pa.Table, columns: Sequence[EncodedColumn]) -> list[Block]:
    """Return the table of the columns of a page, and how to read it."""
    return [
        Table.of_texts("columns", "Columns", HEAD, column_lines(rows, columns)),
        "Values: median (quartiles) of a number, shares of the most frequent levels of a category.",
    ]


def cohort_table(first: LabelledTable, second: LabelledTable) -> Table:
    """Return the columns of the training table next to those of the test patients.

    No difference of a column of which too few values are left.
    """
    rows = []
    for column in first.encoder.used:
        both = first, second
        sides = [_values(table, column.name, category=column.kind == CATEGORY) for table in both]
        gap = _difference(*sides)
        shown = [_shown_values(table.rows, column) for table in both]
        rows.append((column.name, *shown, "" if np.isnan(gap) else _text(gap)))
    head = ("column", first.name, second.name, "standardised difference")
    return Table.of_texts("cohorts", "Both tables", head, rows)


def column_lines(rows: pa.Table, columns: Sequence[EncodedColumn]) -> list[tuple[str, ...]]:
    """Return `HEAD` for each column; numbers as quartiles, categories as shares.

    No smallest or largest value is named: each is that of one patient. Nor is a level of few.
    """
    names = quotable(columns)
    in_file = sorted(columns, key=lambda column: rows.column_names.index(column.name))
    return [
        (
            column.name,
            column.kind,
            _missing(column.missing, rows.num_rows),
            _shown_values(rows, column),
            page_text(column.note, names),
        )
        for column in in_file
    ]


def _missing(count: int, n: int) -> Text:
    both = Text("{} ({})", Count(count), Share(count, n))
    return OfSome(both, count, instead=Count(count)) if count else Count(count)


def _shown_values(rows: pa.Table, column: EncodedColumn) -> str:
    cells = plain(rows[column.name])
    if column.kind == NUMBER:
        seen = numbers(cells, column.name)
        seen = seen[np.isfinite(seen)]
        low, middle, high = np.quantile(seen, (0.25, 0.5, 0.75)) if len(seen) else (np.nan,) * 3
        quarters = f"{middle:,.4g} ({low:,.4g} to {high:,.4g})"
        return OfSome(quarters, len(seen), _FEWEST_FOR_QUARTERS)
    if column.kind == CATEGORY:
        counts = pc.value_counts(as_texts(cells).drop_null()).to_pylist()
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


DIFFERENCE_HEAD = ("column", "largest standardised difference", "between")
DIFFERENCE_NOTE = (
    "Difference of two means, or of the shares of the levels, in standard deviations: the largest "
    "of all pairs of groups of eight rows or more. In a trial 0.1 counts as balanced; 0.2, 0.5 and "
    "0.8 are called small, medium and large. Missing values are left out. Levels of fewer than "
    "eight rows in a group count as one. Complete: no level is in both groups."
)
MOST_COLUMNS = 20

_Values = npt.NDArray[np.object_] | Array


def difference_lines(
    table: LabelledTable, code: Ids, names: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Return `DIFFERENCE_HEAD` for each column, the most different one first.

    Parameters
    ----------
    code : ndarray of shape (n,)
        Group of each row: a place in `names`.
    """
    counts = np.bincount(code, minlength=len(names))
    inside = [(names[j], code == j) for j in np.flatnonzero(counts >= FEW).tolist()]
    lines = []
    for column in table.encoder.used:
        values = _values(table, column.name, category=column.kind == CATEGORY)
        gaps = [
            (_difference(values[rows], values[others]), f"{first} and {second}")
            for (first, rows), (second, others) in combinations(inside, 2)
        ]
        shown = [gap for gap in gaps if not np.isnan(gap[0])]
        if shown:
            lines.append((column.name, *max(shown)))
    ranked = sorted(lines, key=lambda line: -line[1])[:MOST_COLUMNS]
    return [(name, _text(value), between) for name, value, between in ranked]


def difference_blocks(
    id: str, table: LabelledTable, code: Ids, names: Sequence[str]
) -> list[Block]:
    """Return the table of `difference_lines`, and what it means; nothing of no lines."""
    lines = difference_lines(table, code, names)
    title = "Standardised differences"
    made: list[Block] = [Table.of_texts(id, title, DIFFERENCE_HEAD, lines), DIFFERENCE_NOTE]
    return made if lines else []


def _text(difference: float) -> str:
    return "complete" if np.isinf(difference) else f"{difference:.2f}"


def _values(table: LabelledTable, name: str, *, category: bool) -> _Values:
    """Return a column without its encoding: texts (None where missing) or numbers."""
    if category:
        cells = plain(table.rows[name]).to_pylist()
        return np.array([None if pd.isna(cell) else str(cell) for cell in cells], dtype=object)
    # By the encoder's names: among features a column called `group` has another one.
    return table.features.X[:, table.encoder.places[name]]


def _difference(first: _Values, second: _Values) -> float:
    """Return the difference of a column between two groups; NaN if too few values are left."""
    sides = [side[~pd.isna(side)] for side in (first, second)]
    if min(map(len, sides)) < FEW:
        return float("nan")
    levels, place = np.unique(np.concatenate(sides), return_inverse=True)
    if first.dtype != object and len(levels) > 2:
        return number_difference(*sides)
    cut = len(sides[0])
    counts = np.array(
        [np.bincount(part, minlength=len(levels)) for part in (place[:cut], place[cut:])]
    )
    rare = _small(counts).any(axis=0)  # an empty cell tells of nobody
    merged = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    if not _small(merged[:, -1]).any():
        return category_difference(*merged)
    # Without its rare levels a column may seem to separate groups that share one of them.
    difference = category_difference(*merged[:, :-1])
    return float("nan") if np.isinf(difference) and (counts > 0).all(axis=0).any() else difference


def _small(counts: Ids) -> Flags:
    return (counts > 0) & (counts < FEW)
