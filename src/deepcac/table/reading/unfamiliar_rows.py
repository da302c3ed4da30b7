"""Whether the rows of a new table are like those that a model was fitted on."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from deepcac.errors import DataError
from deepcac.table.reading.table_encoder import NUMBER, OTHER, TableEncoder, feature_names
from deepcac.table.table_model import TableModel
from deepcac.task import Array

FAR = 8.0  # standard deviations from the training mean, beyond which a number is out of range
MOST, SOME = 0.5, 0.05  # of the rows of a column, beyond the share in fit: refused, told
CHANCE = 0.001  # of so many strange rows, were they like those of fit
_UNSEEN = "unseen levels"  # the encoder tells which
_RARE = "rare or unseen levels"
_REPEATED = "ids that stand in an earlier row"  # one is worth telling


@dataclass
class Unfamiliar:
    """Counts, column by column, of what a model has not seen, or not so often.

    Attributes
    ----------
    encoder : TableEncoder
    far : ndarray of shape (2, d)
        Lowest and highest value of each feature that is in range.
    usual : dict
        (column, what is strange) to its share in the rows of `fit`; 0 where it is not here.
    rows : int
    counts : Counter
        (column, what is strange) to the number of such rows.
    ids : set
        All that were seen.
    """

    encoder: TableEncoder
    far: Array
    usual: dict[tuple[str, str], float]
    rows: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    ids: set[Any] = field(default_factory=set)

    @classmethod
    def of(cls, model: Any) -> "Unfamiliar":
        """Return empty counts for a model; of one without a scaler only levels are known."""
        names = model.encoder.names
        far = np.tile([[-np.inf], [np.inf]], (1, len(names)))
        if not isinstance(model, TableModel):
            return cls(model.encoder, far, {(name, "no value"): 1.0 for name in names})
        scaler = model.scaler
        mean, spread = np.zeros((2, len(scaler.kept_)))
        mean[scaler.kept_], spread[scaler.kept_] = scaler.mean_, scaler.scale_
        kept = np.flatnonzero(scaler.kept_[: len(names)])
        far[:, kept] = mean[kept] + FAR * np.array([[-1.0], [1.0]]) * spread[kept]
        empty = zip(scaler.flagged_, mean[len(names) :], strict=True)
        usual = {(names[j], "no value"): share for j, share in empty}
        for column in model.encoder.used:
            if OTHER in column.levels:
                place = names.index(f"{column.name}={OTHER}")
                usual[column.name, _RARE] = mean[place]
        return cls(model.encoder, far, usual)

    def add(self, X: Array) -> None:
        """Count rows of features (n, d)."""
        self.rows += len(X)
        place = 0
        for column in self.encoder.used:
            names = feature_names(column)
            own = X[:, place : place + len(names)]
            if column.kind == NUMBER:
                low, high = self.far[:, place]
                self._count(column.name, "no value", np.isnan(own[:, 0]))
                self._count(column.name, "out of range", (own[:, 0] < low) | (own[:, 0] > high))
            elif len(names) == 1:
                self._count(column.name, _UNSEEN, np.isnan(own[:, 0]))
            else:
                self._count(column.name, _UNSEEN, np.asarray(~own.any(axis=1)))
                if OTHER in column.levels:
                    other = own[:, names.index(f"{column.name}={OTHER}")] == 1
                    self._count(column.name, _RARE, other)
            place += len(names)

    def add_ids(self, name: str, ids: list[Any]) -> None:
        """Count ids that stand already."""
        before = len(self.ids)
        self.ids.update(ids)
        self.counts[name, _REPEATED] += before + len(ids) - len(self.ids)

    def tell(self, *, accept: bool) -> list[str]:
        """Return what a user should know of the columns, a line each.

        Raises
        ------
        DataError
            Most rows of a column are unlike those of `fit`, and `accept` is false.
        """
        said, refused = [], []
        for (name, what), count in self.counts.items():
            usual = self.usual.get((name, what), 0.0)
            beyond = count / max(self.rows, 1) - usual
            if not count or binom.sf(count - 1, self.rows, usual) > CHANCE:
                continue
            text = f"column {name!r}: {what} in {count:,} of {self.rows:,} rows"
            text += f" ({100 * usual:.0f} % in fit)" if usual else ""
            if beyond > MOST:
                refused.append(text)
            if what == _REPEATED or (beyond > SOME and what != _UNSEEN):
                said.append(text)
        if refused and not accept:
            raise DataError(
                f"{'; '.join(refused)}: these rows are unlike those of fit; use its coding, units "
                "and ids, or --accept-unseen"
            )
        return said

    def _count(self, name: str, what: str, strange: npt.NDArray[np.bool_]) -> None:
        self.counts[name, what] += int(strange.sum())
