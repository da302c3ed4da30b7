"""A fitted SubtypeClassifier as one file of tensors, with settings as JSON in the header."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deepcac.errors import DataError
from deepcac.files.saved_models import (
    LARGEST,
    SMALLEST,
    check_array,
    check_count,
    reading,
)
from deepcac.nn.fitting.data import find_device
from deepcac.nn.model_file import about, open_model, restore_network
from deepcac.nn.persistence import write_tensors
from deepcac.subtyping.backbone import Backbone
from deepcac.subtyping.boosted import BoostedFolds
from deepcac.subtyping.gates import Gates
from deepcac.subtyping.smooth_inputs import QUANTILES, SmoothInputs
from deepcac.subtyping.subtype_heads import Blend, Gain, Heads
from deepcac.tree_arrays import TreeArrays

TABLE = "table"  # in the header of a model of the command
_INPUTS, _NETWORKS, _TREES = "inputs.", "networks.", "trees."


def write_subtypes(
    path: str | os.PathLike[str], model: Any, table: dict[str, Any] | None = None
) -> None:
    """Write a fitted `SubtypeClassifier`; a random state that is not a number is not stored.

    Parameters
    ----------
    path : path-like
    model : SubtypeClassifier
    table : dict, optional
        JSON-ready description of the table, from models of the command.
    """
    backbone = model._backbone
    header = {
        **about(model),
        "subtype_names": model.subtype_names_,
        "gains": model.gains_,
        "penalty": model.penalty_,
        "best_epoch": model.best_epoch_,
        "outcome_agreement": model.outcome_agreement_,
        "width": model._gates.width,
        **({} if table is None else {TABLE: table}),
        "tree_folds": 0 if backbone.boosted is None else len(backbone.boosted.trees),
    }
    tensors = {
        "centres": torch.as_tensor(model._gates.centres),
        "scale": torch.as_tensor(model._gates.scale),
        "blend.weight": backbone.blend.weight,
        "blend.bias": backbone.blend.bias,
        "heads.weight": model._heads.weight,
        "heads.bias": model._heads.bias,
        **_named(_INPUTS, backbone.inputs.tensors()),
        **_named(_NETWORKS, backbone.networks.state_dict()),
    }
    for j in range(header["tree_folds"]):
        trees = backbone.boosted.trees[j]._asdict().items()
        tensors |= {f"{_TREES}{j}.{name}": torch.as_tensor(value) for name, value in trees}
    write_tensors(path, tensors, header)


def read_subtypes(path: str | os.PathLike[str], kind: type[Any], device: str) -> Any:
    """Read an estimator of class `kind` that `write_subtypes` wrote."""
    model, header, tensors = open_model(path, kind, device)
    with reading(path):
        _restore_backbone(model, tensors, header, find_device(device))
        _restore_subtypes(model, tensors, header)
    return model


def _restore_backbone(
    model: Any, tensors: dict[str, Tensor], header: dict[str, Any], device: torch.device
) -> None:
    """Set the networks, trees and blend of the model; `DataError` if they are impossible."""
    n_outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
    inputs = SmoothInputs.of(_without_prefix(_INPUTS, tensors))
    if inputs.n_variables != model.n_features_in_:
        raise DataError("its inputs are of other columns")
    n_inputs, settings = len(inputs.origin), model.network_settings()
    networks = restore_network(
        lambda: settings.build(n_inputs, len(model.classes_)).double(),
        _without_prefix(_NETWORKS, tensors),
    )
    folds = check_count("tree_folds", header["tree_folds"])
    if len(_without_prefix(_TREES, tensors)) != folds * len(TreeArrays._fields):
        raise DataError("it has other trees than it says")
    trees = [_read_trees(tensors, j, inputs.n_variables, n_outputs) for j in range(folds)]
    weight, bias = tensors["blend.weight"], tensors["blend.bias"]
    check_array("blend.weight", weight.numpy(), (1 + bool(folds),))
    check_array("blend.bias", bias.numpy(), (n_outputs,))
    if (weight < 0).any():
        raise DataError("a blend counts answers with a minus")
    model.best_epoch_ = check_count("best_epoch", header["best_epoch"])
    model._backbone = Backbone(
        inputs=inputs,
        networks=networks.to(device),
        boosted=BoostedFolds(trees, n_outputs) if folds else None,
        blend=Blend(weight.to(device), bias.to(device)),
        best_epoch=model.best_epoch_,
    )


def _read_trees(tensors: dict[str, Tensor], fold: int, d: int, n_outputs: int) -> TreeArrays:
    arrays = (tensors[f"{_TREES}{fold}.{name}"].numpy() for name in TreeArrays._fields)
    return TreeArrays(*arrays).check(d, n_outputs)


def _restore_subtypes(model: Any, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Set the gates and heads of the model; `DataError` if they do not fit its backbone."""
    blend, d = model._backbone.blend, model._backbone.inputs.n_variables
    n_outputs, k = len(blend.bias), len(tensors["centres"])
    learnt = {name: tensor.numpy() for name, tensor in tensors.items()}
    points = n_outputs * d
    centres = check_array("centres", learnt["centres"], (check_count("subtypes", k, 1), points))
    scale = check_array("scale", learnt["scale"], (points,), above=True)
    width = header["width"]
    if not isinstance(width, float) or not np.finfo(float).tiny <= width <= LARGEST:
        raise DataError("width is no distance")
    model._gates, model.n_clusters_found_ = Gates(centres, width, scale), k
    model.heads_ = check_array("heads.weight", learnt["heads.weight"], (k, d))
    bias = check_array("heads.bias", learnt["heads.bias"], (k, n_outputs))
    device = blend.bias.device
    model._heads = Heads(*(tensors[f"heads.{name}"].to(device) for name in Heads._fields))
    model.penalty_ = header["penalty"]
    if model.penalty_ is None:
        if model.heads_.any() or bias.any():
            raise DataError("it has heads, and no penalty of them")
    elif not isinstance(model.penalty_, float) or not SMALLEST <= model.penalty_ <= LARGEST:
        raise DataError("penalty is no weight")
    model.outcome_agreement_ = header["outcome_agreement"]
    if not isinstance(model.outcome_agreement_, float) or not -1 <= model.outcome_agreement_ <= 1:
        raise DataError("outcome_agreement is no Rand index")
    model.gains_ = [Gain(*map(float, gain)) for gain in header["gains"]]
    names = header["subtype_names"]
    if len(names) != k or not all(isinstance(name, str) for name in names):
        raise DataError(f"subtype_names are not {k} texts")
    model.subtype_names_ = names
    if not 0 < len(learnt[f"{_INPUTS}quantiles_"]) <= QUANTILES:
        raise DataError("its ranks are none")


def _named(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {prefix + name: value for name, value in tensors.items()}


def _without_prefix(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
