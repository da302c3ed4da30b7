"""A difference on a new data set, from those on several: a hierarchical model on a grid."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from deepcac.types import Array

FREEDOMS = (2, 4, 8, 16, 64)  # of Student's distribution over data sets, equally likely
_MEANS, _SPREADS = 81, 120  # points of the grid
_MIXED = 40  # normals that make a Student: twice as many change no probability by 0.002
_TAIL = 1e-10  # of the mixture, on either side, that is left out
_LEAST = 0.1  # errors below this part of the margin count as it: never chosen is no certainty


class NewDataset(NamedTuple):
    """Posterior mean over data sets, and the prediction for a new one.

    Probabilities that its true difference lies below, inside and above the margin.
    """

    mean: float
    worse: float
    same: float
    better: float


def hierarchical(
    differences: Sequence[float] | Array, errors: Sequence[float] | Array, margin: float
) -> NewDataset:
    """Predict the true difference on a new data set.

    The difference of a data set is normal around its true value; true values are Student around a
    common mean. The mean is uniform within the largest difference on either side, the spread
    uniform from 0 to that (Corani et al. 2017, with a grid in the place of draws).

    Differences and their standard errors are of shape (m,); the margin is above 0.
    """
    d = np.asarray(differences, dtype=np.float64)
    variance = np.square(np.maximum(np.asarray(errors, dtype=np.float64), _LEAST * margin))
    widest = max(float(np.abs(d).max()), margin)
    means = np.linspace(-widest, widest, _MEANS)
    spreads = (np.arange(_SPREADS) + 0.5) / _SPREADS * widest
    logs = np.stack([_log_likelihood(d, variance, means, spreads, v) for v in FREEDOMS])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    at = np.array(FREEDOMS)[:, None, None], means[:, None], spreads
    student = stats.t(at[0], loc=at[1], scale=at[2])
    worse, better = (float((weight * p).sum()) for p in (student.cdf(-margin), student.sf(margin)))
    return NewDataset(float((weight * at[1]).sum()), worse, 1.0 - worse - better, better)


def _log_likelihood(d: Array, variance: Array, means: Array, spreads: Array, freedom: int) -> Array:
    """Return the log likelihood of every mean and spread, shape (means, spreads)."""
    weight, scale = _mixture(freedom)
    total = np.zeros((len(means), len(spreads)))
    places, counts = np.unique(np.column_stack([d, variance]), axis=0, return_counts=True)
    for (estimate, error_variance), count in zip(places, counts, strict=True):
        precision = 1 / (spreads[:, None] ** 2 * scale + error_variance)
        height = weight * np.sqrt(precision / (2 * np.pi))
        gap = np.square(estimate - means)[:, None, None]
        with np.errstate(divide="ignore"):  # so far away that nothing is left
            total += count * np.log((height * np.exp(-0.5 * gap * precision)).sum(axis=2))
    return total


def _mixture(freedom: int) -> tuple[Array, Array]:
    """Return weights and variances of a normal mixture that approximates Student's distribution.

    The variances are freedom / chi-squared. The points are equidistant in the logarithm of the
    chi-squared value: there the integrand is smooth and falls to 0 on both sides, so that the sum
    converges fast (trapezoidal rule).
    """
    low, high = np.log(stats.chi2.isf([1 - _TAIL, _TAIL], freedom))
    points = np.exp(np.linspace(low, high, _MIXED))
    weight = stats.chi2.pdf(points, freedom) * points
    return weight / weight.sum(), freedom / points
