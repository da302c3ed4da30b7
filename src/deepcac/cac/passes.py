"""CAC pass by pass, so that a pass before the last can be kept (CAC v2 Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from deepcac.cac.cluster import Clustering, Separation, cluster
from deepcac.cac.kernels.rows import PreparedRows
from deepcac.types import Ints


def passes(
    rows: PreparedRows, y: Ints, labels: Ints, alpha: float, separation: Separation, max_iter: int
) -> Iterator[Clustering]:
    """Yield the clusterings at the start and after each pass, with their histories so far.

    Parameters
    ----------
    rows, y, labels, alpha, separation, max_iter
        As in `cluster`. The pass that moves nothing is yielded too.
    """
    clustering = cluster(rows, y, labels, alpha, max_iter=0, separation=separation)
    yield clustering
    while clustering.n_iter < max_iter and not clustering.converged:
        step = cluster(rows, y, clustering.labels, alpha, max_iter=1, separation=separation)
        clustering = _joined(clustering, step)
        yield clustering


def choose_pass(candidates: Iterator[Clustering], loss: Callable[[Ints], float]) -> Clustering:
    """Return the clustering with the least loss, the first one on ties.

    Parameters
    ----------
    candidates : iterator of Clustering
    loss : callable
        From labels (n,) to the loss.
    """
    best, chosen = np.inf, next(candidates)
    for clustering in chain([chosen], candidates):
        now = (
            np.inf if clustering.converged else loss(clustering.labels)
        )  # its last pass moved nothing
        if now < best:
            best, chosen = now, clustering
    return chosen


def _joined(first: Clustering, step: Clustering) -> Clustering:
    """Return `step` with the histories of `first` put before its own."""
    return Clustering(
        labels=step.labels,
        n_iter=first.n_iter + step.n_iter,
        converged=step.converged,
        moves=np.concatenate([first.moves, step.moves]),
        cost=np.concatenate([first.cost, step.cost[1:]]),
        within=np.concatenate([first.within, step.within[1:]]),
        separation=np.concatenate([first.separation, step.separation[1:]]),
        counts=np.concatenate([first.counts, step.counts[1:]]),
    )
