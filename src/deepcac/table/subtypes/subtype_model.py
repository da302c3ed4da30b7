"""A SubtypeClassifier that takes the columns of a table."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from deepcac.preprocess import TableScaler
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.table.reading.table_encoder import TableEncoder
from deepcac.table.table_model import Array, Ids, TableModel

REASONS = 3  # variables that are named for a row
_LEAST = 0.05  # log-odds; what moves the risk by less is no reason


@dataclass(frozen=True)
class SubtypeRiskModel(TableModel):
    """What predicts risk, subtype and reasons of the rows of a table.

    Attributes
    ----------
    estimator : SubtypeClassifier
        Fitted on a frame of encoded rows, NaN where missing.
    scaler : TableScaler
        Of the rows of `fit`: by it new rows are told that are unlike them.
    """

    encoder: TableEncoder
    scaler: TableScaler
    classes: tuple[str, ...]
    label: str
    id: str | None
    method: dict[str, Any]
    estimator: SubtypeClassifier
    explains: ClassVar[bool] = True

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""
        rows = self._named(X)
        return self.estimator.predict_proba(rows), self.estimator.assign(rows) + 1

    def reasons(self, X: Array) -> list[str]:
        """Return the variables that move the risk of each row most, by log-odds.

        With more than two classes those of the most probable one.
        """
        rows = self._named(X)
        parts = self.estimator.contributions(rows)
        if parts.ndim == 3:
            likely = self.estimator.predict_proba(rows).argmax(axis=1)
            parts = parts[np.arange(len(X)), likely]
        order = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :REASONS]
        names = self.encoder.names
        return [
            "; ".join(f"{names[j]} {row[j]:+.2f}" for j in own if abs(row[j]) >= _LEAST)
            for own, row in zip(order, parts, strict=True)
        ]

    def _named(self, X: Array) -> pd.DataFrame:
        return pd.DataFrame(X, columns=list(self.encoder.names))

    @property
    def n_subtypes(self) -> int:
        """Subtypes, 0 where one is all of them."""
        k = self.estimator.n_subtypes_
        return k if k > 1 else 0
