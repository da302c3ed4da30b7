"""Cluster-then-predict: the k-means case of CAC."""

from __future__ import annotations

from typing import Any, Self

from deepcac.cac.cluster import Clustering, cluster
from deepcac.cac.local_training import ArrayLike, LocalClassifier
from deepcac.linear.base_classifiers import ClassWeight
from deepcac.sklearn_compat import fit_context
from deepcac.types import Floats, Ints


class KMClassifier(LocalClassifier):
    """Cluster with k-means, then one classifier per cluster: CAC stopped at its start.

    Parameters
    ----------
    base_estimator, n_clusters, class_weight, n_jobs, random_state
        See `CACClassifier`, also for the attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from deepcac import KMClassifier
    >>> from deepcac.preprocess import TableScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(TableScaler(), KMClassifier(n_clusters=2, random_state=0)).fit(X, y)
    >>> model[-1].class_counts_.tolist()
    [[36, 339], [176, 18]]
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_clusters = n_clusters
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows and fit one classifier per cluster.

        Parameters
        ----------
        X, y, labels, sample_weight
            As in `CACClassifier.fit`; `labels` are the clusters, used as they are.
        """
        rows, codes, weights = self._learn(X, y, sample_weight)
        space = self._learn_space(rows, codes)
        self._keep(rows, codes, self._start(space, labels), sample_weight=weights)
        self._record(self._measure(space, codes, self.subtypes_))
        return self

    def _learn_space(self, rows: Floats, codes: Ints) -> Floats:
        """Return the rows in the space where k-means looks for clusters."""
        return rows

    @staticmethod
    def _measure(space: Floats, y: Ints, labels: Ints) -> Clustering:
        """Return the given clusters as a `Clustering`, with their cost; no row is moved."""
        return cluster(space, y, labels, 0.0, max_iter=0)
