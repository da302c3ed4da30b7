"""Clusterers for any symmetric K (Finley and Joachims 2008, 4.4), in prediction and training.

Each maximises trace(Y^T K Y) over clusterings Y with k columns: Iterative and Discrete over real
clusterings with no empty cluster, up to a local maximum; Spectral over all matrices with
orthonormal columns, exactly.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from deepcac.errors import ConfigError, DataError
from deepcac.similarity.clustering import indicator
from deepcac.similarity.kernels import climb
from deepcac.types import Floats, Ints

Name = Literal["iterative", "spectral", "discrete"]
Clusterer = Callable[..., Floats]

MAX_PASSES = 1000
LAPACK_ITEMS = 200  # up to here all eigenvalues cost less than a few by Lanczos
# Relative residual of an eigenvector; the error of the eigenvalue is of its square.
RESIDUAL = 1e-4
LANCZOS_VECTORS = 40


def clusterer(name: str, role: str) -> Clusterer:
    """Return the function `iterative`, `spectral` or `discrete`; another is a `ConfigError`."""
    clusterers: dict[str, Clusterer] = {
        "iterative": iterative,
        "spectral": spectral,
        "discrete": discrete,
    }
    if name not in clusterers:
        raise ConfigError(f"{role} is {name!r}; use one of {', '.join(map(repr, clusterers))}")
    return clusterers[name]


def iterative(
    K: Floats,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_restarts: int = 10,
    start: Floats | None = None,
) -> Floats:
    """Return the best of several local maxima of point-incremental k-means, as a matrix (m, k).

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric similarities.
    n_clusters : int
        k.
    rng : Generator
        Generator of the random starts.
    n_restarts : int
        Number of starts.
    start : ndarray, optional
        Not used.
    """
    _check(K, n_clusters)
    m = len(K)
    K = np.ascontiguousarray(K)
    sizes, totals = np.empty(n_clusters), np.empty(n_clusters)
    sums = np.empty((n_clusters, m))
    best, best_labels = -np.inf, np.empty(0, dtype=np.int64)
    for _ in range(n_restarts):
        labels = _random_labels(m, n_clusters, rng)
        objective = climb(K, labels, sizes, sums, totals, MAX_PASSES)
        if objective > best:
            best, best_labels = objective, labels
    return indicator(best_labels)


def by_products(m: int, n_clusters: int) -> bool:
    """Return whether `spectral` needs only products of K and vectors, for so many items."""
    return m > LAPACK_ITEMS and n_clusters <= m // 10


def spectral(
    K: Floats | LinearOperator,
    n_clusters: int,
    rng: np.random.Generator | None = None,
    *,
    n_restarts: int = 1,
    start: Floats | None = None,
) -> Floats:
    """Return the eigenvectors (m, k) of the k largest eigenvalues, each with its largest entry > 0.

    Parameters
    ----------
    K : ndarray or LinearOperator of shape (m, m)
        Symmetric similarities.
    n_clusters : int
        k.
    rng, n_restarts
        Not used: nothing is random.
    start : ndarray of shape (m, k), optional
        Eigenvectors of a similar matrix, from where to start.
    """
    _check(K, n_clusters)
    m = K.shape[0]
    if not by_products(m, n_clusters):
        Y = _lapack(K, n_clusters)
    else:
        first = np.ones(m) if start is None else start.sum(axis=1)
        try:
            size = max(LANCZOS_VECTORS, 2 * n_clusters + 1)
            Y = eigsh(K, n_clusters, which="LA", v0=first, ncv=size, tol=RESIDUAL)[1][:, ::-1]
        except ArpackNoConvergence:
            Y = _lapack(K, n_clusters)
    peak = Y[np.abs(Y).argmax(axis=0), np.arange(n_clusters)]
    return np.ascontiguousarray(Y * np.where(peak < 0, -1.0, 1.0))


def discrete(
    K: Floats,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_restarts: int = 10,
    start: Floats | None = None,
) -> Floats:
    """Round the spectral clustering: point-incremental k-means on Y Y^T (Bach and Jordan 2003)."""
    Y = spectral(K, n_clusters)
    return iterative(Y @ Y.T, n_clusters, rng, n_restarts=n_restarts)


def objective(K: Floats, Y: Floats) -> float:
    """Return trace(Y^T K Y) (equation 14)."""
    return float(np.einsum("ic,ij,jc->", Y, K, Y, optimize=True))


def _lapack(K: Floats | LinearOperator, k: int) -> Floats:
    """Return the eigenvectors of the k largest eigenvalues, largest first."""
    m = K.shape[0]
    full = K @ np.eye(m) if isinstance(K, LinearOperator) else K
    return eigh(full, subset_by_index=[m - k, m - 1])[1][:, ::-1]


def _random_labels(m: int, k: int, rng: np.random.Generator) -> Ints:
    """Return random labels (m,) without an empty cluster."""
    labels = np.concatenate([np.arange(k), rng.integers(0, k, m - k)])
    return rng.permutation(labels)


def _check(K: Floats | LinearOperator, n_clusters: int) -> None:
    m = K.shape[0]
    if n_clusters < 1:
        raise ConfigError(f"n_clusters is {n_clusters}; use at least 1")
    if n_clusters > m:
        raise DataError(f"{n_clusters} clusters of {m} items; ask for at most {m}")
