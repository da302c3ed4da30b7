"""Quantiles of a column that a model file may hold: they show the unit, but no single patient."""

from collections.abc import Sequence

import numpy as np

from deepcac.scoring.small_cells import FEW
from deepcac.types import Array

TENTHS = (0.1, 0.25, 0.5, 0.75, 0.9)
QUARTILES = (0.25, 0.5, 0.75)  # of fewer patients
LENGTHS = (0, len(QUARTILES), len(TENTHS))
_DIGITS = 3


def coarse_quantiles(values: Array, patients: int) -> tuple[float, ...]:
    """Return the deciles, if enough patients lie beyond them, or the quartiles, or nothing."""
    if patients >= 2 * FEW / TENTHS[0]:
        return safe_quantiles(values)
    return safe_quantiles(values, QUARTILES) if patients >= FEW / QUARTILES[0] else ()


def safe_quantiles(values: Array, at: Sequence[float] = TENTHS) -> tuple[float, ...]:
    """Return quantiles rounded to three significant digits."""
    return tuple(float(f"{value:.{_DIGITS}g}") for value in np.quantile(values, at))
