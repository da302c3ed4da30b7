"""Every loss term of the deep methods, as plain functions of tensors.

A *membership* is a (n, k) tensor whose rows are one-hot for a hard clustering.
"""

import torch
from torch import Tensor
from torch.nn import functional

from deepcac.nn.layers.centroids import one_hot, weighed


def squared_distances(z: Tensor, centroids: Tensor) -> Tensor:
    """Return ||z_i - mu_j||^2 as (n, k), never negative."""
    return (z.unsqueeze(1) - centroids).square().sum(dim=2)


def am_softmax(
    z: Tensor, y: Tensor, class_vectors: Tensor, s: float = 30.0, m: float = 0.4
) -> Tensor:
    """Additive-margin softmax loss of each row (DeepCAC, section 7; Wang et al. 2018).

    Parameters
    ----------
    z : Tensor of shape (n, latent)
        Embeddings; their length does not matter.
    y : Tensor of shape (n,), int64
        Class ids.
    class_vectors : Tensor of shape (n_classes, latent)
        Vectors w_c of unit length; vectors of another length scale the cosines.
    s, m : float
        Scale, and margin of the true class's cosine.

    Returns
    -------
    Tensor of shape (n,)
    """
    cosine = functional.normalize(z, dim=1) @ class_vectors.T
    margin = m * one_hot(y, len(class_vectors), z)
    return functional.cross_entropy(s * (cosine - margin), y, reduction="none")


def cluster_means(values: Tensor, membership: Tensor) -> Tensor:
    """Return sum_j (1 / n_j) sum_{i in C_j} values_i; an empty cluster adds nothing."""
    return (values @ membership / membership.sum(dim=0).clamp(min=1.0)).sum()


def within(z: Tensor, centroids: Tensor, membership: Tensor, delta: float) -> Tensor:
    """Return sum_j sum_{i in C_j} ||z_i - mu_j||^2 / (n_j - 1 + delta) (DeepCAC, equation 2).

    Parameters
    ----------
    z, centroids, membership : Tensor of shapes (n, latent), (k, latent) and (n, k)
    delta : float, positive
        Keeps the term of a cluster of one row finite. An empty cluster adds nothing.
    """
    size = membership.sum(dim=0)
    spread = (z - membership @ centroids).square().sum(dim=1) @ membership
    return (spread / torch.where(size > 0, size - 1 + delta, 1.0)).sum()


def class_distances(z: Tensor, classes: Tensor, membership: Tensor) -> Tensor:
    """Return sum_j sum_{c < c'} ||mu_jc - mu_jc'||^2, the class separation of CAC.

    Parameters
    ----------
    z, classes, membership : Tensor of shapes (n, latent), (n, n_classes) and (n, k)
        Embeddings, and their class and cluster, one-hot.

    Returns
    -------
    Tensor
        A scalar; a class without a row in a cluster adds nothing there.
    """
    cells = torch.einsum("nj,nc->njc", membership, classes)
    sizes = cells.sum(dim=0)
    means = torch.einsum("njc,nd->jcd", cells, z) / sizes.clamp(min=1.0).unsqueeze(2)
    apart = (means.unsqueeze(2) - means.unsqueeze(1)).square().sum(dim=3)
    present = (sizes > 0).to(z.dtype)
    return (apart * present.unsqueeze(2) * present.unsqueeze(1)).sum() / 2


def gibbs(z: Tensor, centroids: Tensor, temperature: float) -> Tensor:
    """Return the soft assignments softmax_j(-||z_i - mu_j||^2 / temperature) as (n, k)."""
    return (-squared_distances(z, centroids) / temperature).softmax(dim=1)


def student_t(z: Tensor, centroids: Tensor) -> Tensor:
    """Return the soft assignments q_ij of IDEC, Student's t with one degree of freedom."""
    q = 1.0 / (1.0 + squared_distances(z, centroids))
    return q / q.sum(dim=1, keepdim=True)


def target_distribution(q: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return IDEC's sharpened targets p_ij = (q_ij^2 / f_j) normalised, f_j = sum_i q_ij.

    Rows count in f_j by their `weight` (n,) if it is given.
    """
    sharpened = q.square() / weighed(q, weight).sum(dim=0)
    return sharpened / sharpened.sum(dim=1, keepdim=True)


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return KL(P || Q) as the mean over rows of the sum over clusters."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(dim=1).mean()


def mixture_cross_entropy(gate: Tensor, logits: Tensor, y: Tensor) -> Tensor:
    """Return the mean of -log sum_j g_ij p_j(y_i | z_i) (DMNN).

    Parameters
    ----------
    gate : Tensor of shape (n, k)
        Log weights of the clusters.
    logits : Tensor of shape (n, k, n_classes)
    y : Tensor of shape (n,), int64
    """
    log_p = logits.log_softmax(dim=2)
    chosen = log_p.gather(2, y.view(-1, 1, 1).expand(-1, log_p.shape[1], 1)).squeeze(2)
    return -(gate + chosen).logsumexp(dim=1).mean()


def expected_cross_entropy(weights: Tensor, log_p: Tensor, y: Tensor) -> Tensor:
    """Return the mean of -sum_k pi_ik log p_k(y_i): AC-TPC's L1, its sampled cluster summed out.

    Parameters
    ----------
    weights : Tensor of shape (n, k)
        The selector's probabilities.
    log_p : Tensor of shape (k, n_classes)
        Log class probabilities of each cluster's embedding.
    y : Tensor of shape (n,), int64
    """
    return -(weights * log_p[:, y].T).sum(dim=1).mean()


def entropy(log_weights: Tensor) -> Tensor:
    """Return the mean entropy of rows of log probabilities: AC-TPC's L2.

    Logs, because x log x has no finite gradient at a probability that rounds to 0.
    """
    return -(log_weights.exp() * log_weights).sum(dim=1).mean()


def embedding_separation(log_p: Tensor) -> Tensor:
    """Return minus the mean cross-entropy between the clusters' predictions: AC-TPC's L3.

    The mean is over the k (k - 1) ordered pairs, so that k = 2 works (the official program
    divides by (k - 1)(k - 2)); for k = 1 it is 0.
    """
    k = len(log_p)
    cross = -(log_p.exp() @ log_p.T)
    return -(cross.sum() - cross.diagonal().sum()) / max(k * (k - 1), 1)
