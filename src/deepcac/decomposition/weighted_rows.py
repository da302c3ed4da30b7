"""Rows of one part with their classes and weights."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.decomposition.mixtures.validation import rows_at
from deepcac.types import Floats, Ints


class WeightedRows(NamedTuple):
    """Rows of training or validation.

    Attributes
    ----------
    X : DataFrame or ndarray of shape (n, d)
    classes : ndarray of shape (n,), int64
        Class ids; -1 for a class that is not fitted.
    weights : ndarray of shape (n,) or None
        None where every row counts as one.
    """

    X: Any
    classes: Ints
    weights: Floats | None = None

    def take(self, rows: npt.NDArray[np.int64]) -> "WeightedRows":
        """Return some rows, by position."""
        weights = None if self.weights is None else self.weights[rows]
        return WeightedRows(rows_at(self.X, rows), self.classes[rows], weights)

    def by_class(self, of_classes: Floats | None) -> "WeightedRows":
        """Return the rows with weights multiplied by those of their classes (n_classes,)."""
        if of_classes is None:
            return self
        factor = np.append(of_classes, 1.0)[self.classes]  # the last for a class not fitted
        return self._replace(weights=factor if self.weights is None else factor * self.weights)
