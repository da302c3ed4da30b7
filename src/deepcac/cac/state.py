"""What CAC knows of its clusters while it runs: sums, counts and their products, compiled."""

from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Kernels fill buffers that they are given. As they neither make nor return arrays they can do
# without numba's reference counting, which would cost more than most of them (`_nrt`).
compiled = partial(numba.njit, cache=True, nogil=True, error_model="numpy", _nrt=False)
# What only ranks may be summed in the order that is fastest on this machine; what enters the
# cost is summed in row and column order, so that it is the same everywhere.
REORDER = {"reassoc", "contract", "nsz"}


class State(NamedTuple):
    """Buffers of one clustering of n rows into k clusters, with C classes.

    Attributes
    ----------
    sums : ndarray of shape (k, C, d)
        Sum of the rows of each class in each cluster.
    counts : ndarray of shape (k, C), int64
        Number of those rows.
    gram : ndarray of shape (k, C, C)
        Dot products of the class sums within each cluster.
    inverse : ndarray of shape (k, C)
        1 / counts, and 0 where there is no row.
    scalars : ndarray of shape (k, 5)
        Of each cluster the number of classes present, the number of rows, the squared norm of
        their sum, the sum of the squared norms of the class means, and the separation.
    vectors : ndarray of shape (2, C, k, d)
        v of both Gammas; the first axis is add, remove.
    terms : ndarray of shape (2, C, k, 2)
        constant and factor of both Gammas.
    share : ndarray of shape (C,)
        Room for the coefficients of one v.
    stale : ndarray of shape (C, k + 1), bool
        Whether weights wait for renewal; the last column tells whether any of the class does.
    drift : ndarray of shape (C, 3)
        Running upper bounds of the change of constant, factor and ||v||, of a class's rows.
    reach : ndarray of shape (n,)
        A row cannot move while its drift stays below its reach.
    scores : ndarray of shape (k,)
        Room for Gamma+ of one row.
    """

    sums: Floats
    counts: Ints
    gram: Floats
    inverse: Floats
    scalars: Floats
    vectors: Floats
    terms: Floats
    share: Floats
    stale: npt.NDArray[np.bool_]
    drift: Floats
    reach: Floats
    scores: Floats


def allocate(n: int, d: int, k: int, n_classes: int) -> State:
    """Return buffers for n rows of d features, to be filled by `recount`."""
    return State(
        sums=np.empty((k, n_classes, d)),
        counts=np.empty((k, n_classes), dtype=np.int64),
        gram=np.empty((k, n_classes, n_classes)),
        inverse=np.empty((k, n_classes)),
        scalars=np.empty((k, 5)),
        vectors=np.zeros((2, n_classes, k, d)),
        terms=np.zeros((2, n_classes, k, 2)),
        share=np.empty(n_classes),
        stale=np.ones((n_classes, k + 1), dtype=np.bool_),
        drift=np.zeros((n_classes, 3)),
        reach=np.full(n, -np.inf),
        scores=np.full(k, np.inf),
    )


@compiled(fastmath=REORDER)
def dot(a: Any, b: Any) -> Any:
    """Dot product of two vectors."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@compiled()
def dot_in_order(a: Any, b: Any) -> Any:
    """Dot product of two vectors, the same bits on every machine."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@compiled()
def row_norms(X: Any, norms: Any, columns: Any) -> None:
    """Fill `norms` (n,) with each row's norm, and `columns` (d,) with each column's, squared."""
    columns[:] = 0.0
    for i in range(X.shape[0]):
        norms[i] = np.sqrt(dot(X[i], X[i]))
        for f in range(X.shape[1]):
            columns[f] += X[i, f] * X[i, f]


@compiled()
def recount(X: Any, y: Any, labels: Any, state: State) -> None:
    """Compute sums, counts and products from the labels, rows in order; all weights turn stale."""
    sums, counts = state.sums, state.counts
    sums[:] = 0.0
    counts[:] = 0
    for i in range(X.shape[0]):
        j, c = labels[i], y[i]
        counts[j, c] += 1
        for f in range(X.shape[1]):
            sums[j, c, f] += X[i, f]
    for j in range(sums.shape[0]):
        for a in range(sums.shape[1]):
            for b in range(sums.shape[1]):
                state.gram[j, a, b] = dot_in_order(sums[j, a], sums[j, b])
        spread(state.gram, counts, j, state.inverse, state.scalars)
    state.stale[:] = True


@compiled(inline="always")
def spread(gram: Any, counts: Any, j: int, inverse: Any, scalars: Any) -> None:
    """Fill row j of `inverse` and `scalars` from counts and products of the class sums."""
    present, size = 0, 0
    for a in range(counts.shape[1]):
        inverse[j, a] = 0.0
        if counts[j, a] > 0:
            present += 1
            size += counts[j, a]
            inverse[j, a] = 1.0 / counts[j, a]
    total, squares, means = 0.0, 0.0, 0.0
    for a in range(counts.shape[1]):
        squares += gram[j, a, a] * inverse[j, a] * inverse[j, a]
        for b in range(counts.shape[1]):
            total += gram[j, a, b]
            means += gram[j, a, b] * inverse[j, a] * inverse[j, b]
    scalars[j, 0], scalars[j, 1], scalars[j, 2], scalars[j, 3] = present, size, total, squares
    scalars[j, 4] = max(present * squares - means, 0.0) if present > 1 else 0.0


@compiled()
def move(x: Any, c: int, p: int, q: int, state: State) -> None:
    """Take row x, of class c, from cluster p to cluster q."""
    sums, counts, gram, stale = state.sums, state.counts, state.gram, state.stale
    for f in range(x.shape[0]):
        sums[p, c, f] -= x[f]
        sums[q, c, f] += x[f]
    counts[p, c] -= 1
    counts[q, c] += 1
    for j in (p, q):
        for b in range(counts.shape[1]):
            gram[j, c, b] = gram[j, b, c] = dot(sums[j, c], sums[j, b])
        spread(gram, counts, j, state.inverse, state.scalars)
        for a in range(counts.shape[1]):
            stale[a, j] = stale[a, -1] = True
