"""Cluster-then-predict in a space that is learnt first."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from deepcac.cac.km import KMClassifier
from deepcac.linear.base_classifiers import ClassWeight
from deepcac.sklearn_compat import HasMethods
from deepcac.types import Floats, Ints


class MetricKMClassifier(KMClassifier):
    """Learn a metric, cluster with k-means in it, then one classifier per cluster.

    The classifiers see the rows as they are; only clusters and centroids use the metric.

    Parameters
    ----------
    metric : transformer
        Fitted on rows and class ids, for example `deepcac.similarity.ClassMetric`.
    base_estimator, n_clusters, class_weight, n_jobs, random_state
        See `CACClassifier`.

    Attributes
    ----------
    metric_ : transformer
        The fitted metric.
    cluster_centers_ : ndarray of shape (found, m)
        Means of the transformed rows of each cluster.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KMClassifier._parameter_constraints,
        "metric": [HasMethods(["fit", "transform"]), None],
    }

    def __init__(
        self,
        metric: Any = None,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            base_estimator,
            n_clusters,
            class_weight=class_weight,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.metric = metric

    def _learn_space(self, rows: Floats, codes: Ints) -> Floats:
        """Fit `metric_` where there is a metric; return the transformed rows."""
        self.metric_ = None if self.metric is None else clone(self.metric).fit(rows, codes)
        return self._space(rows)

    def _space(self, X: Floats) -> Floats:
        """Return the rows as `metric_` transforms them, or unchanged without one."""
        if self.metric_ is None:
            return X
        return np.ascontiguousarray(self.metric_.transform(X), dtype=np.float64)
