"""The Hartigan pass of CAC, compiled.

Both changes of the cost, of adding a row x of class c to cluster j (Gamma+) and of removing it
(Gamma-), are affine in ||x||^2 and x:

.. math:: \\Gamma = constant + factor \\, \\|x\\|^2 + v \\cdot x

where v is a combination of the class sums of cluster j. The three depend on (add or remove,
class, cluster) alone and change only when the cluster does, so a row costs one dot product for
each cluster. For any number of classes the separation is the sum over pairs of present classes;
with T the sum of the M class means, :math:`\\sum_{a<b} \\|\\mu_a-\\mu_b\\|^2 = M \\sum_a
\\|\\mu_a\\|^2 - \\|T\\|^2`, and two classes are the case M = 2.

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
    vectors : ndarray of shape (2, C, k, d)
        v of both Gammas; the first axis is add, remove.
    terms : ndarray of shape (2, C, k, 2)
        constant and factor of both Gammas.
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
    vectors: Floats
    terms: Floats
    stale: npt.NDArray[np.bool_]
    drift: Floats
    reach: Floats


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def dot(a: Any, b: Any) -> Any:
    """Dot product of two vectors, in the order that is fastest here: it only ranks."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True)
def dot_in_order(a: Any, b: Any) -> Any:
    """Dot product of two vectors, the same bits on every machine: it enters the cost."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@numba.njit(cache=True, nogil=True)
def row_norms(X: Any, squares: Any, columns: Any) -> None:
    """Fill `squares` (n,) with each row's squared norm, and `columns` (d,) with each column's."""
    columns[:] = 0.0
    for i in range(X.shape[0]):
        squares[i] = dot(X[i], X[i])
        for f in range(X.shape[1]):
            columns[f] += X[i, f] * X[i, f]


@numba.njit(cache=True, nogil=True)
def recount(X: Any, y: Any, labels: Any, state: Any) -> None:
    """Compute sums, counts and products from the labels, rows in order; all weights turn stale."""
    sums, counts, gram = state.sums, state.counts, state.gram
    sums[:] = 0.0
    counts[:] = 0
    for i in range(X.shape[0]):
        total = sums[labels[i], y[i]]
        counts[labels[i], y[i]] += 1
        for f in range(X.shape[1]):
            total[f] += X[i, f]
    for j in range(sums.shape[0]):
        for c in range(sums.shape[1]):
            update_gram(sums, gram, j, c)
    state.stale[:] = True


@numba.njit(cache=True, nogil=True)
def update_gram(sums: Any, gram: Any, j: int, c: int) -> None:
    """Renew the products of class sum c with all class sums of cluster j."""
    for b in range(sums.shape[1]):
        product = dot_in_order(sums[j, c], sums[j, b])
        gram[j, c, b] = product
        gram[j, b, c] = product


@numba.njit(cache=True, nogil=True)
def spread(gram: Any, counts: Any) -> Any:
    """Scalars of one cluster.

    Parameters
    ----------
    gram : ndarray of shape (C, C)
        Dot products of the cluster's class sums.
    counts : ndarray of shape (C,)
        Rows of each class.

    Returns
    -------
    present, size : int
        Number of classes with rows, number of rows.
    total : float
        Squared norm of the sum of all rows.
    squares : float
        Sum of the squared norms of the class means.
    separation : float
        Sum over pairs of present classes of the squared distance of their means.
    """
    present, size = 0, 0
    total, squares, means = 0.0, 0.0, 0.0
    for a in range(counts.shape[0]):
        if counts[a] == 0:
            continue
        present += 1
        size += counts[a]
        squares += gram[a, a] / counts[a] / counts[a]
        for b in range(counts.shape[0]):
            total += gram[a, b]
            if counts[b] > 0:
                means += gram[a, b] / counts[a] / counts[b]
    separation = max(present * squares - means, 0.0) if present > 1 else 0.0
    return present, size, total, squares, separation


@numba.njit(cache=True, nogil=True)
def coefficients(
    gram: Any, counts: Any, c: int, sign: int, alpha: float, sized: bool, w: Any
) -> Any:
    """Weights of one Gamma, its vector as a combination of class sums.

    Parameters
    ----------
    gram, counts : ndarray of shape (C, C) and (C,)
        Of the cluster, as for `spread`.
    c : int
        Class of the row.
    sign : {1, -1}
        Add or remove.
    alpha : float
        Weight of the separation.
    sized : bool
        Whether the cluster's size multiplies its separation.
    w : ndarray of shape (C,)
        Receives the coefficient of each class sum.

    Returns
    -------
    constant, factor : float
        The other two terms of the affine form.
    """
    present, size, total, squares, separation = spread(gram, counts)
    w[:] = 0.0
    if size == 0:
        return 0.0, 0.0
    pull = sign * size / (size + sign)  # n ||x - mu||^2 / (n +- 1) is what within changes by
    weight = alpha * (size + sign) if sized else alpha
    w[:] = -2.0 * pull / size
    factor = pull
    constant = pull * total / size / size - (alpha * sign * separation if sized else 0.0)
    if counts[c] == 0:
        for b in range(counts.shape[0]):
            if counts[b] > 0:
                w[b] += 2.0 * weight / counts[b]
        return constant - weight * squares, factor - weight * present
    step = sign / (counts[c] + sign)  # the class mean moves by step (x - mu_c)
    own = gram[c, c] / counts[c] / counts[c]
    lean = present * own  # becomes (M mu_c - T) . mu_c
    for b in range(counts.shape[0]):
        if counts[b] > 0:
            w[b] += 2.0 * weight * step / counts[b]
            lean -= gram[c, b] / counts[c] / counts[b]
    bend = weight * (present - 1) * step * step
    w[c] -= 2.0 * (weight * step * present - bend) / counts[c]
    return constant + 2.0 * weight * step * lean - bend * own, factor - bend


@numba.njit(cache=True, nogil=True)
def renew(state: Any, j: int, c: int, alpha: float, sized: bool, shift: Any) -> None:
    """Renew both Gammas of class c in cluster j.

    `shift` (2, 3) is raised to the change of constant, factor and ||v||, for add and remove.
    """
    sums, counts = state.sums, state.counts
    w = np.empty(counts.shape[1])
    for way in range(2):
        if way == REMOVE and counts[j, c] < 2:
            continue  # nobody can leave
        sign = 1 if way == ADD else -1
        constant, factor = coefficients(state.gram[j], counts[j], c, sign, alpha, sized, w)
        v, term = state.vectors[way, c, j], state.terms[way, c, j]
        moved = 0.0
        for f in range(v.shape[0]):
            value = 0.0
            for b in range(w.shape[0]):
                value += w[b] * sums[j, b, f]
            moved += (value - v[f]) ** 2
            v[f] = value
        shift[way, 0] = max(shift[way, 0], abs(constant - term[0]))
        shift[way, 1] = max(shift[way, 1], abs(factor - term[1]))
        shift[way, 2] = max(shift[way, 2], np.sqrt(moved))
        term[0], term[1] = constant, factor


@numba.njit(cache=True, nogil=True)
def renew_class(state: Any, c: int, alpha: float, sized: bool) -> None:
    """Renew the stale weights of class c and add their change to its drift."""
    shift = np.zeros((2, 3))
    k = state.counts.shape[0]
    for j in range(k):
        if state.stale[c, j]:
            renew(state, j, c, alpha, sized, shift)
    state.stale[c, :] = False
    for t in range(3):
        # A row's change of cost is one Gamma- plus the least Gamma+.
        state.drift[c, t] += shift[ADD, t] + shift[REMOVE, t]


@numba.njit(cache=True, nogil=True)
def move(x: Any, c: int, p: int, q: int, state: Any) -> None:
    """Take row x of class c from cluster p to cluster q."""
    sums, counts = state.sums, state.counts
    for f in range(x.shape[0]):
        sums[p, c, f] -= x[f]
        sums[q, c, f] += x[f]
    counts[p, c] -= 1
    counts[q, c] += 1
    for j in (p, q):
        update_gram(sums, state.gram, j, c)
        state.stale[:, j] = True
    state.stale[:, -1] = True


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
def sweep(X: Any, squares: Any, y: Any, labels: Any, state: Any, alpha: float, sized: bool) -> int:
    """Look at every row once, in order, and move it where the cost falls most.

    Parameters
    ----------
    X : ndarray of shape (n, d), C-ordered float64
        Rows.
    squares : ndarray of shape (n,)
        Their squared norms.
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
        c, p, square = y[i], labels[i], squares[i]
        if counts[p, c] == 1:
            continue  # the last of its class stays
        if stale[c, k]:
            renew_class(state, c, alpha, sized)
        drifted = drift[c, 0] + drift[c, 1] * square + drift[c, 2] * np.sqrt(square)
        if reach[i] > drifted:
            continue
        x = X[i]
        term = terms[REMOVE, c, p]
        leave = dot(x, vectors[REMOVE, c, p]) + (term[0] + term[1] * square)
        size = abs(term[0]) + abs(term[1]) * square
        best, q = np.inf, p
        for j in range(k):
            if j == p:
                continue
            term = terms[ADD, c, j]
            scores[j] = dot(x, vectors[ADD, c, j]) + (term[0] + term[1] * square)
            if scores[j] < best:
                best, q = scores[j], j
        if best + leave < 0.0:
            term = terms[ADD, c, q]
            q = destination(scores, p, leave, best, size + abs(term[0]) + abs(term[1]) * square)
            if q != p:
                move(x, c, p, q, state)
                labels[i] = q
                reach[i] = -np.inf
                moves += 1
                continue
        # The bound leaves room for the rounding of the sums that it compares.
        reach[i] = best + leave + drifted * (1.0 - ROUNDING)
    return moves
