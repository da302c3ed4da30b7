"""Linear support vector machines, one against one, as WEKA's SMO with its default values.

Not by scikit-learn's `SVC`, for two reasons. A call of it costs ten times the problem itself where
classes have many small clusters, and the merge search solves 100,000 of them. And it stops at
another plane: within WEKA's tolerance, but the validation rows on which merges are chosen are few,
so that one row on the other side gives other clusters.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from deepcac.decomposition.mixtures.mixed import Columns, Filler, Mixed
from deepcac.decomposition.mixtures.validation import check_rows
from deepcac.decomposition.smo_kernel import solve_against
from deepcac.errors import ConfigError
from deepcac.types import Flags, Floats, Ints


class Design(NamedTuple):
    """From rows to points: missing values imputed, categories one-hot, all in [0, 1].

    Attributes
    ----------
    filler : Filler
        Means and most frequent levels of the training rows.
    low, reach : ndarray of shape (p,)
        Smallest value and range of each number in the training rows.
    """

    filler: Filler
    low: Floats
    reach: Floats

    @classmethod
    def of(cls, rows: Mixed) -> "Design":
        """Learn ranges, means and levels from training rows."""
        filler = Filler.of(rows)
        numbers = filler.fill(rows).numbers
        low = numbers.min(axis=0, initial=np.inf)
        reach = numbers.max(axis=0, initial=-np.inf) - low
        return cls(filler, low, np.where(reach > 0, reach, 1.0))

    def points(self, rows: Mixed) -> Floats:
        """Return points (n, d); a column of two levels is one coordinate, others one per level."""
        rows = self.filler.fill(rows)
        blocks = [(rows.numbers - self.low) / self.reach]
        for column, size in zip(rows.codes.T, rows.levels, strict=True):
            if size == 2:
                blocks.append(column[:, None].astype(np.float64))
            elif size > 2:
                blocks.append((column[:, None] == np.arange(size)).astype(np.float64))
        return np.ascontiguousarray(np.hstack(blocks))


class UnitPoints(TransformerMixin, BaseEstimator):
    """Rows of a table as points in [0, 1]^d, for classifiers that take numbers only.

    Missing values become means and most frequent levels, categories one-hot.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn ranges, means and levels from rows (n, d)."""
        X = check_rows(self, X)
        self._columns = Columns.of(X)
        self.design_ = Design.of(self._columns.encode(X))
        return self

    def transform(self, X: Any) -> Floats:
        """Return points; outside [0, 1] for numbers beyond those of `fit`."""
        check_is_fitted(self)
        return self.design_.points(self._columns.encode(check_rows(self, X, reset=False)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class Problem(NamedTuple):
    """Cost, tolerance and the most steps of each machine."""

    C: float
    tolerance: float
    most: int

    def planes(self, points: Floats, group: Ints, others: Sequence[Ints], first: Flags) -> Floats:
        """Return the separating planes (g, d + 1), intercepts last, of a group against g others.

        A plane is positive on the side of the one group where `first` says so. Groups are given
        by the positions of their rows in `points`.
        """
        planes = np.empty((len(others), points.shape[1] + 1))
        if len(others):
            starts = np.cumsum([0, *map(len, others)])
            behind = np.concatenate(others)
            solve_against(points, group, behind, starts, first, self, planes)
        return planes


class PairwiseLinearSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector machines, one for each pair of classes, which vote.

    Follows the SMO of WEKA with default values, which Vilalta, Achari & Eick (2003, section 6.1)
    used: missing values are replaced by means and most frequent levels, categories are one-hot,
    all coordinates are scaled to [0, 1]. Equal votes go to the first class.

    Parameters
    ----------
    C : float
        Cost of a row on the wrong side.
    tolerance : float
        Violation of optimality that is left.
    max_steps : int
        The most steps of one machine.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    planes_ : ndarray of shape (n_classes * (n_classes - 1) / 2, d + 1)
        Weights and intercept for classes (0, 1), (0, 2), ..., (1, 2), ...; positive means the
        first of the two.
    """

    def __init__(self, C: float = 1.0, tolerance: float = 1e-3, max_steps: int = 1_000_000) -> None:
        self.C = C
        self.tolerance = tolerance
        self.max_steps = max_steps

    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Fit one machine per pair of classes.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Columns of dtype "category" are nominal, all others numeric; NaN is missing.
        y : array-like of shape (n,)
            Classes.
        """
        problem = self._problem()
        X, y = check_rows(self, X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._columns = Columns.of(X)
        rows = self._columns.encode(X)
        self._design = Design.of(rows)
        points = self._design.points(rows)
        groups = [np.flatnonzero(labels == c) for c in range(len(self.classes_))]
        planes = [
            problem.planes(points, group, groups[c + 1 :], np.ones(len(groups) - 1 - c, bool))
            for c, group in enumerate(groups)
        ]
        self.planes_ = np.concatenate(planes)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class with the most votes."""
        votes, _ = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    def decision_function(self, X: Any) -> Floats:
        """Return (n,) distances for two classes, else (n, n_classes) votes.

        Ties of votes are broken by the sums of the distances, scaled to less than one vote.
        """
        votes, sums = self._votes(X)
        if len(self.classes_) == 2:
            return -sums[:, 0]
        return votes + sums / (3.0 * (np.abs(sums) + 1.0))

    def _votes(self, X: Any) -> tuple[Floats, Floats]:
        """Return votes (n, n_classes) and sums of distances."""
        check_is_fitted(self)
        rows = self._columns.encode(check_rows(self, X, reset=False))
        points = self._design.points(rows)
        n_classes = len(self.classes_)
        votes, sums = np.zeros((2, len(points), n_classes))
        for a in range(n_classes - 1):
            last = a * n_classes - a * (a + 1) // 2
            planes = self.planes_[last : last + n_classes - 1 - a]
            values = points @ planes[:, :-1].T + planes[:, -1]
            won = values > 0
            votes[:, a] += won.sum(axis=1)
            votes[:, a + 1 :] += ~won
            sums[:, a] += values.sum(axis=1)
            sums[:, a + 1 :] -= values
        return votes, sums

    def discriminants(self, X: Any, X_new: Any) -> "PairMachines":
        """Return what fits machines to pairs of groups of `X` rows and applies them to `X_new`."""
        columns = Columns.of(X)
        rows = columns.encode(X)
        design = Design.of(rows)
        return PairMachines(
            self._problem(), design.points(rows), design.points(columns.encode(X_new))
        )

    def _problem(self) -> Problem:
        """Return the settings of the solver; ConfigError unless all are positive."""
        if not (self.C > 0 and self.tolerance > 0 and self.max_steps > 0):
            raise ConfigError(
                f"C, tolerance and max_steps are {self.C}, {self.tolerance} and {self.max_steps}; "
                "each must be above 0"
            )
        return Problem(self.C, self.tolerance, self.max_steps)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class PairMachines:
    """Machines of two groups of rows each; none depends on any other group.

    Parameters
    ----------
    problem : Problem
    points, new : ndarray of shape (n, d) and (m, d)
        Training rows, and those to be classified.

    Attributes
    ----------
    n_new : int
        Number of new rows, m.
    """

    def __init__(self, problem: Problem, points: Floats, new: Floats) -> None:
        self._problem, self._points, self._new = problem, points, new
        self.n_new = len(new)

    def planes(self, group: Ints, others: Sequence[Ints], first: Flags) -> Floats:
        """Return the planes (g, d + 1) between a group and g others, by position of their rows."""
        return self._problem.planes(self._points, group, others, first)

    def sides(self, planes: Sequence[Floats]) -> Flags:
        """Return whether each new row is on the positive side of each plane, (m, len(planes))."""
        stacked = np.array(planes).reshape(len(planes), self._points.shape[1] + 1)
        return self._new @ stacked[:, :-1].T + stacked[:, -1] > 0
