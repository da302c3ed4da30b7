"""The one format of every feature file: row ids, labels, an optional group, named columns.

A static data set has one column a feature. A sequence data set has one column a variable and
hour, named ``variable@hour`` with a two-digit hour; a missing measurement is NaN.
"""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.storage import read_table, write_table

RESERVED = ("row_id", "label", "group")


@dataclass(frozen=True)
class FeatureMatrix:
    """A labelled feature matrix.

    Attributes
    ----------
    row_id : ndarray of shape (n,), int64
        Unique ids from the raw source (a record, patient or row number).
    label : ndarray of shape (n,), int64
        Class ids 0..n_classes-1.
    X : ndarray of shape (n, d), float64
        Features; NaN where missing.
    names : tuple of str, length d
        Column names.
    group : ndarray of shape (n,), str, or None
        The part of the source that a row came from (for example set "a", "b" or "c").
    """

    row_id: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    X: npt.NDArray[np.float64]
    names: tuple[str, ...]
    group: npt.NDArray[np.str_] | None = None

    def __post_init__(self) -> None:
        n, d = self.X.shape
        if len(self.row_id) != n or len(self.label) != n or len(self.names) != d:
            raise DataError(
                f"features of shape {self.X.shape} do not fit {len(self.row_id)} row ids, "
                f"{len(self.label)} labels and {len(self.names)} names"
            )
        ids, counts = np.unique(self.row_id, return_counts=True)
        if len(ids) != n:
            raise DataError(f"row id {ids[counts > 1][0]} stands twice; every row needs its own")
        if np.isinf(self.X).any():
            column = self.names[int(np.isinf(self.X).any(axis=0).argmax())]
            raise DataError(f"feature {column!r} holds an infinite value; use NaN for missing")
        taken = sorted(set(self.names) & set(RESERVED))
        if taken or len(set(self.names)) != d:
            raise DataError(f"feature names must be unique and none of {RESERVED}; seen {taken}")

    @property
    def n_classes(self) -> int:
        """Number of classes, from the largest class id."""
        return int(self.label.max()) + 1

    @property
    def n_steps(self) -> int:
        """Length of the sequences; 1 for a static data set."""
        steps = {name.rpartition("@")[2] for name in self.names if "@" in name}
        return max(len(steps), 1)

    def sequences(self) -> npt.NDArray[np.float64]:
        """Return the matrix as (n, n_steps, variables), NaN where missing.

        Columns are stored variable by variable, hour by hour.
        """
        n, d = self.X.shape
        return self.X.reshape(n, d // self.n_steps, self.n_steps).transpose(0, 2, 1)


def write_features(path: str | os.PathLike[str], features: FeatureMatrix) -> None:
    """Write a feature matrix as parquet, rows ordered by row id."""
    order = np.argsort(features.row_id, kind="stable")
    columns: dict[str, pa.Array] = {
        "row_id": pa.array(features.row_id[order], pa.int64()),
        "label": pa.array(features.label[order], pa.int8()),
    }
    if features.group is not None:
        columns["group"] = pa.array(features.group[order].tolist(), pa.string())
    for name, column in zip(features.names, features.X.T, strict=True):
        columns[name] = pa.array(column[order], pa.float64())
    write_table(path, pa.table(columns))


def read_features(path: str | os.PathLike[str]) -> FeatureMatrix:
    """Read a feature file that `write_features` wrote."""
    table = read_table(path)
    missing = [name for name in ("row_id", "label") if name not in table.column_names]
    if missing:
        raise DataError(f"{path}: column {missing[0]!r} is missing; build the file again")
    names = tuple(name for name in table.column_names if name not in RESERVED)
    X = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        X[:, j] = table[name].to_numpy()
    group = table["group"].to_pandas().to_numpy(str) if "group" in table.column_names else None
    return FeatureMatrix(
        row_id=table["row_id"].to_numpy().astype(np.int64),
        label=table["label"].to_numpy().astype(np.int64),
        X=X,
        names=names,
        group=group,
    )
