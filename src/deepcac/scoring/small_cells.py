"""Counts of few patients, which no page may show: what is withheld, and what would tell it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deepcac.task import FEW

SMALL = 10  # rows of a group from which statistics of it are shown
WITHHELD = "withheld"


def withheld(count: int, total: int | None = None) -> int | None:
    """Return a count, or None if it, or what it leaves of a total, is from 1 to `SMALL` - 1."""
    rest = SMALL if total is None else total - count
    return None if 0 < count < SMALL or 0 < rest < SMALL else count


def withheld_parts(counts: Sequence[int | None]) -> list[int | None]:
    """Withhold the small parts of a known total; never one alone, which the others would tell.

    An empty part is the last to be withheld as well: it would leave the sum of both small.
    """
    shown = [None if count is None else withheld(count) for count in counts]
    if shown.count(None) == 1 and len(counts) > 1:
        known = [(count == 0, count, j) for j, count in enumerate(shown) if count is not None]
        shown[min(known)[2]] = None
    return shown


def few_rows(counts: npt.ArrayLike, few: int = FEW) -> npt.NDArray[np.bool_]:
    """Return which groups of a table of counts are withheld, its margins being known.

    Those with a cell from 1 to `few` - 1; of one such group alone the smallest other one too,
    because the margins would tell it: the smallest that has rows, if any has. Counts are of shape
    (groups, classes).

    >>> few_rows([[40, 2], [30, 9], [50, 20]]).tolist()
    [True, True, False]
    """
    table = np.asarray(counts)
    hidden = np.asarray(((table > 0) & (table < few)).any(axis=1))
    if hidden.sum() == 1 and len(hidden) > 1:
        total = table.sum(axis=1)
        hidden[np.lexsort((total, total == 0, hidden))[0]] = True
    return hidden
