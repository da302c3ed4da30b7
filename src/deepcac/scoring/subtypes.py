"""What sets the clusters of a run apart: sizes, class mix, distinguishing features."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.cac.collapse import pure, purity
from deepcac.scoring.statistics import holm
from deepcac.task import Fitted, Task

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
        effect, p = _contrast(inside, outside)
        adjusted = holm(p)
        strength = np.where(np.isnan(p), -1.0, np.abs(effect))
        for f in np.argsort(-strength, kind="stable")[: min(top, np.isfinite(p).sum())]:
            rows.append(
                {
                    "cluster": int(j),
                    "feature": names[f],
                    "effect": round(float(effect[f]), 6),
                    "p": float(adjusted[f]),
                }
            )
    return rows


def _contrast(inside: Array, outside: Array) -> tuple[Array, Array]:
    """Return Cohen's d of every column and the p value of Welch's test; of a constant 0 and NaN."""
    parts = [(X.mean(axis=0), X.std(axis=0, ddof=1), len(X)) for X in (inside, outside)]
    (mean, sd, _), (other_mean, other_sd, _) = parts
    spread = np.sqrt((sd**2 + other_sd**2) / 2)
    moving = spread > 1e-9  # columns are scaled: less is the rounding of a constant
    effect = np.divide(mean - other_mean, spread, out=np.zeros_like(spread), where=moving)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stats.ttest_ind_from_stats(*parts[0], *parts[1], equal_var=False).pvalue
    return effect, np.where(moving, p, np.nan)


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
        "polarisation": purity(train),
        "collapsed": pure(train),
        "features": [],
    }
    if names is not None and summary["found"] > 1:
        summary["features"] = distinguishing_features(task.X_train, fitted.train_cluster, names)
    return summary
