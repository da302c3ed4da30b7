"""Compiled loops: similarities of sparse items, their adjoint, and point-incremental k-means."""

from functools import partial
from typing import Any

from deepcac.compilation import njit

# The kernels fill buffers that they are given and make no arrays.
compiled = partial(njit, nogil=True, error_model="numpy", _nrt=False)
# A gain below this share of the objective's terms is rounding.
ROUNDING = 1e-12


@compiled()
def weighted_gram(indptr: Any, rows: Any, values: Any, weights: Any, K: Any) -> None:
    """Add X diag(weights) X^T to K (m, m), for X (m, N) in compressed columns.

    Parameters
    ----------
    indptr, rows, values : ndarray
        Column starts, row numbers (ascending in a column) and values of X.
    weights : ndarray of shape (N,)
        One for each column.
    K : ndarray of shape (m, m)
        Zeros on entry.
    """
    for column in range(indptr.shape[0] - 1):
        weight = weights[column]
        if weight == 0.0:
            continue
        for a in range(indptr[column], indptr[column + 1]):
            scaled = weight * values[a]
            row = K[rows[a]]
            for b in range(indptr[column], a + 1):
                row[rows[b]] += scaled * values[b]
    for i in range(K.shape[0]):
        for j in range(i):
            K[j, i] = K[i, j]


@compiled()
def column_forms(indptr: Any, rows: Any, values: Any, B: Any, out: Any) -> None:
    """Set `out` (N,) to diag(X^T B X), for X in compressed columns and B (m, m) symmetric."""
    for column in range(indptr.shape[0] - 1):
        total = 0.0
        for a in range(indptr[column], indptr[column + 1]):
            row = B[rows[a]]
            half = 0.0
            for b in range(indptr[column], a):
                half += row[rows[b]] * values[b]
            total += values[a] * (2.0 * half + row[rows[a]] * values[a])
        out[column] = total


@compiled()
def climb(K: Any, labels: Any, sizes: Any, sums: Any, totals: Any, max_passes: int) -> float:
    """Move one item at a time to the cluster where the objective grows most, until none moves.

    The objective is the sum over clusters c of (1 / |c|) times the sum of K_ij over i, j in c
    (equation 7). It grows with every move, so the end is reached whatever K is. No cluster is
    emptied.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric, of any signature.
    labels : ndarray of shape (m,), int64
        Start, with no cluster empty; holds the local maximum on return.
    sizes, totals : ndarray of shape (k,)
        Buffers: items of each cluster, and the sum of K inside it.
    sums : ndarray of shape (k, m)
        Buffer: sum of K between each item and each cluster.
    max_passes : int
        Largest number of passes over the items.

    Returns
    -------
    objective : float
    """
    m, k = K.shape[0], sizes.shape[0]
    count(K, labels, sizes, sums, totals)
    for _ in range(max_passes):
        moved = False
        for i in range(m):
            a = labels[i]
            if sizes[a] == 1.0:
                continue
            self_similarity = K[i, i]
            current = totals[a] / sizes[a]
            left = (totals[a] - 2.0 * sums[a, i] + self_similarity) / (sizes[a] - 1.0)
            best, to, scale = 0.0, a, 0.0
            for b in range(k):
                if b == a:
                    continue
                stay = current + totals[b] / sizes[b]
                go = left + (totals[b] + 2.0 * sums[b, i] + self_similarity) / (sizes[b] + 1.0)
                if go - stay > best:
                    best, to, scale = go - stay, b, abs(stay) + abs(go)
            if best > ROUNDING * scale:
                totals[a] += self_similarity - 2.0 * sums[a, i]
                totals[to] += self_similarity + 2.0 * sums[to, i]
                sizes[a] -= 1.0
                sizes[to] += 1.0
                labels[i] = to
                for j in range(m):
                    sums[a, j] -= K[i, j]
                    sums[to, j] += K[i, j]
                moved = True
        if not moved:
            break
    count(K, labels, sizes, sums, totals)
    objective = 0.0
    for c in range(k):
        objective += totals[c] / sizes[c]
    return objective


@compiled()
def count(K: Any, labels: Any, sizes: Any, sums: Any, totals: Any) -> None:
    """Fill the buffers of `climb` from the labels."""
    sizes[:] = 0.0
    sums[:] = 0.0
    totals[:] = 0.0
    for i in range(K.shape[0]):
        c = labels[i]
        sizes[c] += 1.0
        for j in range(K.shape[0]):
            sums[c, j] += K[i, j]
    for i in range(K.shape[0]):
        totals[labels[i]] += sums[labels[i], i]
