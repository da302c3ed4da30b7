"""The dual of a linear support vector machine of two classes, solved by sequential pairs.

Working pairs are chosen by second-order information (Fan, Chen & Lin 2005, Journal of Machine
Learning Research 6, section 2).
"""

from functools import partial
from typing import Any

import numpy as np

from deepcac.compilation import njit

compiled = partial(njit, nogil=True, error_model="numpy")

_FLAT = 1e-12  # least curvature along a pair
_CACHED = 8_000_000  # products kept at a time


@compiled(fastmath={"reassoc", "contract", "nsz"})
def product_row(X: Any, i: int, row: Any) -> None:
    """Fill `row` (n,) with the dot products of row i and every row of X."""
    for t in range(X.shape[0]):
        total = 0.0
        for f in range(X.shape[1]):
            total += X[i, f] * X[t, f]
        row[t] = total


@compiled()
def cached_products(X: Any, i: int, rows: Any, slot: Any, owner: Any, turn: int) -> int:
    """Return the slot in `rows` with the products of row i; if not cached, fill slot `turn`."""
    if slot[i] < 0:
        if owner[turn] >= 0:
            slot[owner[turn]] = -1
        product_row(X, i, rows[turn])
        owner[turn] = i
        slot[i] = turn
    return slot[i]


@compiled()
def first_index(y: Any, alpha: Any, gradient: Any, C: float) -> Any:
    """Return the row that violates optimality most from above, and by how much."""
    best, top = -1, -np.inf
    for t in range(y.shape[0]):
        free = alpha[t] < C if y[t] > 0 else alpha[t] > 0.0
        if free and -y[t] * gradient[t] > top:
            top = -y[t] * gradient[t]
            best = t
    return best, top


@compiled()
def second_index(
    y: Any, alpha: Any, gradient: Any, C: float, i: int, top: float, row: Any, squares: Any
) -> Any:
    """Return the partner of row i with the largest decrease, and the violation of optimality."""
    best, steepest, low = -1, -np.inf, np.inf
    for t in range(y.shape[0]):
        free = alpha[t] > 0.0 if y[t] > 0 else alpha[t] < C
        if not free:
            continue
        value = -y[t] * gradient[t]
        low = min(low, value)
        if value < top:
            bend = max(squares[i] + squares[t] - 2.0 * row[t], _FLAT)
            descent = (top - value) * (top - value) / bend
            if descent > steepest:
                steepest = descent
                best = t
    return best, top - low


@compiled()
def step(y: Any, alpha: Any, C: float, i: int, j: int, wanted: float) -> float:
    """Return the largest step along the pair, up to the wanted one, that stays within [0, C]."""
    room_i = C - alpha[i] if y[i] > 0 else alpha[i]
    room_j = alpha[j] if y[j] > 0 else C - alpha[j]
    return min(wanted, room_i, room_j)


@compiled()
def solve(X: Any, y: Any, C: float, tolerance: float, most: int, weights: Any) -> float:
    """Fill the weights of the separating plane and return its intercept.

    Minimises 1/2 ||w||^2 + C sum max(0, 1 - y (w.x + b)).

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        -1.0 or 1.0, both present.
    C, tolerance : float
        Cost, and the violation of optimality that is left.
    most : int
        The most steps.
    weights : array of shape (d,)
        Receives the weights.
    """
    n, d = X.shape
    slots = max(2, min(n, _CACHED // n))
    rows = np.empty((slots, n))
    slot, owner = np.full(n, -1), np.full(slots, -1)
    squares, alpha, gradient = np.empty(n), np.zeros(n), np.full(n, -1.0)
    for t in range(n):
        total = 0.0
        for f in range(d):
            total += X[t, f] * X[t, f]
        squares[t] = total
    turn, i, j, top, gap = 0, -1, -1, 0.0, 0.0
    for _ in range(most):
        i, top = first_index(y, alpha, gradient, C)
        at_i = cached_products(X, i, rows, slot, owner, turn)
        turn = (at_i + 1) % slots if at_i == turn else turn
        j, gap = second_index(y, alpha, gradient, C, i, top, rows[at_i], squares)
        if gap < tolerance or j < 0:
            break
        if turn == at_i:
            turn = (turn + 1) % slots
        at_j = cached_products(X, j, rows, slot, owner, turn)
        turn = (at_j + 1) % slots if at_j == turn else turn
        bend = max(squares[i] + squares[j] - 2.0 * rows[at_i, j], _FLAT)
        size = step(y, alpha, C, i, j, (top + y[j] * gradient[j]) / bend)
        alpha[i] = min(max(alpha[i] + y[i] * size, 0.0), C)
        alpha[j] = min(max(alpha[j] - y[j] * size, 0.0), C)
        for t in range(n):
            gradient[t] += y[t] * size * (rows[at_i, t] - rows[at_j, t])
    return plane(X, y, alpha, gradient, C, weights)


@compiled()
def solve_against(
    points: Any,
    group: Any,
    others: Any,
    starts: Any,
    first: Any,
    limits: tuple[float, float, int],
    planes: Any,
) -> None:
    """Fill the planes (g, d + 1) between one group of rows and each of some others.

    Parameters
    ----------
    points : array of shape (n, d)
        Rows of all groups.
    group : array of int
        Positions of the rows of the one group.
    others, starts : arrays of int
        Positions of the rows of the others, group after group, and where each starts, with the
        end of the last, (g + 1,).
    first : array of bool, shape (g,)
        Whether the one group is on the positive side.
    limits, planes
        C, tolerance and most as in `solve`; a plane has its intercept last.
    """
    d, (C, tolerance, most) = points.shape[1], limits
    for g in range(first.shape[0]):
        theirs = others[starts[g] : starts[g + 1]]
        ahead, behind = (group, theirs) if first[g] else (theirs, group)
        cut = ahead.shape[0]
        X, y = np.empty((cut + behind.shape[0], d)), np.ones(cut + behind.shape[0])
        for t in range(cut):
            X[t] = points[ahead[t]]
        for t in range(behind.shape[0]):
            X[cut + t] = points[behind[t]]
            y[cut + t] = -1.0
        weights = np.empty(d)
        planes[g, d] = solve(X, y, C, tolerance, most, weights)
        planes[g, :d] = weights


@compiled()
def plane(X: Any, y: Any, alpha: Any, gradient: Any, C: float, weights: Any) -> float:
    """Fill the weights from the multipliers and return the intercept."""
    weights[:] = 0.0
    inside, count = 0.0, 0
    high, low = np.inf, -np.inf
    for t in range(X.shape[0]):
        if alpha[t] > 0.0:
            for f in range(X.shape[1]):
                weights[f] += alpha[t] * y[t] * X[t, f]
        value = -y[t] * gradient[t]
        if 0.0 < alpha[t] < C:
            inside += value
            count += 1
        elif (alpha[t] <= 0.0) == (y[t] > 0):
            low = max(low, value)
        else:
            high = min(high, value)
    return inside / count if count else 0.5 * (high + low)
