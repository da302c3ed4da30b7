"""Mixtures of independent normal and discrete columns, by expectation maximisation.

The clustering of Vilalta, Achari & Eick (2003, section 6.1): hard assignment to the cluster of
the highest posterior, their number by cross-validated likelihood. No kept library serves: a
discrete distribution without a prior gives a level that a fold has not seen no probability at all.
"""

from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from deepcac.decomposition.mixtures.mixed import Filler, Mixed
from deepcac.decomposition.mixtures.mixture_kernel import (
    SMALLEST_SD,
    expect,
    maximise,
    start_labels,
)
from deepcac.errors import ConfigError
from deepcac.types import Floats, Ints

FOLDS = 10
PASSES = 100  # of EM
STARTS = 10  # runs of k-means
_KMEANS_PASSES = 500
_RISE = 1e-6  # of the mean log-likelihood: of a pass, and of one more cluster


class Mixture(NamedTuple):
    """k clusters over p numbers and q nominal columns of L levels together.

    Attributes
    ----------
    log_weight : ndarray of shape (k,)
        Log share of each cluster.
    mean, sd : ndarray of shape (p, k)
        Parameters of the normal densities.
    log_share : ndarray of shape (L, k)
        Log probability of each level.
    """

    log_weight: Floats
    mean: Floats
    sd: Floats
    log_share: Floats

    def posterior(self, rows: Mixed) -> tuple[Floats, float]:
        """Return the posterior (n, k) of complete rows, and their mean log-likelihood."""
        posterior = np.empty((len(rows.numbers), len(self.log_weight)))
        codes, _ = _joint_codes(rows)
        return posterior, float(expect(rows.numbers, codes, *self, posterior))


class Clusters(NamedTuple):
    """Clusters of the rows of one class.

    Attributes
    ----------
    labels : ndarray of shape (n,), int64
        Cluster of each row, numbered without a gap.
    n_components : int
        Clusters of the model; more than labels if one wins no row.
    likelihood : tuple of float
        Cross-validated mean log-likelihood of 1, 2, ... clusters, up to the last number tried.
    """

    labels: Ints
    n_components: int
    likelihood: tuple[float, ...]


def cluster_rows(
    rows: Mixed, max_clusters: int | None, rng: np.random.Generator, n_jobs: int | None = None
) -> Clusters:
    """Cluster rows, their number chosen by cross-validated likelihood.

    One cluster more is tried until the likelihood of ten-fold cross-validation no longer rises.

    Parameters
    ----------
    rows : Mixed
        At least one row. Missing values are replaced by the mean or the most frequent level.
    max_clusters : int or None
        The most clusters tried; None for no limit but the number of rows.
    rng : numpy.random.Generator
        Generator of the folds and of the k-means starts.
    n_jobs : int or None
        Threads for the folds; the result does not depend on it.

    Returns
    -------
    Clusters
    """
    if max_clusters is not None and max_clusters < 1:
        raise ConfigError(f"max_clusters is {max_clusters}; use at least 1, or None")
    used = rows.levels > 0  # a category without a level says nothing, and has no code to fill in
    rows = Mixed(rows.numbers, rows.codes[:, used], rows.levels[used])
    rows = Filler.of(rows).fill(rows)
    k, likelihood = choose_clusters(rows, max_clusters, rng, n_jobs)
    if k == 1:
        return Clusters(np.zeros(len(rows.numbers), np.int64), 1, likelihood)
    mixture = fit_mixture(rows, k, rng)
    labels = mixture.posterior(rows)[0].argmax(axis=1)
    return Clusters(np.unique(labels, return_inverse=True)[1], len(mixture.log_weight), likelihood)


def choose_clusters(
    rows: Mixed, max_clusters: int | None, rng: np.random.Generator, n_jobs: int | None = None
) -> tuple[int, tuple[float, ...]]:
    """Return the number of clusters and the cross-validated likelihoods that chose it."""
    n = len(rows.numbers)
    folds = min(FOLDS, n)
    fold = rng.permutation(n) % folds
    parts = [(rows.take(fold != f), rows.take(fold == f)) for f in range(folds)]
    most = min(n - -(-n // folds), max_clusters or n)  # no more clusters than rows to fit
    likelihood: list[float] = []
    for k in range(1, most + 1):
        # The orders are drawn one fold after the other, whoever fits the fold.
        scores = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_held_out)(fit, test, k, _orders(len(fit.numbers), k, rng))
            for fit, test in parts
        )
        likelihood.append(float(np.mean(scores)))
        if k > 1 and not likelihood[-1] - likelihood[-2] > _RISE:
            return k - 1, tuple(likelihood)
    return max(len(likelihood), 1), tuple(likelihood)


def _held_out(fit: Mixed, test: Mixed, k: int, orders: Ints) -> float:
    """Return the mean log-likelihood of `test` under a mixture fitted on `fit`."""
    return _fit_from(fit, k, orders).posterior(test)[1]


def fit_mixture(rows: Mixed, k: int, rng: np.random.Generator) -> Mixture:
    """Fit k clusters from the best of ten k-means runs.

    Parameters
    ----------
    rows : Mixed
        Complete rows.
    k : int
        Clusters; fewer if there are fewer distinct rows.
    rng : numpy.random.Generator

    Returns
    -------
    Mixture
    """
    return _fit_from(rows, k, _orders(len(rows.numbers), k, rng))


def _orders(n: int, k: int, rng: np.random.Generator) -> Ints:
    """Draw the order of the rows in each run of k-means; one cluster needs none."""
    return rng.permuted(np.tile(np.arange(n), (STARTS if k > 1 else 0, 1)), axis=1)


def _fit_from(rows: Mixed, k: int, orders: Ints) -> Mixture:
    """Return the mixture that EM reaches from k-means on rows in these orders."""
    codes, starts = _joint_codes(rows)
    labels = _kmeans(rows.numbers, codes, starts, k, orders)
    posterior = np.eye(labels.max(initial=0) + 1)[labels]
    return iterate(rows, posterior)


def iterate(rows: Mixed, posterior: Floats, passes: int = PASSES) -> Mixture:
    """Improve a clustering until the mean log-likelihood of a row rises by less than 1e-6.

    The priors on the levels and the bound on the deviations can make it fall; then the model of
    the pass before is returned.

    Parameters
    ----------
    rows : Mixed
        Complete rows.
    posterior : ndarray of shape (n, k)
        Starting posterior; overwritten.
    passes : int
        The most passes.
    """
    codes, starts = _joint_codes(rows)
    column_sd = np.maximum(_deviation(rows.numbers), SMALLEST_SD)
    before, likelihood = _maximised(rows, codes, starts, posterior, column_sd), -np.inf
    now = before
    for _ in range(passes):
        reached = expect(rows.numbers, codes, *now, posterior)
        if reached - likelihood < _RISE:
            return before if reached < likelihood else now
        before, likelihood = now, reached
        now = _maximised(rows, codes, starts, posterior, column_sd)
    return now


def _maximised(
    rows: Mixed, codes: Ints, starts: Ints, posterior: Floats, column_sd: Floats
) -> Mixture:
    k, p = posterior.shape[1], rows.numbers.shape[1]
    new = Mixture(np.empty(k), np.empty((p, k)), np.empty((p, k)), np.empty((starts[-1], k)))
    maximise(rows.numbers, codes, starts, posterior, column_sd, new)
    return new


def _kmeans(numbers: Floats, codes: Ints, starts: Ints, k: int, orders: Ints) -> Ints:
    """Return the labels of the best k-means run, numbered without a gap."""
    if k == 1:
        return np.zeros(len(numbers), np.int64)
    low = numbers.min(axis=0, initial=np.inf)
    reach = numbers.max(axis=0, initial=-np.inf) - low
    scaled = (numbers - low) / np.where(reach > 0, reach, 1.0)
    labels = np.zeros(len(numbers), np.int64)
    start_labels(scaled, codes, starts, orders, k, _KMEANS_PASSES, labels)
    return np.unique(labels, return_inverse=True)[1]


def _joint_codes(rows: Mixed) -> tuple[Ints, Ints]:
    """Return codes numbered over all columns, and each column's first code."""
    starts = np.concatenate([[0], np.cumsum(rows.levels)]).astype(np.int64)
    return np.ascontiguousarray(rows.codes + starts[:-1]), starts


def _deviation(numbers: Floats) -> Floats:
    """Return each column's sample standard deviation, 0 for fewer than two rows."""
    if len(numbers) < 2:
        return np.zeros(numbers.shape[1])
    return numbers.std(axis=0, ddof=1)
