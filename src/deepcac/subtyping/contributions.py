"""What each variable adds to a patient's log-odds: integrated gradients."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from deepcac.subtyping.packed import PackedNetworks

STEPS = 8
CHUNK = 2048


def contributions(
    networks: PackedNetworks, x: Tensor, origin: Tensor, weight: Tensor | None = None
) -> Tensor:
    """Divide each row's outputs among the variables (Sundararajan et al. 2017, equation 1).

    The path runs from the average patient (all inputs 0) to the row; its integral is taken at
    `STEPS` Gauss-Legendre nodes, so that the parts sum to the difference of the outputs at its
    two ends (the rectifiers' kinks leave a small remainder).

    Parameters
    ----------
    networks : PackedNetworks
    x : Tensor of shape (n, n_inputs)
    origin : Tensor of shape (n_inputs,)
        Variable of each input; the parts of one variable are summed.
    weight : Tensor of shape (M, n), optional
        Of the members in each row's answer; equal without it.

    Returns
    -------
    Tensor of shape (n, n_outputs, n_variables)
        In log-odds.
    """
    n_variables = int(origin.max()) + 1
    if weight is None:
        weight = x.new_full((networks.members, len(x)), 1 / networks.members)
    parts = []
    for rows in torch.arange(len(x), device=x.device).split(CHUNK):
        gradient = _mean_gradient(networks, x[rows], weight[:, rows])
        own = gradient * x[rows].unsqueeze(1)
        summed = own.new_zeros(*own.shape[:2], n_variables)
        parts.append(summed.index_add_(2, origin.to(x.device), own))
    return torch.cat(parts)


def _mean_gradient(networks: PackedNetworks, x: Tensor, weight: Tensor) -> Tensor:
    """Return the mean gradient on the path to each row, shape (n, n_outputs, n_inputs)."""
    nodes, lengths = np.polynomial.legendre.leggauss(STEPS)
    total: Tensor | float = 0.0
    for node, length in zip((nodes + 1) / 2, lengths / 2, strict=True):
        here = (float(node) * x).requires_grad_(True)
        outputs = (weight.unsqueeze(2) * networks(here)).sum(dim=0)
        slopes = [
            torch.autograd.grad(outputs[:, c].sum(), here, retain_graph=True)[0]
            for c in range(outputs.shape[1])
        ]
        total = total + float(length) * torch.stack(slopes, dim=1)
    assert isinstance(total, Tensor)
    return total
