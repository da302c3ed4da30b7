"""Experiments behind the papers' curves: one setting varies, all others are fixed.

Each returns one table with a row per point, so that figures and claims need no fitting.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.metrics import log_loss, roc_auc_score, silhouette_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import train_test_split

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.cac.given_clusters import fit_labels, local_scores
from deepcac.cac.kernels.rows import PreparedRows, prepare
from deepcac.cac.km import KMClassifier
from deepcac.feature_matrix import FeatureMatrix, read_features
from deepcac.files.storage import write_table
from deepcac.linear.base_classifiers import class_scores, logistic_regression
from deepcac.preprocess import TableScaler
from deepcac.scoring.metrics import f1, score
from deepcac.task import Task
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import CAC_LR, DEEPCAC, KM_LR, LR, parse_method
from deepcac_study.experiments.prepare import Setting
from deepcac_study.simulate.synthetic_cac import grid

ALPHAS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0, 100.0)
GRID_ALPHAS = (0.05, 0.5, 2.0)
GRID_KS = (2, 3, 4, 5)
WEIGHTS = (0.0, 0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MAX_PASSES = 100
_SILHOUETTE_ROWS = 2000

Point = dict[str, float | None]  # what one clustering comes to


def alpha_sweep(tasks: Iterable[Task], alphas: Sequence[float] = ALPHAS) -> pa.Table:
    """Follow CAC pass by pass for several alphas (CAC v1 Figures 2 and 3, DeepCAC 4 and 5).

    Alpha 0 is Hartigan's k-means. Columns: seed (of the split), alpha, pass, moves, cost, within,
    separation, train_log_loss, test_log_loss (LR in each cluster, unweighted), f1 (`metrics.f1` of
    the test part, balanced LR), silhouette (of at most 2,000 rows).
    """
    rows = []
    for task in tasks:
        start = kmeans_labels(task.X_train, task.k, task.seed)
        ready, score = prepare(task.X_train), _scorer(task)
        for alpha in alphas:
            points = _passes(task, ready, start, alpha, score)
            rows += [{"seed": task.seed, **point} for point in points]
    return pa.Table.from_pylist(rows)


def _scorer(task: Task) -> Callable[[Ids], Point]:
    """Return a function that scores clusters of the training rows, and caches equal ones."""
    sample = np.random.default_rng(task.seed).permutation(len(task.y_train))[:_SILHOUETTE_ROWS]
    distances = euclidean_distances(task.X_train[sample])
    seen: dict[bytes, Point] = {}

    def score(labels: Ids) -> Point:
        key = labels.tobytes()
        if key not in seen:
            apart = {"silhouette": _silhouette(distances, labels[sample])}
            seen[key] = _local_scores(task, labels) | apart
        return seen[key]

    return score


def _passes(
    task: Task, ready: PreparedRows, labels: Ids, alpha: float, score: Callable[[Ids], Point]
) -> Iterator[Point]:
    """Yield a point per pass of CAC, scored before the pass; stop when no row moves."""
    for number in range(_MAX_PASSES):
        step = cluster(ready, task.y_train, labels, alpha, max_iter=1, n_clusters=task.k)
        moved = int(step.moves[0])
        yield {
            "alpha": alpha,
            "pass": number,
            "moves": moved,
            "cost": float(step.cost[0]),
            "within": float(step.within[0]),
            "separation": float(step.separation[0]),
            **score(labels),
        }
        if not moved:
            return
        labels = step.labels


def _local_scores(task: Task, labels: Ids) -> Point:
    """Return log-loss of one LR per cluster, and F1 of another with balanced classes."""
    plain, balanced = (_local_models(task, labels, weight) for weight in (None, "balanced"))
    predicted = local_scores(balanced, task.X_test, task.n_classes).argmax(axis=1)
    on_test = local_scores(plain, task.X_test, task.n_classes)
    classes = list(range(task.n_classes))
    return {
        "train_log_loss": float(
            log_loss(task.y_train, _training_scores(plain, task), labels=classes)
        ),
        "test_log_loss": float(log_loss(task.y_test, on_test, labels=classes)),
        "f1": f1(task.y_test, predicted, task.n_classes),
    }


def _local_models(task: Task, labels: Ids, class_weight: str | None) -> KMClassifier:
    """Fit one logistic regression per given cluster."""
    model = KMClassifier(logistic_regression(task.seed), task.k, class_weight=class_weight)
    return fit_labels(model, task.X_train, task.y_train, labels)


def _training_scores(model: KMClassifier, task: Task) -> Array:
    """Return the training rows' class probabilities, each by its own cluster's classifier."""
    scores = np.empty((len(task.y_train), task.n_classes))
    for j, local in enumerate(model.estimators_):
        members = model.subtypes_ == j
        scores[members] = class_scores(local, task.X_train[members], task.n_classes)
    return scores


def _silhouette(distances: Array, labels: Ids) -> float | None:
    if len(np.unique(labels)) < 2:
        return None
    return float(silhouette_score(distances, labels, metric="precomputed"))


def grid_point(features: FeatureMatrix, *, seed: int = 0) -> list[dict[str, Any]]:
    """Score LR, KM+LR and CAC+LR on one cell of the synthetic grid, for k from 2 to 5.

    75 % of the rows are for training; alpha is chosen by F1 on a quarter of those. Class weights
    are balanced in all arms. A row per method and k has method, k, alpha, f1, auroc.
    """
    y = features.label
    rows, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    inner, chosen = train_test_split(rows, test_size=0.25, stratify=y[rows], random_state=seed)
    final = _scaled(features, rows, test, seed)
    points = [_point(final, LR, 1, None, np.zeros(len(rows), dtype=np.int64))]
    for k in GRID_KS:
        trial = replace(_scaled(features, inner, chosen, seed), k=k)
        start = kmeans_labels(trial.X_train, k, seed)
        scores = {
            alpha: _point(trial, CAC_LR, k, alpha, _clustered(trial, start, alpha))["f1"]
            for alpha in GRID_ALPHAS
        }
        alpha = max(GRID_ALPHAS, key=lambda candidate: scores[candidate])
        task = replace(final, k=k)
        start = kmeans_labels(task.X_train, k, seed)
        points.append(_point(task, KM_LR, k, None, start))
        points.append(_point(task, CAC_LR, k, alpha, _clustered(task, start, alpha)))
    return points


def write_grid(path: str | os.PathLike[str], cells: Iterable[str | os.PathLike[str]]) -> None:
    """Score all cells of the synthetic grid and write a table (CAC v1 Figure 4, v2 2 and 3).

    Also for DeepCAC Figure 6. Cells are feature files (`deepcac_study.simulate.synthetic_cac`). The
    table has ics, ocs, clusters (K), imbalanced, and the columns of `grid_point`.
    """
    files = {Path(file).stem: file for file in cells}
    rows = []
    for imbalanced in (False, True):
        for cell in grid(imbalanced=imbalanced):
            points = grid_point(read_features(files[cell.dataset]))
            rows += [asdict(cell) | point for point in points]
    write_table(path, pa.Table.from_pylist(rows))


def _scaled(features: FeatureMatrix, train: Ids, test: Ids, seed: int) -> Task:
    """Return the task of these rows, scaled as the training rows, without validation rows."""
    scaler = TableScaler().fit(features.X[train])
    X_train, X_test = (scaler.transform(features.X[part]) for part in (train, test))
    return Task(
        X_train=X_train,
        y_train=features.label[train],
        X_validation=X_test[:0],
        y_validation=features.label[:0],
        X_test=X_test,
        y_test=features.label[test],
        n_classes=2,
        k=1,
        seed=seed,
    )


def _clustered(task: Task, start: Ids, alpha: float) -> Ids:
    return cluster(task.X_train, task.y_train, start, alpha, n_clusters=task.k).labels


def _point(task: Task, method: str, k: int, alpha: float | None, labels: Ids) -> dict[str, Any]:
    """Return F1 and AUROC on the test rows of local models fitted on these clusters."""
    model = _local_models(replace(task, k=k), labels, "balanced")
    probability = local_scores(model, task.X_test, task.n_classes)
    return {
        "method": method,
        "k": k,
        "alpha": alpha,
        "f1": f1(task.y_test, probability.argmax(axis=1), task.n_classes),
        "auroc": float(roc_auc_score(task.y_test, probability[:, 1])),
    }


def weight_sweep(
    tasks: Iterable[Task],
    setting: Setting,
    pretrained: Path | None,
    weights: Sequence[float] = WEIGHTS,
) -> pa.Table:
    """Train DeepCAC with one loss weight varied from 0 to 100 (DeepCAC Figures 1b and 3).

    Weights are values of alpha, then of beta; the other has its default. Columns: parameter,
    value, seed, auroc, auprc (means over the classes), silhouette.
    """
    from deepcac_study.experiments.networks.deep_methods import fit_task

    method = parse_method(DEEPCAC)
    rows = []
    for task in tasks:
        for parameter in ("alpha", "beta"):
            for value in weights:
                settings: Mapping[str, Any] = {parameter: value}
                metrics = score(task, fit_task(task, setting, method, pretrained, settings))
                rows.append(
                    {
                        "parameter": parameter,
                        "value": value,
                        "seed": task.seed,
                        "auroc": metrics["auroc_macro"],
                        "auprc": metrics["auprc_macro"],
                        "silhouette": metrics["silhouette"],
                    }
                )
    return pa.Table.from_pylist(rows)
