"""Subtypes: centres among the contributions, and how much a row belongs to each."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances

from deepcac.errors import CollapseWarning

Array = npt.NDArray[np.float64]

STARTS = 10


class Gates(NamedTuple):
    """Soft memberships by distance.

    Attributes
    ----------
    centres : ndarray of shape (k, q)
    width : float
        Squared distance at which a membership has fallen by e.
    """

    centres: Array
    width: float

    def weigh(self, points: Array) -> Array:
        """Return the membership of each point (n, q) in each subtype, shape (n, k)."""
        squared = pairwise_distances(points, self.centres, metric="sqeuclidean")
        return softmax(-squared / self.width, axis=1)


def find_gates(
    points: Array, k: int, temperature: float, smallest: float, seed: int, risk: Array
) -> Gates:
    """Find k centres by k-means, from the lowest risk to the highest.

    Parameters
    ----------
    points : ndarray of shape (n, q)
    k : int
        Subtypes wanted; fewer if one would hold less than the share `smallest` of the rows.
    temperature : float
        Width of the gates in units of the mean squared distance to the own centre.
    smallest : float
    seed : int
    risk : ndarray of shape (n,)
        What the subtypes are ordered by.
    """
    for wanted in range(k, 0, -1):
        found = KMeans(wanted, n_init=STARTS, random_state=seed).fit(points)
        sizes = np.bincount(found.labels_, minlength=wanted)
        if sizes.min() >= smallest * len(points):
            break
    if wanted < k:
        warnings.warn(
            f"{wanted} subtypes in place of {k}: with more, one holds less than {smallest:.0%} of "
            "the rows",
            CollapseWarning,
            stacklevel=3,
        )
    mean = np.bincount(found.labels_, weights=risk, minlength=wanted) / sizes
    width = temperature * found.inertia_ / len(points)
    return Gates(found.cluster_centers_[np.argsort(mean)], max(width, np.finfo(float).tiny))
