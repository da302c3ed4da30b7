"""Validation scores that stop training."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import logsumexp
from torch import Tensor
from torch.nn import functional

from deepcac.types import Ids

Array = npt.NDArray[np.floating]

_RIDGE = 1e-3  # of the mean eigenvalue; keeps a cluster of few rows solvable


def average_precision(member: npt.NDArray[np.bool_], score: Array) -> float:
    """Return the area under the precision-recall curve as a sum of steps, one per distinct score.

    Parameters
    ----------
    member : ndarray of bool, shape (n,)
        True for the positive rows; at least one.
    score : ndarray of shape (n,)
    """
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(member[order])
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    precision = hits[last] / (last + 1)
    recall = hits[last] / hits[-1]
    return float(precision @ np.diff(recall, prepend=0.0))


def macro_auprc(y: Ids, score: Array) -> float:
    """Return the mean AUPRC over the classes that some, but not all, rows belong to."""
    present = [c for c in range(score.shape[1]) if 0 < np.count_nonzero(y == c) < len(y)]
    return float(np.mean([average_precision(y == c, score[:, c]) for c in present] or [0.0]))


def auprc(y: Ids, score: Array) -> float:
    """Return the AUPRC of class 1 of two, or the mean over the classes (`macro_auprc`)."""
    if score.shape[1] != 2 or y.min() == y.max():
        return macro_auprc(y, score)
    return average_precision(y == 1, score[:, 1])


def log_likelihood(y: Ids, score: Array) -> float:
    """Return the mean log probability of the rows' classes by a softmax of the scores."""
    return float((score[np.arange(len(y)), y] - logsumexp(score, axis=1)).mean())


Measure = Callable[[Ids, Array], float]


def evaluate(measure: Measure, y: Tensor, score: Tensor) -> float:
    """Return a measure of class scores (n, n_classes); NaN if one of them is not finite."""
    values = score.detach().cpu().numpy()
    return measure(y.cpu().numpy(), values) if np.isfinite(values).all() else math.nan


def probe(
    z: Tensor, y: Tensor, membership: Tensor, z_new: Tensor, membership_new: Tensor
) -> Tensor:
    """Return class scores of one linear least-squares classifier per cluster.

    A clustering stage has no classifier yet whose validation AUPRC could stop it. This one has a
    closed form, approximates the local predictors to come, and is the same for all methods.

    Parameters
    ----------
    z, y, membership : Tensor of shapes (n, latent), (n, n_classes) one-hot and (n, k) one-hot
        Training rows.
    z_new, membership_new : Tensor of shapes (m, latent) and (m, k)
        Rows to score.

    Returns
    -------
    Tensor of shape (m, n_classes)
    """
    extended = functional.pad(z, (0, 1), value=1.0)
    weighted = membership.T.unsqueeze(2) * extended
    gram = (weighted.mT @ extended).cpu().double()  # some devices have no float64
    # Relative to the size of the latents; the lower bound is for a cluster without rows.
    ridge = _RIDGE * gram.diagonal(dim1=1, dim2=2).mean(dim=1).clamp(min=1e-6)
    gram += ridge.view(-1, 1, 1) * torch.eye(gram.shape[1], dtype=gram.dtype)
    weights = torch.linalg.solve(gram, (weighted.mT @ y).cpu().double()).to(z)
    scores = torch.einsum("ni,kic->nkc", functional.pad(z_new, (0, 1), value=1.0), weights)
    return (membership_new.unsqueeze(2) * scores).sum(dim=1)
