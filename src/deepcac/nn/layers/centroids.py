"""Centroids in the latent space: initialisation, nearest centroid, and online updates."""

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor

from deepcac.errors import ConfigError


def one_hot(labels: Tensor, k: int, like: Tensor) -> Tensor:
    """Return labels (n,) as a (n, k) membership of the type of `like`."""
    # In half the time of torch's function, which checks the range of the labels first.
    return (labels.unsqueeze(-1) == torch.arange(k, device=labels.device)).to(like.dtype)


def weighed(membership: Tensor, weight: Tensor | None) -> Tensor:
    """Return memberships (n, k) times the rows' weights (n,), scaled to a mean of 1."""
    if weight is None:
        return membership
    return membership * (weight / weight.mean()).to(membership).unsqueeze(1)


def cluster_centres(z: Tensor, membership: Tensor, otherwise: Tensor) -> Tensor:
    """Return the means (k, latent) under memberships (n, k); `otherwise` for an empty cluster."""
    size = membership.sum(dim=0).unsqueeze(1)
    return torch.where(size > 0, membership.T @ z / torch.where(size > 0, size, 1.0), otherwise)


def nearest(z: Tensor, centroids: Tensor) -> Tensor:
    """Return the nearest centroid of each row, the lowest id on ties."""
    # ||z||^2 is the same for all centroids.
    return (centroids.square().sum(dim=1) - 2.0 * z @ centroids.T).argmin(dim=1)


def move_online(
    centroids: Tensor, counts: Tensor, z: Tensor, membership: Tensor
) -> tuple[Tensor, Tensor]:
    """Return centroids moved towards the rows of a batch one by one, in closed form.

    Row by row the rule is c_j <- c_j + 1, mu_j <- mu_j - (1 / c_j)(mu_j - z_i) (Srivastava et
    al. 2021, DeepCAC, appendix 12). Since c_j mu_j grows by z_i each time, a whole batch gives
    (c_j mu_j + sum z) / (c_j + n_j), whatever the order of the rows.

    Parameters
    ----------
    centroids, counts : Tensor of shapes (k, latent) and (k,)
        Before the batch.
    z, membership : Tensor of shapes (n, latent) and (n, k)
        The batch.

    Returns
    -------
    (Tensor, Tensor)
        Centroids and counts after it; a cluster without rows keeps both.
    """
    after = counts + membership.sum(dim=0)
    total = counts.unsqueeze(1) * centroids + membership.T @ z
    moved = total / after.clamp(min=1.0).unsqueeze(1)
    return torch.where(after.unsqueeze(1) > 0, moved, centroids), after


def kmeans_start(
    z: Tensor, k: int, seed: int, weight: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Cluster the latents by k-means (Lloyd, 10 starts), rows weighted by `weight` (n,) if given.

    Returns
    -------
    (Tensor, Tensor)
        Centroids (k, latent) and labels (n,) on the device of `z`.
    """
    if k > len(z):
        raise ConfigError(f"n_clusters={k} exceeds the {len(z)} training rows; ask for fewer")
    weights = None if weight is None else weight.cpu().double().numpy()
    model = KMeans(k, n_init=10, random_state=seed)
    model.fit(z.cpu().double().numpy(), sample_weight=weights)
    centroids = torch.as_tensor(model.cluster_centers_, dtype=z.dtype, device=z.device)
    return centroids, torch.as_tensor(model.labels_.astype(np.int64), device=z.device)
