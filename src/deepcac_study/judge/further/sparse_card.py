"""A risk model of few items: logistic regression on columns that a greedy forward choice picks."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from deepcac.judging.learners import Predict
from deepcac.judging.resamples import OUTLIER, Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.types import Array, Ids

STANDARDISED, BINNED = KINDS = ("standardised", "binned")
_QUARTILES = (0.25, 0.5, 0.75)
_NOTHING = 1e-4  # share of an item's information that the chosen ones must leave


class Items(NamedTuple):
    """What a card may choose from: d columns of the scaled features, and where each is cut.

    A row has the item where the column lies above `cut`; None where an item is the column itself.
    """

    column: Ids
    cut: Array | None = None

    def of(self, rows: Rows) -> Array:
        """Return the items of rows, shape (n, d)."""
        values = np.clip(rows.scaled[:, self.column], -OUTLIER, OUTLIER)
        return values if self.cut is None else (values > self.cut).astype(np.float64)

    def take(self, chosen: list[int]) -> "Items":
        """Return some of the items."""
        return Items(self.column[chosen], None if self.cut is None else self.cut[chosen])


def items(rows: Rows, kind: str) -> Items:
    """Return the items that differ between training rows.

    They are the "standardised" columns, or whether each lies above its quartiles ("binned").
    """
    X = rows.bounded
    if kind == STANDARDISED:
        return Items(np.flatnonzero(X.min(axis=0) < X.max(axis=0)))
    # Halfway to the next value, so that a quartile at the largest value cuts below it.
    cuts = [(j, cut) for j, column in enumerate(X.T) for cut in _cuts(column)]
    return Items(np.array([j for j, _ in cuts], dtype=np.int64), np.array([cut for _, cut in cuts]))


def _cuts(column: Array) -> Array:
    """Return the different cuts at quartiles that leave rows on both sides."""
    quartiles = np.quantile(column, _QUARTILES)
    top, below = column.max(), column[column < column.max()]
    if not len(below):
        return np.array([])
    return np.unique(np.where(quartiles < top, quartiles, (top + below.max()) / 2))


def greedy(X: Array, y: Ids, size: int) -> list[int]:
    """Choose columns one by one, each the one whose score test is largest given those before.

    `y` holds both values. Columns of X, (n, d), are in the order of their choice, fewer than `size`
    where all others repeat the chosen ones.
    """
    chosen: list[int] = []
    light = X.astype(np.float32)  # enough to rank items by, and twice as fast
    squares = light**2
    for _ in range(min(size, X.shape[1])):
        risk = _fitted(X[:, chosen], y) if chosen else np.full(len(y), y.mean())
        weight = risk * (1 - risk)
        chosen_design = np.column_stack([np.ones(len(y)), X[:, chosen]])
        shared = (chosen_design * weight[:, None]).astype(np.float32).T @ light
        information = squares.T @ weight.astype(np.float32)
        gram = (chosen_design * weight[:, None]).T @ chosen_design + 1e-9 * np.eye(
            chosen_design.shape[1]
        )
        left = information - (shared * np.linalg.solve(gram, shared)).sum(axis=0)
        new = left > _NOTHING * information
        new[chosen] = False
        if not new.any():
            break
        gradient = light.T @ (y - risk).astype(np.float32)
        chosen.append(int(np.argmax(np.where(new, gradient**2 / np.where(new, left, 1.0), -1.0))))
    return chosen


def _fitted(X: Array, y: Ids) -> Array:
    return np.asarray(_model().fit(X, y).predict_proba(X)[:, 1])


def _model() -> LogisticRegression:
    return LogisticRegression(solver="newton-cholesky", max_iter=200)


def card(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Fit a card: a learner as `deepcac.judging.learners` has them.

    Values have ``kind`` of the items, their number ``items``, and ``longest``, the largest number
    that is asked for of these rows. Their choice is made once, and kept with the resample.
    """
    key = ("card", values["kind"], train.row_id.tobytes())
    if key not in sample.shared:
        offered = items(train, values["kind"])
        sample.shared[key] = offered, greedy(offered.of(train), train.y, values["longest"])
    offered, path = sample.shared[key]
    card_items = offered.take(path[: values["items"]])
    model = _model().fit(card_items.of(train), train.y)
    weights, constant = model.coef_[0], model.intercept_[0]

    def predict(rows: Rows) -> Array:
        risk = expit(card_items.of(rows) @ weights + constant)
        return np.column_stack([1 - risk, risk])

    return predict
