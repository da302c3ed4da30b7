"""State of the clusters during a CAC run: sums, counts and their products, compiled."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.compilation import njit
from deepcac.types import Floats, Ints

# Kernels fill buffers that they are given. As they neither make nor return arrays they can do
# without numba's reference counting, which would cost more than most of them (`_nrt`).
compiled = partial(njit, nogil=True, error_model="numpy", _nrt=False)
# What only ranks may be summed in the order that is fastest on this machine; what enters the
# cost is summed in row and column order, so that it is the same everywhere.
REORDER = {"reassoc", "contract", "nsz"}

# What waits for renewal of a cluster: nothing, its weights, or its products as well.
FRESH, WEIGHTS, PRODUCTS = 0, 1, 2
# Columns of `State.level`.
SURE, EVENT, DRIFT, BASE, SCORED, SCOPE = range(6)
# Columns of `State.scalars`, before the C inverse counts.
PRESENT, SIZE, TOTAL, SQUARES, SEPARATION, INVERSE = range(6)


class State(NamedTuple):
    """Buffers of one clustering into k clusters, with C classes.

    The rows of class c in cluster j are cell ``c * k + j``.

    Attributes
    ----------
    sums : ndarray of shape (C * k, d)
        Sum of the rows of each cell.
    counts : ndarray of shape (C * k,), int64
        Number of those rows.
    gram : ndarray of shape (k, C, C)
        Dot products of the class sums within each cluster.
    scalars : ndarray of shape (k, 5 + C)
        For each cluster the number of classes present, the number of rows, the squared norm of
        their sum, the sum of the squared norms of the class means, the separation, and for each
        class 1 / count, or 0 where there is no row.
    forms : ndarray of shape (2, C * k, d + 3)
        v, factor and constant of both Gammas, and their magnitude; first axis add, remove.
    weights : ndarray of shape (F, d + 2), float32
        The forms that blocks of rows are scored with.
    bias : ndarray of shape (F,), float32
        By how much a score of these forms may be too large, from single precision.
    rates : ndarray of shape (C, C * k, 2)
        What one change of the first class adds to the drift of a cell's forms: a constant, and
        a factor of the row's norm.
    left : ndarray of shape (C * k,)
        How much of a cell may still change before its rates must be derived again.
    level : ndarray of shape (C, 6)
        For each class: the score above which a decision is sure, the score below which a row of a
        block is looked at, the running drift of the forms, the rounding of a decision, the drift
        when the current block was scored, and the drift that a block leaves room for.
    waits : ndarray of shape (C, k + 1)
        Bound of the drift of the forms of each class and cluster since their renewal, and the
        largest of the class.
    pending : ndarray of shape (k,), int64
        What has to be renewed in each cluster (`FRESH`: nothing, `WEIGHTS` or `PRODUCTS`).
    slack : ndarray of shape (blocks, C)
        No row of a block can move while the drift of its class stays below this.
    scores : ndarray of shape (F + 3, BLOCK), float32
        Values of all forms for a block, its scores, and two rows used as buffers.
    events : ndarray of shape (BLOCK,), int64
        Rows of a block that must be looked at.
    room : ndarray of shape (2, C + k)
        Buffers for the coefficients of one v, and for Gamma+ of one row.
    """

    sums: Floats
    counts: Ints
    gram: Floats
    scalars: Floats
    forms: Floats
    weights: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]
    rates: Floats
    left: Floats
    level: Floats
    waits: Floats
    pending: Ints
    slack: Floats
    scores: npt.NDArray[np.float32]
    events: Ints
    room: Floats


def allocate(blocks: npt.NDArray[np.float32], k: int, n_classes: int) -> State:
    """Return buffers for the laid-out rows of `Rows.blocks`, to be filled by `recount`."""
    n_blocks, width, size = blocks.shape
    cells = n_classes * k
    # With two clusters, Gamma- and the only Gamma+ of a row are added up in one form.
    forms = cells if k == 2 else 2 * cells
    forms += -forms % 4  # complete tiles
    return State(
        sums=np.empty((cells, width - 2)),
        counts=np.empty(cells, dtype=np.int64),
        gram=np.empty((k, n_classes, n_classes)),
        scalars=np.empty((k, 5 + n_classes)),
        forms=np.zeros((2, cells, width + 1)),
        weights=np.zeros((forms, width), dtype=np.float32),
        bias=np.zeros(forms, dtype=np.float32),
        rates=np.zeros((n_classes, cells, 2)),
        left=np.full(cells, -1.0),
        level=np.zeros((n_classes, 6)),
        waits=np.zeros((n_classes, k + 1)),
        pending=np.full(k, WEIGHTS),
        slack=np.full((n_blocks, n_classes), -np.inf),
        scores=np.empty((forms + 3, size), dtype=np.float32),
        events=np.empty(size, dtype=np.int64),
        room=np.empty((2, n_classes + k)),
    )


@compiled(fastmath=REORDER)
def dot(a: Any, b: Any) -> Any:
    """Dot product of two vectors."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@compiled()
def dot_in_order(a: Any, b: Any) -> Any:
    """Dot product of two vectors, the same bits on every machine."""
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@compiled()
def recount(X: Any, cells: Any, state: State) -> None:
    """Compute sums, counts and products from the cells, rows in order; all weights turn stale."""
    sums, counts, gram = state.sums, state.counts, state.gram
    k, n_classes = gram.shape[0], gram.shape[1]
    sums[:] = 0.0
    counts[:] = 0
    for i in range(X.shape[0]):
        cell = cells[i]
        counts[cell] += 1
        total, x = sums[cell], X[i]
        for f in range(x.shape[0]):
            total[f] += x[f]
    for j in range(k):
        for a in range(n_classes):
            for b in range(n_classes):
                gram[j, a, b] = dot_in_order(sums[a * k + j], sums[b * k + j])
        fill_scalars(gram, counts, j, state.scalars)
        state.pending[j] = WEIGHTS
    state.left[:] = -1.0


@compiled()
def refresh(j: int, sums: Any, counts: Any, gram: Any, scalars: Any) -> None:
    """Compute the products of cluster j from its sums, precise enough to rank, not for the cost."""
    k = gram.shape[0]
    for a in range(gram.shape[1]):
        for b in range(a + 1):
            gram[j, a, b] = gram[j, b, a] = dot(sums[a * k + j], sums[b * k + j])
    fill_scalars(gram, counts, j, scalars)


@compiled()
def fill_scalars(gram: Any, counts: Any, j: int, scalars: Any) -> None:
    """Fill row j of `scalars` from counts and products of the class sums."""
    k, n_classes = gram.shape[0], gram.shape[1]
    present, size = 0, 0
    for a in range(n_classes):
        count = counts[a * k + j]
        scalars[j, INVERSE + a] = 0.0
        if count > 0:
            present += 1
            size += count
            scalars[j, INVERSE + a] = 1.0 / count
    total, squares, means = 0.0, 0.0, 0.0
    for a in range(n_classes):
        mine = scalars[j, INVERSE + a]
        squares += gram[j, a, a] * mine * mine
        for b in range(n_classes):
            total += gram[j, a, b]
            means += gram[j, a, b] * mine * scalars[j, INVERSE + b]
    scalars[j, PRESENT], scalars[j, SIZE] = present, size
    scalars[j, TOTAL], scalars[j, SQUARES] = total, squares
    scalars[j, SEPARATION] = max(present * squares - means, 0.0) if present > 1 else 0.0


@compiled()
def shift(x: Any, leave: Any, enter: Any) -> None:
    """Subtract row x (d,) from the sum `leave` and add it to the sum `enter`, in place."""
    for f in range(x.shape[0]):
        leave[f] -= x[f]
        enter[f] += x[f]
