"""Synth (Finley and Joachims 2008, 6.1.3): clusterings with noisy features of pairs."""

import numpy as np
from scipy import sparse

from deepcac.errors import ConfigError
from deepcac_study.features.pairwise import PairwiseData

ACTIVE = 5  # active features of a pair
REGION = 50  # features of a region
NOISE = 0.2  # chance that a cluster index is drawn anew


def synth_pairs(
    *,
    clusterings: int = 5,
    clusters: int = 5,
    points: int = 20,
    region: int = REGION,
    noise: float = NOISE,
    seed: int = 0,
) -> PairwiseData:
    """Generate example clusterings with features for each unordered pair of clusters.

    A pair of points of clusters i and j has exactly 5 active features of region (i, j), drawn
    without replacement; there are no node features. Before that, i is replaced by a random cluster
    with probability `noise`, and so is j (the random cluster may be the same).

    The paper has 5 clusterings of 5 clusters of 20 points, 50 features per region, and noise 0.2.
    Its sample is not known.
    """
    if min(clusterings, clusters, points) < 1 or clusters * points < 2:
        raise ConfigError("synth_pairs needs at least one clustering of two points")
    if region < ACTIVE or not 0 <= noise <= 1:
        raise ConfigError(f"synth_pairs needs a region of {ACTIVE} or more and noise from 0 to 1")
    rng = np.random.default_rng(seed)
    size = clusters * points
    label = np.tile(np.repeat(np.arange(clusters), points), clusterings)
    i, j = np.triu_indices(size, k=1)
    start = size * np.arange(clusterings)[:, None]
    first, second = (start + i).ravel(), (start + j).ravel()
    shown = [_noisy(label[ends], clusters, noise, rng) for ends in (first, second)]
    block = _region(*shown)
    drawn = np.argpartition(rng.random((len(block), region)), ACTIVE, axis=1)[:, :ACTIVE]
    column = (block[:, None] * region + drawn).ravel()
    pair = np.repeat(np.arange(len(block)), ACTIVE)
    n_columns = clusters * (clusters + 1) // 2 * region
    return PairwiseData(
        row_id=np.arange(len(label)),
        label=label,
        group=np.repeat(np.arange(clusterings), size).astype(str),
        nodes=sparse.csr_array((len(label), 0)),
        names=(),
        first=first,
        second=second,
        marks=sparse.csr_array((np.ones(len(pair)), (pair, column)), (len(block), n_columns)),
    )


def _noisy(
    cluster: np.ndarray, clusters: int, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Return the clusters with a share `noise` redrawn at random."""
    redrawn = rng.random(len(cluster)) < noise
    return np.where(redrawn, rng.integers(0, clusters, len(cluster)), cluster)


def _region(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the index of an unordered pair of clusters: (0,0), (0,1), (1,1), (0,2), ..."""
    low, high = np.minimum(i, j), np.maximum(i, j)
    return high * (high + 1) // 2 + low
