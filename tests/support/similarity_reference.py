"""The formulas of supervised k-means written out, one pair and one partition at a time."""

import numpy as np
from qpsolvers import solve_qp

from deepcac.similarity import ItemSet


def pair_vector(items, i, j):
    """psi_ij: products of node features, then the explicit features of the pair."""
    parts = []
    if items.nodes is not None:
        rows = items.nodes if isinstance(items.nodes, np.ndarray) else items.nodes.toarray()
        parts.append(rows[i] * rows[j])
    if items.pairs is not None:
        pairs = items.pairs if isinstance(items.pairs, np.ndarray) else items.pairs.toarray()
        total = np.zeros(pairs.shape[1])
        for first, second, features in zip(items.first, items.second, pairs, strict=True):
            if {first, second} == {i, j}:
                total += features
        parts.append(total)
    return np.concatenate(parts)


def psi(items, labels):
    """Equation 13: pairs of a cluster, both ways and with themselves, over its size."""
    total = np.zeros(items.n_features)
    for c in np.unique(labels):
        members = np.flatnonzero(labels == c)
        for i in members:
            for j in members:
                total += pair_vector(items, i, j) / len(members)
    return total


def similarity(items, weights):
    return np.array(
        [
            [weights @ pair_vector(items, i, j) for j in range(items.n_items)]
            for i in range(items.n_items)
        ]
    )


def delta(truth, found):
    """Equation 18."""
    truth, found = np.asarray(truth), np.asarray(found)
    agreement = 0.0
    for c in np.unique(truth):
        for d in np.unique(found):
            both = ((truth == c) & (found == d)).sum()
            agreement += both**2 / ((truth == c).sum() * (found == d).sum())
    k = max(len(np.unique(truth)), len(np.unique(found)))
    return 100.0 * (1.0 - agreement / k)


def partitions(m, k):
    """All partitions of m items into k clusters, none empty, as labels."""

    def grow(labels, used):
        if len(labels) == m:
            if used == k:
                yield np.array(labels)
            return
        for c in range(min(used + 1, k)):
            yield from grow([*labels, c], max(used, c + 1))

    return grow([], 0)


def value(K, labels):
    """Equation 7."""
    return sum(K[np.ix_(labels == c, labels == c)].sum() / (labels == c).sum() for c in set(labels))


def best(K, k):
    """The partition that maximises equation 7, and its value."""
    return max((value(K, p), tuple(p)) for p in partitions(len(K), k))


def primal(items, truths, C, *, nonnegative=False):
    """Weights and slacks of optimization problem 1 with every constraint written out."""
    n, N = len(items), items[0].n_features
    rows, bounds = [], []
    for i, (x, y) in enumerate(zip(items, truths, strict=True)):
        right = psi(x, y)
        for other in partitions(x.n_items, len(np.unique(y))):
            slack = np.zeros(n)
            slack[i] = 1.0
            rows.append(-np.concatenate([right - psi(x, other), slack]))
            bounds.append(-delta(y, other))
    # A tiny weight on the slacks keeps the program strictly convex for DAQP.
    P = np.diag(np.r_[np.ones(N), np.full(n, 1e-9)])
    q = np.r_[np.zeros(N), np.full(n, C / n)]
    lower = np.r_[np.full(N, 0.0 if nonnegative else -np.inf), np.zeros(n)]
    found = solve_qp(P, q, np.array(rows), np.array(bounds), lb=lower, solver="daqp")
    w, slack = found[:N], found[N:]
    return w, slack, 0.5 * w @ w + C / n * slack.sum()


def random_items(rng, m, *, nodes=2, pairs=0, sparse_nodes=None):
    """Items with normal node features and pair features on about half of the pairs."""
    rows = rng.normal(size=(m, nodes)) if nodes else None
    if rows is not None and sparse_nodes is not None:
        rows = sparse_nodes(np.where(rng.random(rows.shape) < 0.5, rows, 0.0))
    if not pairs:
        return ItemSet(rows)
    edges = np.stack(np.triu_indices(m), axis=1)
    edges = edges[rng.random(len(edges)) < 0.5]
    return ItemSet(rows, edges=edges, pairs=rng.normal(size=(len(edges), pairs)), n_items=m)


def random_labels(rng, m, k):
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, m - k)]))


def violation(items, truth, weights, clustering):
    """H of Algorithm 1, by pairwise sums."""
    return delta(truth, clustering) - weights @ (psi(items, truth) - psi(items, clustering))
