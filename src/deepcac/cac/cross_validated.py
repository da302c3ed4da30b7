"""CAC with its number of clusters and alpha chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import check_random_state

from deepcac.cac.cluster import Separation, cluster, kmeans_labels
from deepcac.cac.estimator import CACClassifier
from deepcac.cac.kernels.rows import prepare
from deepcac.cac.local_training import ArrayLike, LocalClassifier
from deepcac.cac.path import scores_along, under_alphas
from deepcac.errors import ConfigError, DataError
from deepcac.linear.base_classifiers import ClassWeight
from deepcac.sklearn_compat import Interval, StrOptions, fit_context
from deepcac.types import Floats, Ints

Candidate = tuple[int, float]


class CACClassifierCV(LocalClassifier):
    """`CACClassifier` with k and alpha chosen by cross-validated ranking.

    By default one cluster, which means no clusters, is a candidate. All alphas of one fold and k
    start from the same k-means clusters, and linear classifiers from the solution for the previous
    alpha, so a grid takes far less time than separate fits.

    Parameters
    ----------
    base_estimator, separation, class_weight, max_iter
        See `CACClassifier`.
    n_clusters : sequence of int, or int
        Candidates for k.
    alphas : sequence of float
        Candidates for alpha; they make no difference to one cluster.
    scoring : str or callable
        A scorer of scikit-learn, or its name. Classes are numbered as in ``classes_``, so
        that the second of two is the positive one. F1 rewards collapsed clusters; ranking does not.
    parsimony : float
        Choose the simplest candidate (fewest clusters, then least alpha) that is worse than the
        best by at most this many standard errors of their difference over the folds; 0 chooses
        the best.
    cv : int or splitter
        Number of stratified folds, at most the rows of the rarest class; or a splitter.
    n_jobs : int or None
        Pairs of fold and k that are fitted in parallel.
    random_state : int, RandomState or None
        Seed of the folds, of k-means, and of a base classifier without a random state.

    Attributes
    ----------
    best_params_, best_score_, best_index_ : dict, float, int
        `n_clusters` and `alpha` of the chosen candidate, its mean score and its index.
    cv_results_ : dict of str to ndarray
        As in `GridSearchCV`: ``param_n_clusters``, ``param_alpha``, ``split0_test_score``, ...,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, and ``params``.
    n_splits_ : int
        Number of folds.
    classes_, alpha_, subtypes_, cluster_centers_, class_counts_, estimators_, ...
        As in `CACClassifier`, fitted to all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from deepcac import CACClassifierCV
    >>> from deepcac.preprocess import TableScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(TableScaler(), CACClassifierCV(random_state=0)).fit(X, y)
    >>> model[-1].best_params_
    {'n_clusters': 1, 'alpha': 0.0}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CACClassifier._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "alphas": ["array-like"],
        "scoring": [StrOptions(set(get_scorer_names())), callable],
        "parsimony": [Interval(Real, 0, None, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
    }

    def __init__(
        self,
        base_estimator: Any = None,
        n_clusters: Sequence[int] | int = (1, 2, 3, 4),
        *,
        alphas: Sequence[float] = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0),
        scoring: str | Callable[..., float] = "average_precision",
        parsimony: float = 1.0,
        cv: Any = 5,
        separation: Separation = "size",
        class_weight: ClassWeight = None,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.n_clusters = n_clusters
        self.alphas = alphas
        self.scoring = scoring
        self.parsimony = parsimony
        self.cv = cv
        self.separation = separation
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose k and alpha, then fit to all rows.

        Parameters
        ----------
        X, y : array-like of shape (n, d) and (n,)
            As in `CACClassifier.fit`.
        groups : array-like of shape (n,), optional
            Rows of one group, say of one patient, stay in one fold.
        sample_weight : array-like of shape (n,), optional
            Weights in fitting; scores count each row once.
        """
        rows, codes, weights = self._learn(X, y, sample_weight)
        random = self.random_state
        fixed = isinstance(random, Integral)
        seed = int(random) if fixed else check_random_state(random).randint(2**31 - 1)
        folds = self._folds(rows, codes, groups, seed)
        candidates = self._candidates()
        self._note(candidates, self._scores_of(rows, codes, weights, folds, seed))
        k, self.alpha_ = candidates[self.best_index_]
        start = kmeans_labels(rows, k, seed)
        clustering = cluster(prepare(rows), codes, start, self.alpha_, **self._options())
        self._keep(rows, codes, clustering.labels, sample_weight=weights)
        self._record(clustering)
        self._warn(self.alpha_, self.max_iter)
        return self

    def _options(self) -> dict[str, Any]:
        return {"max_iter": self.max_iter, "separation": self.separation}

    def _grid(self) -> dict[int, list[float]]:
        """Return the alphas to try for each k, both ascending; k = 1 has one alpha only."""
        ks = np.unique(np.asarray(self.n_clusters, dtype=np.float64)).tolist()
        alphas = np.unique(np.asarray(self.alphas, dtype=np.float64)).tolist()
        whole = all(k == int(k) for k in ks if np.isfinite(k)) and np.isfinite(ks).all()
        if not (
            ks and whole and ks[0] >= 1 and alphas and alphas[0] >= 0 and np.isfinite(alphas).all()
        ):
            raise ConfigError(
                f"n_clusters={self.n_clusters!r}, alphas={self.alphas!r}; "
                "give whole numbers of clusters from 1 and finite alphas from 0"
            )
        return {int(k): alphas if k > 1 else [0.0] for k in ks}

    def _candidates(self) -> list[Candidate]:
        return [(k, alpha) for k, alphas in self._grid().items() for alpha in alphas]

    def _folds(self, rows: Floats, codes: Ints, groups: Any, seed: int) -> list[tuple[Ints, Ints]]:
        """Return the positions of training and held-out rows, one pair per fold."""
        splitter = self.cv
        if isinstance(splitter, Integral):
            rarest = int(np.bincount(codes).min())
            if rarest < 2:
                label = self.classes_.tolist()[int(np.bincount(codes).argmin())]
                raise DataError(
                    f"class {label!r} has 1 row of n_samples={len(rows)}; give two rows or a cv"
                )
            kind = StratifiedKFold if groups is None else StratifiedGroupKFold
            most = rarest if groups is None else min(rarest, len(set(np.asarray(groups).tolist())))
            splitter = kind(max(min(int(splitter), most), 2), shuffle=True, random_state=seed)
        splits = splitter.split(rows, codes, groups) if hasattr(splitter, "split") else splitter
        folds = list(splits)
        if isinstance(self.cv, Integral):
            self._check_folds(folds, codes)
        return folds

    def _check_folds(self, folds: list[tuple[Ints, Ints]], codes: Ints) -> None:
        """Raise `DataError` if a fold lacks a class: some scorers would silently return 0."""
        for number, fold in enumerate(folds, start=1):
            for part, name in zip(fold, ("training", "held-out"), strict=True):
                absent = np.setdiff1d(np.arange(len(self.classes_)), codes[part])
                if len(absent):
                    raise DataError(
                        f"fold {number} of {len(folds)}: its {name} rows have none of class "
                        f"{self.classes_.tolist()[int(absent[0])]!r}; give fewer folds, or a cv "
                        "whose folds hold all classes"
                    )

    def _scores_of(
        self, rows: Floats, codes: Ints, weights: Floats | None, folds: Any, seed: int
    ) -> Floats:
        """Return the held-out scores, shape (candidates, folds)."""
        # The inner models are given class ids in place of labels.
        model = CACClassifier(self.base_estimator, class_weight=self._weights(), random_state=seed)
        scorer = get_scorer(self.scoring)
        grid = self._grid()
        jobs = list(product(grid, range(len(folds))))
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold_scores)(
                model, (rows, codes, weights), folds[f], k, grid[k], scorer, self._options()
            )
            for k, f in jobs
        )
        by_job = dict(zip(jobs, scores, strict=True))
        return np.vstack([np.array([by_job[k, f] for f in range(len(folds))]).T for k in grid])

    def _note(self, candidates: list[Candidate], scores: Floats) -> None:
        """Choose a candidate, set `best_*_` and `cv_results_`; DataError for an undefined score."""
        undefined = np.flatnonzero(~np.isfinite(scores).all(axis=0))
        if len(undefined):
            raise DataError(
                f"fold {undefined[0] + 1} of {scores.shape[1]}: its score is no number (are its "
                "rows all of one class?); give a cv whose folds hold all classes, or another "
                "scoring"
            )
        means = scores.mean(axis=1)
        self.n_splits_ = scores.shape[1]
        gaps = scores[means.argmax()] - scores
        error = gaps.std(axis=1, ddof=1) / np.sqrt(self.n_splits_) if self.n_splits_ > 1 else 0.0
        near = gaps.mean(axis=1) <= self.parsimony * error
        self.best_index_ = int(near.argmax())  # candidates are in the order of simplicity
        self.best_score_ = float(means[self.best_index_])
        params = [{"n_clusters": k, "alpha": alpha} for k, alpha in candidates]
        self.best_params_ = params[self.best_index_]
        self.cv_results_ = {
            "params": params,
            "param_n_clusters": np.array([k for k, _ in candidates]),
            "param_alpha": np.array([alpha for _, alpha in candidates]),
            **{f"split{f}_test_score": scores[:, f] for f in range(self.n_splits_)},
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": rankdata(-means, method="min").astype(np.int64),
        }


def _fold_scores(
    model: CACClassifier,
    training: tuple[Floats, Ints, Floats | None],
    fold: tuple[Ints, Ints],
    k: int,
    alphas: list[float],
    scorer: Any,
    options: dict[str, Any],
) -> list[float]:
    """Return the held-out score of each alpha in one fold; `training` has rows, codes, weights."""
    (rows, codes, weights), (train, held_out) = training, fold
    X, y = np.ascontiguousarray(rows[train]), codes[train]
    fold_weights = None if weights is None else weights[train]
    start = kmeans_labels(X, k, model.random_state)
    clusterings = under_alphas(prepare(X), y, start, alphas, **options)
    return scores_along(
        clone(model),
        (X, y, fold_weights),
        [clustering.labels for clustering in clusterings.values()],
        lambda fitted: float(scorer(fitted, rows[held_out], codes[held_out])),
    )
