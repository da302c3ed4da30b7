"""Standardised differences between two groups of patients, as a baseline table reports them."""

import numpy as np
import numpy.typing as npt

from deepcac.types import Array


def number_difference(first: Array, second: Array) -> float:
    """Return the distance of two means in standard deviations; NaN if neither group varies.

    The standard deviation is the root of the mean variance of both groups (Austin 2009). Values
    are of shape (n,) and (m,), without missing ones.
    """
    spread = float(np.sqrt((np.var(first, ddof=1) + np.var(second, ddof=1)) / 2))
    return abs(float(np.mean(first) - np.mean(second))) / spread if spread > 0 else float("nan")


def category_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the distance of the shares of levels (Yang and Dalton 2012); NaN if nothing varies.

    Parameters are counts of each level, shape (levels,). For two levels it is the difference of
    the shares over the root of their mean variance. It is infinite if no level is in both groups,
    which then do not vary in the direction in which they differ.
    """
    counts = np.array([first, second], dtype=np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2 or not counts.sum(axis=1).all():
        return float("nan")
    if not (counts > 0).all(axis=0).any():
        return float("inf")
    shares = (counts / counts.sum(axis=1, keepdims=True))[:, 1:]
    covariance = sum(np.diag(share) - np.outer(share, share) for share in shares) / 2
    gap = shares[0] - shares[1]
    return float(np.sqrt(max(gap @ np.linalg.pinv(covariance) @ gap, 0.0)))
