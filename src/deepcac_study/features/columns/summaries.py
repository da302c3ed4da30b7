"""First, last, lowest, highest and median of each record's measurements."""

import numpy as np
import numpy.typing as npt

from deepcac_study.features.columns.hourly import AGGREGATES, aggregate


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
        Columns as in `AGGREGATES`; NaN for a record without a measurement.
    """
    result = np.full((n, len(AGGREGATES)), np.nan)
    begin = np.flatnonzero(np.diff(row, prepend=-1))
    if len(begin):
        result[row[begin]] = aggregate(value, begin, np.append(begin[1:], len(row)))
    return result
