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


@numba.njit(cache=True, nogil=True, inline="always")
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
        inverse = 1.0 / counts[j, a]
        squares += gram[j, a, a] * inverse * inverse
        for b in range(counts.shape[1]):
            if counts[j, b] > 0:
                total += gram[j, a, b]
                means += gram[j, a, b] * inverse / counts[j, b]
    scalars[j, 0], scalars[j, 1], scalars[j, 2], scalars[j, 3] = present, size, total, squares
    scalars[j, 4] = max(present * squares - means, 0.0) if present > 1 else 0.0


@numba.njit(cache=True, nogil=True, inline="always")
def coefficients(
    counts: Any,
    gram: Any,
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
    counts, gram, scalars : ndarray
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
    size, total = scalars[j, 1], scalars[j, 2]
    constant, factor = 0.0, 0.0
    for b in range(share.shape[0]):
        share[b] = 0.0
    if size > 0:
        present, separation = scalars[j, 0], scalars[j, 4]
        factor = sign * size / (size + sign)  # `within` changes by this times ||x - mu||^2
        weight = alpha * (size + sign) if sized else alpha
        constant = factor * total / (size * size) - (alpha * sign * separation if sized else 0.0)
        # The mean of the row's class moves by step (x - mu_c), or comes to be.
        step = sign / (counts[j, c] + sign)
        pull = -2.0 * factor / size
        for b in range(share.shape[0]):
            share[b] = pull + (2.0 * weight * step / counts[j, b] if counts[j, b] > 0 else 0.0)
        if counts[j, c] == 0:
            constant -= weight * scalars[j, 3]
            factor -= weight * present
        else:
            inverse = 1.0 / counts[j, c]
            own = gram[j, c, c] * inverse * inverse
            lean = present * own  # becomes (M mu_c - T) . mu_c
            for b in range(share.shape[0]):
                if counts[j, b] > 0:
                    lean -= gram[j, c, b] * inverse / counts[j, b]
            bend = weight * (present - 1.0) * step * step
            share[c] -= 2.0 * (weight * step * present - bend) * inverse
            constant += 2.0 * weight * step * lean - bend * own
            factor -= bend
    return constant, factor


@numba.njit(cache=True, nogil=True, fastmath=REORDER)
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


@numba.njit(cache=True, nogil=True)
def renew(
    sums: Any,
    counts: Any,
    gram: Any,
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
            constant, factor = coefficients(counts, gram, scalars, j, c, sign, alpha, sized, share)
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


@numba.njit(cache=True, nogil=True)
def move(
    x: Any, c: int, p: int, q: int, sums: Any, counts: Any, gram: Any, scalars: Any, stale: Any
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
        spread(gram, counts, j, scalars)
        for a in range(counts.shape[1]):
            stale[a, j] = True
    for a in range(counts.shape[1]):
        stale[a, -1] = True


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
    # Unpacked once: handing the whole tuple to a function costs more than most functions here.
    sums, counts, gram, scalars, vectors, terms, share, stale, drift, reach = state
    k = counts.shape[0]
    scores = np.full(k, np.inf)
    moves = 0
    for i in range(X.shape[0]):
        c, p, square = y[i], labels[i], norms[i] * norms[i]
        if counts[p, c] == 1:
            continue  # the last of its class stays
        if stale[c, k]:
            renew(sums, counts, gram, scalars, vectors, terms, share, stale, drift, c, alpha, sized)
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
                move(X[i], c, p, q, sums, counts, gram, scalars, stale)
                labels[i] = q
                reach[i] = -np.inf
                moves += 1
                continue
        # The bound leaves room for the rounding of the sums that it compares.
        reach[i] = best + leave + drifted * (1.0 - ROUNDING)
    return moves
