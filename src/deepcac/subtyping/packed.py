"""Several networks of one shape as one: a batched product a layer."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional


class PackedNetworks(nn.Module):
    """Networks n_inputs - hidden (ReLU) - ... - n_outputs that know nothing of each other.

    Parameters
    ----------
    members : int
        Number of networks M.
    n_inputs, hidden, n_outputs : int
        Layer sizes.
    layers : int
        Number of hidden layers.
    dropout : float
        Share of hidden units that are left out in training.
    """

    def __init__(
        self,
        members: int,
        n_inputs: int,
        hidden: int,
        n_outputs: int,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.members, self.dropout = members, dropout
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise((n_inputs, *[hidden] * layers, n_outputs)):
            bound = before**-0.5  # as nn.Linear starts
            self.weights.append(torch.empty(members, before, after).uniform_(-bound, bound))
            self.biases.append(torch.empty(members, 1, after).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Return what every member says of rows `x` (n, n_inputs): (M, n, n_outputs)."""
        active = x.expand(self.members, *x.shape)
        layers = list(zip(self.weights, self.biases, strict=True))
        for weight, bias in layers[:-1]:
            active = torch.baddbmm(bias, active, weight).relu()
            active = functional.dropout(active, self.dropout, self.training)
        weight, bias = layers[-1]
        return torch.baddbmm(bias, active, weight)


def full_logits(logits: Tensor) -> Tensor:
    """Return one logit a class (..., n_classes): of two classes only the second has an output."""
    return functional.pad(logits, (1, 0)) if logits.shape[-1] == 1 else logits


def cross_entropies(logits: Tensor, y: Tensor) -> Tensor:
    """Return the loss of each row, shape (..., n), of outputs (..., n, n_outputs)."""
    logs = full_logits(logits).log_softmax(dim=-1)
    return -logs.gather(-1, y.expand(logs.shape[:-1]).unsqueeze(-1)).squeeze(-1)
