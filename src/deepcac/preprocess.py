"""From a feature matrix to model inputs: imputation, missingness flags, unit variance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from deepcac.errors import DataError
from deepcac.files.saved_models import check_array, check_ids
from deepcac.numeric_table import residue, validated
from deepcac.sklearn_compat import check_feature_names_in
from deepcac.types import Array

FARTHEST = 5.0  # sd; a k-means on latents otherwise finds clusters of a few far rows
Names = npt.NDArray[Any]

LEARNT = ("median_", "flagged_", "kept_", "mean_", "scale_")


class TableScaler(TransformerMixin, BaseEstimator):
    """Train-median imputation, a flag for each column with missing values, unit variance.

    Attributes
    ----------
    median_ : ndarray of shape (d,)
        Medians of the training rows; 0 for a column without a training value.
    flagged_ : ndarray of shape (flags,), int
        Columns that had a missing training value.
    kept_ : ndarray of bool, shape (d + flags,)
        Columns that vary on the training rows; the others are dropped.
    mean_, scale_ : ndarray of shape (kept_.sum(),)
        Mean and sd of the columns that are kept, on the imputed training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.preprocess import TableScaler
    >>> TableScaler().fit_transform(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]])).round(2)
    array([[-1.22, -0.71],
           [ 1.22, -0.71],
           [ 0.  ,  1.41]])

    What only the last step of a pipeline has, such as `assign`, takes the rows that it saw:

    >>> from sklearn.pipeline import make_pipeline
    >>> from deepcac import KMClassifier
    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), [0, 1, 0, 1]
    >>> model = make_pipeline(TableScaler(), KMClassifier(n_clusters=2, random_state=0)).fit(X, y)
    >>> subtype = model[-1].assign(model[:-1].transform(X))
    >>> bool(subtype[0] == subtype[1] != subtype[2] == subtype[3])
    True
    """

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Learn the statistics of training rows `X` of shape (n, d), NaN where missing."""
        rows = validated(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        absent = np.isnan(rows)
        self.median_ = np.zeros(rows.shape[1])
        seen = ~absent.all(axis=0)
        self.median_[seen] = np.nanmedian(rows[:, seen], axis=0)
        self.flagged_ = np.flatnonzero(absent.any(axis=0) & seen)
        filled = self._filled(rows)
        mean, scale = filled.mean(axis=0), filled.std(axis=0)
        self.kept_ = scale > residue(mean, scale, len(filled))
        self.mean_, self.scale_ = mean[self.kept_], scale[self.kept_]
        return self

    def learnt(self) -> dict[str, Array]:
        """Return the learnt arrays by name."""
        return {name: getattr(self, name) for name in LEARNT}

    @classmethod
    def of(cls, learnt: Mapping[str, Any]) -> Self:
        """Return a scaler with these `learnt` arrays; `DataError` if no `fit` can give them."""
        scaler = cls()
        scaler.n_features_in_ = len(learnt["median_"])
        for name in LEARNT:
            setattr(scaler, name, learnt[name])
        scaler.check()
        return scaler

    def check(self) -> None:
        """Raise `DataError` if no `fit` can have learnt these arrays."""
        d, flags = self.n_features_in_, len(self.flagged_)
        check_array("median_", self.median_, (d,))
        if (np.diff(check_ids("flagged_", self.flagged_, d)) <= 0).any():
            raise DataError("flagged_ names a column twice, or out of order")
        n_columns = int(check_array("kept_", self.kept_, (d + flags,), np.bool_).sum())
        check_array("mean_", self.mean_, (n_columns,))
        check_array("scale_", self.scale_, (n_columns,), above=True)

    def transform(self, X: npt.ArrayLike) -> Array:
        """Return the rows of `X` imputed, flagged and standardised, C-ordered float64."""
        check_is_fitted(self)
        rows = validated(
            self,
            X,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=0,
            reset=False,
        )
        filled = self._filled(rows)[:, self.kept_]
        return np.ascontiguousarray((filled - self.mean_) / self.scale_)

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> Names:
        """Return the names of the columns of `transform`; a flag is ``{column}_missing``."""
        check_is_fitted(self)
        given = check_feature_names_in(self, input_features)
        extended = [*given, *(f"{given[j]}_missing" for j in self.flagged_)]
        return np.array(extended, dtype=object)[self.kept_]

    def _filled(self, rows: Array) -> Array:
        """Fill gaps with the training medians; append indicators of flagged columns."""
        absent = np.isnan(rows)
        return np.hstack([np.where(absent, self.median_, rows), absent[:, self.flagged_]])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def cut_far(scaled: Array) -> Array:
    """Return standardised values cut at `FARTHEST`: what the networks are fed."""
    return np.clip(scaled, -FARTHEST, FARTHEST)


def standardise_alone(X: Array) -> Array:
    """Standardise `X` (n, d) by its own mean and sd; missing values become 0 afterwards.

    This is what the published programs do to the test part (switches A4 and D4), and to each
    CIC set on its own. A column without spread stays 0.
    """
    absent_columns = np.isnan(X).all(axis=0)
    safe = np.where(absent_columns, 0.0, X)
    mean, scale = np.nanmean(safe, axis=0), np.nanstd(safe, axis=0)
    scaled = (safe - mean) / np.where(scale > 0, scale, 1.0)
    return np.ascontiguousarray(np.nan_to_num(scaled, nan=0.0))


@dataclass(frozen=True)
class SequenceScaler:
    """Unit variance a variable for hourly sequences, from measured training values.

    Attributes
    ----------
    mean, scale : ndarray of shape (variables,)
        Mean and sd of the measured training values of each variable; a variable that was
        never measured or never varies has scale 1.
    """

    mean: Array
    scale: Array

    @classmethod
    def fit(cls, X: Array) -> "SequenceScaler":
        """Learn from training sequences `X` of shape (n, steps, variables), NaN where missing."""
        measured = ~np.isnan(X)
        count = np.maximum(measured.sum(axis=(0, 1)), 1)
        mean = np.where(measured, X, 0.0).sum(axis=(0, 1)) / count
        spread = np.where(measured, X - mean, 0.0)
        scale = np.sqrt((spread**2).sum(axis=(0, 1)) / count)
        return cls(mean, np.where(scale > residue(mean, scale, count), scale, 1.0))

    def transform(self, X: Array) -> Array:
        """Return `X` standardised, with 0 (the training mean) where a value is missing."""
        return np.nan_to_num((X - self.mean) / self.scale, nan=0.0)
