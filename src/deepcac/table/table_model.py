"""What every model of `deepcac fit` can do: it takes the columns of a table by their names."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deepcac.preprocess import TableScaler
from deepcac.table.reading.table_encoder import TableEncoder
from deepcac.task import Array, Ids

if TYPE_CHECKING:
    import pandas as pd


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
    explains: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_subtypes(self) -> int:
        """Subtypes; 0 where there are none."""

    @abstractmethod
    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""

    def reasons(self, X: Array) -> list[str]:
        """Return what moves the risk of encoded rows (n, d), a text each, if it `explains`."""
        raise NotImplementedError

    def predict_proba(self, rows: "pd.DataFrame") -> Array:
        """Return class probabilities (n, n_classes) of a frame with the columns of the table."""
        return self.answers(self.encoded(rows))[0]

    def predict(self, rows: "pd.DataFrame") -> npt.NDArray[np.str_]:
        """Return the most probable class of each row of a frame, shape (n,)."""
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def assign(self, rows: "pd.DataFrame") -> Ids:
        """Return the subtype of each row of a frame, from 0, shape (n,)."""
        return self.answers(self.encoded(rows))[1] - 1

    def encoded(self, rows: "pd.DataFrame") -> Array:
        """Return the features of a frame, shape (n, d), NaN where missing."""
        table = pa.Table.from_pandas(rows, preserve_index=False)
        return self.encoder.encode(table, np.arange(1, len(rows) + 1))[0]

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """Class labels, as text."""
        return np.array(self.classes)
