"""The linear SVM by Newton's method, for many more rows than columns.

Keerthi and DeCoste 2005, "A modified finite Newton method for fast solution of large scale linear
SVMs", section 3: the squared hinge is quadratic as long as the same rows lie inside the margin, so
that Newton steps with exact systems end at the minimum after a few.
"""

import warnings
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from deepcac.errors import DataError
from deepcac.numeric_table import validated
from deepcac.types import Floats

ClassWeight = str | dict[object, float] | None

TOLERANCE = 1e-12  # on what a Newton step still promises, as a share of the objective
_SEARCH = 1e-9  # on the length of a step


class NewtonSVC(LinearSVC):
    """scikit-learn's `LinearSVC` with ``dual=False``, solved to its minimum.

    The objective is the same, penalised intercept included. liblinear's conjugate gradients take
    longer where columns are many or correlated, and very long where one far row makes the
    problem ill-conditioned; CAC tunes alpha by hundreds of fits.

    Parameters
    ----------
    C : float
        Weight of the losses.
    class_weight : {"balanced"}, dict or None
        As in `LinearSVC`.
    max_iter : int
        Largest number of Newton steps.
    warm_start : bool
        Start from ``coef_`` and ``intercept_`` if there are any, instead of from zero.
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        class_weight: ClassWeight = None,
        max_iter: int = 50,
        warm_start: bool = False,
    ) -> None:
        super().__init__(C=C, dual=False, class_weight=class_weight, max_iter=max_iter)
        self.warm_start = warm_start

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit on rows `X` (n, d) of classes `y` (n,), one against the rest if there are several."""
        rows, labels = validated(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"a linear SVM needs two classes, but there is 1 class: {labels[0]}")
        cost = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)[codes]
        cost *= self.C
        extended = np.column_stack([rows, np.ones(len(rows))])
        positive = range(len(self.classes_)) if len(self.classes_) > 2 else (1,)
        start = self._start(len(positive), extended.shape[1])
        descents = [
            descend(extended, np.where(codes == c, 1.0, -1.0), cost, first, self.max_iter)
            for c, first in zip(positive, start, strict=True)
        ]
        planes = np.array([plane for plane, _ in descents])
        self.coef_, self.intercept_ = planes[:, :-1].copy(), planes[:, -1].copy()
        self.n_iter_ = max(steps for _, steps in descents)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _start(self, n_planes: int, width: int) -> Floats:
        """Return the starting planes: those of an earlier fit if `warm_start` and of this shape."""
        if self.warm_start and hasattr(self, "coef_"):
            given = np.column_stack([self.coef_, self.intercept_])
            if given.shape == (n_planes, width):
                return given
        return np.zeros((n_planes, width))


def descend(X: Floats, y: Floats, cost: Floats, start: Floats, max_iter: int) -> tuple[Floats, int]:
    r"""Minimise :math:`\|w\|^2 / 2 + \sum_i c_i \max(0, 1 - y_i w \cdot x_i)^2` over w.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; a column of ones stands for the intercept.
    y : ndarray of shape (n,)
        1 or -1.
    cost : ndarray of shape (n,)
        c_i, not negative.
    start : ndarray of shape (d,)
        First w.
    max_iter : int
        Largest number of Newton steps.

    Returns
    -------
    w : ndarray of shape (d,)
    steps : int

    Raises
    ------
    DataError
        A step cannot be computed: the scales of the columns are too far apart.
    """
    w, slack = start, 1.0 - y * (X @ start)
    for step in range(max_iter):
        inside = np.flatnonzero(slack > 0)
        rows, left = X[inside], slack[inside]
        gradient = w - 2.0 * (rows.T @ (cost * y * slack)[inside])
        direction = -_solve(rows * np.sqrt(2.0 * cost[inside])[:, None], gradient)
        # What a whole step promises does not depend on the scales of the columns.
        objective = 0.5 * float(w @ w) + float(cost[inside] @ left**2)
        if -0.5 * float(gradient @ direction) <= TOLERANCE * objective:
            return w, step
        fall = y * (X @ direction)
        length = _step(w, direction, slack, fall, cost)
        w, slack = w + length * direction, slack - length * fall
    warnings.warn(
        f"no minimum after {max_iter} Newton steps; scale the columns, or raise max_iter",
        ConvergenceWarning,
        stacklevel=3,
    )
    return w, max_iter


def _solve(rows: Floats, gradient: Floats) -> Floats:
    """Return the solution of (rows' rows + I) s = gradient, a Newton step with the other sign."""
    hessian = linalg.blas.dsyrk(1.0, rows.T)  # the upper half
    hessian[np.diag_indices_from(hessian)] += 1.0
    try:
        return np.asarray(linalg.cho_solve((linalg.cholesky(hessian), False), gradient))
    except linalg.LinAlgError:
        raise DataError(
            "the columns are on scales too different for a linear SVM; scale them first, for "
            "example make_pipeline(TableScaler(), ...)"
        ) from None


def _step(w: Floats, direction: Floats, slack: Floats, fall: Floats, cost: Floats) -> float:
    """Return the step along a direction that minimises the objective.

    Its slope there is continuous, piecewise linear and rising, so Newton steps inside a bracket
    find the zero.
    """
    low, high, length = 0.0, np.inf, 1.0
    offset, square = float(w @ direction), float(direction @ direction)
    weighted = cost * fall
    for _ in range(50):
        left = slack - length * fall
        inside = left > 0
        slope = offset + length * square - 2.0 * float(weighted[inside] @ left[inside])
        bend = square + 2.0 * float(weighted[inside] @ fall[inside])
        low, high = (low, length) if slope > 0 else (length, high)
        ahead = length - slope / bend
        if abs(ahead - length) <= _SEARCH * length:
            return ahead
        # Outside the bracket: its middle, or half as far again while it has no upper end.
        length = ahead if low < ahead < high else (low + min(high, 2.0 * length)) / 2.0
    return length
