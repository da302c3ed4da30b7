"""Numbers that stand for no value: -9, 777, 9999, the smallest whole number of a computer."""

import shlex

import numpy as np

from deepcac.scoring.small_cells import FEW, SMALL, counted
from deepcac.types import Array

_CODES = frozenset(
    sign * int(digit * times)
    for sign in (1, -1)
    for digit in "789"
    for times in range(2, 9)
) | {-7, -8, -9, -1, -2147483648, 2147483647, -32768, 32767, -9223372036854775808}  # fmt: skip
_APART = 5.0  # distances between quartiles from all others, for a usual code
_FAR_BEYOND = 1.0  # times the distance of both ends of other rows
_FEWEST_VALUES = 10  # different ones of a column in which -1 is odd


def missing_code(name: str, values: Array) -> tuple[str, str] | None:
    """Return a line on a number that seems to stand for no value, and the option that says so.

    It stands at an end of the column, in several rows, far from all others; or it is the only
    negative number of the column.

    Parameters
    ----------
    name : str
    values : ndarray of shape (n,)
    """
    values = values[~np.isnan(values)]
    if len(values) <= SMALL:
        return None
    for code in (float(values.min()), float(values.max())):
        n = int((values == code).sum())
        others = values[values != code]
        if code != np.floor(code) or n < 2 or len(others) <= SMALL:
            continue
        gap = max(others.min() - code, code - others.max())
        low, high = np.quantile(others, (0.25, 0.75))
        usual = code in _CODES
        span = others.max() - others.min()
        # Of two values, such as doses of 0 and 888, the larger one is no code.
        far = gap > _APART * (high - low) and (code < 0 or (abs(code) > 9 and span > 0))
        spike = n >= FEW and gap > span and gap > _APART * (high - low) and span > 0
        lone = code < 0 <= others.min() and usual and len(np.unique(others)) > _FEWEST_VALUES
        if (usual and far) or spike or lone:
            rows = f"{counted(n)} rows"
            why = "the only negative number" if lone else "far from all others"
            option = f"--missing {shlex.quote(f'{name}={code:.0f}')}"
            return (
                f"Column {name!r}: {code:.0f} stands in {rows}, {why}. If it means no value: "
                f"{option}",
                option,
            )
    return None


def codes_beyond(values: Array, low: float, high: float) -> list[float]:
    """Return the usual codes among numbers (n,) that are far below `low` or above `high`."""
    far = _FAR_BEYOND * (high - low)
    beyond = np.unique(values[(values < low - far) | (values > high + far)])
    return [code for code in beyond.tolist() if code in _CODES]
