"""Collapse into pure clusters: with a large alpha the clusters become classes in disguise.

Not in the papers. Every base classifier is then constant in each cluster, and CAC is the
nearest-class-centroid rule.
"""

import numpy as np
import numpy.typing as npt

PURE = 0.99  # collapsed if more than this share of rows is in its cluster's majority class
BALANCED_ENOUGH = 0.95  # unless the data's own majority is as large as this


def purity(counts: npt.ArrayLike) -> float:
    """Return the share of rows in the majority class of their cluster.

    Parameters
    ----------
    counts : array-like of shape (k, n_classes), int
        Rows of each cluster and class.
    """
    rows = np.asarray(counts)
    return float(rows.max(axis=1).sum() / rows.sum())


def collapsed(counts: npt.ArrayLike) -> bool:
    """Tell whether clusters with these `counts` are classes in disguise."""
    rows = np.asarray(counts)
    majority = rows.sum(axis=0).max() / rows.sum()
    return bool(purity(rows) > PURE and majority < BALANCED_ENOUGH)
