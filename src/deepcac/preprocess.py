"""From a feature matrix to what a model is fed: missing values, missing flags, unit variance."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scaler:
    """Train-median imputation, a flag for each column with missing values, unit variance.

    Attributes
    ----------
    median : ndarray of shape (d,)
        Of the training rows; 0 for a column without a training value.
    flagged : ndarray of shape (flags,), int
        Columns that had a missing training value.
    mean, scale : ndarray of shape (kept.sum(),)
        Mean and sd of the columns that are kept, on the imputed training rows.
    kept : ndarray of bool, shape (d + flags,)
        Columns that vary on the training rows; the others are left out.
    """

    median: Array
    flagged: npt.NDArray[np.intp]
    mean: Array
    scale: Array
    kept: npt.NDArray[np.bool_]

    @classmethod
    def fit(cls, X: Array) -> "Scaler":
        """Learn the statistics of training rows `X` of shape (n, d), NaN where missing."""
        absent = np.isnan(X)
        median = np.zeros(X.shape[1])
        seen = ~absent.all(axis=0)
        median[seen] = np.nanmedian(X[:, seen], axis=0)
        flagged = np.flatnonzero(absent.any(axis=0) & seen)
        filled = np.hstack([np.where(absent, median, X), absent[:, flagged]])
        mean, scale = filled.mean(axis=0), filled.std(axis=0)
        # A constant column has a rounding residue instead of an exact zero.
        kept = scale > 1e-12 * np.maximum(1.0, np.abs(mean))
        return cls(median, flagged, mean[kept], scale[kept], kept)

    def transform(self, X: Array) -> Array:
        """Return the rows of `X` imputed, flagged and standardised, C-ordered float64."""
        absent = np.isnan(X)
        filled = np.hstack([np.where(absent, self.median, X), absent[:, self.flagged]])
        return np.ascontiguousarray((filled[:, self.kept] - self.mean) / self.scale)

    def names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the columns of `transform`, for input columns `names`."""
        extended = (*names, *(f"{names[j]}_missing" for j in self.flagged))
        return tuple(name for name, keep in zip(extended, self.kept, strict=True) if keep)


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
        return cls(mean, np.where(scale > 0, scale, 1.0))

    def transform(self, X: Array) -> Array:
        """Return `X` standardised, with 0 (the training mean) where a value is missing."""
        return np.nan_to_num((X - self.mean) / self.scale, nan=0.0)
