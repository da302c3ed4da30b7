"""Scores of one split, from predictions alone."""

import numpy as np
import sklearn
from sklearn import metrics as sk

from deepcac.scoring.statistics import RISK_BINS, risk_bins
from deepcac.task import Fitted, Task
from deepcac.types import Array, Ids

Scores = dict[str, float | None]

SILHOUETTE_ROWS = 5000
SILHOUETTE_MIB = 16


def one_against_rest(
    y: Ids, score: Array, n_classes: int, kind: str, weight: Array | None = None
) -> Array:
    """Return the AUROC or AUPRC (`kind`) of every class against the others, shape (n_classes,).

    From class ids (n,), scores (n, n_classes) and row weights (n,). NaN for a class that no row, or
    every row, belongs to.
    """
    measure = sk.roc_auc_score if kind == "auroc" else sk.average_precision_score
    values = np.full(n_classes, np.nan)
    for c in range(n_classes):
        member = y == c
        if member.any() and not member.all():
            values[c] = measure(member, score[:, c], sample_weight=weight)
    return values


def min_sensitivity_precision(y: Ids, score: Array) -> float:
    """Return the best minimum of sensitivity and precision over thresholds (PhysioNet 2012)."""
    precision, recall, _ = sk.precision_recall_curve(y, score)
    return float(np.minimum(precision, recall).max())


def expected_calibration_error(y: Ids, probability: Array, bins: int = RISK_BINS) -> float:
    """Return the mean gap of risks (n,) and outcomes in equal-width bins, weighted by rows."""
    gap = np.bincount(risk_bins(probability, bins), weights=y - probability, minlength=bins)
    return float(np.abs(gap).sum() / len(y))


def score(task: Task, fitted: Fitted) -> Scores:
    """Score the predictions and the clusters of the test rows of one split.

    A metric is None where it is not defined: a class is absent from the test part, the method gives
    no probabilities, there is one cluster only.
    """
    return score_predictions(task, fitted) | score_clusters(task, fitted)


def score_predictions(task: Task, fitted: Fitted) -> Scores:
    """Return discrimination and calibration of one split, as `score` does."""
    values = _discrimination(task, fitted) | _calibration(task, fitted)
    return {name: _finite(value) for name, value in values.items()}


def f1(y: Ids, predicted: Ids, n_classes: int, weight: Array | None = None) -> float:
    """Return F1 of class 1 of two, or the mean over more; 0 for a class never predicted."""
    average = "binary" if n_classes == 2 else "macro"
    return float(sk.f1_score(y, predicted, average=average, zero_division=0, sample_weight=weight))


def _discrimination(task: Task, fitted: Fitted) -> Scores:
    """Return the scores of ranking and decisions; of two classes, AUROC is class 1's."""
    y, n_classes = task.y_test, task.n_classes
    auroc = one_against_rest(y, fitted.probability, n_classes, "auroc")
    auprc = one_against_rest(y, fitted.probability, n_classes, "auprc")
    scores: Scores = {
        "accuracy": sk.accuracy_score(y, fitted.predicted),
        "f1": f1(y, fitted.predicted, n_classes),
        "f1_macro": sk.f1_score(y, fitted.predicted, average="macro", zero_division=0),
        "auroc_macro": auroc.mean(),
        "auprc_macro": auprc.mean(),
    }
    if n_classes > 2:
        return scores | {"auroc": auroc.mean(), "auprc": auprc.mean()}
    return scores | {
        "auroc": auroc[1],
        "auprc": auprc[1],
        "min_se_pp": min_sensitivity_precision(y, fitted.probability[:, 1]) if y.any() else None,
    }


def unweighted(probability: Array, class_shares: Array | None) -> Array:
    """Undo the effect of balanced class weights on probabilities.

    A balanced model predicts for a population in which all classes are equally frequent. By Bayes'
    rule the odds in the real one are those times the odds of the classes; without this, every
    balanced model looks badly calibrated. Shares (n_classes,) are those in the training rows; None
    leaves probabilities (n, n_classes) as they are.
    """
    if class_shares is None:
        return probability
    joint = probability * class_shares
    total = joint.sum(axis=1, keepdims=True)
    # A row that is certain to be of a class without training rows stays as it is.
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), probability)


def _calibration(task: Task, fitted: Fitted) -> Scores:
    """Return Brier score, ECE and log loss of unweighted risks; None if uncalibrated."""
    if not fitted.calibrated:
        return {"brier": None, "ece": None, "log_loss": None}
    y, probability = task.y_test, unweighted(fitted.probability, fitted.class_shares)
    truth = np.eye(task.n_classes)[y]
    # A single probability of 0 would make the mean log loss infinite.
    certain = np.clip(probability[np.arange(len(y)), y], 1e-15, None)
    scores: Scores = {"log_loss": float(-np.log(certain).mean())}
    if task.n_classes > 2:
        brier = ((probability - truth) ** 2).sum(axis=1).mean()
        gaps = [
            expected_calibration_error(truth[:, c].astype(np.int64), probability[:, c])
            for c in range(task.n_classes)
        ]
        return scores | {"brier": brier, "ece": float(np.mean(gaps))}
    return scores | {
        "brier": ((probability[:, 1] - y) ** 2).mean(),
        "ece": expected_calibration_error(y, probability[:, 1]),
    }


def score_clusters(task: Task, fitted: Fitted) -> Scores:
    """Return scores of the clusters of one split: agreement with classes, and separation."""
    cluster, y = fitted.cluster, task.y_test
    scores: Scores = {
        "nmi": sk.normalized_mutual_info_score(y, cluster),
        "ari": sk.adjusted_rand_score(y, cluster),
        "silhouette": None,
    }
    space = task.X_test.reshape(len(y), -1)
    if fitted.embedding_test is not None:
        space = fitted.embedding_test
    rows = np.arange(len(y))
    if len(rows) > SILHOUETTE_ROWS:
        rng = np.random.default_rng(task.seed)
        rows = np.sort(rng.choice(rows, SILHOUETTE_ROWS, replace=False))
    if 1 < len(np.unique(cluster[rows])) < len(rows):
        # One matrix of all distances takes longer to be mapped into memory than to be computed.
        with sklearn.config_context(working_memory=SILHOUETTE_MIB):
            scores["silhouette"] = sk.silhouette_score(space[rows], cluster[rows])
    return {name: _finite(value) for name, value in scores.items()}


def _finite(value: float | None) -> float | None:
    """Return the value as a float, None for NaN and infinities."""
    return float(value) if value is not None and np.isfinite(value) else None
