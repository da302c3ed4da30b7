r"""The Hartigan pass of CAC, compiled.

Both changes of the cost, of adding a row x of class c to cluster j (Gamma+) and of removing it
(Gamma-), are affine in ||x||^2 and x:

.. math:: \Gamma = constant + factor \, \|x\|^2 + v \cdot x

where v is a combination of the class sums of cluster j. The three depend on (add or remove,
class, cluster) alone and change only when the cluster does, so a row costs one dot product for
each cluster. For any number of classes the separation is the sum over pairs of present classes;
with T the sum of the M class means, :math:`\sum_{a<b} \|\mu_a-\mu_b\|^2 = M \sum_a
\|\mu_a\|^2 - \|T\|^2`, and two classes are the case M = 2.

Rows that provably cannot move are skipped: a row's best change of cost was positive when it was
last scored, and the weights have since changed by less than that.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

ADD, REMOVE = 0, 1
# A change of cost smaller than this share of its own terms is rounding, neither gain nor loss.
ROUNDING = 1e-12
# What only ranks may be summed in the order that is fastest on this machine; what enters the
# cost is summed in row and column order, so that it is the same everywhere.
REORDER = {"reassoc", "contract", "nsz"}

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    scalars : ndarray of shape (k, 5)
        What `spread` says of each cluster.
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
    """

    sums: Floats
    counts: Ints
    gram: Floats
    scalars: Floats
    vectors: Floats
    terms: Floats
    share: Floats
    stale: npt.NDArray[np.bool_]
    drift: Floats
    reach: Floats


@numba.njit(cache=True, nogil=True, fastmath=REORDER)
def dot(a: Any, b: Any) -> Any:
    """Dot product of two vectors."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True)
def dot_in_order(a: Any, b: Any) -> Any:
    """Dot product of two vectors, the same bits on every machine."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True)
def row_norms(X: Any, norms: Any, columns: Any) -> None:
    """Fill `norms` (n,) with each row's norm, and `columns` (d,) with each column's, squared."""
    columns[:] = 0.0
    for i in range(X.shape[0]):
        norms[i] = np.sqrt(dot(X[i], X[i]))
        for f in range(X.shape[1]):
            columns[f] += X[i, f] * X[i, f]


@numba.njit(cache=True, nogil=True)
def recount(X: Any, y: Any, labels: Any, state: Any) -> None:
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
        spread(state.gram, counts, j, state.scalars)
    state.stale[:] = True


@numba.njit(cache=True, nogil=True)
def spread(gram: Any, counts: Any, j: int, scalars: Any) -> None:
    """Fill row j of `scalars` from the products of the class sums of cluster j.

    0: number of classes present; 1: number of rows; 2: squared norm of the sum of all rows;
    3: sum of the squared norms of the class means; 4: separation, the sum over pairs of present
    classes of the squared distance of their means.
    """
    present, size = 0, 0
    total, squares, means = 0.0, 0.0, 0.0
    for a in range(counts.shape[1]):
        if counts[j, a] == 0:
            continue
        present += 1
        size += counts[j, a]
        squares += gram[j, a, a] / counts[j, a] / counts[j, a]
        for b in range(counts.shape[1]):
            if counts[j, b] > 0:
                total += gram[j, a, b]
                means += gram[j, a, b] / counts[j, a] / counts[j, b]
    scalars[j, 0], scalars[j, 1], scalars[j, 2], scalars[j, 3] = present, size, total, squares
    scalars[j, 4] = max(present * squares - means, 0.0) if present > 1 else 0.0


@numba.njit(cache=True, nogil=True)
def coefficients(state: Any, j: int, c: int, sign: int, alpha: float, sized: bool) -> Any:
    """Weights of one Gamma; ``state.share`` receives the coefficient of each class sum in v.

    Parameters
    ----------
    state : State
        Counts, products and scalars are read.
    j, c : int
        Cluster, and class of the row.
    sign : {1, -1}
        Add or remove.
    alpha : float
        Weight of the separation.
    sized : bool
        Whether the cluster's size multiplies its separation.

    Returns
    -------
    constant, factor : float
        The other two terms of the affine form.
    """
    counts, gram, share = state.counts, state.gram, state.share
    present, size, total, squares, separation = state.scalars[j]
    share[:] = 0.0
    if size == 0:
        return 0.0, 0.0
    pull = sign * size / (size + sign)  # `within` changes by pull ||x - mu||^2
    weight = alpha * (size + sign) if sized else alpha
    share[:] = -2.0 * pull / size
    constant = pull * total / size / size - (alpha * sign * separation if sized else 0.0)
    if counts[j, c] == 0:
        for b in range(counts.shape[1]):
            if counts[j, b] > 0:
                share[b] += 2.0 * weight / counts[j, b]
        return constant - weight * squares, pull - weight * present
    step = sign / (counts[j, c] + sign)  # the class mean moves by step (x - mu_c)
    own = gram[j, c, c] / counts[j, c] / counts[j, c]
    lean = present * own  # becomes (M mu_c - T) . mu_c
    for b in range(counts.shape[1]):
        if counts[j, b] > 0:
            share[b] += 2.0 * weight * step / counts[j, b]
            lean -= gram[j, c, b] / counts[j, c] / counts[j, b]
    bend = weight * (present - 1) * step * step
    share[c] -= 2.0 * (weight * step * present - bend) / counts[j, c]
    return constant + 2.0 * weight * step * lean - bend * own, pull - bend


@numba.njit(cache=True, nogil=True, fastmath=REORDER)
def combine(sums: Any, share: Any, j: int, v: Any) -> Any:
    """Set v (d,) to the sum of `share` times the class sums of cluster j; return ||change||."""
    moved = 0.0
    if share.shape[0] == 2:
        first, second = share[0], share[1]
        for f in range(v.shape[0]):
            value = first * sums[j, 0, f] + second * sums[j, 1, f]
            moved += (value - v[f]) * (value - v[f])
            v[f] = value
        return np.sqrt(moved)
    for f in range(v.shape[0]):
        value = 0.0
        for b in range(share.shape[0]):
            value += share[b] * sums[j, b, f]
        moved += (value - v[f]) * (value - v[f])
        v[f] = value
    return np.sqrt(moved)


@numba.njit(cache=True, nogil=True)
def renew(state: Any, c: int, way: int, alpha: float, sized: bool) -> None:
    """Renew the stale weights of class c for one way, and add their change to its drift."""
    sign = 1 if way == ADD else -1
    terms = state.terms
    by_constant, by_factor, by_vector = 0.0, 0.0, 0.0
    for j in range(state.counts.shape[0]):
        if not state.stale[c, j] or (way == REMOVE and state.counts[j, c] < 2):
            continue  # from a cluster with one row of the class, nobody can leave
        constant, factor = coefficients(state, j, c, sign, alpha, sized)
        by_constant = max(by_constant, abs(constant - terms[way, c, j, 0]))
        by_factor = max(by_factor, abs(factor - terms[way, c, j, 1]))
        terms[way, c, j, 0], terms[way, c, j, 1] = constant, factor
        moved = combine(state.sums, state.share, j, state.vectors[way, c, j])
        by_vector = max(by_vector, moved)
    state.drift[c, 0] += by_constant
    state.drift[c, 1] += by_factor
    state.drift[c, 2] += by_vector


@numba.njit(cache=True, nogil=True)
def move(X: Any, i: int, c: int, p: int, q: int, state: Any) -> None:
    """Take row i, of class c, from cluster p to cluster q."""
    sums, counts, gram = state.sums, state.counts, state.gram
    for f in range(X.shape[1]):
        sums[p, c, f] -= X[i, f]
        sums[q, c, f] += X[i, f]
    counts[p, c] -= 1
    counts[q, c] += 1
    for j in (p, q):
        for b in range(counts.shape[1]):
            gram[j, c, b] = gram[j, b, c] = dot(sums[j, c], sums[j, b])
        spread(gram, counts, j, state.scalars)
        for a in range(counts.shape[1]):
            state.stale[a, j] = True
    for a in range(counts.shape[1]):
        state.stale[a, -1] = True


@numba.njit(cache=True, nogil=True)
def destination(scores: Any, p: int, leave: float, best: float, size: float) -> int:
    """Return the lowest cluster that is best up to rounding, or p if no move lowers the cost.

    `scores` (k,) holds Gamma+, `leave` is Gamma- of cluster p and `size` the magnitude of the
    terms that they are made of.
    """
    slack = ROUNDING * size
    if best + leave >= -slack:
        return p
    for j in range(scores.shape[0]):
        if j != p and scores[j] <= best + slack:
            return j
    return p


@numba.njit(cache=True, nogil=True)
def sweep(X: Any, norms: Any, y: Any, labels: Any, state: Any, alpha: float, sized: bool) -> int:
    """Look at every row once, in order, and move it where the cost falls most.

    Parameters
    ----------
    X : ndarray of shape (n, d), C-ordered float64
        Rows.
    norms : ndarray of shape (n,)
        Their norms.
    y, labels : ndarray of shape (n,), int64
        Class and cluster of each row; `labels` is changed in place.
    state : State
        Buffers that belong to `labels`; changed in place.
    alpha : float
        Weight of the separation.
    sized : bool
        Whether a cluster's size multiplies its separation.

    Returns
    -------
    int
        Number of rows that moved.
    """
    counts, vectors, terms, reach = state.counts, state.vectors, state.terms, state.reach
    stale, drift = state.stale, state.drift
    k = counts.shape[0]
    scores = np.full(k, np.inf)
    moves = 0
    for i in range(X.shape[0]):
        c, p, square = y[i], labels[i], norms[i] * norms[i]
        if counts[p, c] == 1:
            continue  # the last of its class stays
        if stale[c, k]:
            renew(state, c, ADD, alpha, sized)
            renew(state, c, REMOVE, alpha, sized)
            for j in range(k + 1):
                stale[c, j] = False
        drifted = drift[c, 0] + drift[c, 1] * square + drift[c, 2] * norms[i]
        if reach[i] > drifted:
            continue
        constant, factor = terms[REMOVE, c, p, 0], terms[REMOVE, c, p, 1]
        leave = dot(X[i], vectors[REMOVE, c, p]) + (constant + factor * square)
        best, q = np.inf, p
        for j in range(k):
            if j == p:
                continue
            scores[j] = dot(X[i], vectors[ADD, c, j]) + (
                terms[ADD, c, j, 0] + terms[ADD, c, j, 1] * square
            )
            if scores[j] < best:
                best, q = scores[j], j
        if best + leave < 0.0:
            size = abs(constant) + abs(terms[ADD, c, q, 0])
            size += (abs(factor) + abs(terms[ADD, c, q, 1])) * square
            q = destination(scores, p, leave, best, size)
            if q != p:
                move(X, i, c, p, q, state)
                labels[i] = q
                reach[i] = -np.inf
                moves += 1
                continue
        # The bound leaves room for the rounding of the sums that it compares.
        reach[i] = best + leave + drifted * (1.0 - ROUNDING)
    return moves
