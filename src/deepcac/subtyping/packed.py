"""Several networks of one shape, computed together: one batched product per layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

ALL = slice(None)


class PackedNetworks(nn.Module):
    """Independent networks n_inputs - hidden (ReLU) - n_outputs.

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

    def forward(self, x: Tensor, members: slice = ALL) -> Tensor:
        """Return the outputs of `members` for rows `x` (n, n_inputs): (members, n, n_outputs)."""
        first, bias = self.weight_in[members], self.bias_in[members]
        active = torch.baddbmm(bias, x.expand(len(first), *x.shape), first).relu()
        if self.training and self.dropout:
            active = dropout(active, self.dropout)
        return torch.baddbmm(self.bias_out[members], active, self.weight_out[members])


def dropout(x: Tensor, share: float) -> Tensor:
    """Dropout with 16 random bits per unit; the kept units are scaled up.

    With torch's, which draws more bits, random numbers take more than half of a training step.
    """
    least = round(share * 2**16) - 2**15
    drawn = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
    bits = drawn.random_(-(2**63), None).view(torch.int16)[: x.numel()].view(x.shape)
    return x * (bits >= min(least, 2**15 - 1)).to(x.dtype).div_(1 - share)


def full_logits(logits: Tensor) -> Tensor:
    """Return one logit per class (..., n_classes); a single output gets a 0 for the first class."""
    return functional.pad(logits, (1, 0)) if logits.shape[-1] == 1 else logits


def cross_entropies(logits: Tensor, y: Tensor) -> Tensor:
    """Return the loss of each row, shape (..., n), of outputs (..., n, n_outputs)."""
    logs = full_logits(logits).log_softmax(dim=-1)
    return -logs.gather(-1, y.expand(logs.shape[:-1]).unsqueeze(-1)).squeeze(-1)
