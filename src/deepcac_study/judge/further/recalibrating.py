"""Recalibrating a model's log odds from a few labels: globally, or with deviations by group."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from deepcac.types import Array, Ids

FOLDS = 5
SHIFT_PENALTY, SLOPE_PENALTY = 0.25, 1.0  # of the global shift and the change of the global slope
PENALTIES = (100.0, 10.0, 1.0)  # of the deviations of groups, the most cautious first
_STEPS, _LONGEST, _ENOUGH = 50, 2.0, 1e-7  # of Newton's method
_HALVINGS, _ROUNDING = 20, 1e-9  # of steps that raise the cost by more than rounding does


class Choice(NamedTuple):
    """One way to recalibrate: the shift alone, or the slope too, in k groups.

    Each group has deviations of its own, and k = 1 is global; `penalty` is the ridge penalty of the
    deviations.
    """

    slope: bool
    k: int = 1
    penalty: float = 0.0


class Candidate(NamedTuple):
    """A fitted way to recalibrate, and the log loss that cross-validation saw."""

    choice: Choice
    weights: Array
    loss: float


def candidates(
    odds: Array, y: Ids, fold: Ids, middle: float, groups: Mapping[int, Array] | None = None
) -> list[Candidate]:
    """Fit every way to recalibrate with the groups that are given, or the two global ones.

    `odds`, shape (m,), are the model's log odds of the labelled rows, `y` 1 where the event came,
    folds those of `deal`. At log odds of `middle` the slope changes nothing. Groups give by k what
    deviations are linear in: the membership of each row, shape (m, q).
    """
    return [
        candidate
        for k, member in (groups or {1: np.empty((len(y), 0))}).items()
        for slope in (False, True)
        for candidate in _cross_validated(
            _design(odds - middle, member, slope), odds, y, fold, k, slope
        )
    ]


def best(offered: list[Candidate]) -> Candidate:
    """Return the candidate with the least log loss; the first of equal ones."""
    return min(offered, key=lambda candidate: candidate.loss)


def recalibrated(
    candidate: Candidate, odds: Array, middle: float, member: Array | None = None
) -> Array:
    """Return new log odds, shape (n,), of a candidate of `candidates`, with its `middle`.

    `member`, of shape (n, q), is the membership for its k; a global one needs none.
    """
    membership = np.empty((len(odds), 0)) if member is None else member
    return odds + _design(odds - middle, membership, candidate.choice.slope) @ candidate.weights


def deal(y: Ids, rng: np.random.Generator, folds: int = FOLDS) -> Ids:
    """Deal rows into folds with equal shares of events, shape (m,)."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % folds
    return fold


def _design(centred: Array, member: Array, slope: bool) -> Array:
    """Return what the change is linear in: global columns, then those of groups."""
    ways = np.column_stack([np.ones(len(centred)), centred])[:, : 1 + slope]
    return np.hstack([ways, *(member * way[:, None] for way in ways.T)])


def _cross_validated(
    X: Array, odds: Array, y: Ids, fold: Ids, k: int, slope: bool
) -> Iterator[Candidate]:
    training = np.vstack(
        [fold != fold_number for fold_number in range(FOLDS)] + [np.ones(len(y), dtype=bool)]
    )
    penalties = PENALTIES if k > 1 else (0.0,)
    common = (SHIFT_PENALTY, SLOPE_PENALTY)[: 1 + slope]
    ridge = np.array(
        [[*common, *[strength] * (X.shape[1] - len(common))] for strength in penalties]
    )
    fitted = fit_many(
        X, odds, y, np.tile(training, (len(ridge), 1)), ridge.repeat(len(training), axis=0)
    )
    for penalty, weights in zip(
        penalties, fitted.reshape(len(ridge), len(training), -1), strict=True
    ):
        outside = odds + (X * weights[fold]).sum(axis=1)
        yield Candidate(Choice(slope, k, penalty), weights[-1], float(log_loss(outside, y).mean()))


def log_loss(odds: Array, y: Ids) -> Array:
    """Return the log loss of each row from its log odds."""
    return np.logaddexp(0.0, np.where(y == 1, -odds, odds))


def fit_many(
    X: Array, offset: Array, y: Ids, training: npt.NDArray[np.bool_], ridge: Array
) -> Array:
    """Fit logistic regressions with an offset on parts of the same rows, by Newton's method.

    X is of shape (m, p), the offset (m,) is added to the log odds. `training`, of shape (b,
    m), has the rows of each regression. Half of `ridge`, of shape (b, p), times the squared
    weight is added to the sum of the log losses. The weights are of shape (b, p).
    """
    p = X.shape[1]
    pairs = (X[:, :, None] * X[:, None, :]).reshape(len(X), p * p)
    penalty = np.eye(p) * ridge[:, :, None]
    weights = np.zeros_like(ridge, dtype=np.float64)

    def cost(weights: Array) -> Array:
        losses = (training * log_loss(weights @ X.T + offset, y)).sum(axis=1)
        costs: Array = losses + (ridge * weights**2).sum(axis=1) / 2
        return costs

    now = cost(weights)
    for _ in range(_STEPS):
        risk = expit(weights @ X.T + offset)
        slope = (training * (y - risk)) @ X - ridge * weights
        curvature = ((training * risk * (1 - risk)) @ pairs).reshape(-1, p, p) + penalty
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        step = step * _LONGEST / np.maximum(longest, _LONGEST)
        after = cost(weights + step)
        for _ in range(_HALVINGS):  # a whole step may go back and forth for ever
            higher = after > now + _ROUNDING * (1 + now)
            if not higher.any():
                break
            step[higher] /= 2
            after = cost(weights + step)
        weights, now = weights + step, after
        if longest.max() < _ENOUGH:
            break
    return weights
