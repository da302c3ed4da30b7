"""First, last, lowest, highest and median of each record's measurements."""

import numpy as np
import numpy.typing as npt

from deepcac_study.features.columns.hourly import AGGREGATES, aggregate


def summarise(
    row: npt.NDArray[np.intp], value: npt.NDArray[np.float64], n: int
) -> npt.NDArray[np.float64]:
    """Summarise one variable for each of n records, missing values left out: `AGGREGATES`, (n, 5).

    `row`, of shape (m,), is the record of each measurement, contiguous, in time order. A record
    without a measurement is NaN.
    """
    result = np.full((n, len(AGGREGATES)), np.nan)
    begin = np.flatnonzero(np.diff(row, prepend=-1))
    if len(begin):
        result[row[begin]] = aggregate(value, begin, np.append(begin[1:], len(row)))
    return result
