"""Paired bootstrap of finished runs: rows are reweighted, nothing is refitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from deepcac.compilation import njit
from deepcac.types import Array, Ids

Weights = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class SplitScores:
    """Predictions of one run for the n test rows of one split; all arrays are of shape (n,).

    `rows` are row ids, `label` and `predicted` class ids, `score` is that of the positive class.
    """

    rows: Ids
    label: Ids
    predicted: Ids
    score: Array


def poisson_weights(n: int, resamples: int, seed: int = 0) -> Weights:
    """Draw the counts of n rows in r bootstrap samples, shape (n, r).

    Poisson counts with mean 1; the same n, r and seed give the same ones.
    """
    return np.random.default_rng(seed).poisson(1.0, size=(n, resamples)).astype(np.uint8)


def weighted_scores(split: SplitScores, weights: npt.NDArray[Any]) -> Mapping[str, Array]:
    """Score one split of n rows under r weightings, shape (n, r).

    Returns arrays (r,): ``f1`` of class 1, 0 without a positive label or prediction; ``auroc``,
    in which ties count one half; ``auprc``, the average precision. AUROC is NaN where one class has
    no weight, AUPRC where the positive one has none.
    """
    order = np.argsort(-split.score, kind="stable")
    ranked = split.score[order]
    last_of_tie = np.r_[ranked[1:] != ranked[:-1], True]
    sums = np.zeros((6, weights.shape[1]))
    _sum_ranking(weights, order, split.label == 1, split.predicted == 1, last_of_tie, sums)
    positive, negative, area, precision, called, hit = sums
    return {
        "f1": _ratio(2 * hit, positive + called, empty=0.0),
        "auroc": _ratio(area, positive * negative, empty=np.nan),
        "auprc": _ratio(precision, positive, empty=np.nan),
    }


def _ratio(part: Array, whole: Array, empty: float) -> Array:
    """Return part over whole, `empty` where the whole is 0."""
    return np.divide(part, whole, out=np.full(len(whole), empty), where=whole > 0)


@njit(nogil=True)
def _sum_ranking(weights, order, label, predicted, last_of_tie, sums):  # type: ignore[no-untyped-def]
    """Fill `sums` in one pass down the ranking, for all weightings.

    `sums` (6, r), zeros on entry: weight of the positives, of the negatives, of pairs in the
    right order, of precision at each positive, of rows predicted positive, of those rightly so.
    """
    positive, negative, area, precision, called, hit = sums
    tied_positive = np.zeros(weights.shape[1])
    tied_negative = np.zeros(weights.shape[1])
    tied_label = False
    for place in range(len(order)):
        row = order[place]
        if predicted[row]:
            called += weights[row]
        if label[row]:
            tied_label = True
            tied_positive += weights[row]
            if predicted[row]:
                hit += weights[row]
        else:
            tied_negative += weights[row]
        if not last_of_tie[place]:
            continue
        # A negative loses to every positive above it, and half of those at its own score.
        for r in range(len(area)):
            area[r] += tied_negative[r] * (positive[r] + tied_positive[r] / 2)
            positive[r] += tied_positive[r]
            negative[r] += tied_negative[r]
            if tied_label and positive[r] > 0:
                precision[r] += tied_positive[r] * positive[r] / (positive[r] + negative[r])
            tied_positive[r] = 0
            tied_negative[r] = 0
        tied_label = False


def bootstrap_scores(splits: Sequence[SplitScores], weights: Weights) -> Mapping[str, Array]:
    """Score every resample of the test rows of one run.

    A row has the same weight in every split, and in every run over the same rows with the same
    weights: differences of two results are a paired bootstrap that keeps the splits' correlation.

    Weights, shape (n, r), are of all rows that are in any split, by ascending id. Returned are the
    scores of `weighted_scores`, averaged over the splits.
    """
    rows = all_rows(splits)
    scores = [weighted_scores(s, weights[np.searchsorted(rows, s.rows)]) for s in splits]
    return {name: np.mean([score[name] for score in scores], axis=0) for name in scores[0]}


def all_rows(splits: Sequence[SplitScores]) -> Ids:
    """Return the ascending ids of the rows that are in any of the splits."""
    return np.unique(np.concatenate([split.rows for split in splits]))


def interval(resampled: Array) -> tuple[float, float]:
    """Return the 95 % normal interval of bootstrap values of shape (r,), NaN ones left out.

    A hundred values determine their standard deviation well, but not their outer percentiles.
    """
    resampled = resampled[~np.isnan(resampled)]
    half = float(norm.ppf(0.975) * np.std(resampled, ddof=1))
    return float(np.mean(resampled)) - half, float(np.mean(resampled)) + half
