"""Scores of one trial on its validation and its test rows."""

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from deepcac.scoring.metrics import f1, one_against_rest
from deepcac.types import Array, Ids

Scores = dict[str, dict[str, float]]

METRICS = ("auroc", "auprc", "f1", "log_loss", "brier")
LOSSES = ("log_loss", "brier")  # less is better


def score_trial(
    y_validation: Ids,
    y_test: Ids,
    validation: Array,
    test: Array,
    weights: tuple[Array | None, Array | None] = (None, None),
) -> Scores:
    """Score probabilities of shape (n, n_classes), rows weighted if they have weights.

    ``validation`` and ``test`` each have ``auroc``, ``auprc`` (means over the classes of three or
    more), ``f1`` at the threshold that is best on the validation rows (the most probable class of
    three or more), and ``log_loss`` and ``brier``, of which less is better (`advantage`).
    """
    threshold = best_threshold(y_validation, validation[:, 1], weights[0])
    return {
        "validation": scores(y_validation, validation, threshold, weights[0]),
        "test": scores(y_test, test, threshold, weights[1]),
    }


def advantage(metric: str, scores: Array) -> Array:
    """Return scores, and losses with a minus, so that more is better."""
    return -scores if metric in LOSSES else scores


def best_threshold(y: Ids, risk: Array, weight: Array | None = None) -> float:
    """Return the threshold of the highest F1; rows with this risk or more are positive."""
    precision, recall, thresholds = precision_recall_curve(y == 1, risk, sample_weight=weight)
    harmonic = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return float(thresholds[harmonic[:-1].argmax()])


def scores(
    y: Ids, probability: Array, threshold: float, weight: Array | None = None
) -> dict[str, float]:
    """Return every metric of one part, rounded to 7 digits."""
    n, n_classes = probability.shape
    certain = np.clip(probability[np.arange(n), y], 1e-7, 1)
    squares = ((probability - np.eye(n_classes)[y]) ** 2).sum(axis=1)
    if n_classes == 2:
        risk = probability[:, 1]
        predicted = (risk >= threshold).astype(np.int64)
        squares /= 2
        auroc, auprc = (
            measure(y, risk, sample_weight=weight)
            for measure in (roc_auc_score, average_precision_score)
        )
    else:
        predicted = probability.argmax(axis=1)
        auroc, auprc = (
            one_against_rest(y, probability, n_classes, kind).mean() for kind in METRICS[:2]
        )
    by_metric = {
        "auroc": auroc,
        "auprc": auprc,
        "f1": f1(y, predicted, n_classes, weight),
        "log_loss": -_mean(np.log(certain), weight),
        "brier": _mean(squares, weight),
    }
    # A loss of -0.0 is 0.0.
    return {name: round(float(value), 7) + 0.0 for name, value in by_metric.items()}


def _mean(values: Array, weight: Array | None) -> float:
    return float(values.mean() if weight is None else np.average(values, weights=weight))
