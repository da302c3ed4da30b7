"""The linear autoencoder, trained by algebra."""

import torch
from torch import Tensor, nn

from deepcac.nn.layers.networks import Autoencoder


def linear_autoencoder(n_features: int, hidden: int, latent: int) -> Autoencoder:
    """Make an autoencoder without activations, untrained."""
    return Autoencoder(n_features, hidden, latent, nn.Identity)


@torch.no_grad()
def principal_autoencoder(x: Tensor, hidden: int, latent: int) -> Autoencoder:
    """Return the linear autoencoder with the least squared error on rows `x` of shape (n, d).

    No gradient steps are needed: its latents are the first principal components (Baldi and
    Hornik 1989). Hidden units beyond the latents hold the next components, which the latents do
    not see yet.
    """
    autoencoder = linear_autoencoder(x.shape[1], hidden, latent).to(x.device)
    mean = x.mean(dim=0)
    centred = (x - mean).cpu().double()  # some devices have no float64
    axes = torch.linalg.eigh(centred.T @ centred).eigenvectors.flip(1).T
    # The sign of an axis is free; its largest entry is positive here, so that builds agree.
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    axes = (axes * largest.sign()).to(x)
    seen, n_latent = min(hidden, len(axes)), min(latent, len(axes))
    into, inside = _layers(autoencoder.encoder)
    outside, out_of = _layers(autoencoder.decoder)
    into.weight[:seen], into.bias[:seen] = axes[:seen], -axes[:seen] @ mean
    out_of.weight[:, :n_latent], out_of.bias[:] = axes[:n_latent].T, mean
    out_of.weight[:, n_latent:] = 0.0
    for middle in (inside, outside):
        middle.weight.zero_()
        middle.bias.zero_()
        middle.weight[range(n_latent), range(n_latent)] = 1.0
    return autoencoder


def _layers(stack: nn.Sequential) -> list[nn.Linear]:
    return [layer for layer in stack if isinstance(layer, nn.Linear)]
