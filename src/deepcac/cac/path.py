"""The alpha path: each (fold, k, alpha) is clustered once and shared by all base classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, StratifiedKFold

from deepcac.cac.cluster import Clustering, cluster, kmeans_labels
from deepcac.cac.given_clusters import fit_labels
from deepcac.cac.kernels.rows import PreparedRows, prepare
from deepcac.cac.local_training import LocalClassifier
from deepcac.errors import ConfigError
from deepcac.types import Floats, Ints

Labels = npt.NDArray[np.int8]

START = 0.0  # the alpha under which the k-means labels are filed
FULL = -1  # the fold that is the whole training part
FOLDS = 5
# [0.01, 3] as in CAC v1 6.2; each step about triples, since every alpha costs 5 fits a split.
GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class AlphaPath:
    """Every clustering of one training part.

    Attributes
    ----------
    labels : dict of (fold, alpha) to ndarray of shape (n,), int8
        Clusters, -1 for the rows that the fold holds out. Fold `FULL` holds out none, and
        alpha `START` is the k-means start.
    whole : dict of alpha to Clustering
        Clusters of the whole training part, with the cost of every pass.
    """

    labels: dict[tuple[int, float], Labels]
    whole: dict[float, Clustering]


def draw_folds(y: Ints, seed: int) -> Ints:
    """Assign each row to one of five folds, stratified if every class has five rows."""
    enough = np.bincount(y)[np.unique(y)].min() >= FOLDS
    splitter = (StratifiedKFold if enough else KFold)(FOLDS, shuffle=True, random_state=seed)
    folds = np.empty(len(y), dtype=np.int64)
    for fold, (_, held_out) in enumerate(splitter.split(np.zeros((len(y), 1)), y)):
        folds[held_out] = fold
    return folds


def alpha_path(
    X: Floats, y: Ints, k: int, seed: int, alphas: Iterable[float], *, full_only: bool = False
) -> AlphaPath:
    """Cluster every fold and the whole of a training part with every alpha.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Training rows and class ids.
    k : int
        Number of clusters.
    seed : int
        Seed of the folds and of k-means.
    alphas : iterable of float
        Values of alpha; each starts from k-means, as the papers do.
    full_only : bool
        Skip the folds, which only tuning needs.
    """
    if k > np.iinfo(np.int8).max + 1:
        raise ConfigError(f"k is {k}; labels are stored as int8, so that 128 is the largest")
    folds = draw_folds(y, seed)
    labels: dict[tuple[int, float], Labels] = {}
    whole: dict[float, Clustering] = {}
    for fold in (FULL,) if full_only else range(FULL, FOLDS):
        rows = np.flatnonzero(folds != fold)
        part, classes = np.ascontiguousarray(X[rows]), y[rows]
        start = kmeans_labels(part, k, seed)
        ready = prepare(part)
        clusterings = {START: cluster(ready, classes, start, START, max_iter=0)}
        clusterings |= under_alphas(ready, classes, start, alphas)
        if fold == FULL:
            whole = clusterings
        for alpha, clusters in clusterings.items():
            labels[fold, alpha] = np.full(len(y), -1, dtype=np.int8)
            labels[fold, alpha][rows] = clusters.labels
    return AlphaPath(labels, whole)


def under_alphas(
    rows: PreparedRows, y: Ints, labels: Ints, alphas: Iterable[float], **options: Any
) -> dict[float, Clustering]:
    """Cluster prepared rows once per alpha, from the same start; options are `cluster`'s."""
    return {alpha: cluster(rows, y, labels, alpha, **options) for alpha in alphas}


def scores_along(
    model: LocalClassifier,
    data: tuple[Floats, Ints, Floats | None],
    clusterings: Iterable[Labels | Ints],
    score: Callable[[LocalClassifier], float],
) -> list[float]:
    """Fit `model` in place to each clustering of neighbouring alphas, and return the scores.

    Parameters
    ----------
    model : LocalClassifier
    data : tuple
        Rows, classes, and row weights or None.
    clusterings : iterable of ndarray of shape (n,)
        Equal ones are fitted once, and linear models with ``warm_start`` start from the last fit.
    score : callable
        Score of the fitted model.
    """
    X, y, weights = data
    seen: dict[bytes, float] = {}
    fitted: Sequence[BaseEstimator] = ()
    scores = []
    for labels in clusterings:
        key = labels.tobytes()
        if key not in seen:
            fitted = fit_labels(model, X, y, labels, fitted, weights).estimators_
            seen[key] = score(model)
        scores.append(seen[key])
    return scores


def tune(
    model: LocalClassifier, X: Floats, y: Ints, path: AlphaPath
) -> tuple[float, dict[str, float]]:
    """Choose alpha by cross-validated F1 (CAC v1 6.2), the smallest one on ties.

    Parameters
    ----------
    model : LocalClassifier
        Holds the base classifier and class weights; it is fitted on each given clustering.
    X, y : ndarray of shape (n, d) and (n,)
        The training part that `path` belongs to.
    path : AlphaPath
        With folds.

    Returns
    -------
    alpha : float
    scores : dict of str to float
        Mean F1 of each alpha (macro-averaged for more than two classes).
    """
    alphas = sorted({alpha for fold, alpha in path.labels if fold != FULL} - {START})
    f1 = np.empty((FOLDS, len(alphas)))
    average = "binary" if y.max() < 2 else "macro"
    for fold in range(FOLDS):
        inside = path.labels[fold, START] >= 0
        held_out, answers = X[~inside], y[~inside]

        def score(fitted: LocalClassifier, X: Floats = held_out, y: Ints = answers) -> float:
            return float(f1_score(y, fitted.predict(X), average=average, zero_division=0.0))

        labels = [path.labels[fold, alpha][inside] for alpha in alphas]
        f1[fold] = scores_along(model, (X[inside], y[inside], None), labels, score)
    means = f1.mean(axis=0)
    scores = {f"{alpha:g}": float(mean) for alpha, mean in zip(alphas, means, strict=True)}
    return alphas[int(means.argmax())], scores
