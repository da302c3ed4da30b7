"""Cluster-then-predict in a space that is learnt first."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_random_state

from deepcac.base_classifiers import ClassWeight
from deepcac.cac.cluster import Floats, kmeans_labels
from deepcac.cac.km import KMClassifier


class MetricKMClassifier(KMClassifier):
    """Learn a metric, cluster with k-means in it, then one classifier a cluster.

    The classifiers see the rows as they are; only clusters and centroids are of the metric.

    Parameters
    ----------
    metric : transformer
        Fitted on rows and class ids, for example `deepcac.similarity.ClassMetric`.
    base_estimator, n_clusters, class_weight, random_state
        As of `CACClassifier`.

    Attributes
    ----------
    metric_ : transformer
        Fitted.
    cluster_centers_ : ndarray of shape (found, m)
        Means of the transformed rows of each cluster.
    """

    def __init__(
        self,
        metric: Any = None,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        class_weight: ClassWeight = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            base_estimator, n_clusters, class_weight=class_weight, random_state=random_state
        )
        self.metric = metric

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, labels: npt.ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Learn the metric, the clusters and one classifier a cluster.

        Parameters
        ----------
        X, y : array-like of shape (n, d) and (n,)
            As in `CACClassifier.fit`.
        labels : array-like of shape (n,), int, optional
            Clusters, in place of k-means.
        """
        rows, codes = self._learn_classes(X, y)
        self.metric_ = None if self.metric is None else clone(self.metric).fit(rows, codes)
        space = self._space(rows)
        if labels is None:
            random_state = check_random_state(self.random_state)
            labels = kmeans_labels(space, self.n_clusters, random_state)
        self._keep(rows, codes, np.asarray(labels))
        self._record(self._cluster(space, codes, self.subtypes_))
        self._warn_if_collapsed()
        return self

    def _space(self, X: Floats) -> Floats:
        if self.metric_ is None:
            return X
        return np.ascontiguousarray(self.metric_.transform(X), dtype=np.float64)
