"""Restricted cubic splines of standardised columns, whose knots tell of no single patient."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from deepcac.judging.learners import Predict, lr
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.scoring.small_cells import FEW
from deepcac.types import Array, Ids

FEWEST_KNOTS, MOST_KNOTS = 3, 6
OUTER = 0.05  # the share of rows beyond the outer knots (Harrell 2015, section 2.4.6)
_DIGITS = 2  # of knots, in standard deviations


@dataclass(frozen=True)
class Splines:
    """Terms that bend a line between the outer knots of a column; beyond them it is straight.

    Attributes
    ----------
    knots : dict of int to ndarray of shape (k,)
        By column; a column without any stays a line.
    """

    knots: Mapping[int, Array] = field(default_factory=dict)

    @classmethod
    def learn(cls, bounded: Array, patient: Ids, n_knots: int) -> "Splines":
        """Return splines whose knots are rounded quantiles of standardised rows (n, q).

        At least `FEW` patients lie on either side of all knots. A column of few values is a line.
        """
        outer = max(OUTER, FEW / len(np.unique(patient)))
        if outer >= 0.5:
            return cls()
        quantiles = np.quantile(bounded, np.linspace(outer, 1 - outer, n_knots), axis=0)
        columns = ((j, np.unique(np.round(at, _DIGITS))) for j, at in enumerate(quantiles.T))
        return cls(
            {j: at for j, at in columns if len(at) >= FEWEST_KNOTS
             and _is_coarse(bounded[:, j], at, patient)}
        )  # fmt: skip

    def beside(self, bounded: Array) -> Array:
        """Return standardised rows (n, q) with the terms of each spline behind them."""
        return np.hstack([bounded, *(_terms(bounded[:, j], at) for j, at in self.knots.items())])

    def names(self, columns: list[str]) -> list[str]:
        """Return the names of the columns of `beside`."""
        bent = (
            f"{columns[j]}, spline term {term}"
            for j, at in self.knots.items()
            for term in range(1, len(at) - 1)
        )
        return [*columns, *bent]

    @property
    def n_terms(self) -> int:
        """Columns that `beside` adds."""
        return sum(len(at) - 2 for at in self.knots.values())


def _is_coarse(values: Array, knots: Array, patient: Ids) -> bool:
    """Tell whether patients enough have no more than the first knot, and no less than the last."""
    ends = values <= knots[0], values >= knots[-1]
    return all(len(np.unique(patient[beyond])) >= FEW for beyond in ends)


# By hand: the terms of SplineTransformer, two more, are curved up to the outer knots.
def _terms(x: Array, knots: Array) -> Array:
    """Return the terms (n, k - 2) of values (n,), in their own unit."""
    *first, before, last = knots

    def cubic(knot: float) -> Array:
        return np.maximum(x - knot, 0.0) ** 3

    terms = [
        cubic(t)
        - cubic(before) * (last - t) / (last - before)
        + cubic(last) * (before - t) / (last - before)
        for t in first
    ]
    return np.column_stack(terms) / (last - knots[0]) ** 2


def fit_spline_lr(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Fit logistic regression on bounded columns and their splines, as `judging.learners.lr`."""
    patient = np.arange(len(train)) if train.unit is None else train.unit
    splines = Splines.learn(train.bounded, patient, values["knots"])

    def wider(rows: Rows) -> Rows:
        return replace(rows, scaled=splines.beside(rows.bounded))

    straight = {"C": values["C"], "clip": None, "class_weight": None}
    answer = lr(straight, wider(train), wider(validation), sample)
    return lambda rows: answer(wider(rows))
