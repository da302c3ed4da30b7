"""The one format of every feature file: row ids, labels, an optional group, named columns.

A static data set has one column per feature. A sequence data set has one column per variable and
hour, named ``variable@hour`` with a two-digit hour; a missing measurement is NaN.
"""

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_table

RESERVED = ("row_id", "label", "group")
MOST_CLASSES = 128  # labels are stored as int8
_LARGEST_WHOLE = 2.0**53  # all whole numbers up to here are doubles


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
        The part of the source that a row came from (for example set "a", "b" or "c"), or the
        patient, where patients have several rows (`grouped` in the registry).
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
            raise DataError(f"row id {ids[counts > 1][0]} occurs twice; every row needs its own")
        infinite = np.isinf(self.X)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise DataError(
                f"feature {self.names[column]!r}, row {row + 1}: an infinite value; "
                "use NaN for missing"
            )
        if not np.issubdtype(self.label.dtype, np.integer) or (n and self.label.min() < 0):
            raise DataError("labels must be class ids from 0")
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
    if len(features.label) and features.label.max() > MOST_CLASSES - 1:
        raise DataError(f"{path}: class {features.label.max()}; {MOST_CLASSES} classes fit a file")
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
    """Read a feature file, or a user's table with the columns ``row_id`` and ``label``.

    Parameters
    ----------
    path : path-like
        Parquet file. ``label``: whole numbers, booleans or text, of 2 to 128 values, none missing;
        their order gives the class ids 0..C-1. ``row_id``: unique values; unless they are whole
        numbers they are replaced by row numbers, from 1. ``group`` is text or a number.
        Every other column is a feature: numbers or booleans, null or NaN where missing.

    Raises
    ------
    DataError
        A column is missing or of another type, or a value is invalid; column and row are named.
    """
    table = read_table(path)
    missing = [name for name in ("row_id", "label") if name not in table.column_names]
    if missing:
        raise DataError(f"{path}: column {missing[0]!r} is missing; build the file again")
    names = tuple(name for name in table.column_names if name not in RESERVED)
    X = np.empty((table.num_rows, len(names)))
    for j, name in enumerate(names):
        X[:, j] = _numbers(path, name, table[name])
    group = table["group"].to_pandas().to_numpy(str) if "group" in table.column_names else None
    try:
        return FeatureMatrix(
            row_id=_row_ids(path, table["row_id"]),
            label=_class_ids(path, table["label"]),
            X=X,
            names=names,
            group=group,
        )
    except DataError as error:
        raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error


def _numbers(
    path: str | os.PathLike[str], name: str, column: pa.ChunkedArray
) -> npt.NDArray[np.float64]:
    """Return the column as float64, missing as NaN; DataError unless numeric or boolean."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        column = column.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise DataError(
            f"{path}: feature {name!r} is of type {kind}; encode it as numbers, or leave it out"
        )
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _row_ids(path: str | os.PathLike[str], column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return unique ids: whole numbers as they are, row numbers for anything else."""
    column = _plain(column)
    _refuse_missing(path, "row_id", column)
    if not pa.types.is_integer(column.type):
        first = pc.index_in(column, value_set=pc.unique(column)).to_numpy()
        _, rows = np.unique(first, return_index=True)
        if len(rows) < len(column):
            row = int(np.setdiff1d(np.arange(len(column)), rows)[0])
            raise DataError(f"{path}: column 'row_id', row {row + 1}: an id that stood before")
        return np.arange(1, len(column) + 1)
    try:
        return column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: column 'row_id' holds a number beyond 64 bits") from error


def _class_ids(path: str | os.PathLike[str], column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Return class ids 0..C-1 by the order of the label's values."""
    column = _plain(column)
    _refuse_missing(path, "label", column)
    kind = column.type
    if pa.types.is_floating(kind):
        values = column.to_numpy()
        broken = ~((values == np.floor(values)) & (np.abs(values) <= _LARGEST_WHOLE))
        if broken.any():
            row = int(broken.argmax())
            raise DataError(
                f"{path}: column 'label', row {row + 1}: {values[row]} is no class; use whole "
                "numbers, booleans or text"
            )
        column = column.cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind)):
        raise DataError(f"{path}: column 'label' is of type {kind}; use whole numbers or text")
    values = pc.unique(column)
    if not 2 <= len(values) <= MOST_CLASSES:
        raise DataError(
            f"{path}: column 'label' holds {len(values)} different values; 2 to {MOST_CLASSES} "
            "classes are needed"
        )
    ranked = values.take(pc.array_sort_indices(values))
    return pc.index_in(column, value_set=ranked).to_numpy().astype(np.int64)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decode dictionaries and long strings to plain values."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    large = pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)
    return column.cast(pa.string()) if large else column


def _refuse_missing(path: str | os.PathLike[str], name: str, column: pa.ChunkedArray) -> None:
    absent = pc.is_null(column, nan_is_null=True).to_numpy()
    if absent.any():
        row = int(absent.argmax())
        raise DataError(f"{path}: column {name!r}, row {row + 1}: missing; every row needs one")
