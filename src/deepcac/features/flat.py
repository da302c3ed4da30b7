"""Feature matrices of the flat tables: Adult, Credit, MAGIC, Titanic and the twenty UCI sets."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.catalogue.protocol import SOUND, Protocol
from deepcac.features.encoding import class_ids, one_hot, ranks
from deepcac.features.matrix import FeatureMatrix
from deepcac.raw.tidy import with_row_id

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
TITANIC = ("pclass", "sex", "age", "sibsp", "parch", "fare")
_NOT_FEATURES = ("row_id", "group", "class")


def adult(table: pa.Table, protocol: Protocol = SOUND) -> FeatureMatrix:
    """Adult: income above 50,000 dollars from 14 census variables.

    Parameters
    ----------
    table : pyarrow.Table
        Of `sources.flat.extract_adult`.
    protocol : Protocol
        Switch A12: the train file alone (32,561 rows), in the order of the copy that the published
        program read: by capital loss, then capital gain, both falling (its hold-out depends on the
        order; row ids number it anew). Switch U2: every column, numbers too, replaced by ranks
        among its distinct values, in place of one-hot categories.
    """
    if "A12" in protocol:
        table = _published_order(table.filter(pc.equal(table["group"], "train")))
    if "U2" in protocol:
        return _matrix(table, "income", ranks(table, ADULT, missing="?"), ADULT)
    return _matrix(table, "income", *one_hot(table, ADULT))


def credit(table: pa.Table) -> FeatureMatrix:
    """Credit: default of the next payment, from the 23 columns of the file as numbers.

    SEX, EDUCATION and MARRIAGE are codes and stay numbers, as in both CAC papers.
    """
    label = "default.payment.next.month"
    names = tuple(name for name in table.column_names if name not in ("row_id", label))
    return _matrix(table, label, *one_hot(table, names))


def magic(table: pa.Table) -> FeatureMatrix:
    """MAGIC: gamma (1) against hadron (0) showers, from ten image parameters."""
    names = tuple(name for name in table.column_names if name not in _NOT_FEATURES)
    matrix = _matrix(table, "class", *one_hot(table, names))
    # The file lists g first; the positive class is g.
    return FeatureMatrix(matrix.row_id, 1 - matrix.label, matrix.X, matrix.names)


def titanic(table: pa.Table) -> FeatureMatrix:
    """Titanic: survival, from class, sex, age, relatives aboard and fare; real outcomes."""
    return _matrix(table, "survived", *one_hot(table, TITANIC))


def uci20(table: pa.Table) -> FeatureMatrix:
    """One of the twenty UCI sets of Vilalta et al. 2003: every attribute, categories one-hot."""
    names = tuple(name for name in table.column_names if name not in _NOT_FEATURES)
    return _matrix(table, "class", *one_hot(table, names))


def _published_order(table: pa.Table) -> pa.Table:
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
