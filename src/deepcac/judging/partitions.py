"""Ways to part rows into clusters, clusters as further features, and two controls."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances, pairwise_distances_argmin
from sklearn.mixture import GaussianMixture

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.files.declared import resolve
from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, IDS, KM, SOFT
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import CLUSTERING, learners, of_kind
from deepcac.types import Array, Ids

LEAST_VARIANCE = 1e-3  # of standardised columns; a column of 0 and 1 may be constant in a part


class Partition(NamedTuple):
    """Clusters of the training rows, shape (n,), and how other rows find their own."""

    train: Ids
    assign: Callable[[Rows], Ids]


def part(sample: Resample, arm: str, k: int, alpha: float, turn: int = 0) -> Partition:
    """Part the rows of a resample, whose ``shared`` keeps what was clustered before.

    Arms: "km" is k-means; "cac" is CAC from these clusters with `alpha`; "cells" lie around k
    training rows drawn at random, by the draw `turn`; "hash" is one of the row id, which knows
    nothing. An arm that `spaces.yaml` adds is a scikit-learn clusterer. But for the hash, other
    rows belong to the nearest mean of a cluster's training rows.
    """
    if arm == HASH:
        return Partition(*_hashed(sample, k))
    centres, labels = _centred(sample, arm, k, alpha, turn)
    return Partition(labels, lambda rows: _nearest(rows.bounded, centres))


def beside(sample: Resample, arm: str, k: int) -> Callable[[Rows], Array]:
    """Return what gives rows the columns of an arm, standardised as the training rows say.

    "dist" are the distances to the k-means centres, "ids" the clusters one-hot, and "soft" the
    weights of a Gaussian mixture with variances of its own for each column.
    """
    measure = {DISTANCES: _distances, IDS: _indicators, SOFT: _weights}[arm](sample, k)
    return standardised(measure, sample.train)


def standardised(measure: Callable[[Rows], Array], train: Rows) -> Callable[[Rows], Array]:
    """Return what gives rows the columns of a measure, standardised as training rows say."""
    columns = measure(train)
    mean, scale = columns.mean(axis=0), columns.std(axis=0)
    scale[scale == 0] = 1.0
    return lambda rows: (measure(rows) - mean) / scale


def _distances(sample: Resample, k: int) -> Callable[[Rows], Array]:
    centres, _ = _centred(sample, KM, k, 0.0)
    return lambda rows: euclidean_distances(rows.bounded, centres)


def _indicators(sample: Resample, k: int) -> Callable[[Rows], Array]:
    centres, _ = _centred(sample, KM, k, 0.0)
    return lambda rows: np.eye(len(centres))[_nearest(rows.bounded, centres)]


def _weights(sample: Resample, k: int) -> Callable[[Rows], Array]:
    key = (SOFT, k)
    if key not in sample.shared:
        mixture = GaussianMixture(
            k, covariance_type="diag", reg_covar=LEAST_VARIANCE, random_state=sample.seed
        )
        with warnings.catch_warnings():  # a mixture that still moves is as good a feature
            warnings.simplefilter("ignore", ConvergenceWarning)
            sample.shared[key] = mixture.fit(sample.train.bounded)
    fitted: GaussianMixture = sample.shared[key]
    return lambda rows: fitted.predict_proba(rows.bounded)


def _centred(sample: Resample, arm: str, k: int, alpha: float, turn: int = 0) -> tuple[Array, Ids]:
    """Return the centres and the training labels of an arm, made once a resample."""
    key: tuple[Any, ...] = (arm, k, alpha) if arm == CAC else (arm, k, turn)
    if key not in sample.shared:
        sample.shared[key] = _cluster(sample, arm, k, alpha, turn)
    return sample.shared[key]


def _cluster(sample: Resample, arm: str, k: int, alpha: float, turn: int) -> tuple[Array, Ids]:
    X = sample.train.bounded
    rng = np.random.RandomState([sample.seed, turn] if turn else sample.seed)
    if arm == CELLS:
        centres = X[rng.choice(len(X), k, replace=False)]
        return centres, _nearest(X, centres)
    if arm == CAC and k > 1:
        _, start = _centred(sample, KM, k, 0.0)
        labels = cluster(X, sample.train.y, start, alpha).labels
    elif arm in of_kind(CLUSTERING):
        clusterer = resolve(f"deepcac.judging.{learners()[arm].fit}")
        labels = clusterer(k, sample.seed).fit_predict(X, sample.train.y)
    else:
        labels = kmeans_labels(X, k, rng)
    used, labels = np.unique(labels, return_inverse=True)
    return np.array([X[labels == j].mean(axis=0) for j in range(len(used))]), labels


def _nearest(X: Array, centres: Array) -> Ids:
    return pairwise_distances_argmin(X, centres).astype(np.int64)


def _hashed(sample: Resample, k: int) -> tuple[Ids, Callable[[Rows], Ids]]:
    def assign(rows: Rows) -> Ids:
        # A splitmix64 step: neighbouring ids fall into unrelated clusters.
        start = 0x9E3779B97F4A7C15 * (sample.seed + 1) % 2**64
        mixed = rows.row_id.astype(np.uint64) + np.uint64(start)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(k)).astype(np.int64)

    return assign(sample.train), assign
