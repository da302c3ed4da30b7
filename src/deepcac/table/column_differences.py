"""How far each column of a table differs between groups of its rows: standardised differences."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.scoring.small_cells import FEW
from deepcac.scoring.standardised_differences import category_difference, number_difference
from deepcac.table.columns.cells import plain
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import CATEGORY
from deepcac.types import Array, Flags, Ids

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


def cohort_differences(first: LabelledTable, second: LabelledTable) -> list[tuple[str, str]]:
    """Return the standardised difference of each column between two tables, in their order.

    Empty where too few values are left.
    """
    lines = []
    for column in first.encoder.used:
        category = column.kind == CATEGORY
        here, there = (_values(table, column.name, category=category) for table in (first, second))
        gap = _difference(here, there)
        lines.append((column.name, "" if np.isnan(gap) else _text(gap)))
    return lines


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
