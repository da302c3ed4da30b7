"""Files of alpha paths: the clusterings that the runs of one data set share."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.cac.cluster import Clustering
from deepcac.cac.path import FULL, GRID, START, AlphaPath, Ints, Labels, alpha_path
from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_table
from deepcac.task import Task

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


def write_all_clusterings(path: str | os.PathLike[str], tasks: Iterable[Task]) -> None:
    """Cluster every split, fold and alpha once, for all base classifiers."""
    paths = {t.seed: alpha_path(t.X_train, t.y_train, t.k, t.seed, GRID) for t in tasks}
    write_clusterings(path, paths)


def write_clusterings(path: str | os.PathLike[str], paths: dict[int, AlphaPath]) -> None:
    """Write the alpha paths of all splits (by seed), one row a seed, fold and alpha.

    Each split is stored apart, so that reading one costs no more than it.

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
    write_table(path, pa.table(table), group_rows=max(len(rows) // len(paths), 1))


def read_clusterings(path: str | os.PathLike[str], y: Ints, seed: int) -> AlphaPath:
    """Read the alpha path of one split, for training rows of classes `y` in their order."""
    table = read_table(path, where=("seed", seed))
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
