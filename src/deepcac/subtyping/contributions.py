"""What each variable adds to a patient's log-odds: integrated gradients, in closed form."""

from __future__ import annotations

import torch
from torch import Tensor

from deepcac.subtyping.packed import ALL, PackedNetworks

CHUNK = 2048


def contributions(
    networks: PackedNetworks, x: Tensor, origin: Tensor, n_variables: int, members: slice = ALL
) -> Tensor:
    """Divide each row's outputs among the variables (Sundararajan et al. 2017, equation 1).

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
        Whose mean answer it is.

    Returns
    -------
    Tensor of shape (n, n_outputs, n_variables)
        In log-odds.
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
