"""An estimator that was saved from Python, for the command: a table's columns by their names."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from deepcac.errors import DataError
from deepcac.table.output_files import StrPath
from deepcac.table.reading.table_encoder import NUMBER, EncodedColumn, TableEncoder
from deepcac.task import Array, Ids


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
        found = [getattr(last, name, 0) for name in ("n_clusters_found_", "n_subtypes_")]
        columns = tuple(EncodedColumn(str(name), NUMBER) for name in names)
        classes = tuple(map(str, estimator.classes_))
        return cls(estimator, TableEncoder(columns), classes, max(found))

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return class probabilities (n, n_classes) and the subtype of each row, from 1."""
        rows: Any = pd.DataFrame(X, columns=list(self.encoder.names))
        risk = self.estimator.predict_proba(rows)
        if not self.n_subtypes:
            return risk, np.ones(len(X), dtype=np.int64)
        steps = getattr(self.estimator, "steps", [("", self.estimator)])
        for _, step in steps[:-1]:
            rows = step.transform(rows)
        return risk, np.asarray(steps[-1][1].assign(rows), dtype=np.int64) + 1
