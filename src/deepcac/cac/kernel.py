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

from typing import Any

import numpy as np

from deepcac.cac.state import REORDER, State, compiled, dot, move

ADD, REMOVE = 0, 1
# A change of cost smaller than this share of its own terms is rounding, neither gain nor loss.
ROUNDING = 1e-12


@compiled(inline="always")
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


@compiled(fastmath=REORDER)
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


@compiled()
def renew(state: State, c: int, alpha: float, sized: bool) -> None:
    """Renew the stale weights of class c, and add the largest changes to its drift."""
    counts, terms, stale, drift = state.counts, state.terms, state.stale, state.drift
    for way in (ADD, REMOVE):
        sign = 1 - 2 * way
        by_constant, by_factor, by_vector = 0.0, 0.0, 0.0
        for j in range(counts.shape[0]):
            if not stale[c, j] or (way == REMOVE and counts[j, c] < 2):
                continue  # from a cluster with one row of the class, nobody can leave
            constant, factor = coefficients(
                state.gram, state.inverse, state.scalars, j, c, sign, alpha, sized, state.share
            )
            by_constant = max(by_constant, abs(constant - terms[way, c, j, 0]))
            by_factor = max(by_factor, abs(factor - terms[way, c, j, 1]))
            moved = combine(state.sums, state.share, j, state.vectors[way, c, j])
            by_vector = max(by_vector, moved)
            terms[way, c, j, 0], terms[way, c, j, 1] = constant, factor
        # A row's change of cost is one Gamma- plus the least Gamma+.
        drift[c, 0] += by_constant
        drift[c, 1] += by_factor
        drift[c, 2] += by_vector
    for j in range(stale.shape[1]):
        stale[c, j] = False


@compiled(inline="always")
def gamma(x: Any, square: Any, way: int, c: int, j: int, vectors: Any, terms: Any) -> Any:
    """Change of cost when row x of class c enters (`ADD`) or leaves (`REMOVE`) cluster j."""
    return dot(x, vectors[way, c, j]) + (terms[way, c, j, 0] + terms[way, c, j, 1] * square)


@compiled(inline="always")
def best_entry(x: Any, square: Any, c: int, p: int, vectors: Any, terms: Any, scores: Any) -> Any:
    """Fill `scores` with Gamma+ of every cluster but p; return the least, and its cluster."""
    if scores.shape[0] == 2:  # without the loop, whose branch on p cannot be predicted
        q = 1 - p
        best = scores[q] = gamma(x, square, ADD, c, q, vectors, terms)
    else:
        best, q = np.inf, p
        for j in range(scores.shape[0]):
            if j == p:
                continue
            scores[j] = gamma(x, square, ADD, c, j, vectors, terms)
            if scores[j] < best:
                best, q = scores[j], j
    return best, q


@compiled()
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


@compiled()
def sweep(X: Any, norms: Any, y: Any, labels: Any, state: State, alpha: float, sized: bool) -> int:
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
    counts, vectors, terms, scores = state.counts, state.vectors, state.terms, state.scores
    stale, drift, reach = state.stale, state.drift, state.reach
    moves = 0
    for i in range(X.shape[0]):
        c, p, square = y[i], labels[i], norms[i] * norms[i]
        if counts[p, c] == 1:
            continue  # the last of its class stays
        if stale[c, -1]:
            renew(state, c, alpha, sized)
        drifted = drift[c, 0] + drift[c, 1] * square + drift[c, 2] * norms[i]
        if reach[i] > drifted:
            continue
        leave = gamma(X[i], square, REMOVE, c, p, vectors, terms)
        best, q = best_entry(X[i], square, c, p, vectors, terms, scores)
        if best + leave < 0.0:
            size = abs(terms[REMOVE, c, p, 0]) + abs(terms[ADD, c, q, 0])
            size += (abs(terms[REMOVE, c, p, 1]) + abs(terms[ADD, c, q, 1])) * square
            q = destination(scores, p, leave, best, size)
            if q != p:
                move(X[i], c, p, q, state)
                labels[i], reach[i] = q, -np.inf
                moves += 1
                continue
        # The bound leaves room for the rounding of the sums that it compares.
        reach[i] = best + leave + drifted * (1.0 - ROUNDING)
    return moves
