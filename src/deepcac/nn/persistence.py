"""Fitted estimators as one safetensors file with JSON in its header; never a pickle."""

import json
import os
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from deepcac.errors import DataError
from deepcac.storage import atomic_path

if TYPE_CHECKING:
    from deepcac.nn.base import DeepClassifier

# One key only: the library writes several in no fixed order, and files must be the same bytes.
KEY = "deepcac"


def write_tensors(
    path: str | os.PathLike[str], tensors: dict[str, Tensor], header: dict[str, Any]
) -> None:
    """Write named tensors and a JSON header."""
    ready = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with atomic_path(path) as partial:
        partial.write_bytes(save(ready, metadata={KEY: json.dumps(header, sort_keys=True)}))


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read the header and the tensors of a file of `write_tensors`."""
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise DataError(f"{path}: not a readable model file ({error}); build it again") from error
    return header, tensors


def write_estimator(path: str | os.PathLike[str], model: "DeepClassifier") -> None:
    """Write a fitted estimator."""
    header = {
        "estimator": type(model).__name__,
        "parameters": model.get_params(),
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "shape": list(model._shape),
        "history": model.history_,
        "status": model.status_,
    }
    subtypes = torch.as_tensor(model.subtypes_)
    write_tensors(path, {**model.network_.state_dict(), "subtypes_": subtypes}, header)


def read_estimator(
    path: str | os.PathLike[str], name: str
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read what `write_estimator` wrote; another estimator's file is a `DataError`."""
    header, tensors = read_tensors(path)
    if header.get("estimator") != name:
        raise DataError(f"{path}: holds {header.get('estimator')}, not {name}; load it as that")
    return header, tensors
