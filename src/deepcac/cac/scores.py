"""Scores of a block of rows: how much each row's best move would change the cost."""

from typing import Any

import numpy as np

from deepcac.cac.state import BASE, DRIFT, EVENT, SCORED, State, compiled
from deepcac.cac.tile import HEIGHT, WIDTH, tile

NEVER = np.float32(np.inf)
# What only ranks needs no order of its sums; an infinite weight makes no decision sure.
RANK = {"reassoc", "contract", "nsz", "nnan"}


@compiled()
def score(block: Any, cells: Any, first: int, b: int, state: State) -> int:
    """Score the rows of block b from row `first` on, and list those that may move.

    Parameters
    ----------
    block : ndarray of shape (d + 2, BLOCK)
        As in `Rows.blocks`.
    cells : ndarray of shape (BLOCK,), int32
        Cell of each row, -1 for none.
    first, b : int
        First row, and index of the block.
    state : State
        The last but one row of `scores` receives Gamma- plus the least Gamma+, `events` the rows
        whose score is not above the level `EVENT` of their class, and `slack` is lowered.

    Returns
    -------
    int
        Number of events.
    """
    weights, values, level = state.weights, state.scores, state.level
    k, n_classes = state.gram.shape[0], state.gram.shape[1]
    start = first - first % WIDTH
    for g in range(0, weights.shape[0], HEIGHT):
        for r in range(start, block.shape[1], WIDTH):
            tile(block, weights, values, g, r)
    best, room = values[-2], values[-1]
    if k == 2:
        pick_form(values, cells, start, state.counts.shape[0], best)
    else:
        pick_least(values, cells, start, k, n_classes, best, room)
    quiet = True
    for c in range(n_classes):
        lowest = least_of(best, cells, first, c * k, c * k + k)
        quiet = quiet and lowest > level[c, EVENT]
        bound = lowest - level[c, BASE] + level[c, DRIFT]
        if first == 0 or not bound >= state.slack[b, c]:
            state.slack[b, c] = bound
        level[c, SCORED] = level[c, DRIFT]
    return 0 if quiet else list_events(best, cells, first, k, level, state.events)


@compiled(fastmath=RANK)
def pick_form(values: Any, cells: Any, start: int, n_cells: int, best: Any) -> None:
    """Give each row the value of the form of its cell."""
    for r in range(start, best.shape[0]):
        best[r] = NEVER
    for cell in range(n_cells):
        mine = values[cell]
        for r in range(start, best.shape[0]):
            best[r] = mine[r] if cells[r] == cell else best[r]


@compiled(fastmath=RANK)
def pick_least(
    values: Any, cells: Any, start: int, k: int, n_classes: int, best: Any, room: Any
) -> None:
    """Give each row its Gamma- plus the least Gamma+ of the other clusters."""
    for r in range(start, best.shape[0]):
        best[r] = NEVER
        room[r] = np.float32(0.0)
    for c in range(n_classes):
        low, high = c * k, c * k + k
        for cell in range(low, high):
            leave, enter = values[cell], values[n_classes * k + cell]
            for r in range(start, best.shape[0]):
                open_to = cells[r] >= low and cells[r] < high and cells[r] != cell
                best[r] = enter[r] if open_to and enter[r] < best[r] else best[r]
                room[r] = leave[r] if cells[r] == cell else room[r]
    for r in range(start, best.shape[0]):
        best[r] += room[r]


@compiled(fastmath=RANK)
def least_of(best: Any, cells: Any, first: int, low: int, high: int) -> Any:
    """Return the least score of the rows in cells low to high - 1."""
    least = NEVER
    for r in range(first, best.shape[0]):
        value = best[r] if cells[r] >= low and cells[r] < high else NEVER
        least = value if value < least else least
    return least


@compiled()
def list_events(best: Any, cells: Any, first: int, k: int, level: Any, events: Any) -> int:
    """List the rows whose score is not above the level of events; return their number."""
    found = 0
    for r in range(first, best.shape[0]):
        events[found] = r
        if cells[r] >= 0 and not best[r] > level[cells[r] // k, EVENT]:
            found += 1
    return found
