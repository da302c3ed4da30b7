"""Rows made ready for CAC once: checked, centred, measured, and laid out for scoring."""

import os
import tempfile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.cac.kernels.state import compiled, dot
from deepcac.cac.kernels.tile import WIDTH
from deepcac.errors import DataError
from deepcac.types import Floats

BLOCK = 2 * WIDTH  # rows that are scored together


class PreparedRows(NamedTuple):
    """Rows of data as the kernel needs them; any number of clusterings may share them.

    Attributes
    ----------
    X : ndarray of shape (n, d), C-ordered float64
        Rows, centred if they lie far from the origin.
    squares : ndarray of shape (n,)
        Their squared norms.
    blocks : ndarray of shape (ceil(n / BLOCK), d + 2, BLOCK), float32
        Every row over its norm plus `spread`, as are the two columns after it, its squared norm
        over `radius`, and `spread`: all entries lie in [-1, 1]. Rows beyond n are zero.
    total : float
        Sum of the squared norms, in an order that is the same everywhere.
    radius, spread : float
        Largest and root mean square norm; 1 where all rows are zero.
    """

    X: Floats
    squares: Floats
    blocks: npt.NDArray[np.float32]
    total: float
    radius: float
    spread: float


def prepare(
    X: npt.ArrayLike | PreparedRows, scratch: str | os.PathLike[str] | None = None
) -> PreparedRows:
    """Check rows and lay them out for the kernel; `PreparedRows` are returned unchanged.

    Parameters
    ----------
    X : array-like of shape (n, d) or PreparedRows
        Finite features. A C-ordered float64 `numpy.memmap` is read where it lies.
    scratch : path-like, optional
        Folder for rows that do not fit in memory: the layout is stored there in files without a
        name, which vanish with the result. The kernel reads them in order, so that memory holds
        only labels and counts, below 50 bytes per row. The values are the same.

    Raises
    ------
    DataError
        X is not two-dimensional, has no row, or holds NaN, inf or too large a value.
    """
    if isinstance(X, PreparedRows):
        return X
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0:
        raise DataError(f"X has shape {rows.shape}; rows by features are needed")
    n, d = rows.shape
    squares, columns = np.empty(n), np.empty((2, d))
    measure(rows, squares, columns)
    if not np.isfinite(columns[1]).all():
        column = int(np.argmin(np.isfinite(columns[1])))
        raise DataError(f"column {column} of X holds NaN, inf or a value too large to square")
    # The cost does not depend on the origin, but its rounding does.
    mean = columns[0] / n
    if n * (mean @ mean) > 0.9 * columns[1].sum() > 0:
        rows = np.subtract(rows, mean, out=_room(rows.shape, np.float64, scratch))
        measure(rows, squares, columns)
    total = float(columns[1].sum())
    radius, spread = float(np.sqrt(squares.max())), float(np.sqrt(total / n))
    if not (radius > 0 and spread > 0):
        radius = spread = 1.0
    blocks = _room((-(-n // BLOCK), d + 2, BLOCK), np.float32, scratch)
    lay_out(rows, squares, radius, spread, blocks)
    return PreparedRows(rows, squares, blocks, total, radius, spread)


def _room(shape: tuple[int, ...], dtype: type, scratch: str | os.PathLike[str] | None) -> Any:
    """Return an uninitialised array, in memory or in a file that vanishes with it."""
    if scratch is None:
        return np.empty(shape, dtype=dtype)
    with tempfile.TemporaryFile(dir=scratch) as file:
        return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))


@compiled()
def measure(X: Any, squares: Any, columns: Any) -> None:
    """Fill `squares` (n,) with squared norms, `columns` (2, d) with sums and sums of squares."""
    columns[:] = 0.0
    sums, powers = columns[0], columns[1]
    for i in range(X.shape[0]):
        x = X[i]
        squares[i] = dot(x, x)
        for f in range(x.shape[0]):
            sums[f] += x[f]
            powers[f] += x[f] * x[f]


@compiled()
def lay_out(X: Any, squares: Any, radius: float, spread: float, blocks: Any) -> None:
    """Fill `blocks` as `PreparedRows` describes."""
    n, d = X.shape
    for b in range(blocks.shape[0]):
        block = blocks[b]
        for r in range(BLOCK):
            i = b * BLOCK + r
            if i >= n:
                for f in range(d + 2):
                    block[f, r] = 0.0
                continue
            share = 1.0 / (np.sqrt(squares[i]) + spread)
            for f in range(d):
                block[f, r] = X[i, f] * share
            block[d, r] = squares[i] / radius * share
            block[d + 1, r] = spread * share
