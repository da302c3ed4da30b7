"""Clusterings as matrices, and the loss between two of them (Finley and Joachims 2008, 4.2, 4.3).

A clustering of m items is given as labels (m,), or as a matrix Y (m, k) with orthonormal columns.
"""

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.types import Floats


def indicator(labels: npt.ArrayLike) -> Floats:
    """Return Y (m, k) with |c|^-0.5 where an item is in cluster c, and 0 elsewhere."""
    _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
    Y = np.zeros((len(codes), len(sizes)))
    Y[np.arange(len(codes)), codes] = 1.0 / np.sqrt(sizes[codes])
    return Y


def matrix(clustering: npt.ArrayLike) -> Floats:
    """Return a clustering as a matrix Y (m, k); a matrix is returned as it is."""
    values = np.asarray(clustering)
    if values.ndim == 1 and len(values):
        return indicator(values)
    if values.ndim == 2 and values.size:
        return values.astype(np.float64)
    raise DataError("a clustering is labels (m,) or a matrix (m, k), with at least one item")


def delta(truth: npt.ArrayLike, found: npt.ArrayLike) -> float:
    """Return the loss Delta between two clusterings, from 0 to 100 (equations 16 to 18).

    It is symmetric and does not depend on the names of the clusters. k is the larger of the two
    numbers of clusters, so one cluster for all items costs 100 (k - 1) / k.

    Parameters
    ----------
    truth, found : array-like of shape (m,) or (m, k)
        Labels, or matrices with orthonormal columns (a relaxed clustering).
    """
    Y, other = matrix(truth), matrix(found)
    if len(Y) != len(other):
        raise DataError(f"one clustering has {len(Y)} items, the other {len(other)}")
    k = max(Y.shape[1], other.shape[1])
    return max(float(100.0 * (1.0 - ((Y.T @ other) ** 2).sum() / k)), 0.0)


def rand_loss(truth: npt.ArrayLike, found: npt.ArrayLike) -> float:
    """Return the percentage of pairs of items that two clusterings treat differently."""
    sides = [np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (truth, found)]
    table = np.zeros([side.max() + 1 for side in sides])
    np.add.at(table, tuple(sides), 1.0)
    together = [(counts**2).sum() for counts in (table, table.sum(axis=0), table.sum(axis=1))]
    m = table.sum()
    if m < 2:
        raise DataError("a Rand loss needs at least two items")
    return float(100.0 * (together[1] + together[2] - 2.0 * together[0]) / (m * (m - 1.0)))
