"""Algorithm 1 of Vilalta, Achari & Eick (2003): the rows of each class are clustered."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from deepcac.decomposition.mixtures.mixed import Mixed
from deepcac.decomposition.mixtures.mixture import Clusters, cluster_rows
from deepcac.decomposition.smo import Design
from deepcac.errors import ConfigError
from deepcac.threads import few_threads
from deepcac.types import Floats, Ints

Clusterer = Literal["em", "kmeans"]


def decompose(
    rows: Mixed,
    classes: Ints,
    *,
    max_clusters: int | None,
    clusterer: Clusterer = "em",
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> list[Clusters]:
    """Cluster the rows of each class.

    Parameters
    ----------
    rows : Mixed
        All rows.
    classes : ndarray of shape (n,)
        Class ids 0, 1, ..., each present.
    max_clusters : int or None
        The most clusters per class that EM tries (None: no limit), or the number of k-means
        clusters, at most the distinct rows of a class.
    clusterer : {"em", "kmeans"}
        EM chooses the number of clusters by cross-validated likelihood. k-means sees numbers
        scaled to [0, 1] and one-hot categories.
    rng : numpy.random.Generator
    n_jobs : int or None
        Threads of EM's cross-validation.

    Returns
    -------
    list of Clusters
        One per class, rows in their order.
    """
    if clusterer not in ("em", "kmeans"):
        raise ConfigError(f"clusterer is {clusterer!r}; use 'em' or 'kmeans'")
    if max_clusters is None and clusterer == "kmeans":
        raise ConfigError("clusterer='kmeans' needs max_clusters, the number of its clusters")
    if max_clusters is not None and max_clusters < 1:
        raise ConfigError(f"max_clusters is {max_clusters}; use at least 1, or None with EM")
    members = [classes == j for j in range(classes.max() + 1)]
    if clusterer == "em":
        return [cluster_rows(rows.take(mask), max_clusters, rng, n_jobs) for mask in members]
    points = Design.of(rows).points(rows)
    return [_kmeans(points[mask], max_clusters or 1, rng) for mask in members]


def _kmeans(points: Floats, k: int, rng: np.random.Generator) -> Clusters:
    """Cluster into `k` groups, or as many as there are distinct points."""
    k = min(k, len(np.unique(points, axis=0)))
    seed = int(rng.integers(2**31))
    with few_threads(points, k):
        labels = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
    labels = np.unique(labels, return_inverse=True)[1]
    return Clusters(labels, int(labels.max()) + 1, ())


def labels_of(clusterings: list[Clusters], classes: Ints) -> Ints:
    """Return the cluster within its class of each row (n,)."""
    labels = np.zeros(len(classes), dtype=np.int64)
    for j, clusters in enumerate(clusterings):
        labels[classes == j] = clusters.labels
    return labels


def checked_labels(given: npt.NDArray[Any], classes: Ints) -> Ints:
    """Return given clusters (n,) as int64; `ConfigError` unless each class has 0, 1, ..."""
    if given.shape != classes.shape or not np.issubdtype(given.dtype, np.integer):
        raise ConfigError(f"clusters have shape {given.shape}; give one integer per row")
    for j in range(classes.max() + 1):
        cluster_ids = np.unique(given[classes == j])
        if not np.array_equal(cluster_ids, np.arange(len(cluster_ids))):
            raise ConfigError(
                f"clusters of class number {j} are {cluster_ids.tolist()}; use 0, 1, ..."
            )
    return given.astype(np.int64)
