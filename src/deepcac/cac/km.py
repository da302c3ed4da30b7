"""Cluster-then-predict: the k-means case of CAC."""

from typing import Any

from deepcac.base_classifiers import ClassWeight
from deepcac.cac.cluster import Clustering, Floats, Ints, cluster
from deepcac.cac.estimator import CACClassifier


class KMClassifier(CACClassifier):
    """Cluster with k-means, then one classifier a cluster: CAC stopped at its start.

    Parameters
    ----------
    base_estimator, n_clusters, class_weight, random_state
        As of `CACClassifier`.
    """

    alpha = 0.0
    selection = "final"

    def __init__(
        self,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        class_weight: ClassWeight = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_clusters = n_clusters
        self.class_weight = class_weight
        self.random_state = random_state

    def _cluster(self, X: Floats, y: Ints, labels: Ints) -> Clustering:
        return cluster(X, y, labels, self.alpha, max_iter=0)
