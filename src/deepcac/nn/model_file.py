"""A fitted deep classifier as one file of tensors, its settings as JSON in the header."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepcac import __version__
from deepcac.errors import DataError
from deepcac.files.saved_models import (
    LARGEST,
    check_array,
    check_classes_of,
    check_count,
    check_version,
    reading,
)
from deepcac.nn.fitting.data import find_device
from deepcac.nn.inputs import Preparation
from deepcac.nn.persistence import read_tensors, write_tensors
from deepcac.task import rounded

FORMAT = 3
_PREPARED = "preparation."
_KEPT = ("history_", "best_epoch_", "status_", "seconds_")
_ADDED = {"class_weight": None}  # parameters that older files lack
_NO_PARAMETERS = ("_weight", "_progress")  # of a fit that runs; older files name them


def about(model: Any) -> dict[str, Any]:
    """Return the part of the header that all fitted estimators with networks share."""
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in model.get_params().items()
    }
    if not isinstance(parameters["random_state"], Integral):
        parameters["random_state"] = None
    if isinstance(weights := parameters.get("class_weight"), dict):
        # JSON has no other keys than texts.
        labels = np.array(list(weights)).tolist()
        parameters["class_weight"] = list(zip(labels, map(float, weights.values()), strict=True))
    return {
        "format": FORMAT,
        "version": __version__,
        "estimator": type(model).__name__,
        "parameters": parameters,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "feature_names": list(map(str, getattr(model, "feature_names_in_", ()))),
    }


def open_model(
    path: str | os.PathLike[str], kind: type[Any], device: str
) -> tuple[Any, dict[str, Any], dict[str, Tensor]]:
    """Return the estimator restored from `about`, the header, and the tensors of a file."""
    header, tensors = read_tensors(path)
    estimator_name = header.get("estimator")
    if estimator_name != kind.__name__:
        raise DataError(f"{path}: holds {estimator_name}, not {kind.__name__}; load it as that")
    if header.get("format") != FORMAT:
        raise DataError(f"{path}: of another format than {FORMAT}; fit and save it again")
    with reading(path):
        check_version(path, header["version"])
        return _estimator(header, kind, device), header, tensors


def _estimator(header: dict[str, Any], kind: type[Any], device: str) -> Any:
    """Return an estimator with its settings, classes and column names."""
    names, usual = header["feature_names"], kind().get_params()
    added = {name: value for name, value in _ADDED.items() if name in usual}
    parameters = added | header["parameters"]
    for name in _NO_PARAMETERS:
        parameters.pop(name, None)
    if isinstance(weights := parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(map(tuple, weights))
    if set(parameters) != set(usual):
        raise DataError("its parameters are not those of the estimator")
    for name, value in parameters.items():
        if isinstance(value, bool) and not isinstance(usual[name], bool):
            raise DataError(f"parameter {name} is {value}")
    model = kind(**{**parameters, "device": device})
    model._validate_params()
    if len({type(label) for label in header["classes"]}) != 1:
        raise DataError("its classes are of several types")
    model.classes_ = check_classes_of("classes", np.array(header["classes"]))
    model.n_features_in_ = check_count("n_features", header["n_features"], 1)
    if names:
        texts = all(isinstance(name, str) for name in names)
        if not texts or len(set(names)) != len(names) or len(names) != model.n_features_in_:
            raise DataError("feature_names are not one different text a column")
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def restore_network(build: Any, tensors: dict[str, Tensor]) -> Any:
    """Return the network of `build` with these tensors, without allocating it twice.

    Tensors of another type or with impossible values are a `DataError`.
    """
    with torch.device("meta"):
        network = build()
    for name, expected in network.state_dict().items():
        tensor = tensors[name]
        if tensor.dtype != expected.dtype:
            raise DataError(f"{name} is {tensor.dtype}, {expected.dtype} was expected")
        most = LARGEST if tensor.dtype == torch.float64 else _MOST_SINGLE
        if tensor.is_floating_point() and not bool((tensor.abs() <= most).all()):
            raise DataError(f"{name} is not finite, or beyond {most:g}")
    # Copies are aligned in memory, on which last bits depend.
    network.load_state_dict({name: tensor.clone() for name, tensor in tensors.items()}, assign=True)
    return network.eval()


_MOST_SINGLE = 1e9  # four layers of such weights stay within a float32


def write_model(path: str | os.PathLike[str], model: Any) -> None:
    """Write a fitted `DeepClassifier`, without its attributes of single rows.

    A random state that is not a number is not stored.
    """
    header = {
        **about(model),
        "shape": list(model._shape),
        **{name: getattr(model, name) for name in _KEPT},
        "class_counts_": rounded(model.class_counts_).tolist(),
    }
    prepared = {} if model._preparation is None else model._preparation.tensors()
    tensors = {
        **model.network_.state_dict(),
        **{_PREPARED + name: value for name, value in prepared.items()},
    }
    write_tensors(path, tensors, header)


def read_model(path: str | os.PathLike[str], kind: type[Any], device: str) -> Any:
    """Read an estimator of class `kind` that `write_model` wrote."""
    model, header, tensors = open_model(path, kind, device)
    with reading(path):
        _restore(model, header, tensors, find_device(device))
    return model


def _restore(
    model: Any, header: dict[str, Any], tensors: dict[str, Tensor], device: torch.device
) -> None:
    """Set the learnt attributes of the model; `DataError` if no `fit` can have learnt them."""
    for name in _KEPT:
        # Older files lack the seconds.
        setattr(model, name, header[name] if name != "seconds_" else header.get(name, {}))
    if not (isinstance(model.history_, dict) and isinstance(model.best_epoch_, dict)):
        raise DataError("its history is none")
    if not all(isinstance(x, float) and 0 <= x <= LARGEST for x in model.seconds_.values()):
        raise DataError("its seconds are none")
    if model.status_ not in ("ok", "diverged"):
        raise DataError("its status is none")
    model.class_counts_ = _counts(model, header["class_counts_"])
    model.n_clusters_found_ = int(model.class_counts_.any(axis=1).sum())
    prepared_names = [name for name in tensors if name.startswith(_PREPARED)]
    prepared = {name.removeprefix(_PREPARED): tensors.pop(name) for name in prepared_names}
    model._preparation = Preparation.of(prepared) if prepared else None
    model._shape = tuple(check_count("shape", size, 1) for size in header["shape"])
    _check_shape(model)
    # A network reads the values of a step and their mask side by side.
    model._variables = model._shape[1] // 2 if len(model._shape) == 2 else None
    model.network_ = restore_network(model._build, tensors).to(device)


def _counts(model: Any, rows: list[list[int]]) -> npt.NDArray[np.int64]:
    """Return the rows of each class in each cluster; `DataError` unless they are rounded counts."""
    counts = np.array(rows)
    shape = (getattr(model, "n_clusters", 1), len(model.classes_))
    check_array("class_counts_", counts, shape, np.int64)
    if not counts.any() or (counts < 0).any() or not np.array_equal(rounded(counts), counts):
        raise DataError("class_counts_ are no rounded counts")
    return counts


def _check_shape(model: Any) -> None:
    """Raise `DataError` if the network's input differs from the prepared columns."""
    if (model.preprocess is None) != (model._preparation is None):
        raise DataError("preprocess says otherwise than the tensors")
    shape, static = model._shape, len(model._shape) == 1
    if len(shape) not in (1, 2) or (not static and shape[0] != model.n_features_in_):
        raise DataError(f"shape {shape} is none of a row")
    if model._preparation is None:
        possible = not static or shape[0] == model.n_features_in_
    else:
        columns = getattr(model._preparation.scaler, "n_features_in_", None)
        possible = shape[-1] == model._preparation.n_inputs
        possible &= columns == (model.n_features_in_ if static else None)
    if not possible:
        raise DataError("the columns that are prepared are not those of the network")
