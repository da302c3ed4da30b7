"""What the command can ask: models of `deepcac fit`, and estimators that were saved from Python."""

import warnings
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.output_files import StrPath
from deepcac.preprocess import TableScaler
from deepcac.table.columns.cell_texts import uniform_names
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.reading.table_encoder import NUMBER, EncodedColumn, TableEncoder
from deepcac.table.second_table import TableReader
from deepcac.types import Array, Ids


@dataclass(frozen=True)
class TableModel:
    """Risks and subtypes of the rows of a frame.

    Attributes
    ----------
    encoder : TableEncoder
    scaler : TableScaler
    classes : tuple of str
    label, id : str, str or None
        Columns of the table that it was fitted on.
    method : dict
        How it was made, and how such models do on rows that they have not seen.
    """

    encoder: TableEncoder
    scaler: TableScaler
    classes: tuple[str, ...]
    label: str
    id: str | None
    method: dict[str, Any]

    @property
    @abstractmethod
    def n_subtypes(self) -> int:
        """Subtypes; 0 where there are none."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """In words what it is."""

    @property
    def name(self) -> str:
        """In words what it is, and how it was chosen."""
        return self.kind

    @abstractmethod
    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""

    def ranges(self, X: Array) -> Array | None:
        """Return the ends (n, 2) of the risks that refits give encoded rows; None without any."""
        return None

    def reasons(self, X: Array) -> list[str] | None:
        """Return what moves the risk of encoded rows (n, d), a text each; None if unknown."""
        return None

    def predict_proba(self, rows: pd.DataFrame, *, accept_unseen: bool = False) -> Array:
        """Return class probabilities (n, n_classes) of a frame with the columns of the table.

        Rows that are mostly unlike those of the fit (another unit, another coding) are a
        `DataError`, unless `accept_unseen`; less is a warning.
        """
        return self.answers(self.encoded(rows, accept_unseen=accept_unseen))[0]

    def predict(self, rows: pd.DataFrame, *, accept_unseen: bool = False) -> npt.NDArray[np.str_]:
        """Return the most probable class of each row of a frame, shape (n,)."""
        return self.classes_[self.predict_proba(rows, accept_unseen=accept_unseen).argmax(axis=1)]

    def assign(self, rows: pd.DataFrame, *, accept_unseen: bool = False) -> Ids:
        """Return the subtype of each row of a frame, from 0, shape (n,)."""
        return self.answers(self.encoded(rows, accept_unseen=accept_unseen))[1] - 1

    def encoded(self, rows: pd.DataFrame, *, accept_unseen: bool = False) -> Array:
        """Return the features of a frame, shape (n, d), NaN where missing."""
        table = arrow_rows(rows)
        description = self.encoder.description
        assert description is not None  # every model of a table has one
        asked = [column.name for column in self.encoder.used]
        whole = table.combine_chunks().to_batches()  # so that cells are checked together
        table = pa.Table.from_batches(DescribedTable("", description, asked).rows(whole))
        parts, remarks = [(table, np.arange(1, len(rows) + 1))], dict[str, None]()
        reader = replace(self.reader, id=None)  # a frame may repeat its rows
        ((_, _, X),) = reader.encode(parts, remarks, accept=accept_unseen)
        for line in remarks:
            warnings.warn(line, stacklevel=3)
        return X

    @property
    def reader(self) -> TableReader:
        """How a table is read for it."""
        words = self.classes if "horizon" not in self.method else ()
        return TableReader(self.encoder, self.scaler, words, self.id)

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """Class labels, as text."""
        return np.array(self.classes)


def arrow_rows(rows: pd.DataFrame) -> pa.Table:
    """Return a frame as a table; a column of several types is read as its text.

    Raises
    ------
    DataError
        It is no frame, a name occurs twice, or cells are lists or other objects.
    """
    if not isinstance(rows, pd.DataFrame):
        raise DataError(f"rows are a {type(rows).__name__}; give a DataFrame with column names")
    if rows.empty:
        raise DataError("the frame holds no rows; give at least one")
    names = [str(name) for name in rows.columns]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column {twice[0]!r} occurs twice; name each column once")
    columns = [_arrow_cells(name, rows.iloc[:, place]) for place, name in enumerate(names)]
    return pa.table(dict(zip(names, columns, strict=True)))


def _arrow_cells(name: str, cells: "pd.Series[Any]") -> pa.Array:
    """Return a column as arrow reads it, or else the texts of its cells."""
    try:
        column = pa.Array.from_pandas(cells)
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError):
        for row, value in enumerate(cells.astype(object)):
            if np.ndim(value) or isinstance(value, dict | set):
                kind = type(value).__name__
                raise DataError(
                    f"column {name!r}, row {row}: holds a {kind}; a cell is a number or a text"
                ) from None
        texts = [None if pd.isna(value) else str(value) for value in cells.astype(object)]
        return pa.array(texts, pa.string())
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column


@dataclass(frozen=True)
class NamedEstimator:
    """A classifier that was fitted on a frame of numbers.

    Attributes
    ----------
    estimator : estimator
        Or a pipeline.
    encoder : TableEncoder
        Of its columns, which are numbers.
    classes : tuple of str
    n_subtypes : int
        0 if it has none.
    """

    estimator: Any
    encoder: TableEncoder
    classes: tuple[str, ...]
    n_subtypes: int
    id: ClassVar[None] = None

    @property
    def kind(self) -> str:
        """What it is called in Python."""
        return type(self.estimator).__name__

    @property
    def reader(self) -> TableReader:
        """How a table is read for it."""
        return TableReader(self.encoder, words=self.classes)

    @classmethod
    def of(cls, estimator: Any, path: StrPath) -> "NamedEstimator":
        """Return what the command can ask; a `DataError` for an estimator that it cannot."""
        names = getattr(estimator, "feature_names_in_", None)
        if names is None or not hasattr(estimator, "predict_proba"):
            raise DataError(
                f"{path}: a {type(estimator).__name__} without column names or probabilities; fit "
                "it on a DataFrame, or use deepcac.load in Python"
            )
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        # Cells and names of a table are read in one form.
        columns = tuple(EncodedColumn(name, NUMBER) for name in uniform_names(names))
        twice = [name for name, count in Counter(c.name for c in columns).items() if count > 1]
        if twice:
            raise DataError(f"{path}: several of its columns read {twice[0]!r}; rename one")
        classes = tuple(map(str, estimator.classes_))
        return cls(estimator, TableEncoder(columns), classes, getattr(last, "n_clusters_found_", 0))

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return class probabilities (n, n_classes) and the subtype of each row, from 1."""
        rows: Any = pd.DataFrame(X, columns=list(self.estimator.feature_names_in_))
        try:
            risk = self.estimator.predict_proba(rows)
        except ValueError as error:
            empty = np.isnan(X).any(axis=0)
            if not empty.any():
                raise
            raise DataError(
                f"column {self.encoder.names[int(empty.argmax())]!r}: an empty cell, and "
                "the model reads none; fill it in, or save a pipeline with an imputer"
            ) from error
        if not self.n_subtypes:
            return risk, np.ones(len(X), dtype=np.int64)
        steps = getattr(self.estimator, "steps", [("", self.estimator)])
        for _, step in steps[:-1]:
            rows = step.transform(rows)
        return risk, np.asarray(steps[-1][1].assign(rows), dtype=np.int64) + 1
