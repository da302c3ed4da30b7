"""Early stopping of predictors that are trained side by side, each by its own cluster."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from deepcac.nn.layers.networks import LocalPredictors


class OwnBest:
    """Keeps each local predictor as it stood in the epoch that was best for its own cluster.

    Predictors that are trained together but know nothing of each other reach their best at
    different times; one stop for all would end some too early and others too late.

    Parameters
    ----------
    predictors : LocalPredictors
        What is trained.

    Attributes
    ----------
    best : list of float, length k
        Best score of each predictor so far.
    """

    def __init__(self, predictors: LocalPredictors) -> None:
        self.predictors = predictors
        self.best = [-math.inf] * predictors.k
        self._best_states = [self._copy(j) for j in range(predictors.k)]

    def update(self, scores: list[float]) -> float:
        """Keep what is better than before; return the mean of the best scores.

        The mean rises exactly when a predictor improved, so training goes on until none does.
        """
        for j, score in enumerate(scores):
            if score > self.best[j]:
                self.best[j], self._best_states[j] = score, self._copy(j)
        return sum(self.best) / len(self.best)

    def restore(self) -> None:
        """Give every predictor its best state."""
        for j, state in enumerate(self._best_states):
            for current, best in zip(self.predictors.member(j), state, strict=True):
                current.copy_(best)

    def _copy(self, j: int) -> list[Tensor]:
        return [value.clone() for value in self.predictors.member(j)]


def cluster_scores(
    measure: Callable[[Tensor, Tensor], float], y: Tensor, answer: Tensor, cluster: Tensor, k: int
) -> list[float]:
    """Return the score of each cluster's rows; of all rows where a cluster lacks a class.

    Parameters
    ----------
    measure : callable
        Of class ids (n,) and class scores (n, n_classes).
    y, answer, cluster : Tensor of shapes (n,), (n, n_classes) and (n,)
        Validation rows.
    k : int
        Number of clusters.
    """
    pooled = measure(y, answer)
    scores = []
    for j in range(k):
        members = cluster == j
        telling = len(torch.unique(y[members])) > 1
        scores.append(measure(y[members], answer[members]) if telling else pooled)
    return scores
