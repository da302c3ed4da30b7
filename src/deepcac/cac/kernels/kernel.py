"""The Hartigan pass of CAC, compiled.

Rows are scored in blocks with the weights of the last renewal, and decided in order. A decision is
final if the score lies further from its threshold than the weights have drifted since
(`deepcac.cac.kernels.drift`); else the weights are renewed and the row is decided exactly, so that
labels and moves are those of the plain rule. Blocks none of whose rows can move are skipped.
"""

from typing import Any

import numpy as np

from deepcac.cac.kernels.rows import BLOCK, PreparedRows
from deepcac.cac.kernels.scores import score
from deepcac.cac.kernels.state import (
    BASE,
    DRIFT,
    EVENT,
    PRODUCTS,
    SCOPE,
    SCORED,
    SURE,
    State,
    compiled,
    dot,
    shift,
)
from deepcac.cac.kernels.tile import prefetch
from deepcac.cac.kernels.weights import ADD, REMOVE, ROUNDING, renew

UNSURE = -1


def sweep(rows: PreparedRows, cells: Any, state: State, alpha: float, sized: bool) -> int:
    """Look at every row once, in order, and move it where the cost falls most.

    Parameters
    ----------
    rows : PreparedRows
        What `deepcac.cac.kernels.rows.prepare` returned.
    cells : ndarray of shape (blocks, BLOCK), int32
        Cell of each row, class * k + cluster, and -1 beyond the rows; changed in place.
    state : State
        Buffers that belong to `cells`; changed in place.
    alpha : float
        Weight of the separation.
    sized : bool
        Whether a cluster's size multiplies its separation.

    Returns
    -------
    int
        Number of rows that moved.
    """
    # One by one: a tuple of arrays costs more to hand over than a pass over 1,000 rows.
    return _sweep(
        rows.X, rows.squares, rows.blocks, rows.radius, rows.spread, cells, alpha, sized, *state
    )


@compiled()
def _sweep(
    X: Any,
    squares: Any,
    blocks: Any,
    radius: float,
    spread: float,
    cells: Any,
    alpha: float,
    sized: bool,
    sums: Any,
    counts: Any,
    gram: Any,
    scalars: Any,
    forms: Any,
    weights: Any,
    bias: Any,
    rates: Any,
    left: Any,
    level: Any,
    waits: Any,
    pending: Any,
    slack: Any,
    scores: Any,
    events: Any,
    room: Any,
) -> int:
    """`sweep` on the arrays of `PreparedRows` and `State`, which numba needs as arguments."""
    state = State(
        sums, counts, gram, scalars, forms, weights, bias, rates, left, level, waits, pending,
        slack, scores, events, room,
    )  # fmt: skip
    renew(state, alpha, sized, radius, spread)
    k, part, moves = gram.shape[0], 1.0 / gram.shape[0], 0
    for b in range(blocks.shape[0]):
        first = 0 if may_move(b, level, slack) else BLOCK
        while first < BLOCK:
            open_levels(level)
            n_events = score(blocks[b], cells[b], first, b, state)
            first = BLOCK
            for e in range(n_events):
                prefetch(X, b * BLOCK + events[e])
            for e in range(n_events):
                r = events[e]
                i, cell = b * BLOCK + r, cells[b, r]
                c = int((cell + 0.5) * part)  # faster than a division of integers
                if scores[-3, r] > level[c, SURE] or counts[cell] == 1:
                    continue  # it stays for certain, or as the last of its class
                p = cell - c * k
                q = decide(r, c, p, scores, bias, waits, level[c])
                if q == UNSURE:
                    renew(state, alpha, sized, radius, spread)
                    q = choose_cluster(X[i], squares[i], c, p, k, forms, room[1])
                if q != p:
                    moves += 1
                    cells[b, r] = cell + q - p
                    if move(X[i], np.sqrt(squares[i]), spread, c, p, q, state):
                        renew(state, alpha, sized, radius, spread)
                if outgrown(level):
                    first = r + 1  # the rest is scored again
                    break
    return moves


@compiled(inline="always")
def may_move(b: int, level: Any, slack: Any) -> bool:
    """Return False if it is certain, without scoring block b, that none of its rows moves."""
    for c in range(level.shape[0]):
        waiting = level[c, SURE] - level[c, BASE] + level[c, SCORED]
        if not slack[b, c] > waiting:
            return True
    return False


@compiled(inline="always")
def open_levels(level: Any) -> None:
    """Lower each class's thresholds by its drift since the last block was scored."""
    for c in range(level.shape[0]):
        level[c, SURE] -= level[c, DRIFT] - level[c, SCORED]
        level[c, SCORED] = level[c, DRIFT]
        level[c, EVENT] = level[c, SURE] + level[c, SCOPE]
        level[c, SCOPE] *= 0.99


@compiled(inline="always")
def outgrown(level: Any) -> bool:
    """Return whether a class has drifted beyond the level up to which events were listed."""
    drifted = False
    for c in range(level.shape[0]):
        if level[c, SURE] > level[c, EVENT]:
            level[c, SCOPE] = 2.0 * (level[c, SCOPE] + level[c, SURE] - level[c, EVENT])
            drifted = True
    return drifted


@compiled(inline="always")
def move(x: Any, norm: float, spread: float, c: int, p: int, q: int, state: State) -> bool:
    """Move row x of class c from cluster p to q; return whether weights must be renewed.

    The level of a class rises to the drift of the two clusters that drifted most: a score is made
    of a Gamma- and a Gamma+ of different clusters.
    """
    k, left, level, waits, rates = (
        state.gram.shape[0], state.left, state.level, state.waits, state.rates,
    )  # fmt: skip
    leave, enter = c * k + p, c * k + q
    shift(x, state.sums[leave], state.sums[enter])
    state.counts[leave] -= 1
    state.counts[enter] += 1
    state.pending[p] = state.pending[q] = PRODUCTS
    for a in range(level.shape[0]):
        out, into = a * k + p, a * k + q
        waits[a, p] += rates[c, out, 0] + rates[c, out, 1] * norm
        waits[a, q] += rates[c, into, 0] + rates[c, into, 1] * norm
        pair = waits[a, p] + waits[a, q]
        if k > 2:
            waits[a, k] = max(waits[a, k], max(waits[a, p], waits[a, q]))
            pair = 2.0 * waits[a, k]
        level[a, SURE] = level[a, BASE] + (level[a, DRIFT] - level[a, SCORED]) + pair
    used = max(1.0, norm / spread)
    left[leave] -= used
    left[enter] -= used
    return left[leave] < 0.0 or left[enter] < 0.0


@compiled(inline="always")
def decide(r: int, c: int, p: int, scores: Any, bias: Any, waits: Any, level: Any) -> int:
    """Return the cluster that row r of the block goes to, if drift and rounding cannot change it.

    Returns
    -------
    int
        Cluster, p if the row stays, or `UNSURE`.
    """
    k = waits.shape[1] - 1
    if k == 2:
        most = scores[-3, r] + 2.0 * bias[c * k + p]  # as much too large as too small
        return 1 - p if most < -level[SURE] else UNSURE
    return decide_among(r, c, p, k, scores, bias, waits, level)


@compiled()
def decide_among(
    r: int, c: int, p: int, k: int, scores: Any, bias: Any, waits: Any, level: Any
) -> int:
    """Decide as `decide`, among more than two clusters."""
    aged = level[DRIFT] - level[SCORED]  # what has been renewed since the block was scored
    cells, leaving = waits.shape[0] * k, c * k + p
    leave, room = scores[leaving, r], bias[leaving] + waits[c, p] + level[BASE] + aged
    least, most, q = np.inf, np.inf, p
    for j in range(k):
        entering = cells + c * k + j
        enter, off = scores[entering, r], bias[entering] + waits[c, j]
        if j != p:
            least = min(least, enter - off)
            if enter + off < most:
                most, q = enter + off, j
    if least + leave - room > 0.0:
        return p
    for j in range(k):
        entering = cells + c * k + j
        rival = scores[entering, r] - bias[entering] - waits[c, j] - 2.0 * aged
        if j != p and j != q and not rival > most:
            return UNSURE
    return q if most + leave + room < 0.0 else UNSURE


@compiled(inline="always")
def gamma(x: Any, square: float, form: Any) -> float:
    """Return the change of cost that a form gives for row x; `square` is |x|^2."""
    d = x.shape[0]
    return dot(x, form[:d]) + (form[d + 1] + form[d] * square)


@compiled()
def choose_cluster(x: Any, square: float, c: int, p: int, k: int, forms: Any, scores: Any) -> int:
    """Return the cluster that lowers the cost most, the lowest id on ties, or p if none does.

    `forms` must be up to date; `scores` (k,) is a buffer for Gamma+.
    """
    leaving = forms[REMOVE, c * k + p]
    leave, best, q = gamma(x, square, leaving), np.inf, p
    for j in range(k):
        if j != p:
            scores[j] = gamma(x, square, forms[ADD, c * k + j])
            if scores[j] < best:
                best, q = scores[j], j
    d, entering = x.shape[0], forms[ADD, c * k + q]
    slack = abs(leaving[d + 1]) + abs(entering[d + 1])
    slack = ROUNDING * (slack + (abs(leaving[d]) + abs(entering[d])) * square)
    if not best + leave < -slack:
        return p
    for j in range(k):
        if j != p and scores[j] <= best + slack:
            return j
    return q
