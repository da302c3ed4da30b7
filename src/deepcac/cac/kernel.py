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


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def dot(a: Any, b: Any) -> Any:
    """Dot product of two vectors."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def dot_in_order(a: Any, b: Any) -> Any:
    """Dot product of two vectors, the same bits on every machine."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def row_norms(X: Any, norms: Any, columns: Any) -> None:
    """Fill `norms` (n,) with each row's norm, and `columns` (d,) with each column's, squared."""
    columns[:] = 0.0
    for i in range(X.shape[0]):
        norms[i] = np.sqrt(dot(X[i], X[i]))
        for f in range(X.shape[1]):
            columns[f] += X[i, f] * X[i, f]


@numba.njit(cache=True, nogil=True, error_model="numpy")
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
        spread(state.gram, counts, j, state.inverse, state.scalars)
    state.stale[:] = True


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
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


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def coefficients(
    gram: Any,
    inverse: Any,
    scalars: Any,
    j: int,
    c: int,
    sign: int,
    alpha: float,
    sized: bool,
    share: Any,
) -> Any:
    """Weights of one Gamma; `share` (C,) receives the coefficient of each class sum in v.

    Parameters
    ----------
    gram, inverse, scalars : ndarray
        As in `State`.
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
    present, size, total = scalars[j, 0], scalars[j, 1], scalars[j, 2]
    if size == 0.0:
        share[:] = 0.0
        constant, factor = 0.0, 0.0
    else:
        one = 1.0 / (size + sign)
        factor = sign * size * one  # `within` changes by this times ||x - mu||^2
        constant = sign * total * one / size - (alpha * sign * scalars[j, 4] if sized else 0.0)
        weight = alpha * (size + sign) if sized else alpha
        # The mean of class c moves by step (x - mu_c). If it had no row, it comes to be at x.
        absent = inverse[j, c] == 0.0
        step = 1.0 if absent else sign * inverse[j, c] / (1.0 + sign * inverse[j, c])
        pull = 2.0 * weight * step
        own = gram[j, c, c] * inverse[j, c] * inverse[j, c]
        lean = present * own  # becomes (M mu_c - T) . mu_c, with the M class means' sum T
        for b in range(share.shape[0]):
            share[b] = pull * inverse[j, b] - 2.0 * sign * one
            lean -= gram[j, c, b] * inverse[j, c] * inverse[j, b]
        bend = weight * (present if absent else present - 1.0) * step * step
        share[c] -= (pull * present - 2.0 * bend) * inverse[j, c]
        constant += pull * lean - bend * own - (weight * scalars[j, 3] if absent else 0.0)
        factor -= bend
    return constant, factor


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=REORDER)
def combine(sums: Any, share: Any, j: int, v: Any) -> Any:
    """Set v (d,) to the sum of `share` times the class sums of cluster j; return ||change||."""
    moved = 0.0
    if share.shape[0] == 2:
        for f in range(v.shape[0]):
            value = share[0] * sums[j, 0, f] + share[1] * sums[j, 1, f]
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def renew(
    sums: Any,
    counts: Any,
    gram: Any,
    inverse: Any,
    scalars: Any,
    vectors: Any,
    terms: Any,
    share: Any,
    stale: Any,
    drift: Any,
    c: int,
    alpha: float,
    sized: bool,
) -> None:
    """Renew the stale weights of class c, and add the largest changes to its drift."""
    for way in (ADD, REMOVE):
        by_constant, by_factor, by_vector = 0.0, 0.0, 0.0
        for j in range(counts.shape[0]):
            if not stale[c, j] or (way == REMOVE and counts[j, c] < 2):
                continue  # from a cluster with one row of the class, nobody can leave
            sign = 1 - 2 * way
            constant, factor = coefficients(gram, inverse, scalars, j, c, sign, alpha, sized, share)
            by_constant = max(by_constant, abs(constant - terms[way, c, j, 0]))
            by_factor = max(by_factor, abs(factor - terms[way, c, j, 1]))
            by_vector = max(by_vector, combine(sums, share, j, vectors[way, c, j]))
            terms[way, c, j, 0], terms[way, c, j, 1] = constant, factor
        # A row's change of cost is one Gamma- plus the least Gamma+.
        drift[c, 0] += by_constant
        drift[c, 1] += by_factor
        drift[c, 2] += by_vector
    for j in range(stale.shape[1]):
        stale[c, j] = False


@numba.njit(cache=True, nogil=True, error_model="numpy")
def move(
    x: Any,
    c: int,
    p: int,
    q: int,
    sums: Any,
    counts: Any,
    gram: Any,
    inverse: Any,
    scalars: Any,
    stale: Any,
) -> None:
    """Take row x, of class c, from cluster p to cluster q."""
    for f in range(x.shape[0]):
        sums[p, c, f] -= x[f]
        sums[q, c, f] += x[f]
    counts[p, c] -= 1
    counts[q, c] += 1
    for j in (p, q):
        for b in range(counts.shape[1]):
            gram[j, c, b] = gram[j, b, c] = dot(sums[j, c], sums[j, b])
        spread(gram, counts, j, inverse, scalars)
        for a in range(counts.shape[1]):
            stale[a, j] = True
    for a in range(counts.shape[1]):
        stale[a, -1] = True


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
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
    # Unpacked once: handing the whole tuple to a function costs more than most functions here.
    sums, counts, gram, inverse, scalars, vectors, terms, share, stale, drift, reach = state
    k = counts.shape[0]
    scores = np.full(k, np.inf)
    moves = 0
    for i in range(X.shape[0]):
        c, p, square = y[i], labels[i], norms[i] * norms[i]
        if counts[p, c] == 1:
            continue  # the last of its class stays
        if stale[c, k]:
            renew(
                sums,
                counts,
                gram,
                inverse,
                scalars,
                vectors,
                terms,
                share,
                stale,
                drift,
                c,
                alpha,
                sized,
            )
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
                move(X[i], c, p, q, sums, counts, gram, inverse, scalars, stale)
                labels[i] = q
                reach[i] = -np.inf
                moves += 1
                continue
        # The bound leaves room for the rounding of the sums that it compares.
        reach[i] = best + leave + drifted * (1.0 - ROUNDING)
    return moves
