"""CAC clustering: validated rows in, labels and cost curves out (CAC v1 section 5.3)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from deepcac.cac.kernels.kernel import sweep
from deepcac.cac.kernels.rows import PreparedRows, prepare
from deepcac.cac.kernels.state import SEPARATION, SIZE, TOTAL, State, allocate, recount
from deepcac.errors import ConfigError, DataError
from deepcac.threads import few_threads
from deepcac.types import Floats, Ints

Separation = Literal["size", "cluster"]


@dataclass(frozen=True)
class Clustering:
    """What `cluster` found.

    Attributes
    ----------
    labels : ndarray of shape (n,), int64
        Cluster of each row.
    n_iter : int
        Number of passes over the rows, the last one (without a move) included.
    converged : bool
        Whether the last pass moved nothing.
    moves : ndarray of shape (n_iter,), int64
        Rows moved in each pass.
    cost, within, separation : ndarray of shape (n_iter + 1,)
        phi, D and S (CAC v1 Remark 2) at the start and after each pass;
        ``cost = within - alpha * separation``.
    counts : ndarray of shape (n_iter + 1, k, n_classes), int64
        Rows of each cluster and class at the start and after each pass.
    """

    labels: Ints
    n_iter: int
    converged: bool
    moves: Ints
    cost: Floats
    within: Floats
    separation: Floats
    counts: Ints


def kmeans_labels(X: Floats, k: int, random_state: Any) -> Ints:
    """Return the start of CAC: Lloyd's k-means, best of 10."""
    if k > len(X):
        raise DataError(f"n_clusters={k}, but n_samples={len(X)}; ask for fewer clusters")
    model = KMeans(n_clusters=k, n_init=10, algorithm="lloyd", random_state=random_state)
    with few_threads(X, k):
        return model.fit(X).labels_.astype(np.int64)


def cluster(
    X: npt.ArrayLike | PreparedRows,
    y: npt.ArrayLike,
    labels: npt.ArrayLike,
    alpha: float,
    *,
    max_iter: int = 100,
    separation: Separation = "size",
    n_clusters: int | None = None,
) -> Clustering:
    """Cluster rows so that classes lie apart inside each cluster (CAC).

    Minimises ``sum_j [sum_{i in C_j} ||x_i - mu_j||^2 - alpha * n_j * s_j]`` by Hartigan's
    method: rows are visited in order, a row moves to the cluster that lowers the cost most
    (the lowest id on ties), and the sums change at once. The last row of a class stays in its
    cluster. s_j is the squared distance of the class means of cluster j, summed over the pairs
    of classes that are present (CAC v1 5.2 and A.2; DeepCAC 6).

    Parameters
    ----------
    X : array-like of shape (n, d), or PreparedRows
        Finite features, on comparable scales; for many calls, what `prepare` made of them.
    y : array-like of shape (n,)
        Class of each row; any number of classes.
    labels : array-like of shape (n,), int
        Cluster of each row at the start, from 0.
    alpha : float
        Weight of the separation, not negative. With 0 this is Hartigan's k-means.
    max_iter : int
        Largest number of passes.
    separation : {"size", "cluster"}
        Whether s_j is multiplied by the size of its cluster (the appendices, DeepCAC), or counts
        once per cluster (CAC v1 section 5.2).
    n_clusters : int, optional
        Number of clusters, if some may be empty at the start; else the largest label plus one.

    Returns
    -------
    Clustering
        Labels, and the cost after every pass.

    Raises
    ------
    DataError
        Rows, classes and labels do not fit each other, or are not finite.
    ConfigError
        `alpha`, `max_iter` or `separation` is out of range.
    """
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ConfigError(f"alpha is {alpha}; use a finite value of 0 or more")
    if separation not in ("size", "cluster"):
        raise ConfigError(f"separation is {separation!r}; use 'size' or 'cluster'")
    if max_iter < 0:
        raise ConfigError(f"max_iter is {max_iter}; use 0 or more passes")
    rows = prepare(X)
    classes, start = _checked(len(rows.X), y, labels)
    k = int(start.max()) + 1 if n_clusters is None else n_clusters
    if k <= start.max():
        raise DataError(f"label {start.max()} needs more than n_clusters={k} clusters")
    return _descend(rows, classes, start, k, float(alpha), max_iter, separation == "size")


def _checked(n: int, y: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Ints, Ints]:
    """Return class ids from 0, and labels as int64; `DataError` if either does not fit `n`."""
    classes, start = np.asarray(y), np.asarray(labels)
    for name, column in (("y", classes), ("labels", start)):
        if column.shape != (n,):
            raise DataError(f"{name} has shape {column.shape}, but X has {n} rows")
    if np.issubdtype(classes.dtype, np.floating) and np.isnan(classes).any():
        raise DataError(f"y is NaN in row {int(np.isnan(classes).argmax())}; leave such rows out")
    if not np.issubdtype(start.dtype, np.integer) or start.min() < 0:
        raise DataError("labels must be integers from 0")
    return _class_ids(classes), start.astype(np.int64)


def _class_ids(y: npt.NDArray[Any]) -> Ints:
    """Return the index of each row's class among the classes that occur."""
    if np.issubdtype(y.dtype, np.integer) and int(y.max()) - int(y.min()) <= len(y):
        wide = y.astype(np.int64) if y.dtype.itemsize < 8 else y  # 100 - -100 is no int8
        shifted = (wide - wide.min()).astype(np.int64)  # without sorting all rows
        return (np.cumsum(np.bincount(shifted) > 0) - 1)[shifted]
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _descend(
    rows: PreparedRows, y: Ints, labels: Ints, k: int, alpha: float, max_iter: int, sized: bool
) -> Clustering:
    """Run passes until none moves a row; all arguments are as the kernel needs them."""
    n, n_classes = len(y), int(y.max()) + 1
    cells = lay_out_cells(y, labels, k, rows)
    state = allocate(rows.blocks, k, n_classes)
    recount(rows.X, cells.ravel(), state)
    moves: list[int] = []
    costs = [_cost(rows.total, state, sized)]
    counts = [state.counts.copy()]
    while len(moves) < max_iter and (not moves or moves[-1] > 0):
        moves.append(sweep(rows, cells, state, alpha, sized))
        if moves[-1]:
            recount(rows.X, cells.ravel(), state)  # running sums drift
        costs.append(_cost(rows.total, state, sized))
        counts.append(state.counts.copy())
    within, separation = np.array(costs).T
    return Clustering(
        labels=cells.ravel()[:n] - y * k,
        n_iter=len(moves),
        converged=bool(moves) and moves[-1] == 0,
        moves=np.array(moves, dtype=np.int64),
        cost=within - alpha * separation,
        within=within,
        separation=separation,
        counts=np.array(counts).reshape(-1, n_classes, k).swapaxes(1, 2),
    )


def lay_out_cells(y: Ints, labels: Ints, k: int, rows: PreparedRows) -> npt.NDArray[np.int32]:
    """Return the cell of each row, in blocks, -1 beyond the rows."""
    cells = np.full((len(rows.blocks), rows.blocks.shape[2]), -1, dtype=np.int32)
    cells.ravel()[: len(y)] = y * k + labels
    return cells


def _cost(total: float, state: State, sized: bool) -> tuple[float, float]:
    """Return D and S of the current clusters; `total` is the sum of the rows' squared norms."""
    size, square = state.scalars[:, SIZE], state.scalars[:, TOTAL]
    separation = state.scalars[:, SEPARATION]
    occupied = size > 0
    within = total - (square[occupied] / size[occupied]).sum()
    return max(float(within), 0.0), float((separation * size if sized else separation).sum())
