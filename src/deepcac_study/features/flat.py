"""Feature matrices of flat tables; Adult also as in its published program."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.feature_matrix import FeatureMatrix
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.features.columns.encoding import class_ids, one_hot, ranks
from deepcac_study.raw.tidy import with_row_id

ADULT = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)


def adult(table: pa.Table, protocol: Protocol = SOUND) -> FeatureMatrix:
    """Make features of Adult: income above 50,000 dollars from 14 census variables.

    Switch A12: the train file only (32,561 rows), in the order of the copy that the published
    program read: by capital loss, then capital gain, both descending (its hold-out depends on the
    order, and row ids follow it). Switch U2: every column, including numbers, is replaced by ranks
    among its distinct values, instead of one-hot categories.
    """
    if "A12" in protocol:
        table = _published_order(table.filter(pc.equal(table["group"], "train")))
    if "U2" in protocol:
        return _matrix(table, "income", ranks(table, ADULT, missing="?"), ADULT)
    return _matrix(table, "income", *one_hot(table, ADULT))


def flat(
    table: pa.Table, *, label: str, columns: Sequence[str] = (), positive: str | None = None
) -> FeatureMatrix:
    """Make features of a tidy table with ``row_id``, and ``group`` where the source has parts.

    Numbers are kept, categories are one-hot. By default every column but the label is a feature;
    `positive` is class 1 of two, and None takes the classes in their order.
    """
    others = tuple(name for name in table.column_names if name not in ("row_id", "group", label))
    names = tuple(columns) or others
    matrix = _matrix(table, label, *one_hot(table, names))
    if positive is not None and class_ids(table, label)[1].index(positive) == 0:
        return replace(matrix, label=1 - matrix.label)
    return matrix


def _published_order(table: pa.Table) -> pa.Table:
    """Return the rows in the order of the published file, numbered anew."""
    keys = [("capital-loss", "descending"), ("capital-gain", "descending"), ("row_id", "ascending")]
    return with_row_id(table.sort_by(keys).drop_columns("row_id"))


def _matrix(table: pa.Table, label: str, X: np.ndarray, names: tuple[str, ...]) -> FeatureMatrix:
    group = None
    if "group" in table.column_names:
        group = np.array(table["group"].to_pylist(), dtype=str)
    return FeatureMatrix(
        row_id=table["row_id"].to_numpy().astype(np.int64),
        label=class_ids(table, label)[0],
        X=X,
        names=names,
        group=group,
    )
