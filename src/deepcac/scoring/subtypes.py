"""Description of the clusters of a run: sizes, class mix, distinguishing features."""

from typing import Any

import numpy as np

from deepcac.cac.collapse import pure, purity
from deepcac.task import Fitted, Task
from deepcac.types import Array, Ids

TOP_FEATURES = 10
PERFECT = 1000.0  # the effect of a column that is constant inside a group and splits it off
_ROUNDING = 1e-9


def sizes_by_class(cluster: Ids, y: Ids, k: int, n_classes: int) -> list[list[int]]:
    """Count rows: one list per cluster, one count per class."""
    counts = np.zeros((k, n_classes), dtype=int)
    np.add.at(counts, (cluster, y), 1)
    return counts.tolist()


def distinguishing_features(
    X: Array, cluster: Ids, names: tuple[str, ...], top: int = TOP_FEATURES
) -> list[dict[str, Any]]:
    """Rank, for every cluster, the `top` features whose means differ most from the other rows.

    X, (n, d), are the scaled training features. A row is ``cluster``, ``feature`` and ``effect``
    (Cohen's d against all other rows). There is no p value: the clusters were made from these
    features, so pure noise would be significant.
    """
    rows: list[dict[str, Any]] = []
    for j in np.unique(cluster):
        inside, outside = X[cluster == j], X[cluster != j]
        if min(len(inside), len(outside)) < 2:
            continue
        effect = _contrast(inside, outside)
        moving = np.flatnonzero(~np.isnan(effect))
        for f in moving[np.argsort(-np.abs(effect[moving]), kind="stable")[:top]]:
            size = round(float(effect[f]), 6)
            rows.append({"cluster": int(j), "feature": names[f], "effect": size})
    return rows


def _contrast(inside: Array, outside: Array) -> Array:
    """Return Cohen's d of every column, at most `PERFECT`; NaN for a constant column."""
    (mean, sd), (other_mean, other_sd) = (
        (X.mean(axis=0), X.std(axis=0, ddof=1)) for X in (inside, outside)
    )
    spread, apart = np.sqrt((sd**2 + other_sd**2) / 2), mean - other_mean
    # Columns are scaled: less than this is rounding.
    moving, split = spread > _ROUNDING, np.abs(apart) > _ROUNDING
    perfect = np.where(split, np.sign(apart) * PERFECT, np.nan)
    effect = np.divide(apart, spread, out=perfect, where=moving)
    return np.asarray(np.clip(effect, -PERFECT, PERFECT))


def describe(task: Task, fitted: Fitted, names: tuple[str, ...] | None) -> dict[str, Any]:
    """Summarise the clusters of one split, without any single row.

    Names are of the columns of `task.X_train`; None (sequences) leaves features out.
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
