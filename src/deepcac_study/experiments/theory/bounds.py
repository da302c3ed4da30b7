"""Numerical bounds of the papers' theorems: losses, Theorem 1's terms, cost and growth."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.cac.cluster import cluster
from deepcac.types import Floats, Ints


@dataclass(frozen=True)
class Sandwich:
    """A loss with its lower and upper bound.

    Attributes
    ----------
    lower, loss, upper : float
        Sums over the rows.
    """

    lower: float
    loss: float
    upper: float


def largest_rise(cost: Floats) -> float:
    """Return the largest rise of a cost curve between passes; 0 if it never rises.

    Theorem 2 of CAC v1: every move lowers the cost.
    """
    return float(np.maximum(np.diff(cost), 0.0).max(initial=0.0))


def lloyd_costs(X: Floats, y: Ints, labels: Ints, alpha: float, *, k: int, passes: int) -> Floats:
    """Return the cost of CAC before and after each pass of Lloyd's kind: all rows move at once.

    Every row goes to the cluster with the least ``||x - mu_j||^2 - alpha s_j``; centroids change
    only after the pass (CAC v2 Remark 1). No theorem guarantees that this lowers the cost.

    Parameters
    ----------
    X, y, labels : ndarray of shape (n, d), (n,) and (n,)
        Rows, classes 0 and 1, and the clusters to start from.
    alpha : float
        Weight of the separation.
    k, passes : int
        Number of clusters, and the most passes; fewer at convergence.
    """
    costs = []
    for _ in range(passes):
        costs.append(float(cluster(X, y, labels, alpha, max_iter=0, n_clusters=k).cost[0]))
        distance = np.stack([_lloyd_distance(X, y, labels == j, alpha) for j in range(k)])
        moved = distance.argmin(axis=0)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return np.array(costs)


def _lloyd_distance(X: Floats, y: Ints, members: npt.NDArray[np.bool_], alpha: float) -> Floats:
    """Return squared distances to a cluster, less alpha times its separation."""
    if not members.any():
        return np.full(len(X), np.inf)
    means = [X[members & (y == c)].mean(axis=0) for c in (0, 1) if (members & (y == c)).any()]
    separation = ((means[0] - means[-1]) ** 2).sum()
    return ((X - X[members].mean(axis=0)) ** 2).sum(axis=1) - alpha * separation


def growth_exponent(sizes: Floats, seconds: Floats) -> float:
    """Return b of the fit seconds = a * sizes^b; Theorem 3 of CAC v1 says 1 for n, d and k."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def log_loss_sandwich(X: Floats, y: Ints, beta: Floats) -> Sandwich:
    """Bound the log loss by the class centroids (CAC v1 Theorem 4, DeepCAC Theorem 2).

    ``C1 - (C3 b.mu+ - C4 b.mu-) <= loss <= C2 - (C3 b.mu+ - C4 b.mu-)`` with C1 = N ln 2,
    C2 = N ln(1 + e^c) - N c / 2, C3 = N+ / 2, C4 = N- / 2 and c = max |b.x|.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; the theorem has no intercept, so pass it as a column of ones.
    y : ndarray of shape (n,)
        0 or 1.
    beta : ndarray of shape (d,)
        Any coefficients, fitted or not.
    """
    score = X @ beta
    margin = np.where(y == 1, score, -score)
    return _sandwich(-margin)


def am_softmax_sandwich(
    Z: Floats, y: Ints, W: Floats, *, s: float = 30.0, m: float = 0.4
) -> Sandwich:
    """Bound the AM-softmax loss of two classes by the class centroids (DeepCAC Theorem 3).

    With x_i = s m - s z_i.(w_y - w_other) the loss is sum_i ln(1 + e^{x_i}), so the chord and
    the tangent of Theorem 2 hold here too: the bounds are N ln 2 + sum x / 2 below and
    N (ln(1 + e^c) - c / 2) + sum x / 2 above, c = max |x_i|, and sum x = N s m - s (w+ - w-).
    (N+ mu+ - N- mu-). `printed_am_softmax_bounds` gives the paper's own constants.

    Parameters
    ----------
    Z : ndarray of shape (n, latent)
        Embeddings; normalised here.
    y : ndarray of shape (n,)
        0 or 1.
    W : ndarray of shape (2, latent)
        Class vectors; normalised here.
    s, m : float
        Scale and margin.
    """
    return _sandwich(_am_exponents(Z, y, W, s, m))


def printed_am_softmax_bounds(
    Z: Floats, y: Ints, W: Floats, *, s: float = 30.0, m: float = 0.4
) -> tuple[float, float]:
    """Return the bounds as DeepCAC Theorem 3 prints them, K1 - G (...) and K2 - G (...).

    The lower one lost a factor 1/2 before s in the proof, so that it is guaranteed only if
    (w+ - w-).(N+ mu+ - N- mu-) is not negative, or s m is at least 2 ln 2 (as with the paper's 30
    and 0.4). The upper one assumes ln(1 + e^x) < 1 + x, which is false below x = -ln(e - 1), that
    is for well-classified rows.

    Parameters
    ----------
    Z, y, W, s, m
        As for `am_softmax_sandwich`.
    """
    n = len(y)
    pull = n * s * m - _am_exponents(Z, y, W, s, m).sum()
    return float(n * (np.log(2.0) + s * m / 2.0) - pull), float(n * (1.0 + s * m) - pull)


def _am_exponents(Z: Floats, y: Ints, W: Floats, s: float, m: float) -> Floats:
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    vectors = W / np.linalg.norm(W, axis=1, keepdims=True)
    lead = unit @ (vectors[1] - vectors[0])
    return s * m - s * np.where(y == 1, lead, -lead)


def _sandwich(x: Floats) -> Sandwich:
    """Bound sum ln(1 + e^x) by the tangent at 0 and by the chord over [-max |x|, max |x|]."""
    middle, c = float(x.sum()) / 2.0, float(np.abs(x).max())
    chord = np.logaddexp(0.0, c) - c / 2.0
    return Sandwich(
        lower=len(x) * float(np.log(2.0)) + middle,
        loss=float(np.logaddexp(0.0, x).sum()),
        upper=len(x) * float(chord) + middle,
    )


@dataclass(frozen=True)
class RiskBound:
    """The three terms of Theorem 1 (CAC v1 section 4, DeepCAC section 5), averaged over clusters.

    Attributes
    ----------
    training : float
        Mean log loss.
    complexity : float
        Twice the empirical Rademacher complexity.
    confidence : float
        3 lambda sqrt(ln(k / delta) / (2 m_j)), the form with empirical complexities.
    """

    training: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """Upper bound of the expected log loss, with probability 1 - delta."""
        return self.training + self.complexity + self.confidence


def risk_bound(
    X: Floats,
    y: Ints,
    labels: Ints,
    betas: Floats,
    *,
    norm: float,
    delta: float = 0.05,
    draws: int = 200,
    seed: int = 0,
) -> RiskBound:
    """Evaluate Theorem 1 for logistic regressions with ||beta|| <= norm, one per cluster.

    Parameters
    ----------
    X, y : ndarray of shape (n, d) and (n,)
        Rows, classes 0 and 1.
    labels : ndarray of shape (n,)
        Cluster of each row; all zeros for no clustering.
    betas : ndarray of shape (k, d)
        Coefficients of each cluster's classifier.
    norm : float
        Radius of the class of classifiers, at least the largest ||beta||.
    delta : float
        Probability that the bound fails.
    draws, seed : int
        Random signs for the empirical Rademacher complexity.

    Returns
    -------
    RiskBound
        Terms weighted by the clusters' shares of the rows.
    """
    rng = np.random.default_rng(seed)
    cluster_ids = np.unique(labels)
    terms = np.zeros(3)
    for j in cluster_ids:
        rows = labels == j
        share, margin = rows.mean(), np.where(y[rows] == 1, 1.0, -1.0) * (X[rows] @ betas[j])
        largest = np.logaddexp(0.0, norm * np.linalg.norm(X[rows], axis=1).max())
        terms += share * np.array(
            [
                np.logaddexp(0.0, -margin).mean(),
                2.0 * rademacher_linear(X[rows], norm, draws, rng),
                3.0 * largest * np.sqrt(np.log(len(cluster_ids) / delta) / (2.0 * rows.sum())),
            ]
        )
    return RiskBound(*terms.tolist())


def rademacher_linear(X: Floats, norm: float, draws: int, rng: np.random.Generator) -> float:
    """Estimate the empirical Rademacher complexity of x -> b.x with ||b|| <= norm.

    It is (norm / m) E ||sum_i sigma_i x_i||, since the supremum is attained along the sum. The log
    loss is 1-Lipschitz in b.x, so by contraction its complexity is no larger.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Rows.
    norm : float
        Radius of the class.
    draws : int
        Number of sign vectors.
    rng : numpy.random.Generator
    """
    signs = rng.integers(0, 2, size=(draws, len(X))) * 2.0 - 1.0
    return float(norm * np.linalg.norm(signs @ X, axis=1).mean() / len(X))
