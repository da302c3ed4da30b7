"""Hourly sequences summarised as one row per patient: values, counts and recency."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from deepcac.errors import DataError
from deepcac.types import Array

SUMMARIES = ("first", "last", "lowest", "highest", "mean", "change", "count", "hours_since")


class SequenceSummary(TransformerMixin, BaseEstimator):
    """Eight columns per variable, for any classifier of tables that takes missing values.

    First, last, lowest, highest and mean measured value, last minus first, the number of
    measurements, and the steps since the last one. A variable that was never measured has count
    0 and is missing in the others.

    Parameters
    ----------
    names : sequence of str, optional
        Names of the variables.

    Attributes
    ----------
    n_variables_, n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac import SequenceSummary
    >>> X = np.array([[[np.nan], [3.0], [5.0], [np.nan]]])  # one patient, four hours, one variable
    >>> SequenceSummary(names=["lactate"]).fit_transform(X)
    array([[3., 5., 3., 5., 4., 2., 2., 1.]])
    """

    def __init__(self, names: Any = None) -> None:
        self.names = names

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Learn the number of variables of sequences (n, steps, variables), NaN where missing."""
        self.n_features_in_ = self.n_variables_ = _sequences(X).shape[2]
        if self.names is not None and len(self.names) != self.n_variables_:
            raise DataError(f"{len(self.names)} names for {self.n_variables_} variables")
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.input_tags.allow_nan = True
        return tags

    def transform(self, X: npt.ArrayLike) -> Array:
        """Return one row per sequence, shape (n, 8 n_variables_)."""
        check_is_fitted(self)
        values = _sequences(X)
        if values.shape[2] != self.n_variables_:
            raise DataError(
                f"sequences of {values.shape[2]} variables; fit saw {self.n_variables_}"
            )
        measured = ~np.isnan(values)
        steps = values.shape[1]
        count = measured.sum(axis=1)
        first, last = measured.argmax(axis=1), steps - 1 - measured[:, ::-1].argmax(axis=1)
        at_first, at_last = (
            np.take_along_axis(values, step[:, None], axis=1)[:, 0] for step in (first, last)
        )
        lowest = np.where(measured, values, np.inf).min(axis=1)
        highest = np.where(measured, values, -np.inf).max(axis=1)
        mean = np.where(measured, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        since = (steps - 1 - last).astype(np.float64)
        seen = [at_first, at_last, lowest, highest, mean, at_last - at_first, since]
        *before, since = (np.where(count > 0, column, np.nan) for column in seen)
        return np.stack([*before, count, since], axis=2).reshape(len(values), -1)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """Return the names of the columns: ``{variable}_{summary}``."""
        check_is_fitted(self)
        given = () if self.names is None else self.names
        names = list(given) or [f"x{v}" for v in range(self.n_variables_)]
        return np.array([f"{name}_{kind}" for name in names for kind in SUMMARIES], dtype=object)


def _sequences(X: npt.ArrayLike) -> Array:
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 3:
        raise DataError(f"sequences have shape (n, steps, variables), not {values.shape}")
    return values
