"""CAC as a scikit-learn classifier: cluster, then one classifier a cluster."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score, log_loss
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_random_state, validate_data

from deepcac.base_classifiers import ClassWeight, cluster_weights, fit_weighted
from deepcac.cac.cluster import Clustering, Floats, Ints, Separation, cluster, kmeans_labels
from deepcac.cac.collapse import collapsed, purity
from deepcac.cac.prediction import LocalPrediction
from deepcac.errors import ConfigError

Selection = Literal["final", "best_train_loss", "best_validation"]


class CollapseWarning(UserWarning):
    """The clusters hold one class each, so the base classifiers have no say."""


class CACClassifier(LocalPrediction, ClassifierMixin, BaseEstimator):
    """Clustering-aware classification (CAC v1, CAC v2, DeepCAC section 6).

    Rows are clustered so that the classes lie apart inside each cluster; each cluster gets its
    own copy of a base classifier; a new row goes to the nearest cluster centroid and is
    classified there.

    Parameters
    ----------
    base_estimator : classifier, optional
        Logistic regression if None.
    n_clusters : int
        Number of clusters, k.
    alpha : float
        Weight of the class separation; 0 is Hartigan's k-means.
    separation : {"size", "cluster"}
        Whether a cluster's separation is multiplied by its size.
    selection : {"final", "best_train_loss", "best_validation"}
        Keep the clusters of the last pass (CAC v1), or of the pass whose classifiers had the
        lowest training loss or the highest validation F1 (CAC v2 Algorithm 1). The loss is the
        log loss, or the error rate of a classifier without probabilities.
    class_weight : {"balanced", "balanced_in_clusters"}, dict or None
        Handed to every local classifier that can take class or row weights; None leaves
        `base_estimator` as it is. "balanced" gives all clusters the weights of the whole
        training part, so that risks of different clusters can be compared; the other balances
        anew inside each cluster, as the published program does for logistic regression.
    max_iter : int
        Largest number of passes.
    random_state : int, RandomState or None
        Of the k-means start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    cluster_centers_ : ndarray of shape (found, d)
        Mean of each cluster.
    n_clusters_found_ : int
        Clusters with rows; fewer than `n_clusters` if a start left some empty.
    subtypes_ : ndarray of shape (n,)
        Cluster of each training row.
    estimators_ : list
        The classifier of each cluster; constant where the cluster has one class.
    n_iter_ : int
        Passes over the rows.
    cost_history_, within_history_, separation_history_ : ndarray of shape (n_iter_ + 1,)
        phi, D and S, at the start and after each pass.
    moves_ : ndarray of shape (n_iter_,)
        Rows moved in each pass.
    class_counts_ : ndarray of shape (found, n_classes)
        Rows of each cluster and class.
    purity_, collapsed_ : float, bool
        Share of rows in the majority class of their cluster, and whether it is above 0.99
        although the data's own is below 0.95: CAC is then the nearest-class-centroid rule.

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.cac import CACClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[-4, 0], [4, 0]], 100, axis=0)
    >>> y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    >>> model = CACClassifier(n_clusters=2, alpha=0.1, random_state=0).fit(X, y)
    >>> float(model.score(X, y)) > 0.95
    True
    """

    def __init__(
        self,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        alpha: float = 1.0,
        separation: Separation = "size",
        selection: Selection = "final",
        class_weight: ClassWeight = None,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.separation = separation
        self.selection = selection
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        labels: npt.ArrayLike | None = None,
        validation: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> Self:
        """Cluster the rows and fit one classifier a cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite features on comparable scales.
        y : array-like of shape (n,)
            Classes.
        labels : array-like of shape (n,), int, optional
            Clusters to start from, instead of k-means.
        validation : (X, y), optional
            Rows that choose the pass; needed by ``selection="best_validation"``.
        """
        rows, codes = self._learn_classes(X, y)
        if self.selection not in ("final", "best_train_loss", "best_validation"):
            choices = "'final', 'best_train_loss' or 'best_validation'"
            raise ConfigError(f"selection is {self.selection!r}; use {choices}")
        if self.selection == "best_validation" and validation is None:
            raise ConfigError("selection='best_validation' needs fit(..., validation=(X, y))")
        if labels is None:
            random_state = check_random_state(self.random_state)
            labels = kmeans_labels(rows, self.n_clusters, random_state)
        start = np.asarray(labels)
        if self.selection == "final":
            found = self._cluster(rows, codes, start)
            self._keep(rows, codes, found.labels)
        else:
            found = self._choose(rows, codes, start, validation)
        self._record(found)
        self._warn_if_collapsed()
        return self

    def fit_labels(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        labels: npt.ArrayLike,
        start: Sequence[BaseEstimator] = (),
    ) -> Self:
        """Fit one classifier a cluster of given labels; no row is moved, no cost computed.

        Parameters
        ----------
        X, y : array-like of shape (n, d) and (n,)
            As in `fit`.
        labels : array-like of shape (n,), int
            Clusters.
        start : sequence of estimator, optional
            ``estimators_`` of nearly the same clusters, from which linear classifiers with
            ``warm_start`` go on.
        """
        self._keep(*self._learn_classes(X, y), np.asarray(labels), start)
        return self

    def fit_clusters(self, X: npt.ArrayLike, y: npt.ArrayLike, found: Clustering) -> Self:
        """Fit one classifier a cluster of a finished clustering, which several models can share.

        Parameters
        ----------
        X, y : array-like of shape (n, d) and (n,)
            As in `fit`.
        found : Clustering
            What `deepcac.cac.cluster` returned for these rows and this `alpha`.
        """
        self.fit_labels(X, y, found.labels)
        self._record(found)
        self._warn_if_collapsed()
        return self

    def _learn_classes(self, X: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Ints]:
        """Return validated rows and class ids from 0."""
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return rows, codes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # A one-class cluster answers its class whatever the class weights are, which is more
        # than the checks of extreme weights allow for.
        tags.classifier_tags.poor_score = True
        return tags

    def _cluster(self, X: Floats, y: Ints, labels: Ints) -> Clustering:
        return cluster(X, y, labels, self.alpha, max_iter=self.max_iter, separation=self.separation)

    def _keep(self, X: Floats, y: Ints, labels: Ints, start: Sequence[BaseEstimator] = ()) -> None:
        """Take over a clustering: centroids, and one classifier a cluster."""
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
        self.estimators_ = [
            fit_weighted(self._base(), X[rows], y[rows], weights, begin)
            for rows, begin in zip(members, first, strict=True)
        ]
        self.purity_ = purity(self.class_counts_)

    def _weights(self) -> ClassWeight:
        """Return the class weights, by class id instead of class label."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {c: self.class_weight.get(label, 1.0) for c, label in enumerate(self.classes_)}

    def _choose(self, X: Floats, y: Ints, start: Ints, validation: Any) -> Clustering:
        """Fit after every pass and keep the best one (CAC v2 Algorithm 1)."""
        best, kept = np.inf, start
        for labels in self._passes(X, y, start):
            self._keep(X, y, labels)
            loss = self._loss(X, y) if validation is None else self._deficit(*validation)
            if loss < best:
                best, kept = loss, labels
        self._keep(X, y, kept)
        return self._cluster(X, y, start)

    def _passes(self, X: Floats, y: Ints, labels: Ints) -> Iterator[Ints]:
        yield labels
        for _ in range(self.max_iter):
            step = cluster(X, y, labels, self.alpha, max_iter=1, separation=self.separation)
            if step.converged:
                return
            labels = step.labels
            yield labels

    def _loss(self, X: Floats, y: Ints) -> float:
        scores = self._scores(X)
        if not hasattr(self._base(), "predict_proba"):
            return float((self._local_predict(X) != y).mean())
        return float(log_loss(y, scores, labels=np.arange(len(self.classes_))))

    def _deficit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        binary = len(self.classes_) == 2
        options = {"pos_label": self.classes_[1]} if binary else {"average": "macro"}
        predicted = self.classes_[self._local_predict(np.asarray(X, dtype=np.float64))]
        return 1.0 - float(f1_score(y, predicted, zero_division=0.0, **options))

    def _record(self, found: Clustering) -> None:
        self.n_iter_ = found.n_iter
        self.moves_ = found.moves
        self.cost_history_ = found.cost
        self.within_history_ = found.within
        self.separation_history_ = found.separation

    def _warn_if_collapsed(self) -> None:
        self.collapsed_ = collapsed(self.class_counts_)
        if self.collapsed_ and self.alpha > 0:
            warnings.warn(
                f"the clusters hold one class each (purity {self.purity_:.3f}), so "
                f"this is the nearest-class-centroid rule; lower alpha (now {self.alpha:g})",
                CollapseWarning,
                stacklevel=3,
            )
