"""A diagonal metric in which k-means separates the classes, learnt from sets of rows."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from deepcac.errors import DataError
from deepcac.numeric_table import validated
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.supervised import SupervisedKMeans
from deepcac.similarity.weighted import check_positive
from deepcac.types import Floats, Ints


class ClassMetric(TransformerMixin, BaseEstimator):
    """Scale of each column, learnt by supervised k-means (Finley and Joachims 2008, section 3.1).

    Sets of rows are item sets, and their classes the right clusterings. With non-negative weights
    w, K holds the dot products of rows whose columns are scaled by the roots of w, so that k-means
    on the scaled rows is the clusterer that was trained.

    Parameters
    ----------
    n_sets, set_size : int
        Item sets, and rows of each; fewer sets if there are fewer rows. Each set has nearly the
        class shares of all rows.
    C, epsilon, max_iter
        As in `SupervisedKMeans`. Its oracle is the iterative one: the relaxed clusterings of the
        spectral one need not hold the constant vector, which every clustering of rows does.
    random_state : int, RandomState or None
        Seed of the choice of rows, and of the clusterings.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        w, with mean 1; all 1 where no column helps.
    n_iter_, converged_
        As in `SupervisedKMeans`.
    loss_ : float
        Mean loss (0 to 100) of the clusterings of the item sets under w.

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.similarity import ClassMetric
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = np.column_stack([2.0 * y - 1.0, rng.normal(size=200)])
    >>> ClassMetric(random_state=0).fit(X, y).weights_.round(1).tolist()
    [2.0, 0.0]
    """

    def __init__(
        self,
        n_sets: int = 10,
        set_size: int = 100,
        *,
        C: float = 1.0,
        epsilon: float = 1.0,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_sets = n_sets
        self.set_size = set_size
        self.C = C
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Finite features on comparable scales.
        y : array-like of shape (n,)
            Classes, at least two.
        """
        rows, labels = validated(self, X, y, dtype=np.float64, order="C")
        check_positive(n_sets=self.n_sets, set_size=self.set_size)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise DataError("the rows are of one class, which says nothing of a metric")
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        sets = stratified_subsets(codes, self.n_sets, self.set_size, rng)
        items = [ItemSet(rows[members]) for members in sets]
        truths = [codes[members] for members in sets]
        model = SupervisedKMeans(
            C=self.C,
            oracle="iterative",
            epsilon=self.epsilon,
            max_iter=self.max_iter,
            weights="nonnegative",
            random_state=seed,
        ).fit(items, truths)
        total = model.weights_.sum()
        useful = total > 0
        self.weights_ = (
            model.weights_ * (rows.shape[1] / total) if useful else np.ones(rows.shape[1])
        )
        self.n_iter_, self.converged_ = model.n_iter_, model.converged_
        self.loss_ = float(np.mean([model.loss(*pair) for pair in zip(items, truths, strict=True)]))
        return self

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Return the rows (n, d) with column j times the root of weight j."""
        check_is_fitted(self)
        rows = validated(self, X, dtype=np.float64, reset=False)
        return np.asarray(rows * np.sqrt(self.weights_))


def stratified_subsets(
    codes: Ints, n_sets: int, set_size: int, rng: np.random.Generator
) -> list[Ints]:
    """Draw disjoint sets of rows, each with nearly the class shares of all rows.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class ids.
    n_sets, set_size : int
        Most sets, and rows per set.
    rng : numpy.random.Generator

    Returns
    -------
    list of ndarray
        Ascending positions; a set of one class is dropped. If all are, there is one set, of one
        row of each class and others drawn at random.
    """
    n = len(codes)
    count = int(np.clip(n // set_size, 1, n_sets))
    order = rng.permutation(n)[: count * set_size]
    dealt = order[np.argsort(codes[order], kind="stable")]
    sets = [np.sort(dealt[s::count]) for s in range(count)]
    mixed = [members for members in sets if len(np.unique(codes[members])) > 1]
    return mixed or [_with_all_classes(codes, set_size, rng)]


def _with_all_classes(codes: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Return `size` ascending positions (or one per class, if more), at least one per class."""
    order = rng.permutation(len(codes))
    first = np.unique(codes[order], return_index=True)[1]
    others = np.delete(order, first)[: max(size - len(first), 0)]
    return np.sort(np.concatenate([order[first], others]))
