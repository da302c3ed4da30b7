"""The risk model behind the subtypes: cross-fitted networks, and optionally boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from deepcac.nn.fitting.training import Budget
from deepcac.subtyping.boosted import BoostedFolds, Trees
from deepcac.subtyping.crossfit import (
    Cases,
    LeftOut,
    left_out,
    mean_outputs,
    train_crossfitted,
    unseen,
)
from deepcac.subtyping.packed import ALL, PackedNetworks
from deepcac.subtyping.smooth_inputs import SmoothInputs
from deepcac.subtyping.subtype_heads import Blend, fit_blend
from deepcac.types import Array

CHUNK = 2048


class Answers(NamedTuple):
    """Predictions of a backbone for n rows.

    Attributes
    ----------
    logits : Tensor of shape (n, n_outputs)
    parts : Tensor of shape (n, n_outputs, d)
        Contribution of each variable to the networks' share of the logits.
    """

    logits: Tensor
    parts: Tensor


class NetworkSettings(NamedTuple):
    """Settings of a backbone's networks and their training.

    Attributes
    ----------
    members, hidden : int
    dropout : float
    budget : Budget
    """

    members: int
    hidden: int
    dropout: float
    budget: Budget

    def build(self, n_inputs: int, n_classes: int) -> PackedNetworks:
        """Return untrained networks; for two classes there is one output, of the second."""
        outputs = 1 if n_classes == 2 else n_classes
        return PackedNetworks(self.members, n_inputs, self.hidden, outputs, self.dropout)


@dataclass
class Backbone:
    """A fitted risk model.

    Attributes
    ----------
    inputs : SmoothInputs
    networks : PackedNetworks
    boosted : BoostedFolds or None
    blend : Blend
        Stacking of the networks and the trees.
    best_epoch : int
    """

    inputs: SmoothInputs
    networks: PackedNetworks
    boosted: BoostedFolds | None
    blend: Blend
    best_epoch: int

    def answers(self, rows: Array) -> Answers:
        """Return the predictions of all members together for rows (n, d)."""
        x = self._read(rows)
        outputs = [mean_outputs(self.networks, x)]
        if self.boosted is not None:
            trees = self.boosted.outputs(rows)
            outputs.append(torch.as_tensor(trees, device=x.device))
        return Answers(self.blend.logits(torch.stack(outputs)), self.parts(x))

    def explain(self, rows: Array) -> Tensor:
        """Return the contributions only, (n, n_outputs, d), without evaluating the trees."""
        return self.parts(self._read(rows))

    def _read(self, rows: Array) -> Tensor:
        return self.inputs.rows(rows, self.networks.weight_in.device)

    def parts(self, x: Tensor, members: slice = ALL) -> Tensor:
        """Return the contributions (n, n_outputs, d) of members to the blended log-odds."""
        origin, n = self.inputs.origin, self.inputs.n_variables
        return self.blend.weight[0] * contributions(self.networks, x, origin, n, members)


class FittedNetworks(NamedTuple):
    """Cross-fitted networks, which several backbones may share.

    Attributes
    ----------
    inputs : SmoothInputs
    x : Tensor of shape (n, n_inputs)
        Training rows as inputs.
    networks : PackedNetworks
    folds : list of LeftOut
        For each fold, its rows and the members that do not see them.
    best_epoch : int
    """

    inputs: SmoothInputs
    x: Tensor
    networks: PackedNetworks
    folds: list[LeftOut]
    best_epoch: int


def fit_networks(cases: Cases, settings: NetworkSettings, device: torch.device) -> FittedNetworks:
    """Fit networks that each leave a fold out, initialised from torch's global generator.

    Parameters
    ----------
    cases : Cases
        With at most as many folds as members.
    settings : NetworkSettings
    device : torch.device
    """
    inputs = SmoothInputs(cases.rows)
    x = inputs.rows(cases.rows, device)
    y, fold, weight = (torch.as_tensor(values, device=device) for values in cases[1:4])
    networks = settings.build(x.shape[1], int(cases.codes.max()) + 1).to(device)
    folds = left_out(fold, settings.members)
    curve = train_crossfitted(networks, x.float(), y, folds, weight, settings.budget)
    networks.double().eval()  # an answer must not depend on the other rows
    return FittedNetworks(inputs, x, networks, folds, curve.best_epoch)


def fit_backbone(
    cases: Cases, fitted: FittedNetworks, trees: Trees | None
) -> tuple[Backbone, Answers]:
    """Blend networks and trees of the same rows and folds.

    Returns
    -------
    Backbone, Answers
        The answers are out-of-fold predictions for the training rows.
    """
    inputs, x, networks, folds, best_epoch = fitted
    y, weight = (torch.as_tensor(values, device=x.device) for values in (cases.codes, cases.weight))
    outputs = [unseen(partial(mean_outputs, networks), x, folds)]
    if trees is not None:
        outputs.append(torch.as_tensor(trees.outside, device=x.device))
    blend = fit_blend(torch.stack(outputs), y, weight)
    boosted = None if trees is None else trees.folds
    backbone = Backbone(inputs, networks, boosted, blend, best_epoch)
    parts = unseen(backbone.parts, x, folds)
    fold = torch.as_tensor(cases.fold, device=x.device)
    return backbone, Answers(_blended(torch.stack(outputs), y, weight, fold), parts)


def _blended(outputs: Tensor, y: Tensor, weight: Tensor, fold: Tensor) -> Tensor:
    """Return blended outputs (n, n_outputs), each by a blend fitted on the other folds."""
    logits = torch.empty_like(outputs[0])
    for j in fold.unique():
        held_out, rest = fold == j, fold != j
        logits[held_out] = fit_blend(outputs[:, rest], y[rest], weight[rest]).logits(
            outputs[:, held_out]
        )
    return logits


def contributions(
    networks: PackedNetworks, x: Tensor, origin: Tensor, n_variables: int, members: slice = ALL
) -> Tensor:
    """Attribute each row's outputs to the variables (Sundararajan et al. 2017, equation 1).

    The path runs from the average patient (all inputs 0) to the row. The gradient of a network
    of one hidden layer changes on it only where a unit switches, so its mean is exact: unit h
    with input b + t u at the share t of the path is active on the share
    (relu(b + u) - relu(b)) / u of it. The parts sum to the difference of the outputs at both ends.

    Parameters
    ----------
    networks : PackedNetworks
    x : Tensor of shape (n, n_inputs)
    origin : Tensor of shape (n_inputs,)
        Variable of each input; the parts of one variable are summed.
    n_variables : int
    members : slice
        Networks whose mean output is attributed.

    Returns
    -------
    Tensor of shape (n, n_outputs, n_variables)
        Contributions in log-odds.
    """
    parts, origin = [], origin.to(x.device)
    with torch.no_grad():
        for rows in x.split(CHUNK):
            attributions = _mean_gradient(networks, rows, members) * rows.unsqueeze(1)
            summed = attributions.new_zeros(*attributions.shape[:2], n_variables)
            parts.append(summed.index_add_(2, origin, attributions))
    return torch.cat(parts)


def _mean_gradient(networks: PackedNetworks, x: Tensor, members: slice) -> Tensor:
    """Return the mean gradient on the path to each row, shape (n, n_outputs, n_inputs)."""
    first, bias = networks.weight_in[members], networks.bias_in[members]
    change = x @ first
    grown = (bias + change).relu() - bias.relu()
    active = torch.where(change == 0, (bias > 0).to(x.dtype), grown / change)
    slopes = torch.einsum("mnh,mho->nomh", active, networks.weight_out[members] / len(first))
    return torch.einsum("nomh,mqh->noq", slopes, first)
