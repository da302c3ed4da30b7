"""Experiments behind the papers' curves: one setting is moved, everything else stays.

Each returns one table with a row a point, so that figures and claims need no fitting.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.metrics import f1_score, log_loss, roc_auc_score, silhouette_score
from sklearn.model_selection import train_test_split

from deepcac.cac.base import class_scores, fit_weighted, make_base
from deepcac.cac.cluster import cluster
from deepcac.cac.estimator import kmeans_labels
from deepcac.evaluation.metrics import score
from deepcac.evaluation.task import Task
from deepcac.features.matrix import FeatureMatrix, read_features
from deepcac.features.scaling import Scaler
from deepcac.simulate.synthetic_cac import grid

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

ALPHAS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0, 100.0)
GRID_ALPHAS = (0.05, 0.5, 2.0)
GRID_KS = (2, 3, 4, 5)
WEIGHTS = (0.0, 0.1, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MAX_PASSES = 100
_SILHOUETTE_ROWS = 2000


def alpha_sweep(task: Task, alphas: Sequence[float] = ALPHAS) -> pa.Table:
    """Follow CAC pass by pass for several alphas (CAC v1 Figures 2 and 3, DeepCAC 4 and 5).

    Parameters
    ----------
    task : Task
        One split, scaled for the CAC family.
    alphas : sequence of float
        Weights of the separation; 0 is Hartigan's k-means.

    Returns
    -------
    pyarrow.Table
        alpha, pass, moves, cost, within, separation, train_log_loss, test_log_loss (LR in each
        cluster, unweighted), f1 (test, balanced LR), silhouette (of at most 2,000 rows).
    """
    start = kmeans_labels(task.X_train, task.k, task.seed)
    rows = [point for alpha in alphas for point in _passes(task, start, alpha)]
    return pa.Table.from_pylist(rows)


def _passes(task: Task, labels: Ids, alpha: float) -> Iterator[dict[str, float | None]]:
    sample = np.random.default_rng(task.seed).permutation(len(labels))[:_SILHOUETTE_ROWS]
    for number in range(_MAX_PASSES):
        step = cluster(task.X_train, task.y_train, labels, alpha, max_iter=1, n_clusters=task.k)
        moved = int(step.moves[0])
        yield {
            "alpha": alpha,
            "pass": number,
            "moves": moved,
            "cost": float(step.cost[0]),
            "within": float(step.within[0]),
            "separation": float(step.separation[0]),
            **_local_scores(task, labels),
            "silhouette": _silhouette(task.X_train[sample], labels[sample]),
        }
        if not moved:
            return
        labels = step.labels


def _local_scores(task: Task, labels: Ids) -> dict[str, float]:
    """Return log-loss and F1 of one LR a cluster."""
    plain = _LocalModels(task, labels, None)
    balanced = _LocalModels(task, labels, "balanced")
    predicted = balanced.probability(task.X_test).argmax(axis=1)
    classes = list(range(task.n_classes))
    return {
        "train_log_loss": float(
            log_loss(task.y_train, plain.probability(task.X_train, labels), labels=classes)
        ),
        "test_log_loss": float(
            log_loss(task.y_test, plain.probability(task.X_test), labels=classes)
        ),
        "f1": float(f1_score(task.y_test, predicted, zero_division=0)),
    }


class _LocalModels:
    """One logistic regression a cluster; a row goes to the nearest centroid."""

    def __init__(self, task: Task, labels: Ids, class_weight: str | None) -> None:
        self._n_classes = task.n_classes
        found = [j for j in range(task.k) if (labels == j).any()]
        self._centroids = np.stack([task.X_train[labels == j].mean(axis=0) for j in found])
        base = make_base("lr", seed=task.seed)
        self._models = [
            fit_weighted(base, task.X_train[labels == j], task.y_train[labels == j], class_weight)
            for j in found
        ]

    def probability(self, X: Array, labels: Ids | None = None) -> Array:
        """Return class probabilities of shape (n, n_classes)."""
        if labels is None:
            products = X @ self._centroids.T
            labels = ((self._centroids**2).sum(axis=1) - 2 * products).argmin(axis=1)
        else:
            labels = np.searchsorted(np.unique(labels), labels)
        scores = np.empty((len(X), self._n_classes))
        for j, model in enumerate(self._models):
            own = labels == j
            if own.any():
                scores[own] = class_scores(model, X[own], self._n_classes)
        return scores


def _silhouette(X: Array, labels: Ids) -> float | None:
    return float(silhouette_score(X, labels)) if len(np.unique(labels)) > 1 else None


def grid_point(features: FeatureMatrix, *, seed: int = 0) -> list[dict[str, Any]]:
    """Score LR, KM+LR and CAC+LR on one cell of the synthetic grid, for k from 2 to 5.

    75 % of the rows train; a quarter of those chooses alpha by F1. Class weights are balanced
    in all arms. A row a method and k: method, k, alpha, f1, auroc.
    """
    y = features.label
    rows, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=seed)
    inner, chosen = train_test_split(rows, test_size=0.25, stratify=y[rows], random_state=seed)
    final = _scaled(features, rows, test, seed)
    points = [_point(final, "lr", 1, None, np.zeros(len(rows), dtype=np.int64))]
    for k in GRID_KS:
        trial = replace(_scaled(features, inner, chosen, seed), k=k)
        start = kmeans_labels(trial.X_train, k, seed)
        found = {
            alpha: _point(trial, "cac_lr", k, alpha, _clustered(trial, start, alpha))["f1"]
            for alpha in GRID_ALPHAS
        }
        alpha = max(GRID_ALPHAS, key=lambda candidate: found[candidate])
        task = replace(final, k=k)
        start = kmeans_labels(task.X_train, k, seed)
        points.append(_point(task, "km_lr", k, None, start))
        points.append(_point(task, "cac_lr", k, alpha, _clustered(task, start, alpha)))
    return points


def grid_sweep(folder: Path) -> pa.Table:
    """Score every cell of the synthetic grid (CAC v1 Figure 4, v2 Figures 2 and 3, DeepCAC 6).

    Parameters
    ----------
    folder : Path
        Holds the feature file of every cell (`deepcac.simulate.synthetic_cac`).

    Returns
    -------
    pyarrow.Table
        ics, ocs, clusters (K), imbalanced, and the columns of `grid_point`.
    """
    rows = []
    for imbalanced in (False, True):
        for cell in grid(imbalanced=imbalanced):
            features = read_features(folder / f"{cell.dataset}.parquet")
            rows += [asdict(cell) | point for point in grid_point(features)]
    return pa.Table.from_pylist(rows)


def _scaled(features: FeatureMatrix, train: Ids, test: Ids, seed: int) -> Task:
    scaler = Scaler.fit(features.X[train])
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
        dataset="synthetic_cac",
    )


def _clustered(task: Task, start: Ids, alpha: float) -> Ids:
    return cluster(task.X_train, task.y_train, start, alpha, n_clusters=task.k).labels


def _point(task: Task, method: str, k: int, alpha: float | None, labels: Ids) -> dict[str, Any]:
    probability = _LocalModels(replace(task, k=k), labels, "balanced").probability(task.X_test)
    return {
        "method": method,
        "k": k,
        "alpha": alpha,
        "f1": float(f1_score(task.y_test, probability.argmax(axis=1), zero_division=0)),
        "auroc": float(roc_auc_score(task.y_test, probability[:, 1])),
    }


def weight_sweep(
    tasks: Iterable[Task], pretrained: Path | None, weights: Sequence[float] = WEIGHTS
) -> pa.Table:
    """Train DeepCAC with one loss weight moved over 0 to 100 (DeepCAC Figures 1b and 3).

    Parameters
    ----------
    tasks : iterable of Task
        Splits, scaled for the deep family.
    pretrained : path or None
        The data set's pre-trained autoencoders.
    weights : sequence of float
        Values of alpha, then of beta; the other keeps its default.

    Returns
    -------
    pyarrow.Table
        parameter, value, seed, auroc, auprc (means over the classes), silhouette.
    """
    from deepcac.nn.adapter import fit_task

    rows = []
    for task in tasks:
        for parameter in ("alpha", "beta"):
            for value in weights:
                settings: Mapping[str, Any] = {parameter: value}
                metrics = score(task, fit_task(task, "deepcac", pretrained, settings))
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
