"""Comparing two methods on the same splits: corrected t-test, Holm, paired bootstrap.

All functions are pure; scores come from the per-row files, so nothing is fitted again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

RISK_BINS = 10


@dataclass(frozen=True)
class Comparison:
    """A difference with its uncertainty.

    Attributes
    ----------
    mean : float
        Mean difference over the splits.
    low, high : float
        95 % interval.
    t, p : float
        Test statistic and two-sided p value; NaN with fewer than two splits.
    """

    mean: float
    low: float
    high: float
    t: float
    p: float


def corrected_t_test(
    differences: Sequence[float] | Array, *, n_train: float, n_test: float
) -> Comparison:
    """Test a mean difference over overlapping resamples (Nadeau & Bengio 2003, section 3).

    Training sets of repeated splits overlap, so the plain variance of the mean is too small;
    it is widened from 1/J to 1/J + n_test/n_train.

    Parameters
    ----------
    differences : array-like of shape (J,)
        Score of one method less that of the other, one a split.
    n_train, n_test : float
        Rows in the training and the test part (means over the splits).

    Returns
    -------
    Comparison
        With fewer than two splits the interval and the test are NaN. Equal differences give
        p = 0, or p = 1 where all of them are 0.
    """
    values = np.asarray(differences, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return Comparison(mean, np.nan, np.nan, np.nan, np.nan)
    error = float(np.sqrt((1 / len(values) + n_test / n_train) * values.var(ddof=1)))
    reach = float(stats.t.ppf(0.975, len(values) - 1)) * error
    if error == 0:
        return Comparison(
            mean, mean, mean, np.inf * np.sign(mean) if mean else 0.0, float(mean == 0)
        )
    t = mean / error
    p = float(2 * stats.t.sf(abs(t), len(values) - 1))
    return Comparison(mean, mean - reach, mean + reach, t, p)


def holm(p_values: Sequence[float] | Array) -> Array:
    """Adjust p values for all tests of one table (Holm 1979).

    Parameters
    ----------
    p_values : array-like of shape (m,)
        NaN for a test that could not be made; it does not count and stays NaN.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted values, in the order given, at most 1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(p), np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


@dataclass(frozen=True)
class SplitScores:
    """What one run says about the test rows of one split.

    Attributes
    ----------
    rows : ndarray of shape (n,), int64
        Row ids.
    label, predicted : ndarray of shape (n,), int64
        True and predicted class ids.
    score : ndarray of shape (n,)
        Score of the positive class.
    """

    rows: Ids
    label: Ids
    predicted: Ids
    score: Array


def weighted_f1(label: Ids, predicted: Ids, weights: Array) -> Array:
    """Return F1 of class 1 under several weightings of the rows.

    Parameters
    ----------
    label, predicted : ndarray of shape (n,)
        Class ids.
    weights : ndarray of shape (r, n)
        One weighting a row; counts of a bootstrap sample, for example.

    Returns
    -------
    ndarray of shape (r,)
        0 where there is neither a positive label nor a positive prediction.
    """
    hit = weights @ ((label == 1) & (predicted == 1)).astype(np.float64)
    total = weights @ ((label == 1).astype(np.float64) + (predicted == 1))
    return np.divide(2 * hit, total, out=np.zeros(len(weights)), where=total > 0)


def weighted_ranking(label: Ids, score: Array, weights: Array) -> tuple[Array, Array]:
    """Return AUROC (ties count one half) and average precision under several weightings.

    Parameters
    ----------
    label : ndarray of shape (n,)
        Class ids; 1 is positive.
    score : ndarray of shape (n,)
        Higher means more positive.
    weights : ndarray of shape (r, n)
        One weighting a row.

    Returns
    -------
    auroc, auprc : ndarray of shape (r,)
        NaN where one class (for AUPRC: the positive one) has no weight.
    """
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    all_weight = weights[:, order]
    positive = np.add.reduceat(all_weight * (label[order] == 1), starts, axis=1)
    found = np.cumsum(positive, axis=1)
    seen = np.cumsum(np.add.reduceat(all_weight, starts, axis=1), axis=1)
    total = found[:, -1]
    others = seen[:, -1] - total
    # A negative loses to every positive above it, and half of those at its own score.
    negative = np.diff(seen - found, axis=1, prepend=0)
    area = (negative * (found - positive / 2)).sum(axis=1)
    precision = np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)
    auprc = _ratio((precision * positive).sum(axis=1), total)
    return _ratio(area, total * others), auprc


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def bootstrap_scores(
    splits: Sequence[SplitScores], *, resamples: int = 400, seed: int = 0
) -> Mapping[str, Array]:
    """Resample the rows and score every resample.

    A row has the same weight in every split, and in every run over the same rows with the same
    seed: differences of two results are a paired bootstrap that keeps the splits' correlation.

    Parameters
    ----------
    splits : sequence of SplitScores
        The test parts of one run.
    resamples : int
        Number of resamples r.
    seed : int
        Of the Poisson weights.

    Returns
    -------
    mapping of str to ndarray of shape (r,)
        Means over the splits of ``f1``, ``auroc`` and ``auprc``.
    """
    rows = np.unique(np.concatenate([split.rows for split in splits]))
    rng = np.random.default_rng(seed)
    totals = {name: np.zeros(resamples) for name in ("f1", "auroc", "auprc")}
    for start in range(0, resamples, 50):
        weights = rng.poisson(1.0, size=(min(50, resamples - start), len(rows))).astype(np.float64)
        part = slice(start, start + len(weights))
        for split in splits:
            w = weights[:, np.searchsorted(rows, split.rows)]
            totals["f1"][part] += weighted_f1(split.label, split.predicted, w)
            auroc, auprc = weighted_ranking(split.label, split.score, w)
            totals["auroc"][part] += auroc
            totals["auprc"][part] += auprc
    return {name: total / len(splits) for name, total in totals.items()}


def interval(resampled: Array, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap values of shape (r,)."""
    tail = (1 - level) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return float(low), float(high)


def risk_bins(probability: Array, bins: int = RISK_BINS) -> Ids:
    """Return the equal-width bin over [0, 1] of each predicted risk; 1 is in the last."""
    return np.minimum((probability * bins).astype(np.int64), bins - 1)


def reliability(label: Ids, probability: Array, bins: int = RISK_BINS) -> tuple[Array, Array, Ids]:
    """Return the calibration curve over equal-width bins.

    Parameters
    ----------
    label : ndarray of shape (n,)
        1 for the positive class.
    probability : ndarray of shape (n,)
        Of the positive class.
    bins : int
        Number of bins over [0, 1].

    Returns
    -------
    predicted, observed : ndarray of shape (b,)
        Mean probability and share of positives in each bin that holds rows.
    count : ndarray of shape (b,), int64
        Rows in the bin.
    """
    place = risk_bins(probability, bins)
    count = np.bincount(place, minlength=bins)
    filled = count > 0
    predicted = np.bincount(place, weights=probability, minlength=bins)[filled] / count[filled]
    observed = np.bincount(place, weights=label == 1, minlength=bins)[filled] / count[filled]
    return predicted, observed, count[filled]
