"""A difference on a new data set, from those on several: a hierarchical model on a grid."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from deepcac.task import Array

FREEDOMS = (2, 4, 8, 16, 64)  # of Student's distribution over data sets, equally likely
_MEANS, _SPREADS, _MIXED = 81, 60, 25  # points of the grid, and normals that make a Student
_LEAST = 0.1  # errors below this part of the margin count as it: never chosen is no certainty


class NewDataset(NamedTuple):
    """Posterior mean over data sets, and what is to be expected of a new one.

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
    """Return the log likelihood of every mean and spread, shape (means, spreads).

    A Student is a mixture of normals whose variances are freedom / chi-squared.
    """
    levels = (np.arange(_MIXED) + 0.5) / _MIXED
    scale = freedom / stats.chi2.ppf(levels, freedom)
    total = np.zeros((len(means), len(spreads)))
    for one, own in zip(d, variance, strict=True):
        spread = np.sqrt(spreads[:, None] ** 2 * scale + own)
        logs = stats.norm.logpdf(one, means[:, None, None], spread)
        total += logsumexp(logs, axis=2) - np.log(_MIXED)
    return total
