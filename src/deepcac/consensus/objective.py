r"""The EC3 objective and its closed-form block updates (Chakraborty 2017).

Objects i have class distributions F^o (N, L), groups j have F^g (G, L). A group is one class of
one classifier, or one cluster of one clustering. With the membership K^m (N, G) and the
co-occurrence K^c (N, N),

.. math::
    \frac{\alpha}{2} \sum_{ij} K^m_{ij} \|F^o_i - F^g_j\|^2
    + \frac{\beta}{2} \sum_{ij} K^c_{ij} \|F^o_i - F^o_j\|^2
    + \gamma \|F^o - Y^o\|^2 + \delta \|F^g - Y^g\|^2

is convex, and each block has a closed form that keeps rows non-negative with sum 1. K^c is
K^m K^mT scaled to be doubly stochastic, so it has rank G and is never formed: the N x N system
is solved through a G x G one (Woodbury).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from deepcac.errors import DataError
from deepcac.types import Floats, Ints


@dataclass(frozen=True)
class Weights:
    """Weights of the four terms, as the papers' programs set them (their sum is 1)."""

    alpha: float = 0.25
    beta: float = 0.35
    gamma: float = 0.35
    delta: float = 0.05


def membership(partitions: Sequence[Ints]) -> sparse.csr_array:
    """Return the membership matrix K^m, one column per group.

    Parameters
    ----------
    partitions : sequence of ndarray of shape (n,), int
        Group of each object in each partition; -1 for none (noise of DBSCAN).

    Returns
    -------
    csr_array of shape (n, groups)
        1 where an object belongs to a group; groups without objects are left out.
    """
    n = len(partitions[0])
    columns = []
    for partition in partitions:
        rows = np.flatnonzero(partition >= 0)
        _, group = np.unique(partition[rows], return_inverse=True)
        shape = (n, int(group.max(initial=-1)) + 1)
        columns.append(sparse.csr_array((np.ones(len(rows)), (rows, group)), shape=shape))
    return sparse.hstack(columns, format="csr")


def doubly_stochastic(K: sparse.csr_array, tol: float = 1e-12, max_iter: int = 1000) -> Floats:
    """Return r (n,) so that diag(r) K K^T diag(r) has rows and columns of sum 1 (Sinkhorn)."""
    if K.shape[0] == 0 or (K.sum(axis=1) == 0).any():
        raise DataError("an object belongs to no group; every classifier must answer every row")
    r = np.ones(K.shape[0])
    for _ in range(max_iter):
        sums = r * (K @ (K.T @ r))
        if np.abs(sums - 1.0).max() < tol:
            break
        r /= np.sqrt(sums)  # the root keeps the scaling of rows and columns equal
    return r


class Consensus:
    """Minimise the objective by block coordinate descent.

    Parameters
    ----------
    K : csr_array of shape (n, groups)
        Memberships.
    votes : ndarray of shape (n, classes)
        Y^o, the share of classifiers that vote for each class.
    weights : Weights
        Weights of the four terms.

    Attributes
    ----------
    objects, groups : ndarray of shape (n, classes) and (groups, classes)
        F^o and F^g; the start is Y^o and Y^g, the mean votes of each group's members.
    """

    def __init__(self, K: sparse.csr_array, votes: Floats, weights: Weights = Weights()) -> None:
        self.K, self.votes, self.weights = K, votes, weights
        self.sizes = K.sum(axis=0)
        self.group_votes = (K.T @ votes) / self.sizes[:, None]
        self.objects, self.groups = votes.copy(), self.group_votes.copy()
        w = weights
        self.scale = doubly_stochastic(K)
        self._diagonal = w.alpha * K.sum(axis=1) + 2.0 * w.beta + 2.0 * w.gamma
        self._low_rank = sparse.diags_array(self.scale) @ K
        inner = self._low_rank.T @ (sparse.diags_array(1.0 / self._diagonal) @ self._low_rank)
        # I - 2 beta B^T A^-1 B is positive definite, because B B^T is doubly stochastic.
        core = np.eye(K.shape[1]) - 2.0 * w.beta * inner.toarray()
        self._core = linalg.cho_factor(core)

    def update_groups(self) -> None:
        """Set F^g to its best value for the current F^o."""
        w = self.weights
        right = w.alpha * (self.K.T @ self.objects) + 2.0 * w.delta * self.group_votes
        self.groups = right / (w.alpha * self.sizes + 2.0 * w.delta)[:, None]

    def update_objects(self) -> None:
        """Set F^o to its best value for the current F^g."""
        w, B = self.weights, self._low_rank
        right = w.alpha * (self.K @ self.groups) + 2.0 * w.gamma * self.votes
        plain = right / self._diagonal[:, None]
        shared = linalg.cho_solve(self._core, B.T @ plain)
        self.objects = plain + 2.0 * w.beta * (B @ shared) / self._diagonal[:, None]

    def step(self) -> float:
        """Update both blocks; return the change of F^o, ||change|| / (n L)."""
        before = self.objects
        self.update_groups()
        self.update_objects()
        return float(np.linalg.norm(self.objects - before) / before.size)

    def value(self) -> float:
        """Return the objective at the current F^o and F^g."""
        w, F, G = self.weights, self.objects, self.groups
        squares = (F**2).sum(axis=1)
        apart = self.K.sum(axis=1) @ squares + self.sizes @ (G**2).sum(axis=1)
        apart -= 2.0 * ((self.K.T @ F) * G).sum()
        neighbours = 2.0 * (squares.sum() - ((self._low_rank.T @ F) ** 2).sum())
        return float(
            0.5 * w.alpha * apart
            + 0.5 * w.beta * neighbours
            + w.gamma * ((F - self.votes) ** 2).sum()
            + w.delta * ((G - self.group_votes) ** 2).sum()
        )
