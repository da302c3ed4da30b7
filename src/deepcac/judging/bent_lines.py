"""Logistic regression that may bend: splines of the columns, or their products.

A partition of the rows helps a line because it bends it; these bend it without any clusters.
"""

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import SplineTransformer

from deepcac.judging.learners import Predict, lr
from deepcac.judging.resamples import OUTLIER, Resample, Rows
from deepcac.judging.spaces import Values
from deepcac.types import Array

FEWEST_KNOTS = 4  # of a column that is bent; one with fewer values stays a line
MOST_PRODUCTS = 300

Columns = Callable[[Rows], Array]


def spline_lr(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Logistic regression on the columns and on cubic splines of each, linear beyond the knots.

    `knots` lie at quantiles of the training rows; those that fall together count once.
    """
    basis = _splines(train.bounded, values["knots"])
    return _beside(values, train, validation, sample, lambda rows: basis(rows.bounded))


def products_lr(values: Values, train: Rows, validation: Rows, sample: Resample) -> Predict:
    """Logistic regression on the columns and on all products of two of the weightiest.

    A first ridge fit weighs the columns; at most `MOST_PRODUCTS` products are taken.
    """
    first = LogisticRegression(C=0.1, max_iter=200).fit(train.bounded, train.y, train.weight)
    weight = np.abs(first.coef_).max(axis=0)
    pairs = np.array(_pairs_of(np.sort(np.argsort(-weight, kind="stable")[: _most_columns()])))

    def products(rows: Rows) -> Array:
        X = rows.bounded
        return X[:, pairs[:, 0]] * X[:, pairs[:, 1]]

    return _beside(values, train, validation, sample, products)


def _most_columns() -> int:
    """Return the most columns whose pairs are no more than `MOST_PRODUCTS`."""
    return int((1 + np.sqrt(1 + 8 * MOST_PRODUCTS)) / 2)


def _pairs_of(columns: Array) -> list[tuple[int, int]]:
    pairs = [(i, j) for place, i in enumerate(columns) for j in columns[place + 1 :]]
    return pairs or [(int(columns[0]), int(columns[0]))]  # one column has its square alone


def _splines(X: Array, knots: int) -> Callable[[Array], Array]:
    """Return what gives columns (n, d) their splines; columns of few values have none."""
    places = np.linspace(0, 1, knots)
    bent = {}
    for j, column in enumerate(X.T):
        quantiles = np.unique(np.quantile(column, places))
        if len(quantiles) >= FEWEST_KNOTS and len(np.unique(column)) > len(quantiles):
            spline = SplineTransformer(
                knots=quantiles[:, None], degree=3, include_bias=False, extrapolation="linear"
            )
            bent[j] = spline.fit(column[:, None])

    def splines(X: Array) -> Array:
        parts = [spline.transform(X[:, [j]]) for j, spline in bent.items()]
        return np.hstack([np.empty((len(X), 0)), *parts])

    return splines


def _beside(
    values: Values, train: Rows, validation: Rows, sample: Resample, columns: Columns
) -> Predict:
    """Fit logistic regression with further columns, standardised as the training rows say."""
    training_columns = columns(train)
    mean, scale = training_columns.mean(axis=0), training_columns.std(axis=0)
    moving = scale > 1e-9
    mean, scale = mean[moving], scale[moving]

    def wider(rows: Rows) -> Rows:
        scaled = (columns(rows)[:, moving] - mean) / scale
        return rows.beside(np.clip(scaled, -OUTLIER, OUTLIER))

    answer = lr({**values, "clip": OUTLIER}, wider(train), wider(validation), sample)
    return lambda rows: answer(wider(rows))
