"""The risk model below the subtypes: cross-fitted networks, and boosted trees if wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from deepcac.nn.training import Budget
from deepcac.subtyping.boosted import BoostedFolds, Trees
from deepcac.subtyping.contributions import contributions
from deepcac.subtyping.crossfit import answer, left_out, shares, train_crossfitted
from deepcac.subtyping.packed import PackedNetworks
from deepcac.subtyping.smooth_inputs import SmoothInputs
from deepcac.subtyping.subtype_heads import Blend, fit_blend

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


class Answers(NamedTuple):
    """What a backbone says of rows.

    Attributes
    ----------
    logits : Tensor of shape (n, n_outputs)
    parts : Tensor of shape (n, n_outputs, d)
        What each variable adds to the networks' share of them.
    """

    logits: Tensor
    parts: Tensor


class NetworkSettings(NamedTuple):
    """The networks of a backbone and their training.

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
        """Return untrained networks; of two classes only the second has an output."""
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
        Of the networks and the trees.
    best_epoch : int
    """

    inputs: SmoothInputs
    networks: PackedNetworks
    boosted: BoostedFolds | None
    blend: Blend
    best_epoch: int

    def answers(self, rows: Array, n_threads: int) -> Answers:
        """Return what all members together say of rows (n, d)."""
        x = self._read(rows)
        outputs = [answer(self.networks, x)]
        if self.boosted is not None:
            trees = self.boosted.outputs(rows, n_threads)
            outputs.append(torch.as_tensor(trees, device=x.device))
        return Answers(self.blend.logits(torch.stack(outputs)), self.parts(x))

    def explain(self, rows: Array) -> Tensor:
        """Return the contributions of rows alone, (n, n_outputs, d); no tree is asked."""
        return self.parts(self._read(rows))

    def _read(self, rows: Array) -> Tensor:
        return self.inputs.rows(rows, self.networks.weight_in.device)

    def parts(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the contributions (n, n_outputs, d) to the inputs' rows, by members' weights."""
        return contributions(self.networks, x, self.inputs.origin, self.inputs.n_variables, weight)


class FittedNetworks(NamedTuple):
    """Cross-fitted networks, which several backbones may share.

    Attributes
    ----------
    inputs : SmoothInputs
    x : Tensor of shape (n, n_inputs)
        The rows that they were fitted to, as inputs.
    networks : PackedNetworks
    out : Tensor of bool, shape (members, n)
        Which member leaves which row out.
    best_epoch : int
    """

    inputs: SmoothInputs
    x: Tensor
    networks: PackedNetworks
    out: Tensor
    best_epoch: int


def fit_networks(
    rows: Array, codes: Ids, fold: Ids, settings: NetworkSettings, device: torch.device
) -> FittedNetworks:
    """Fit networks that each leave a fold out; torch's generator decides the start.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    codes, fold : ndarray of shape (n,)
        Class ids, and folds of `deal_folds`; at least as many members as folds.
    settings : NetworkSettings
    device : torch.device
    """
    inputs = SmoothInputs(rows)
    x = inputs.rows(rows, device)
    y, folds = (torch.as_tensor(ids, device=device) for ids in (codes, fold))
    networks = settings.build(x.shape[1], int(codes.max()) + 1).to(device)
    out = left_out(folds, settings.members, int(fold.max()) + 1)
    curve = train_crossfitted(networks, x.float(), y, out, settings.budget)
    networks.double().eval()  # an answer must not depend on the rows beside it
    return FittedNetworks(inputs, x, networks, out, curve.best_epoch)


def fit_backbone(
    codes: Ids, fitted: FittedNetworks, trees: Trees | None
) -> tuple[Backbone, Answers]:
    """Blend networks and trees of the same rows and folds.

    Returns
    -------
    Backbone, Answers
        The answers are for the rows of the fit, by models that did not see them.
    """
    inputs, x, networks, out, best_epoch = fitted
    y = torch.as_tensor(codes, device=x.device)
    outputs = [answer(networks, x, shares(out))]
    if trees is not None:
        outputs.append(torch.as_tensor(trees.outside, device=x.device))
    blend = fit_blend(torch.stack(outputs), y)
    boosted = None if trees is None else trees.folds
    backbone = Backbone(inputs, networks, boosted, blend, best_epoch)
    return backbone, Answers(blend.logits(torch.stack(outputs)), backbone.parts(x, shares(out)))
