"""Counts of patients as pages, cards and messages write them: none of few, all others rounded.

The rule is that of health services. Counts of 1 to 7 are hidden, all others rounded to 5, and
percentages are whole numbers of rounded counts. Each total is rounded by itself, so parts need not
add up to it. This stops a reader who subtracts counts of a few patients from each other. It does
not stop one who knows all other patients: some count of a page of several columns crosses a step
of rounding with the last one, and so usually tells that patient's outcome.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.task import FEW, STEP, rounded
from deepcac.types import Flags

WITHHELD = "withheld"
NOTE = (
    f"Counts below {FEW} are withheld, all others rounded to {STEP}; percentages are of rounded "
    "counts. Parts need not add up."
)


def is_few(count: npt.ArrayLike) -> Flags:
    """Return which counts are of some patients, but too few to be written."""
    counts = np.asarray(count)
    return np.asarray((counts > 0) & (counts < FEW))


def round_count(count: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return counts rounded to `STEP`; NaN in place of one of few patients.

    >>> round_count([0, 3, 8, 62]).tolist()
    [0.0, nan, 10.0, 60.0]
    """
    return np.where(is_few(count), np.nan, rounded(count))


def round_share(count: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the share of rounded counts in rounded wholes; NaN where either is hidden or empty.

    >>> round_share([30, 3, 0], [62, 62, 62]).tolist()
    [0.5, nan, 0.0]
    """
    wholes = round_count(whole)
    return round_count(count) / np.where(wholes > 0, wholes, np.nan)


def format_count(count: int) -> str:
    """Return a count for a table or a sentence.

    >>> format_count(1202), format_count(3), format_count(0)
    ('1,200', 'fewer than 8', '0')
    """
    return f"fewer than {FEW}" if is_few(count) else f"{int(round_count(count)):,}"


def format_percentage(count: int, whole: int) -> str:
    """Return the percentage of rounded counts, a whole number.

    >>> format_percentage(31, 62), format_percentage(2, 62)
    ('50 %', 'withheld')
    """
    share = float(round_share(count, whole))
    return WITHHELD if np.isnan(share) else f"{100 * share:.0f} %"
