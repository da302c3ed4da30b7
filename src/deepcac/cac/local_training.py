"""Base class that fits one classifier per cluster, for CAC, k-means and a learnt metric."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from deepcac.cac.cluster import Clustering, kmeans_labels
from deepcac.cac.collapse import collapsed, disguise, purity
from deepcac.cac.prediction import LocalPrediction
from deepcac.errors import CollapseWarning, DataError
from deepcac.html_summary import SummaryHTML
from deepcac.linear.base_classifiers import (
    IN_CLUSTERS,
    ClassWeight,
    cluster_weights,
    fit_weighted,
    seeded,
)
from deepcac.numeric_table import (
    check_class_weight,
    check_classes,
    check_classifier,
    check_table,
    check_two_classes,
    check_weights,
    column_names,
    warn_of_scales,
)
from deepcac.sklearn_compat import HasMethods, Interval, StrOptions
from deepcac.threads import few_threads
from deepcac.types import Floats, Ints

ArrayLike = npt.ArrayLike
SCALING = "scale them first, for example make_pipeline(TableScaler(), CACClassifier())"


class LocalClassifier(SummaryHTML, LocalPrediction, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that cluster and then fit one classifier per cluster."""

    n_clusters: Any
    class_weight: Any
    n_jobs: int | None
    random_state: Any

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base_estimator": [HasMethods(["fit", "predict"]), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced", IN_CLUSTERS}), dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def _learn_classes(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:
        """Return validated rows and class ids from 0; set ``classes_``."""
        rows, labels = check_table(self, X, y, reset=True)
        self.classes_, codes = check_classes(labels)
        return rows, codes

    def _learn(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Ints, Floats | None]:
        """Validate what `fit` is given: rows, class ids and row weights (None without any).

        Sets ``classes_``, raises `DataError` or `ConfigError`, and warns of uneven scales.
        """
        check_classifier(self._base())
        rows, codes = self._learn_classes(X, y)
        check_two_classes(self.classes_)
        check_class_weight(self.class_weight, self.classes_)
        warn_of_scales(rows, column_names(self), SCALING)
        return rows, codes, check_weights(self._base(), sample_weight, rows)

    def _start(self, rows: Floats, labels: ArrayLike | None) -> Ints:
        """Return the starting clusters: `labels` if they are valid, or those of k-means."""
        if labels is None:
            return kmeans_labels(rows, self.n_clusters, self.random_state)
        start = np.asarray(labels)
        if start.shape != (len(rows),):
            raise DataError(f"labels has shape {start.shape}, but X has {len(rows)} rows")
        if not np.issubdtype(start.dtype, np.integer) or start.min() < 0:
            raise DataError("labels must be integers from 0")
        if start.max() >= self.n_clusters:
            raise DataError(
                f"labels has cluster {start.max()}, but n_clusters={self.n_clusters}; "
                f"set n_clusters={start.max() + 1}"
            )
        return start.astype(np.int64)

    def _keep(
        self,
        X: Floats,
        y: Ints,
        labels: Ints,
        start: Sequence[BaseEstimator] = (),
        sample_weight: Floats | None = None,
    ) -> None:
        """Fit one classifier per cluster, and set the attributes that describe the clusters.

        Empty clusters are dropped, so that ``subtypes_`` are numbered without a gap. `start` has
        fitted classifiers to start from, and is ignored if their number differs.
        """
        used, self.subtypes_ = np.unique(labels, return_inverse=True)
        self.n_clusters_found_ = len(used)
        members = [self.subtypes_ == j for j in range(len(used))]
        space = self._space(X)
        self.cluster_centers_ = np.array([space[rows].mean(axis=0) for rows in members])
        self.class_counts_ = np.array(
            [np.bincount(y[rows], minlength=len(self.classes_)) for rows in members]
        )
        weights = cluster_weights(self._weights(), y)
        first = start if len(start) == len(used) else [None] * len(used)
        base = seeded(self._base(), self.random_state)
        with few_threads(X):
            self.estimators_ = Parallel(n_jobs=self.n_jobs)(
                delayed(fit_weighted)(
                    base,
                    X[rows],
                    y[rows],
                    weights,
                    begin,
                    None if sample_weight is None else sample_weight[rows],
                )
                for rows, begin in zip(members, first, strict=True)
            )
        self.purity_ = purity(self.class_counts_)
        self.collapsed_ = collapsed(self.class_counts_)

    def _weights(self) -> ClassWeight:
        """Return the class weights, by class id instead of class label."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {c: self.class_weight.get(label, 1.0) for c, label in enumerate(self.classes_)}

    def _record(self, clustering: Clustering) -> None:
        """Set the attributes on passes and costs."""
        self.n_iter_ = clustering.n_iter
        self.converged_ = clustering.converged
        self.moves_ = clustering.moves
        self.cost_history_ = clustering.cost
        self.within_history_ = clustering.within
        self.separation_history_ = clustering.separation

    def _warn(self, alpha: float, max_iter: int) -> None:
        """Warn if clusters are classes in disguise, or if `max_iter` passes were too few."""
        if self.collapsed_ and alpha > 0:
            warnings.warn(
                f"the clusters are classes in disguise ({disguise(self.class_counts_):.2f} of 1, "
                f"purity {self.purity_:.3f}), so the base classifiers have no say; "
                f"lower alpha (now {alpha:g}) or leave it at 'auto'",
                CollapseWarning,
                stacklevel=4,
            )
        if not self.converged_ and max_iter > 0:
            warnings.warn(
                f"rows still moved in the last of max_iter={max_iter} passes; raise max_iter",
                ConvergenceWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A one-class cluster answers its class whatever the class weights are, which is more
        # than the checks of extreme weights allow for.
        tags.classifier_tags.poor_score = True
        return tags
