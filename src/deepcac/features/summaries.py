"""First, last, lowest, highest and median of each record's measurements."""

import numba
import numpy as np
import numpy.typing as npt

SUMMARIES = ("first", "last", "lowest", "highest", "median")


@numba.njit(cache=True)
def _summarise(row, value, result):  # type: ignore[no-untyped-def]
    """Fill `result` (n, 5) from measurements whose records are contiguous and without NaN."""
    start = 0
    for stop in range(1, len(row) + 1):
        if stop < len(row) and row[stop] == row[start]:
            continue
        ordered = np.sort(value[start:stop])
        n = stop - start
        out = result[row[start]]
        out[0] = value[start]
        out[1] = value[stop - 1]
        out[2] = ordered[0]
        out[3] = ordered[n - 1]
        out[4] = ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2
        start = stop


def summarise(
    row: npt.NDArray[np.intp], value: npt.NDArray[np.float64], n: int
) -> npt.NDArray[np.float64]:
    """Summarise one variable for every record, missing values left out.

    Parameters
    ----------
    row : ndarray of shape (m,)
        Record 0..n-1 of each measurement. Measurements of one record are contiguous, in time order.
    value : ndarray of shape (m,)
        Measurements; NaN where missing.
    n : int
        Number of records.

    Returns
    -------
    ndarray of shape (n, 5)
        Columns as in `SUMMARIES`; NaN for a record without a measurement.
    """
    result = np.full((n, len(SUMMARIES)), np.nan)
    seen = ~np.isnan(value)
    if seen.any():
        _summarise(row[seen], value[seen], result)
    return result
