"""CAC as a scikit-learn classifier: cluster, then one classifier per cluster."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from itertools import islice
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import f1_score, log_loss
from sklearn.utils.validation import check_consistent_length, check_random_state

from deepcac.cac.cluster import Clustering, Separation, cluster
from deepcac.cac.kernels.rows import PreparedRows, prepare
from deepcac.cac.local_training import ArrayLike, LocalClassifier
from deepcac.cac.passes import choose_pass, passes
from deepcac.cac.safe_alpha import safe_clustering
from deepcac.errors import ConfigError
from deepcac.linear.base_classifiers import ClassWeight
from deepcac.numeric_table import check_table, codes_among, hold_back
from deepcac.sklearn_compat import Interval, StrOptions, fit_context
from deepcac.types import Floats, Ints

Selection = Literal["final", "best_train_loss", "best_validation"]
Data = tuple[Floats, Ints, Floats | None]

HELD_OUT = 0.2  # share of each class that chooses the number of passes


class CACClassifier(LocalClassifier):
    """Clustering-aware classification (CAC v1, CAC v2, DeepCAC section 6).

    Rows are clustered so that the classes lie apart inside each cluster; each cluster gets its
    own copy of a base classifier; a new row goes to the nearest cluster centroid and is
    classified there. Columns must be on similar scales: see the example.

    Parameters
    ----------
    base_estimator : classifier, optional
        Logistic regression if None.
    n_clusters : int
        Number of clusters, k.
    alpha : float or "auto"
        Weight of the class separation; 0 is Hartigan's k-means. "auto" takes a weight so small
        that clusters do not become classes (`deepcac.cac.safe_alpha`); `CACClassifierCV` tunes it.
    separation : {"size", "cluster"}
        Whether a cluster's separation is multiplied by its size.
    selection : {"final", "best_train_loss", "best_validation"}
        Keep the clusters of the last pass (CAC v1), or of the pass whose classifiers had the
        lowest training loss or the highest validation F1 (CAC v2 Algorithm 1). The loss is the
        log loss, or the error rate of a classifier without probabilities.
    class_weight : {"balanced", "balanced_in_clusters"}, dict or None
        Passed to every local classifier that accepts it. "balanced" gives all clusters the
        weights of the whole training part, so that their risks can be compared.
    max_iter : int
        Largest number of passes.
    n_jobs : int or None
        Local classifiers that are fitted in parallel.
    random_state : int, RandomState or None
        Seed of the k-means start, and of a base classifier without a random state.

    Attributes
    ----------
    classes_, alpha_ : ndarray of shape (n_classes,), float
        Class labels, and the weight that was used.
    subtypes_ : ndarray of shape (n,)
        Cluster of each training row.
    cluster_centers_, class_counts_ : ndarray of shape (found, d), (found, n_classes)
        Mean of each cluster, and its rows of each class.
    n_clusters_found_, estimators_ : int, list
        Clusters with rows, and the classifier of each; constant where there is one class.
    n_iter_, kept_pass_, converged_ : int, int, bool
        Passes over the rows, the one that was selected, and whether the last one moved nothing.
    cost_history_, within_history_, separation_history_ : ndarray of shape (kept_pass_ + 1,)
        phi, D and S, at the start and after each pass up to the selected one.
    moves_ : ndarray of shape (kept_pass_,)
        Rows moved in each of them.
    purity_, collapsed_ : float, bool
        Share of rows in the majority class of their cluster, and whether the clusters are the
        classes in disguise (`deepcac.cac.collapse`), so that the base classifiers decide nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from deepcac import CACClassifier
    >>> from deepcac.preprocess import TableScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(TableScaler(), CACClassifier(n_clusters=2, random_state=0)).fit(X, y)
    >>> bool(model[-1].collapsed_), round(model.score(X, y), 1)
    (False, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LocalClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "separation": [StrOptions({"size", "cluster"})],
        "selection": [StrOptions({"final", "best_train_loss", "best_validation"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        base_estimator: Any = None,
        n_clusters: int = 2,
        *,
        alpha: float | Literal["auto"] = "auto",
        separation: Separation = "size",
        selection: Selection = "final",
        class_weight: ClassWeight = None,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.separation = separation
        self.selection = selection
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        labels: ArrayLike | None = None,
        validation: tuple[ArrayLike, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows and fit one classifier per cluster.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite features on comparable scales.
        y : array-like of shape (n,)
            Classes.
        labels : array-like of shape (n,), int, optional
            Clusters to start from, below `n_clusters`, instead of k-means.
        validation : (X, y), optional
            Rows that choose the pass, only for ``selection="best_validation"``; without them a
            fifth of the rows is held out to choose the number of passes over all rows.
        sample_weight : array-like of shape (n,), optional
            For a base classifier that takes them; the clusters, and the loss that selects a pass,
            count rows as they are.
        """
        rows, codes, weights = self._learn(X, y, sample_weight)
        start, ready = self._start(rows, labels), prepare(rows)
        self.alpha_, last = self._descend(ready, codes, start)
        candidates = passes(ready, codes, start, self.alpha_, self.separation, self.max_iter)
        given = None if labels is None else start
        chosen = self._select(candidates, last, (rows, codes, weights), validation, given)
        self._keep(rows, codes, chosen.labels, sample_weight=weights)
        self._record(chosen)
        self.n_iter_, self.kept_pass_, self.converged_ = last.n_iter, chosen.n_iter, last.converged
        self._warn(self.alpha_, self.max_iter)
        return self

    def _descend(self, rows: PreparedRows, y: Ints, start: Ints) -> tuple[float, Clustering]:
        """Return alpha (computed if "auto") and the clusters that it gives."""
        options: dict[str, Any] = {"max_iter": self.max_iter, "separation": self.separation}
        if self.alpha == "auto":
            return safe_clustering(rows, y, start, **options)
        return float(self.alpha), cluster(rows, y, start, float(self.alpha), **options)

    def _select(
        self,
        candidates: Iterator[Clustering],
        last: Clustering,
        data: Data,
        validation: Any,
        given: Ints | None,
    ) -> Clustering:
        """Return the pass that `selection` asks for; `given` are the user's starting labels."""
        if validation is not None and self.selection != "best_validation":
            raise ConfigError(
                f"selection={self.selection!r} takes no validation rows; "
                "use selection='best_validation' or leave them out"
            )
        if self.selection == "final":
            return last
        rows, codes, weights = data
        if self.selection == "best_validation" and validation is None:
            return deque(islice(candidates, self._passes_needed(*data, given) + 1), maxlen=1)[0]
        scored = self._check_validation(*validation) if validation is not None else (rows, codes)

        def loss(labels: Ints) -> float:
            self._keep(rows, codes, labels, sample_weight=weights)
            return self._loss(*scored) if validation is None else self._deficit(*scored)

        return choose_pass(candidates, loss)

    def _check_validation(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Ints]:
        """Return validation rows and their class ids; an unknown class is a `DataError`."""
        rows, codes = check_table(self, X, reset=False), codes_among(self.classes_, y)
        check_consistent_length(rows, codes)
        return rows, codes

    def _passes_needed(self, X: Floats, y: Ints, weights: Floats | None, given: Ints | None) -> int:
        """Hold out a fifth of the rows and return the number of passes with the best F1 there."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        held = hold_back(y, HELD_OUT, np.random.default_rng(seed))
        if not held.any():
            return self.max_iter
        part_weights = None if weights is None else weights[~held]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is kept is fitted to all rows
            model = clone(self).set_params(class_weight=self._weights())  # y are class ids
            model.fit(
                X[~held], y[~held], None if given is None else given[~held], (X[held], y[held]),
                sample_weight=part_weights,
            )  # fmt: skip
        return model.kept_pass_

    def _loss(self, X: Floats, y: Ints) -> float:
        """Return the log-loss, or the share of errors of a base without probabilities."""
        if not hasattr(self._base(), "predict_proba"):
            return float((self._local_predict(X) != y).mean())
        return float(log_loss(y, self._scores(X), labels=np.arange(len(self.classes_))))

    def _deficit(self, X: Floats, y: Ints) -> float:
        """Return one minus F1, of class 1 or, with more classes, macro."""
        average = "binary" if len(self.classes_) == 2 else "macro"
        predicted = self._local_predict(X)
        return 1.0 - float(f1_score(y, predicted, average=average, zero_division=0.0))
