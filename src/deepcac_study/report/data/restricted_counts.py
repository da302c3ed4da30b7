"""Withholding of small counts of restricted data, and of others that would reveal them."""

import numpy as np
import numpy.typing as npt

from deepcac.types import Flags

SMALL = 10  # rows of a group of which a count appears
WITHHELD = "withheld"


def published_count(count: int, total: int | None = None) -> int | None:
    """Return a count, or None if it, or `total` minus it, is from 1 to `SMALL` - 1."""
    rest = SMALL if total is None else total - count
    return None if 0 < count < SMALL or 0 < rest < SMALL else count


def few_rows(counts: npt.ArrayLike, few: int = SMALL) -> Flags:
    """Return which groups of a table of counts to withhold, if its margins are published.

    These are groups with a cell from 1 to `few` - 1, and the smallest other groups, non-empty ones
    first, until at least two are withheld whose sums are no such cells either; else the margins
    would reveal them. Counts are of shape (groups, classes).

    >>> few_rows([[40, 2], [30, 19], [50, 20]]).tolist()
    [True, True, False]
    >>> few_rows([[40], [30], [2], [1]]).tolist()
    [False, True, True, True]
    """
    table = np.asarray(counts)
    hidden = np.asarray(_small(table, few).any(axis=1))
    total = table.sum(axis=1)
    while hidden.any() and not hidden.all():
        if hidden.sum() > 1 and not _small(table[hidden].sum(axis=0), few).any():
            break
        hidden[np.lexsort((total, total == 0, hidden))[0]] = True
    return hidden


def _small(counts: npt.NDArray[np.int64], few: int) -> Flags:
    return (counts > 0) & (counts < few)
