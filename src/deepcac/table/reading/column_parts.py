"""The rows of a column in parts: levels of a category, ranges of a number, no value."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from deepcac.table.reading.table_encoder import EncodedColumn
from deepcac.types import Array, Ids

MISSING = "missing"


class ColumnParts(NamedTuple):
    """Rows of a column in parts."""

    # What a row of each part has, such as "above 4.1" or "icu"; every part has rows
    names: list[str]
    number: Ids  # (n,) Part of each row
    exact: bool = True  # whether all rows of a part have the same value

    @property
    def sizes(self) -> Ids:
        """Rows of each part."""
        return np.bincount(self.number, minlength=len(self.names))


def column_parts(
    column: EncodedColumn, X: Array, places: Mapping[str, int], most: int = 4
) -> ColumnParts:
    """Part the rows of features X (n, d) by a used column, whose features have `places` in it.

    A number has at most `most` parts, of equal size as far as values allow, and one for each value
    if these are no more. Rows without a value are one part more.
    """
    if column.levels:
        return _levels(column, X, places)
    values = X[:, places[column.name]]
    absent = np.isnan(values)
    distinct = np.unique(values[~absent])
    exact = len(distinct) <= most
    if exact:
        number = np.searchsorted(distinct, values)
        named = [f"{value:,.6g}" for value in distinct]
    else:
        # Cuts are values, so that no part is empty; above the largest value there is nothing.
        at = np.arange(1, most) / most
        cuts = np.unique(np.quantile(values[~absent], at, method="inverted_cdf"))
        cuts = np.unique(np.minimum(cuts, distinct[-2]))
        number = np.digitize(values, cuts, right=True)
        texts = [f"{cut:,.4g}" for cut in cuts]
        between = [f"above {low} to {high}" for low, high in pairwise(texts)]
        named = [f"up to {texts[0]}", *between, f"above {texts[-1]}"]
    number[absent] = len(named)
    named += [MISSING] if absent.any() else []
    return ColumnParts(named, number.astype(np.int64), exact)


def _levels(column: EncodedColumn, X: Array, places: Mapping[str, int]) -> ColumnParts:
    """Return a part a level; of two levels only the second has a feature."""
    shown = [level for level in column.levels if f"{column.name}={level}" in places]
    marked = X[:, [places[f"{column.name}={level}"] for level in shown]] == 1
    others = [level for level in column.levels if level not in shown]
    number = np.where(marked.any(axis=1), len(others) + marked.argmax(axis=1), 0)
    present = np.unique(number)
    named = [*others, *shown]
    return ColumnParts([named[part] for part in present], np.searchsorted(present, number))
