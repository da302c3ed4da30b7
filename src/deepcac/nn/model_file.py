"""A fitted deep classifier as one file of tensors, its settings as JSON in the header."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deepcac.errors import DataError
from deepcac.nn.data import find_device
from deepcac.nn.inputs import Preparation
from deepcac.nn.persistence import read_tensors, write_tensors

FORMAT = 1
_PREPARED = "preparation."
_KEPT = ("history_", "best_epoch_", "status_")


def about(model: Any) -> dict[str, Any]:
    """Return the part of the header that any fitted estimator with networks has."""
    parameters = model.get_params()
    if not isinstance(parameters["random_state"], Integral):
        parameters["random_state"] = None
    return {
        "format": FORMAT,
        "estimator": type(model).__name__,
        "parameters": parameters,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "feature_names": list(map(str, getattr(model, "feature_names_in_", ()))),
    }


def open_model(
    path: str | os.PathLike[str], kind: type[Any], device: str
) -> tuple[Any, dict[str, Any], dict[str, Tensor]]:
    """Return an estimator with what `about` kept, the header, and the tensors of a file."""
    header, tensors = read_tensors(path)
    found = header.get("estimator")
    if found != kind.__name__:
        raise DataError(f"{path}: holds {found}, not {kind.__name__}; load it as that")
    if header.get("format") != FORMAT:
        raise DataError(f"{path}: of another format than {FORMAT}; fit and save it again")
    model = kind(**{**header["parameters"], "device": device})
    model.classes_ = np.array(header["classes"])
    model.n_features_in_ = header["n_features"]
    if header["feature_names"]:
        model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    return model, header, tensors


def write_model(path: str | os.PathLike[str], model: Any) -> None:
    """Write a fitted `DeepClassifier`; a random state that is no number is not kept."""
    header = {
        **about(model),
        "shape": list(model._shape),
        **{name: getattr(model, name) for name in _KEPT},
    }
    prepared = {} if model._preparation is None else model._preparation.tensors()
    tensors = {
        **model.network_.state_dict(),
        "subtypes_": torch.as_tensor(model.subtypes_),
        "held_out_": torch.as_tensor(np.asarray(model.held_out_, dtype=np.int64)),
        **{_PREPARED + name: value for name, value in prepared.items()},
    }
    write_tensors(path, tensors, header)


def read_model(path: str | os.PathLike[str], kind: type[Any], device: str) -> Any:
    """Read what `write_model` wrote of an estimator of this kind."""
    model, header, tensors = open_model(path, kind, device)
    model._shape = tuple(header["shape"])
    for name in _KEPT:
        setattr(model, name, header[name])
    for name in ("subtypes_", "held_out_"):
        setattr(model, name, tensors.pop(name).numpy())
    own = [name for name in tensors if name.startswith(_PREPARED)]
    prepared = {name.removeprefix(_PREPARED): tensors.pop(name) for name in own}
    model._preparation = Preparation.of(prepared) if prepared else None
    model.seconds_ = {}
    model.network_ = model._build().to(find_device(device)).eval()
    model.network_.load_state_dict(tensors)
    return model
