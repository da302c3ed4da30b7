"""Subtypes: centres in the space of contributions, and soft memberships.

A column is divided by the square root of its spread. Without scaling, the two or three variables
that move the risk most decide alone, and subtypes differ between samples; with equal spread,
columns that hardly matter count as much as those that do.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.metrics import (
    pairwise_distances,
    pairwise_distances_argmin,
    pairwise_distances_argmin_min,
)

from deepcac.errors import CollapseWarning
from deepcac.types import Array

STARTS = 10


class Gates(NamedTuple):
    """Soft memberships by distance.

    Attributes
    ----------
    centres : ndarray of shape (k, q)
    width : float
        Squared distance over which a membership falls by a factor e.
    scale : ndarray of shape (q,)
        Divisor of each column in the distances.
    """

    centres: Array
    width: float
    scale: Array

    def weigh(self, points: Array) -> Array:
        """Return the membership of each point (n, q) in each subtype, shape (n, k)."""
        squared = pairwise_distances(*self._scaled(points), metric="sqeuclidean")
        return softmax(-squared / self.width, axis=1)

    def assign(self, points: Array) -> npt.NDArray[np.int64]:
        """Return the subtype of each point (n, q), shape (n,)."""
        return pairwise_distances_argmin(*self._scaled(points)).astype(np.int64)

    def _scaled(self, points: Array) -> tuple[Array, Array]:
        """Return points and centres, both divided by the scales of the columns."""
        return points / self.scale, self.centres / self.scale


def find_gates(
    points: Array,
    k: int,
    temperature: float,
    smallest: float,
    seed: int,
    risk: Array,
    row_weight: Array | None = None,
) -> Gates:
    """Find k centres by k-means, ordered from the lowest mean risk to the highest.

    Parameters
    ----------
    points : ndarray of shape (n, q)
    k : int
        Largest number of subtypes. A centre with less than the share `smallest` of the rows is
        dropped; its rows go to the nearest of the others.
    temperature : float
        Width of the gates in units of the mean squared distance to the nearest centre.
    smallest : float
    seed : int
    risk : ndarray of shape (n,)
        Orders the subtypes.
    row_weight : ndarray of shape (n,), optional
        With mean 1.
    """
    row_weight = np.ones(len(points)) if row_weight is None else row_weight
    scale = _root_spread(points, row_weight)
    scaled = points / scale
    kmeans = KMeans(k, n_init=STARTS, random_state=seed).fit(scaled, sample_weight=row_weight)
    sizes = np.bincount(kmeans.labels_, row_weight, minlength=k)
    large = sizes >= min(smallest * len(points), sizes.max())
    if not large.all():
        warnings.warn(
            f"{large.sum()} subtypes in place of {k}: the others hold less than {smallest:.0%} of "
            "the rows each",
            CollapseWarning,
            stacklevel=3,
        )
    centres = kmeans.cluster_centers_[large]
    nearest, squared = pairwise_distances_argmin_min(scaled, centres, metric="sqeuclidean")
    rows = np.bincount(nearest, row_weight, minlength=len(centres))
    order = np.argsort(np.bincount(nearest, risk * row_weight, minlength=len(centres)) / rows)
    width = temperature * float((squared * row_weight).mean())
    return Gates(centres[order] * scale, max(width, np.finfo(np.float64).tiny), scale)


def _root_spread(points: Array, row_weight: Array) -> Array:
    """Return the square root of each column's standard deviation, 1 for a constant one."""
    mean = np.average(points, axis=0, weights=row_weight)
    spread = np.sqrt(np.average((points - mean) ** 2, axis=0, weights=row_weight))
    return np.sqrt(np.where(spread > 0, spread, 1.0))
