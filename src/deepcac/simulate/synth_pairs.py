"""Synth (Finley and Joachims 2008, 6.1.3): clusterings known by noisy features of pairs."""

import numpy as np
from scipy import sparse

from deepcac.errors import ConfigError
from deepcac.features.pairwise import PairwiseData

ACTIVE = 5  # active features of a pair
REGION = 50  # features of a region
NOISE = 0.2  # chance that a cluster index is drawn anew


def synth_pairs(
    *, clusterings: int = 5, clusters: int = 5, points: int = 20, seed: int = 0
) -> PairwiseData:
    """Generate example clusterings with 50 features for each unordered pair of clusters.

    A pair of points of clusters i and j has 5 of the 50 features of region (i, j) active, drawn
    without replacement. Before that, i is replaced by a random cluster with probability 0.2, and
    so is j (it stays itself with probability 1 / clusters).

    Parameters
    ----------
    clusterings, clusters, points : int
        Example clusterings, clusters in each, points in a cluster: 5, 5 and 20 in the paper.
    seed : int
        Of every draw. The paper's own draw is not known.

    Returns
    -------
    PairwiseData
        No node features; every pair within a clustering has exactly 5 active columns.
    """
    if min(clusterings, clusters, points) < 1 or clusters * points < 2:
        raise ConfigError("synth_pairs needs at least one clustering of two points")
    rng = np.random.default_rng(seed)
    size = clusters * points
    label = np.tile(np.repeat(np.arange(clusters), points), clusterings)
    i, j = np.triu_indices(size, k=1)
    start = size * np.arange(clusterings)[:, None]
    first, second = (start + i).ravel(), (start + j).ravel()
    region = _region(_noisy(label[first], clusters, rng), _noisy(label[second], clusters, rng))
    drawn = np.argpartition(rng.random((len(region), REGION)), ACTIVE, axis=1)[:, :ACTIVE]
    column = (region[:, None] * REGION + drawn).ravel()
    pair = np.repeat(np.arange(len(region)), ACTIVE)
    n_columns = clusters * (clusters + 1) // 2 * REGION
    return PairwiseData(
        row_id=np.arange(len(label)),
        label=label,
        group=np.repeat(np.arange(clusterings), size).astype(str),
        nodes=sparse.csr_array((len(label), 0)),
        names=(),
        first=first,
        second=second,
        marks=sparse.csr_array((np.ones(len(pair)), (pair, column)), (len(region), n_columns)),
    )


def _noisy(cluster: np.ndarray, clusters: int, rng: np.random.Generator) -> np.ndarray:
    redrawn = rng.random(len(cluster)) < NOISE
    return np.where(redrawn, rng.integers(0, clusters, len(cluster)), cluster)


def _region(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the number of an unordered pair of clusters: (0,0), (0,1), (1,1), (0,2), and on."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    return high * (high + 1) // 2 + low
