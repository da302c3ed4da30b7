"""Whether the rows of a new table are like those that a model was fitted on."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.owntable.risk_model import RiskModel
from deepcac.owntable.table_encoder import NUMBER, TableEncoder, feature_names

Array = npt.NDArray[np.float64]

FAR = 8.0  # standard deviations from the training mean, beyond which a number is out of range
MOST, SOME = 0.5, 0.05  # of the rows of a column: refused, told


@dataclass
class Unfamiliar:
    """Counts, column by column, of what a model has not seen.

    Attributes
    ----------
    encoder : TableEncoder
    far : ndarray of shape (2, d) or None
        Lowest and highest value of each feature that is in range.
    rows : int
    counts : dict
        (column, what is strange) to the number of such rows.
    """

    encoder: TableEncoder
    far: Array | None
    rows: int = 0
    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any) -> "Unfamiliar":
        """Return empty counts for a model."""
        if not isinstance(model, RiskModel):
            return cls(model.encoder, None)
        scaler, d = model.scaler, len(model.encoder.names)
        kept = np.flatnonzero(scaler.kept_[:d])
        far = np.tile([[-np.inf], [np.inf]], (1, d))
        spread = FAR * scaler.scale_[: len(kept)]
        far[:, kept] = scaler.mean_[: len(kept)] + np.array([[-1.0], [1.0]]) * spread
        return cls(model.encoder, far)

    def add(self, X: Array) -> None:
        """Count rows of features (n, d)."""
        self.rows += len(X)
        place = 0
        for column in self.encoder.used:
            width = len(feature_names(column))
            own = X[:, place : place + width]
            if column.kind == NUMBER:
                values = own[:, 0]
                self._count(column.name, "no value", np.isnan(values))
                if self.far is not None:
                    low, high = self.far[:, place]
                    self._count(column.name, "out of range", (values < low) | (values > high))
            elif width == 1:
                self._count(column.name, "unseen levels", np.isnan(own[:, 0]))
            else:
                self._count(column.name, "unseen levels", np.asarray(~own.any(axis=1)))
            place += width

    def tell(self, *, accept: bool) -> list[str]:
        """Return what a user should know of the columns, a line each.

        Raises
        ------
        DataError
            Most rows of a column have levels or numbers that were not seen, and `accept` is false.
        """
        said = []
        for (name, what), count in self.counts.items():
            share = count / max(self.rows, 1)
            if what == "no value":
                if count == self.rows:
                    said.append(f"column {name!r}: no row has a value; all count as missing")
                continue
            text = f"column {name!r}: {what} in {count:,} of {self.rows:,} rows"
            if share > MOST and not accept:
                raise DataError(
                    f"{text}; the model was fitted on other values: use its coding and units, or "
                    "--accept-unseen"
                )
            if share > SOME:
                said.append(text)
        return said

    def _count(self, name: str, what: str, strange: npt.NDArray[np.bool_]) -> None:
        number = int(strange.sum())
        if number:
            self.counts[name, what] = self.counts.get((name, what), 0) + number
