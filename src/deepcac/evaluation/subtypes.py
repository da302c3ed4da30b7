"""What sets the clusters of a run apart: sizes, class mix, distinguishing features."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.cac.collapse import collapsed, polarisation
from deepcac.evaluation.statistics import holm
from deepcac.evaluation.task import Fitted, Task

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

TOP_FEATURES = 10


def sizes_by_class(cluster: Ids, y: Ids, k: int, n_classes: int) -> list[list[int]]:
    """Count rows: one list a cluster, one count a class."""
    counts = np.zeros((k, n_classes), dtype=int)
    np.add.at(counts, (cluster, y), 1)
    return counts.tolist()


def distinguishing_features(
    X: Array, cluster: Ids, names: tuple[str, ...], top: int = TOP_FEATURES
) -> list[dict[str, Any]]:
    """Rank, for every cluster, the features whose means differ most from the other rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Scaled training features.
    cluster : ndarray of shape (n,)
    names : tuple of str, length d
    top : int
        How many features a cluster.

    Returns
    -------
    list of dict
        ``cluster``, ``feature``, ``effect`` (Cohen's d against all other rows) and ``p``
        (Welch's t-test, Holm-adjusted over all features of the cluster).
    """
    rows: list[dict[str, Any]] = []
    for j in np.unique(cluster):
        inside, outside = X[cluster == j], X[cluster != j]
        if min(len(inside), len(outside)) < 2:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt((inside.var(axis=0, ddof=1) + outside.var(axis=0, ddof=1)) / 2)
            effect = (inside.mean(axis=0) - outside.mean(axis=0)) / spread
        # Columns are scaled: a smaller spread than this is the rounding of a constant.
        moving = np.isfinite(effect) & (spread > 1e-9)
        p = np.full(X.shape[1], np.nan)
        p[moving] = stats.ttest_ind(inside[:, moving], outside[:, moving], equal_var=False).pvalue
        adjusted = holm(p)
        strength = np.where(moving, np.abs(effect), -1.0)
        for f in np.argsort(-strength, kind="stable")[: min(top, int(moving.sum()))]:
            rows.append(
                {
                    "cluster": int(j),
                    "feature": names[f],
                    "effect": round(float(effect[f]), 6),
                    "p": float(adjusted[f]),
                }
            )
    return rows


def describe(task: Task, fitted: Fitted, names: tuple[str, ...] | None) -> dict[str, Any]:
    """Summarise the clusters of one split, without any single row.

    Parameters
    ----------
    task, fitted
        A split and what a method made of it.
    names : tuple of str or None
        Names of the columns of `task.X_train`; None (sequences) leaves features out.
    """
    k = max(task.k, int(fitted.train_cluster.max()) + 1, int(fitted.cluster.max()) + 1)
    train = sizes_by_class(fitted.train_cluster, task.y_train, k, task.n_classes)
    summary: dict[str, Any] = {
        "sizes_train": train,
        "sizes_test": sizes_by_class(fitted.cluster, task.y_test, k, task.n_classes),
        "found": len(np.unique(fitted.train_cluster)),
        "polarisation": polarisation(train),
        "collapsed": collapsed(train),
        "features": [],
    }
    if names is not None and summary["found"] > 1:
        summary["features"] = distinguishing_features(task.X_train, fitted.train_cluster, names)
    return summary
