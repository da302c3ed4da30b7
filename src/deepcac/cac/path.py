"""The alpha path: each (fold, k, alpha) is clustered once and shared by all base classifiers."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, StratifiedKFold

from deepcac.cac.cluster import Clustering, cluster, kmeans_labels
from deepcac.cac.km import KMClassifier
from deepcac.cac.rows import prepare
from deepcac.errors import ConfigError, DataError
from deepcac.storage import read_table, write_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int8]

START = 0.0  # the alpha under which the k-means labels are filed
FULL = -1  # the fold that is the whole training part
FOLDS = 5
# [0.01, 3] as in CAC v1 6.2; each step about triples, since every alpha costs 5 fits a split.
GRID = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_CURVES = {
    "moves": pa.list_(pa.int64()),
    "within": pa.list_(pa.float64()),
    "separation": pa.list_(pa.float64()),
    "counts": pa.list_(pa.int64()),
}
SCHEMA = {
    "seed": pa.int64(),
    "fold": pa.int8(),
    "alpha": pa.float64(),
    "labels": pa.list_(pa.int8()),
    **_CURVES,
}


@dataclass(frozen=True)
class AlphaPath:
    """Every clustering of one training part.

    Attributes
    ----------
    labels : dict of (fold, alpha) to ndarray of shape (n,), int8
        Clusters, -1 for the rows that the fold holds out. Fold `FULL` holds out none, and
        alpha `START` is the k-means start.
    whole : dict of alpha to Clustering
        Of the whole training part, with the cost of every pass.
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
        Of the folds and of k-means.
    alphas : iterable of float
        Values of alpha; each starts from k-means, as the papers do.
    full_only : bool
        Leave out the folds, if alpha is not tuned.
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
        found = {START: cluster(ready, classes, start, START, max_iter=0)}
        found |= {alpha: cluster(ready, classes, start, alpha) for alpha in alphas}
        if fold == FULL:
            whole = found
        for alpha, clusters in found.items():
            labels[fold, alpha] = np.full(len(y), -1, dtype=np.int8)
            labels[fold, alpha][rows] = clusters.labels
    return AlphaPath(labels, whole)


def tune(
    model: KMClassifier, X: Floats, y: Ints, path: AlphaPath
) -> tuple[float, dict[str, float]]:
    """Choose alpha by cross-validated F1 (CAC v1 6.2), the smallest of the best.

    Parameters
    ----------
    model : KMClassifier
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
        train, held_out = (X[inside], y[inside]), (X[~inside], y[~inside])
        seen: dict[bytes, float] = {}  # neighbouring alphas often give the same clusters
        fitted: Sequence[BaseEstimator] = ()  # or nearly the same
        for a, alpha in enumerate(alphas):
            labels = path.labels[fold, alpha][inside]
            key = labels.tobytes()
            if key not in seen:
                predicted = model.fit_labels(*train, labels, fitted).predict(held_out[0])
                fitted = model.estimators_
                seen[key] = f1_score(held_out[1], predicted, average=average, zero_division=0.0)
            f1[fold, a] = seen[key]
    means = f1.mean(axis=0)
    scores = {f"{alpha:g}": float(mean) for alpha, mean in zip(alphas, means, strict=True)}
    return alphas[int(means.argmax())], scores


def write_clusterings(path: str | os.PathLike[str], paths: dict[int, AlphaPath]) -> None:
    """Write the alpha paths of all splits (by seed), one row a seed, fold and alpha.

    The columns after ``labels`` are the passes of `Clustering`, empty for the folds.
    """
    rows: list[dict[str, Any]] = []
    for seed, each in sorted(paths.items()):
        for (fold, alpha), labels in sorted(each.labels.items()):
            row = {"seed": seed, "fold": fold, "alpha": alpha, "labels": labels}
            if fold == FULL:
                row |= {name: getattr(each.whole[alpha], name).ravel() for name in _CURVES}
            rows.append(row)
    table = {name: pa.array([row.get(name, ()) for row in rows], SCHEMA[name]) for name in SCHEMA}
    write_table(path, pa.table(table))


def read_clusterings(path: str | os.PathLike[str], y: Ints, seed: int) -> AlphaPath:
    """Read the alpha path of one split, for training rows of classes `y` in their order."""
    table = read_table(path)
    table = table.filter(pc.equal(table["seed"], seed))
    keys = list(zip(table["fold"].to_pylist(), table["alpha"].to_pylist(), strict=True))
    labels = dict(zip(keys, _lists(table["labels"]), strict=True))
    if not labels or any(len(each) != len(y) for each in labels.values()):
        raise DataError(
            f"{path}: holds no clusterings of {len(y)} training rows for split {seed}; "
            "delete it and build it again"
        )
    curves = {name: dict(zip(keys, _lists(table[name]), strict=True)) for name in _CURVES}
    k = int(labels[FULL, START].max()) + 1
    whole = {
        alpha: _clustering(alpha, k, each, {name: curves[name][FULL, alpha] for name in _CURVES})
        for (fold, alpha), each in labels.items()
        if fold == FULL
    }
    return AlphaPath(labels, whole)


def _lists(column: pa.ChunkedArray) -> list[npt.NDArray[Any]]:
    return [each.values.to_numpy() for each in column]


def _clustering(
    alpha: float, k: int, labels: Labels, curves: dict[str, npt.NDArray[Any]]
) -> Clustering:
    n_iter = len(curves["moves"])
    return Clustering(
        labels=labels.astype(np.int64),
        n_iter=n_iter,
        converged=n_iter > 0 and curves["moves"][-1] == 0,
        moves=curves["moves"],
        cost=curves["within"] - alpha * curves["separation"],
        within=curves["within"],
        separation=curves["separation"],
        counts=curves["counts"].reshape(n_iter + 1, k, -1),
    )
