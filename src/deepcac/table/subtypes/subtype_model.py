"""A SubtypeClassifier that takes the columns of a table; one file: its tensors, and the table."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deepcac.errors import DataError
from deepcac.files.saved_models import check_count, reading
from deepcac.nn.persistence import read_tensors
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.subtyping.subtype_file import TABLE, write_subtypes
from deepcac.table.output_files import StrPath
from deepcac.table.risk_model_choice import SUBTYPES
from deepcac.table.risk_model_file import read_table_part, table_part
from deepcac.table.table_model import TableModel
from deepcac.task import Array, Ids

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

    estimator: SubtypeClassifier
    explains: ClassVar[bool] = True

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""
        rows = self.encoder.frame(X)
        return self.estimator.predict_proba(rows), self.estimator.assign(rows) + 1

    def reasons(self, X: Array) -> list[str]:
        """Return the variables that move the risk of each row most, by log-odds.

        With more than two classes those of the most probable one.
        """
        rows = self.encoder.frame(X)
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

    @property
    def n_subtypes(self) -> int:
        """Subtypes, 0 where one is all of them."""
        k = self.estimator.n_subtypes_
        return k if k > 1 else 0


def write_subtype_model(path: StrPath, model: SubtypeRiskModel) -> None:
    """Write a model with a digest over all of it."""
    write_subtypes(path, model.estimator, table_part(model))


def read_subtype_model(path: StrPath, device: str = "auto") -> SubtypeRiskModel:
    """Read a model of `write_subtype_model`; anything else is a `DataError`."""
    estimator = SubtypeClassifier.load(path, device=device)
    with reading(path):
        content = read_tensors(path)[0][TABLE]
        encoder, scaler, classes, label, named = read_table_part(content)
        if estimator.classes_.tolist() != list(range(len(classes))):
            raise DataError(f"{len(classes)} classes for {len(estimator.classes_)}")
        if list(getattr(estimator, "feature_names_in_", ())) != list(encoder.names):
            raise DataError("the columns of its estimator are not those of its table")
        method = _method(content["method"])
        return SubtypeRiskModel(encoder, scaler, classes, label, named, method, estimator)


def _method(method: dict[str, Any]) -> dict[str, Any]:
    check_count("n_clusters", method["n_clusters"], 1)
    if method["arm"] != SUBTYPES or not isinstance(method["chosen"], str):
        raise DataError("its method is none")
    return method
