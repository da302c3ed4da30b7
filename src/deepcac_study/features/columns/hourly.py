"""Compiled loops over hourly values of many stays: filling, and five aggregates of a window."""

import numpy as np

from deepcac.compilation import njit
from deepcac.types import Array, Ints

Rows = Ints

AGGREGATES = ("first", "last", "lowest", "highest", "median")


@njit()
def fill_forward(values: Array, starts: Rows) -> Array:
    """Return values (rows,) carried forward over NaN within each stay.

    `starts`, of shape (n + 1,), has the first row of each stay, and the number of rows. NaN remains
    only before the first measurement of a stay.
    """
    filled = values.copy()
    for i in range(len(starts) - 1):
        for t in range(starts[i] + 1, starts[i + 1]):
            if np.isnan(filled[t]):
                filled[t] = filled[t - 1]
    return filled


@njit()
def fill_backward(values: Array, starts: Rows, hours: int) -> Array:
    """Return values carried backward within the first `hours` hours of each stay (switch S2)."""
    filled = values.copy()
    for i in range(len(starts) - 1):
        for t in range(min(starts[i] + hours, starts[i + 1]) - 2, starts[i] - 1, -1):
            if np.isnan(filled[t]):
                filled[t] = filled[t + 1]
    return filled


@njit()
def aggregate(values: Array, begin: Rows, end: Rows) -> Array:
    """Return `AGGREGATES` of the known values in each window ``[begin, end)``, shape (n, 5).

    Values are of shape (rows,), NaN where unknown. A window with no known value is NaN.
    """
    result = np.full((len(begin), 5), np.nan)
    for i in range(len(begin)):
        window = values[begin[i] : end[i]]
        measured = window[~np.isnan(window)]
        if len(measured):
            result[i, 0] = measured[0]
            result[i, 1] = measured[-1]
            result[i, 2] = measured.min()
            result[i, 3] = measured.max()
            result[i, 4] = np.median(measured)
    return result
