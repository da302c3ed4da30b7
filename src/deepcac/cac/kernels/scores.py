"""Scores of a block of rows: how much each row's best move would change the cost."""

from typing import Any

import numpy as np

from deepcac.cac.kernels.state import BASE, DRIFT, EVENT, SCORED, State, compiled
from deepcac.cac.kernels.tile import HEIGHT, WIDTH, least, tile

NEVER = np.float32(np.inf)
NONE = np.float32(0.0)
# Levels are compared with scores in single precision: rounded up by more than its unit.
UP = 1.0 + 1e-6
# What only ranks needs no order of its sums, and holds no NaN.
RANK = {"reassoc", "contract", "nsz", "nnan"}


@compiled()
def score(block: Any, cells: Any, first: int, b: int, state: State) -> int:
    """Score the rows of block b, and list those from row `first` on that may move.

    Parameters
    ----------
    block : ndarray of shape (d + 2, BLOCK)
        As in `Rows.blocks`.
    cells : ndarray of shape (BLOCK,), int32
        Cell of each row, -1 for none.
    first, b : int
        First row to list, and index of the block.
    state : State
        The last but two row of `scores` receives a lower bound of Gamma- plus the least Gamma+,
        `events` the rows where it is not above the level `EVENT` of their class, and `slack`
        the drift of each class below which no row of the block can move.

    Returns
    -------
    int
        Number of events.
    """
    weights, values, level = state.weights, state.scores, state.level
    k, n_classes = state.gram.shape[0], state.gram.shape[1]
    best, above, mine = values[-3], values[-2], values[-1]
    for g in range(0, weights.shape[0], HEIGHT):
        for r in range(0, block.shape[1], WIDTH):
            tile(block, weights, values, g, r)
    if k == 2:
        pick_form(values, state.bias, cells, state.counts.shape[0], best, above)
    else:
        pick_least(values, state.bias, cells, k, n_classes, best, above)
    quiet = True
    for c in range(n_classes):
        event = level[c, EVENT]
        compare_with_level(best, cells, c * k, c * k + k, np.float32(event * UP), above, mine)
        lowest = least(mine)
        quiet = quiet and lowest > event
        state.slack[b, c] = lowest - level[c, BASE] + level[c, DRIFT]
        level[c, SCORED] = level[c, DRIFT]
    return 0 if quiet else list_events(above, first, state.events)


@compiled(fastmath=RANK)
def pick_form(values: Any, bias: Any, cells: Any, n_cells: int, best: Any, above: Any) -> None:
    """Fill `best` with a lower bound of the value of each row's form, that of its cell."""
    for r in range(best.shape[0]):
        best[r] = above[r] = NEVER
    for cell in range(n_cells):
        mine, error = values[cell], bias[cell]
        for r in range(best.shape[0]):
            value, old = mine[r] - error, best[r]  # loads without a condition can be done together
            best[r] = value if cells[r] == cell else old


@compiled(fastmath=RANK)
def pick_least(
    values: Any, bias: Any, cells: Any, k: int, n_classes: int, best: Any, above: Any
) -> None:
    """Fill `best` with a lower bound of Gamma- plus the least Gamma+ of the other clusters."""
    for r in range(best.shape[0]):
        best[r], above[r] = NEVER, NONE
    for c in range(n_classes):
        low, high = c * k, c * k + k
        for cell in range(low, high):
            leave, enter = values[cell], values[n_classes * k + cell]
            less, fewer = bias[cell], bias[n_classes * k + cell]
            for r in range(best.shape[0]):
                here, old, old_loss = cells[r], best[r], above[r]
                gain, loss = enter[r] - fewer, leave[r] - less
                open_to = (here >= low) & (here < high) & (here != cell) & (gain < old)
                best[r] = gain if open_to else old
                above[r] = loss if here == cell else old_loss
    for r in range(best.shape[0]):
        best[r] += above[r]
        above[r] = NEVER


@compiled(fastmath=RANK)
def compare_with_level(
    best: Any, cells: Any, low: int, high: int, event: Any, above: Any, mine: Any
) -> None:
    """Fill `above` with score minus `event` for the rows in cells low to high - 1.

    `mine` receives the scores of these rows, and `NEVER` for the others.
    """
    for r in range(best.shape[0]):
        here, value, old = cells[r], best[r], above[r]
        of_class = (here >= low) & (here < high)
        above[r] = value - event if of_class else old
        mine[r] = value if of_class else NEVER


@compiled()
def list_events(above: Any, first: int, events: Any) -> Any:
    """List the rows from `first` on whose score is not above its level; return their number."""
    count = np.uint64(0)
    for r in range(above.shape[0]):
        events[count] = r
        count += np.uint64((r >= first) & (above[r] <= NONE))
    return np.int64(count)
