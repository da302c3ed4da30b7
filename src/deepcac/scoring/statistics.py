"""Comparing two methods on the same splits: corrected t-test and Holm; reliability."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from deepcac.types import Array, Ids

RISK_BINS = 10


@dataclass(frozen=True)
class Comparison:
    """A mean difference over splits with its 95 % interval, test statistic and two-sided p."""

    mean: float
    low: float
    high: float
    t: float
    p: float


def corrected_error(values: Array, ratio: float) -> float:
    """Return the standard error of a mean over overlapping resamples.

    Training sets of repeated splits overlap, so the plain variance of the mean is too small;
    it is widened from 1/J to 1/J + `ratio`, test rows by training rows (Nadeau and Bengio 2003,
    section 3). NaN with J, the number of values, below 2.
    """
    if len(values) < 2:
        return float("nan")
    return float(np.sqrt((1 / len(values) + ratio) * values.var(ddof=1)))


def corrected_t_test(
    differences: Sequence[float] | Array, *, n_train: float, n_test: float
) -> Comparison:
    """Test a mean difference over overlapping resamples (`corrected_error`).

    Differences, shape (J,), are the score of one method minus that of the other; `n_train` and
    `n_test` are mean rows over the splits. Interval and test are NaN with fewer than two splits,
    and where all differences are equal, since the variance is then 0.
    """
    values = np.asarray(differences, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2 or (values == values[0]).all():
        return Comparison(mean, np.nan, np.nan, np.nan, np.nan)
    error = corrected_error(values, n_test / n_train)
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    t = mean / error
    p = float(2 * stats.t.sf(abs(t), len(values) - 1))
    return Comparison(mean, mean - half, mean + half, t, p)


def holm(p_values: Sequence[float] | Array) -> Array:
    """Adjust p values (m,) for all tests of one table (Holm 1979).

    NaN marks a test that could not be made: it does not count and stays NaN.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(p), np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def risk_bins(probability: Array, bins: int = RISK_BINS) -> Ids:
    """Return the equal-width bin over [0, 1] of each predicted risk; 1 is in the last."""
    return np.minimum((probability * bins).astype(np.int64), bins - 1)


def reliability(label: Ids, probability: Array, bins: int = RISK_BINS) -> tuple[Array, Array, Ids]:
    """Return the calibration curve over equal-width bins of [0, 1], from labels and risks (n,).

    Returns mean probability, share of positives and number of rows of each non-empty bin.
    """
    place = risk_bins(probability, bins)
    count = np.bincount(place, minlength=bins)
    filled = count > 0
    predicted = np.bincount(place, weights=probability, minlength=bins)[filled] / count[filled]
    observed = np.bincount(place, weights=label == 1, minlength=bins)[filled] / count[filled]
    return predicted, observed, count[filled]


def independent_rows(part: Ids, unit: Ids | None) -> Ids:
    """Return the number of independent observations in each part: its rows, or its patients.

    Parameters
    ----------
    part : ndarray of shape (n,)
        The part of each row, from 0.
    unit : ndarray of shape (n,) or None
        Patient of each row; None where each row is a patient.

    Examples
    --------
    >>> independent_rows(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5])).tolist()
    [2, 1]
    """
    if unit is None:
        return np.bincount(part)
    return np.bincount(np.unique(np.column_stack([part, unit]), axis=0)[:, 0])


def wilson(share: Array, count: Ids, level: float = 0.95) -> tuple[Array, Array]:
    """Return the interval of shares (b,) of at least one row each (Wilson 1927).

    It always holds the share and lies within [0, 1].
    """
    z = stats.norm.ppf((1 + level) / 2)
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2) / (1 + z**2 / count)
    return np.clip(np.minimum(centre - half, share), 0, 1), np.clip(
        np.maximum(centre + half, share), 0, 1
    )
