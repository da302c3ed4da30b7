"""A fitted SubtypeClassifier as one file of tensors, all else as JSON in the header."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import Tensor

from deepcac.nn.data import find_device
from deepcac.nn.model_file import about, open_model
from deepcac.nn.persistence import write_tensors
from deepcac.subtyping.backbone import Backbone
from deepcac.subtyping.boosted import BoostedFolds
from deepcac.subtyping.gates import Gates
from deepcac.subtyping.smooth_inputs import SmoothInputs
from deepcac.subtyping.subtype_heads import Blend, Gain, Heads

_INPUTS, _NETWORKS = "inputs.", "networks."


def write_subtypes(path: str | os.PathLike[str], model: Any) -> None:
    """Write a fitted `SubtypeClassifier`; a random state that is no number is not kept."""
    backbone = model._backbone
    header = {
        **about(model),
        "subtype_names": model.subtype_names_,
        "gains": model.gains_,
        "penalty": model.penalty_,
        "best_epoch": model.best_epoch_,
        "width": model._gates.width,
        "boosters": [] if backbone.boosted is None else backbone.boosted.texts(),
    }
    tensors = {
        "subtypes": torch.as_tensor(model.subtypes_),
        "out_of_fold": torch.as_tensor(model.out_of_fold_),
        "centres": torch.as_tensor(model._gates.centres),
        "scale": torch.as_tensor(model._gates.scale),
        "blend.weight": backbone.blend.weight,
        "blend.bias": backbone.blend.bias,
        "heads.weight": model._heads.weight,
        "heads.bias": model._heads.bias,
        **_named(_INPUTS, backbone.inputs.tensors()),
        **_named(_NETWORKS, backbone.networks.state_dict()),
    }
    write_tensors(path, tensors, header)


def read_subtypes(path: str | os.PathLike[str], kind: type[Any], device: str) -> Any:
    """Read what `write_subtypes` wrote."""
    model, header, tensors = open_model(path, kind, device)
    model.subtype_names_ = header["subtype_names"]
    model.gains_ = [Gain(*gain) for gain in header["gains"]]
    model.penalty_, model.best_epoch_ = header["penalty"], header["best_epoch"]
    _restore(model, tensors, header, find_device(device))
    return model


def _restore(
    model: Any, tensors: dict[str, Tensor], header: dict[str, Any], device: torch.device
) -> None:
    """Give the model what it learnt."""
    model.subtypes_ = tensors["subtypes"].numpy()
    model.out_of_fold_ = tensors["out_of_fold"].numpy()
    centres, scale = (tensors[name].numpy() for name in ("centres", "scale"))
    model._gates = Gates(centres, header["width"], scale)
    model.n_subtypes_ = len(model._gates.centres)
    model._heads = Heads(*(tensors[f"heads.{name}"].to(device) for name in Heads._fields))
    model.heads_ = tensors["heads.weight"].numpy()
    state = _own(_NETWORKS, tensors)
    n_inputs = state["weight_in"].shape[1]
    networks = model.network_settings().build(n_inputs, len(model.classes_)).double()
    networks.load_state_dict(state)
    model._backbone = Backbone(
        inputs=SmoothInputs.of(_own(_INPUTS, tensors)),
        networks=networks.to(device).eval(),
        boosted=BoostedFolds.of(header["boosters"]) if header["boosters"] else None,
        blend=Blend(*(tensors[f"blend.{name}"].to(device) for name in Blend._fields)),
        best_epoch=model.best_epoch_,
    )


def _named(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {prefix + name: value for name, value in tensors.items()}


def _own(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
