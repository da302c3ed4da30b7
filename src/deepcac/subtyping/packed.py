"""Several networks of one shape as one: a batched product a layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class PackedNetworks(nn.Module):
    """Networks n_inputs - hidden (ReLU) - n_outputs that know nothing of each other.

    Parameters
    ----------
    members : int
        Number of networks M.
    n_inputs, hidden, n_outputs : int
        Layer sizes.
    dropout : float
        Share of hidden units that are left out in training.
    """

    def __init__(
        self, members: int, n_inputs: int, hidden: int, n_outputs: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.dropout = dropout

        def start(n_before: int, *shape: int) -> nn.Parameter:
            bound = n_before**-0.5  # as nn.Linear starts
            return nn.Parameter(torch.empty(members, *shape).uniform_(-bound, bound))

        self.weight_in = start(n_inputs, n_inputs, hidden)
        self.bias_in = start(n_inputs, 1, hidden)
        self.weight_out = start(hidden, hidden, n_outputs)
        self.bias_out = start(hidden, 1, n_outputs)

    @property
    def members(self) -> int:
        """Number of networks."""
        return len(self.weight_in)

    def forward(self, x: Tensor) -> Tensor:
        """Return what every member says of rows `x` (n, n_inputs): (M, n, n_outputs)."""
        shared = x.expand(self.members, *x.shape)
        active = torch.baddbmm(self.bias_in, shared, self.weight_in).relu()
        active = functional.dropout(active, self.dropout, self.training)
        return torch.baddbmm(self.bias_out, active, self.weight_out)


def full_logits(logits: Tensor) -> Tensor:
    """Return one logit a class (..., n_classes): of two classes only the second has an output."""
    return functional.pad(logits, (1, 0)) if logits.shape[-1] == 1 else logits


def cross_entropies(logits: Tensor, y: Tensor) -> Tensor:
    """Return the loss of each row, shape (..., n), of outputs (..., n, n_outputs)."""
    logs = full_logits(logits).log_softmax(dim=-1)
    return -logs.gather(-1, y.expand(logs.shape[:-1]).unsqueeze(-1)).squeeze(-1)
