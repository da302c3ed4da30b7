"""Cluster, then predict: the stages that KM-Z, DCN-Z, IDEC-Z and DeepCAC share."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.metrics import silhouette_score
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import cluster_means, gibbs
from deepcac.nn.fitting.stopping import evaluate, probe
from deepcac.nn.fitting.training import Budget, TrainingStep, train
from deepcac.nn.layers.centroids import kmeans_start, move_online, nearest, one_hot, weighed
from deepcac.nn.layers.networks import AnyAutoencoder, LocalPredictors, Prediction, mix

LEAST_SPREAD = 1e-5  # of the largest latent; what differs less is rounding
WATCHED_ROWS = 500  # a silhouette costs their square


class CentroidNetwork(Network):
    """Autoencoder, centroids in its latent space, and one local predictor per cluster.

    Parameters
    ----------
    autoencoder : Autoencoder or SequenceAutoencoder
    predictors : LocalPredictors
        One per cluster.
    latent : int
        Size of the latent.
    weigh : callable or None
        From latents (n, latent) and centroids to the weights (n, k) by which the predictors are
        mixed; None takes the nearest.

    Attributes
    ----------
    centroids : Parameter of shape (k, latent)
        Trained by gradient in some methods only.
    counts : Tensor of shape (k,)
        Rows that each centroid has seen (Srivastava et al. 2021, DeepCAC, appendix 12).
    """

    counts: Tensor

    def __init__(
        self,
        autoencoder: AnyAutoencoder,
        predictors: LocalPredictors,
        latent: int,
        weigh: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> None:
        super().__init__()
        self.autoencoder, self.predictors = autoencoder, predictors
        self.weigh = weigh
        self.centroids = nn.Parameter(torch.zeros(predictors.k, latent), requires_grad=False)
        self.register_buffer("counts", torch.zeros(predictors.k))

    def membership(self, z: Tensor) -> Tensor:
        """Return the one-hot nearest centroid of each row."""
        return one_hot(nearest(z, self.centroids), self.predictors.k, z)

    def predict(self, x: Tensor) -> Prediction:
        """Answer with the predictor of the nearest centroid, or with the soft mixture."""
        z = self.autoencoder.encode(x)
        weights = self.weigh(z, self.centroids) if self.weigh else self.membership(z)
        return mix(z, weights, self.predictors(z))


@dataclass(kw_only=True, eq=False, repr=False)
class CentroidClassifier(DeepClassifier):
    """Base of the methods that cluster the latents and then train local predictors.

    Parameters
    ----------
    n_clusters : int
        Clusters k.
    assignment : {"hard", "soft"}
        Predict by the nearest centroid (the papers), or by the mixture of all predictors with
        weights softmax(-||z - mu||^2 / temperature) (an extension of ours).
    temperature : float
        Temperature of the soft assignment.
    **parameters
        Those of `DeepClassifier`.
    """

    n_clusters: int = 3
    assignment: str = "hard"
    temperature: float = 1.0

    def _build(self) -> CentroidNetwork:
        return CentroidNetwork(
            self._make_autoencoder(),
            self._make_predictors(self.n_clusters),
            self.latent,
            self._weigh(),
        )

    def _weigh(self) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Return how predictions are mixed; None for the nearest centroid."""
        return partial(gibbs, temperature=self.temperature) if self.assignment == "soft" else None

    def _train(
        self, network: CentroidNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        with self._timed("clustering"):
            self._place_centroids(network, train_rows)
            self._cluster(network, train_rows, validation)
        with self._timed("local"):
            self._train_predictors(network, train_rows, validation)

    def _place_centroids(self, network: CentroidNetwork, rows: TensorRows) -> None:
        """Set the centroids by k-means on the latents, and the counts to its cluster sizes."""
        z = in_chunks(network.autoencoder.encode, rows.x)
        centroids, labels = kmeans_start(z, self.n_clusters, self.random_state, rows.weight)
        network.centroids.data.copy_(centroids)
        member = one_hot(labels, self.n_clusters, z)
        network.counts.copy_(weighed(member, rows.weight).sum(dim=0))

    def _cluster(self, network: Any, train_rows: TensorRows, validation: TensorRows) -> None:
        """Train the latents and the centroids together; KM-Z leaves both as they are."""

    def _train_latents(
        self,
        loss: Callable[[Tensor, Tensor], Tensor],
        learned: list[nn.Parameter],
        network: CentroidNetwork,
        train_rows: TensorRows,
        validation: TensorRows,
    ) -> None:
        """Lower a loss of (x, y) batch by batch, moving the centroids after every step."""

        @torch.no_grad()
        def move(rows: Tensor) -> None:
            z = network.autoencoder.encode(train_rows.batch(rows)[0])
            moved, counts = self._move(network, z, network.membership(z))
            network.centroids.copy_(moved)
            network.counts.copy_(counts)

        curve = train(
            network,
            [TrainingStep(lambda rows: loss(*train_rows.batch(rows)), learned)],
            len(train_rows),
            lambda: self._clustering_score(network, train_rows, validation),
            self._latent_budget(len(train_rows)),
            before_epoch=lambda: self._watch(network, validation),
            after_batch=move,
        )
        self._record("clustering", curve)

    def _latent_budget(self, n_rows: int) -> Budget:
        """Return the budget of training the latents; a hook for variants."""
        return self.budget(n_rows)

    def _watch(self, network: CentroidNetwork, validation: TensorRows) -> None:
        """Append the silhouette of the first validation rows to the history; 0 for one cluster."""
        z = in_chunks(network.autoencoder.encode, validation.x[:WATCHED_ROWS])
        labels = nearest(z, network.centroids).cpu().numpy()
        apart = 1 < len(np.unique(labels)) < len(labels) and bool(z.isfinite().all())
        value = float(silhouette_score(z.cpu().numpy(), labels)) if apart else 0.0
        self.history_.setdefault("silhouette", []).append(value)

    def _move(
        self, network: CentroidNetwork, z: Tensor, membership: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return centroids and counts after a batch; a hook for variants."""
        return move_online(network.centroids, network.counts, z, membership)

    def _train_predictors(
        self, network: CentroidNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train the k local predictors on the frozen, standardised latents of their clusters."""
        z = in_chunks(network.autoencoder.encode, train_rows.x)
        z_new = in_chunks(network.autoencoder.encode, validation.x)
        membership, membership_new = network.membership(z), network.membership(z_new)
        centre, spread = self._latent_scale(z)
        z, z_new = (z - centre) / spread, (z_new - centre) / spread

        def loss(rows: Tensor) -> Tensor:
            # The mean of each cluster on its own: as if every predictor were trained alone.
            batch_membership, batch = membership.index_select(0, rows), z.index_select(0, rows)
            logits = (batch_membership.unsqueeze(2) * network.predictors(batch)).sum(dim=1)
            labels = train_rows.y.index_select(0, rows)
            errors = functional.cross_entropy(logits, labels, reduction="none")
            return cluster_means(errors, batch_membership)

        best, pooled = OwnBest(network.predictors), list[float]()

        def score() -> float:
            with torch.no_grad():
                answer = mix(z_new, membership_new, network.predictors(z_new)).probability
            pooled.append(evaluate(self._measure, validation.y, answer))
            if not math.isfinite(pooled[-1]):
                return math.nan
            return best.update(self._local_scores(validation.y, answer, membership_new))

        budget = self.budget(len(train_rows))
        curve = train(
            network,
            [TrainingStep(loss, list(network.predictors.parameters()))],
            len(train_rows),
            score,
            budget,
        )
        if budget.restore or curve.diverged:
            best.restore()
        network.predictors.unscale(centre, spread)
        curve.score[: len(pooled)] = pooled
        self._record("local", curve)

    def _latent_scale(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and sd of the latents (n, latent); 1 where they hardly differ.

        Without this, the weights of a clustering loss would decide how long the latents are, and
        so how fast local predictors with a fixed learning rate learn from them.
        """
        spread = z.std(dim=0, correction=0)
        return z.mean(dim=0), torch.where(spread > LEAST_SPREAD * z.abs().max(), spread, 1.0)

    def _local_scores(self, y: Tensor, answer: Tensor, membership: Tensor) -> list[float]:
        """Return the validation score of each local predictor, by which it stops."""
        cluster, measure = membership.argmax(dim=1), partial(evaluate, self._measure)
        return cluster_scores(measure, y, answer, cluster, membership.shape[1])

    def _clustering_score(
        self, network: CentroidNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> float:
        """Return the validation score of a clustering that has no trained predictors yet."""
        z = in_chunks(network.autoencoder.encode, train_rows.x)
        z_new = in_chunks(network.autoencoder.encode, validation.x)
        classes = one_hot(train_rows.y, len(self.classes_), z)
        member = weighed(network.membership(z), train_rows.weight)
        scores = probe(z, classes, member, z_new, network.membership(z_new))
        return evaluate(self._measure, validation.y, scores)


class OwnBest:
    """Stores each local predictor's parameters at the epoch that was best for its cluster.

    Predictors that are trained together but share no parameters reach their best at
    different times; one stop for all would end some too early and others too late.

    Parameters
    ----------
    predictors : LocalPredictors
        The predictors that are trained.

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
        """Store the predictors that improved; return the mean of the best scores.

        The mean rises exactly when a predictor improved, so training goes on until none does.
        """
        for j, score in enumerate(scores):
            if score > self.best[j]:
                self.best[j], self._best_states[j] = score, self._copy(j)
        return sum(self.best) / len(self.best)

    def restore(self) -> None:
        """Load the best parameters into every predictor."""
        for j, state in enumerate(self._best_states):
            for current, best in zip(self.predictors.member(j), state, strict=True):
                current.copy_(best)

    def _copy(self, j: int) -> list[Tensor]:
        """Return copies of the parameters of cluster `j`'s predictor."""
        return [value.clone() for value in self.predictors.member(j)]


def cluster_scores(
    measure: Callable[[Tensor, Tensor], float], y: Tensor, answer: Tensor, cluster: Tensor, k: int
) -> list[float]:
    """Return the score of each cluster's rows, or of all rows if the cluster lacks a class.

    Parameters
    ----------
    measure : callable
        From class ids (n,) and class scores (n, n_classes) to a score.
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
