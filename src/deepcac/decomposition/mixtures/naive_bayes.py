"""Naive Bayes for numbers and categories together, as WEKA's with its default values.

No kept library joins what this needs: normal densities of rounded numbers, level counts from 1,
and missing values that are skipped, in training and in prediction.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from deepcac.decomposition.mixtures.mixed import MISSING, Columns, Mixed
from deepcac.decomposition.mixtures.validation import check_rows, rows_at
from deepcac.sklearn_compat import check_sample_weight
from deepcac.types import Floats, Ints

_LEAST_PROBABILITY = 1e-75
_NO_SPACING = 0.01  # where a column has one value


class Density(NamedTuple):
    """Densities of the columns in one class.

    Attributes
    ----------
    size : float
        Number of rows of the class, or the sum of their weights.
    mean, sd : ndarray of shape (p,)
        Mean and deviation of the rounded numbers; at least a sixth of the column's spacing.
    log_share : ndarray of shape (L,)
        Log probability of each level, column after column.
    """

    size: float
    mean: Floats
    sd: Floats
    log_share: Floats


def spacing(numbers: Floats) -> Floats:
    """Return the mean distance of neighbouring values of each column, 0.01 if it has only one."""
    widths = np.full(numbers.shape[1], _NO_SPACING)
    for f, column in enumerate(numbers.T):
        values = np.unique(column[~np.isnan(column)])
        if len(values) > 1:
            widths[f] = (values[-1] - values[0]) / (len(values) - 1)
    return widths


def density(rows: Mixed, widths: Floats, weights: Floats | None = None) -> Density:
    """Learn the density of the rows of one class; `widths` (p,) are those of `spacing`.

    Every sum over rows is weighted; None means 1 per row.
    """
    numbers = np.rint(rows.numbers / widths) * widths
    row_weights = np.ones(len(numbers)) if weights is None else weights
    present = ~np.isnan(numbers)
    share = present * row_weights[:, None]
    filled = np.where(present, numbers, 0.0)
    count = share.sum(axis=0)
    count[count == 0] = 1.0
    mean = (share * filled).sum(axis=0) / count
    gaps = np.where(present, filled - mean, 0.0)
    sd = np.maximum(np.sqrt((share * (gaps * gaps)).sum(axis=0) / count), widths / 6.0)
    shares = []
    for column, size in zip(rows.codes.T, rows.levels, strict=True):
        there = column != MISSING
        tally = 1.0 + np.bincount(column[there], row_weights[there], minlength=size)
        shares.append(np.log(tally / tally.sum()))
    return Density(float(row_weights.sum()), mean, sd, np.concatenate([np.empty(0), *shares]))


def log_likelihood(rows: Mixed, widths: Floats, given: Density) -> Floats:
    """Return the log probability (n,) of each row under a density; missing values are skipped.

    A number counts with the mass of the normal density within half a spacing of its rounded
    value, at least 1e-75.
    """
    total = np.zeros(len(rows.numbers))
    centre = np.abs(np.rint(rows.numbers / widths) * widths - given.mean) / given.sd
    half = 0.5 * widths / given.sd
    mass = ndtr(half - centre) - ndtr(-half - centre)  # in the lower tail, where it is exact
    logs = np.log(np.maximum(mass, _LEAST_PROBABILITY))
    total += np.where(np.isnan(rows.numbers), 0.0, logs).sum(axis=1)
    start = 0
    for column, size in zip(rows.codes.T, rows.levels, strict=True):
        present = column != MISSING
        total[present] += given.log_share[start + column[present]]
        start += size
    return total


class MixedNaiveBayes(ClassifierMixin, BaseEstimator):
    """Naive Bayes for a table of numbers and categories.

    Follows the NaiveBayes of WEKA with default values, which Vilalta, Achari & Eick (2003,
    section 6.1) used: numbers are normal, rounded to the mean spacing of their values;
    categories and classes are counted from 1; missing values are skipped.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    densities_ : list of Density
        One per class.
    widths_ : ndarray of shape (p,)
        Spacing of the values of each numeric column.

    Examples
    --------
    >>> import pandas as pd
    >>> from deepcac.decomposition import MixedNaiveBayes
    >>> X = pd.DataFrame({"x": [0.0, 1.0, 8.0, 9.0], "c": pd.Categorical(["a", "a", "b", "a"])})
    >>> MixedNaiveBayes().fit(X, [0, 0, 1, 1]).predict(X).tolist()
    [0, 0, 1, 1]
    """

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn one density per class.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Columns of dtype "category" are nominal, all others numeric; NaN is missing.
        y : array-like of shape (n,)
            Classes.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; a row of weight 0 is left out.
        """
        X, y = check_rows(self, X, y)
        check_classification_targets(y)
        weights = None
        if sample_weight is not None:
            weights = check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            X, y, weights = (rows_at(part, weights > 0) for part in (X, y, weights))
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._columns = Columns.of(X)
        rows = self._columns.encode(X)
        self.widths_ = spacing(rows.numbers)
        members = [labels == c for c in range(len(self.classes_))]
        self.densities_ = [
            density(rows.take(member), self.widths_, None if weights is None else weights[member])
            for member in members
        ]
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class of each row."""
        scores = self.joint_log_likelihood(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities of shape (n, n_classes)."""
        return softmax(self.joint_log_likelihood(X), axis=1)

    def joint_log_likelihood(self, X: Any) -> Floats:
        """Return log P(row, class) of shape (n, n_classes), equation (3) of the paper."""
        check_is_fitted(self)
        rows = self._columns.encode(check_rows(self, X, reset=False))
        sizes = np.array([given.size for given in self.densities_], dtype=np.float64)
        prior = np.log((sizes + 1.0) / (sizes.sum() + len(sizes)))
        scores = [log_likelihood(rows, self.widths_, given) for given in self.densities_]
        return np.column_stack(scores) + prior

    def discriminants(
        self, X: Any, X_new: Any, weights: Floats | None = None
    ) -> "NaiveBayesScores":
        """Return an object that scores `X_new` for any group of the rows of `X`."""
        columns = Columns.of(X)
        return NaiveBayesScores(columns.encode(X), columns.encode(X_new), weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def naive_bayes(seed: int) -> BaseEstimator:
    """Return an unfitted naive Bayes; nothing in it is random."""
    return MixedNaiveBayes()


class NaiveBayesScores:
    """log P(x, group) up to terms that all groups share, so that no group depends on others."""

    def __init__(self, rows: Mixed, new: Mixed, weights: Floats | None = None) -> None:
        self._rows, self._new, self._widths = rows, new, spacing(rows.numbers)
        self._weights = weights

    def score(self, members: Ints) -> Floats:
        """Return the score (m,) of the new rows for the group of the rows at `members`."""
        weights = None if self._weights is None else self._weights[members]
        given = density(self._rows.take(members), self._widths, weights)
        return np.log(given.size + 1.0) + log_likelihood(self._new, self._widths, given)
