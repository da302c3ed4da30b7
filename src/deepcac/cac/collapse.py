"""Collapse: with a large alpha the clusters become classes in disguise.

Not in the papers. Where each cluster holds one class every base classifier is constant, and CAC is
the nearest-class-centroid rule.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import entropy

# `disguise` of two balanced classes whose clusters have 1.3 % of the rows on the wrong side; of a
# class of 5 % where they have 0.3 %.
COLLAPSED = 0.9
PURE = 0.99  # share of rows in their cluster's majority class
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


def disguise(counts: npt.ArrayLike) -> float:
    """Return how well clusters and classes predict each other, from 0 to 1.

    This is their mutual information over the smaller of their two entropies: 1 if each cluster
    holds one class, or, with fewer clusters than classes, each class lies in one cluster. It does
    not depend on how rare a class is. CAC never takes the last row of a class out of a cluster, so
    one row of each cluster and class is left out.

    Parameters
    ----------
    counts : array-like of shape (k, n_classes), int
        Rows of each cluster and class.
    """
    rows = np.maximum(np.asarray(counts, dtype=np.float64) - 1.0, 0.0)
    if not rows.any():
        return 0.0
    of_clusters, of_classes = entropy(rows.sum(axis=1)), entropy(rows.sum(axis=0))
    least = min(of_clusters, of_classes)
    return float((of_clusters + of_classes - entropy(rows.ravel())) / least) if least > 0 else 0.0


def collapsed(counts: npt.ArrayLike) -> bool:
    """Return whether clusters with these `counts` (k, n_classes) are classes in disguise."""
    return disguise(counts) > COLLAPSED


def pure(counts: npt.ArrayLike) -> bool:
    """Return whether almost all rows are in their cluster's majority class, as records define it.

    Unlike `collapsed` this is blind where the data's own majority is large, and where there are
    fewer clusters than classes.
    """
    rows = np.asarray(counts)
    majority = rows.sum(axis=0).max() / rows.sum()
    return bool(purity(rows) > PURE and majority < BALANCED_ENOUGH)
