"""Random-effects pooling of differences over sites, with a prediction for a new site."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from deepcac.types import Array

FEWEST_TO_PREDICT = 3  # sites; of two the spread between sites has no freedom left


class Pooled(NamedTuple):
    """A random-effects mean over sites."""

    mean: float  # of the true differences
    error: float
    freedom: int  # of its t distribution
    tau: float  # standard deviation of the true differences between sites
    new_low: float  # 95 % prediction interval of a new site; NaN below three sites
    new_high: float


def pool_sites(differences: Sequence[float] | Array, errors: Sequence[float] | Array) -> Pooled:
    """Pool differences of k sites, at least two, with standard errors above 0.

    The variance between sites is that of Paule and Mandel. The error is that of Hartung,
    Knapp, Sidik and Jonkman with k - 1 degrees of freedom. Their factor is 1 wherever the
    variance is above 0; where it is 0, the factor is at least 1, so that the interval does not
    become narrower.

    References
    ----------
    Paule and Mandel 1982. Knapp and Hartung 2003. Higgins, Thompson and Spiegelhalter 2009.
    """
    y, variance = np.asarray(differences, float), np.square(np.asarray(errors, float))
    between = _between(y, variance)
    weight = 1 / (variance + between)
    # The factor of Hartung and others is left out: with this variance between sites it is 1.
    mean, error = float(np.average(y, weights=weight)), float(weight.sum() ** -0.5)
    half = np.nan
    if len(y) >= FEWEST_TO_PREDICT:
        # k - 2 degrees of freedom: Higgins, Thompson and Spiegelhalter.
        half = stats.t.ppf(0.975, len(y) - 2) * np.sqrt(between + error**2)
    return Pooled(
        mean, error, len(y) - 1, float(np.sqrt(between)), float(mean - half), float(mean + half)
    )


def _between(y: Array, variance: Array) -> float:
    """Return the variance between sites at which the weighted squares are as expected."""

    def excess(between: float) -> float:
        weight = 1 / (variance + between)
        return float(weight @ (y - np.average(y, weights=weight)) ** 2) - (len(y) - 1)

    if excess(0.0) <= 0:
        return 0.0
    # At the upper end the weighted squares sum to less than 1, so the excess is negative.
    return float(brentq(excess, 0.0, len(y) * float(np.ptp(y)) ** 2, xtol=1e-16))
