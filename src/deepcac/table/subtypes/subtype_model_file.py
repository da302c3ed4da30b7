"""A SubtypeRiskModel as one file: the tensors of its estimator, and the table in the header."""

import os
from typing import Any

from deepcac.errors import DataError
from deepcac.files.saved_models import check_count, reading
from deepcac.nn.persistence import read_tensors
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.subtyping.subtype_file import TABLE, write_subtypes
from deepcac.table.risk_model_choice import SUBTYPES
from deepcac.table.risk_model_file import read_table_part, table_part
from deepcac.table.subtypes.subtype_model import SubtypeRiskModel

StrPath = str | os.PathLike[str]


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
