"""GRASP: knowledge of similar rows, by a graph over the clusters of a batch (Zhang 2021)."""

from dataclasses import dataclass
from itertools import count

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.training import TrainingStep, train
from deepcac.nn.layers.centroids import cluster_centres, kmeans_start, nearest, one_hot, weighed
from deepcac.nn.layers.networks import AnyAutoencoder, Prediction

NEIGHBOURS = 20  # of a centre in the official program; at most k - 1 exist
LLOYD_STEPS = 10  # from the centres of the last batch, which are near


def lloyd(h: Tensor, centres: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return labels of rows `h` (n, latent) by k-means from `centres` (k, latent).

    Rows are weighted by `weight` (n,) if it is given.
    """
    labels = nearest(h, centres)
    for _ in range(LLOYD_STEPS):
        again = nearest(h, means(h, labels, centres, weight))
        if torch.equal(again, labels):
            break
        labels = again
    return labels


def means(h: Tensor, labels: Tensor, centres: Tensor, weight: Tensor | None = None) -> Tensor:
    """Return the mean of each cluster's rows; an empty cluster keeps its centre."""
    return cluster_centres(h, weighed(one_hot(labels, len(centres), h), weight), centres)


def neighbour_graph(centres: Tensor) -> Tensor:
    """Return the 0/1 adjacency of each centre to its nearest others; a single one has itself."""
    k = len(centres)
    if k == 1:
        return torch.ones_like(centres[:, :1])
    distance = torch.cdist(centres.detach(), centres.detach())
    distance.fill_diagonal_(torch.inf)
    closest = distance.topk(min(NEIGHBOURS, k - 1), largest=False).indices
    return torch.zeros_like(distance).scatter_(1, closest, 1.0)


def convolve(layer: nn.Linear, graph: Tensor, h: Tensor) -> Tensor:
    """Return A H W + b: neighbours add up, and the bias counts once."""
    return graph @ (h @ layer.weight.T) + layer.bias


class GRASPNetwork(Network):
    """Encoder, graph convolutions over the centres, gated return to the row, classifier.

    Attributes
    ----------
    centres : Tensor of shape (k, latent)
        Centres of the last batch, or of all training rows.
    linked : Tensor of bool
        Whether the graph links neighbours; in the first epoch it is the identity.
    """

    centres: Tensor
    linked: Tensor

    def __init__(
        self, autoencoder: AnyAutoencoder, k: int, latent: int, n_classes: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.autoencoder = autoencoder
        self.first, self.second = nn.Linear(latent, latent), nn.Linear(latent, latent)
        self.weigh_message, self.weigh_row = nn.Linear(latent, 1), nn.Linear(latent, 1)
        # The official batch norm cannot train on a batch of one row.
        self.norm, self.head = nn.LayerNorm(latent), nn.Linear(latent, n_classes)
        self.register_buffer("centres", torch.zeros(k, latent))
        self.register_buffer("linked", torch.tensor(False))

    def answer(self, h: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
        """Return class scores (n, n_classes) and the chosen cluster (n, k) of latents `h`."""
        # A buffer, so that the best epoch is restored with the graph that it was trained with.
        graph = neighbour_graph(centres) if self.linked else torch.eye(len(centres)).to(h)
        knowledge = convolve(self.first, graph, centres).relu()
        knowledge = convolve(self.second, graph, knowledge).relu()
        likeness = (h @ centres.T).relu()
        if self.training:
            choice = functional.gumbel_softmax(likeness, hard=True)
        else:
            choice = one_hot(likeness.argmax(dim=1), len(centres), h)
        message = choice @ knowledge
        row_weight, other = self.weigh_row(h).sigmoid(), self.weigh_message(message).sigmoid()
        share = other / (row_weight + other)
        mixed = self.norm(share * message + (1 - share) * h)
        return self.head(mixed), choice

    def predict(self, x: Tensor) -> Prediction:
        """Answer with the centres of all training rows and no noise."""
        h = self.autoencoder.encode(x)
        logits, choice = self.answer(h, self.centres)
        return Prediction(h, choice, logits, logits.softmax(dim=1))


@dataclass(kw_only=True, eq=False, repr=False)
class GRASPClassifier(DeepClassifier):
    """GRASP on the shared encoder (Srivastava et al. 2021, DeepCAC, section 8).

    In training, each batch is clustered by k-means from the last batch's centres. A prediction
    uses the centres of all training rows and the most similar cluster, so it depends neither on
    chance nor on the other rows (the official program clusters the batch at hand and keeps its
    Gumbel noise). As in the official program, the graph of the first epoch is the identity, and
    half of the row's embedding is left out in training.

    Parameters
    ----------
    n_clusters : int
        Clusters k.
    **parameters
        Those of `DeepClassifier`; the authors' rate is 1e-3, their dropout 0.5.
    """

    n_clusters: int = 3
    lr: float = 1e-3
    dropout: float = 0.5

    def _build(self) -> GRASPNetwork:
        return GRASPNetwork(
            self._make_autoencoder(), self.n_clusters, self.latent, len(self.classes_), self.dropout
        )

    def loss(self, network: GRASPNetwork, x: Tensor, y: Tensor) -> Tensor:
        """Return the cross-entropy of a batch, and store its centres for the next one."""
        h = network.autoencoder.encode(x)
        centres = means(h, lloyd(h.detach(), network.centres), network.centres)
        network.centres.copy_(centres.detach())
        return functional.cross_entropy(network.answer(network.dropout(h), centres)[0], y)

    def _train(self, network: GRASPNetwork, train_rows: TensorRows, validation: TensorRows) -> None:
        x = train_rows.x

        def score() -> float:
            h = in_chunks(network.autoencoder.encode, x)
            labels = lloyd(h, network.centres, train_rows.weight)
            network.centres.copy_(means(h, labels, network.centres, train_rows.weight))
            return self._score(network, validation)

        epochs = count()

        def link() -> None:
            network.linked.fill_(next(epochs) > 0)

        with self._timed("train"):
            h = in_chunks(network.autoencoder.encode, x)
            network.centres.copy_(
                kmeans_start(h, self.n_clusters, self.random_state, train_rows.weight)[0]
            )
            decoder = set(network.autoencoder.parameters()) - set(
                network.autoencoder.encoding_parameters()
            )
            learned = [p for p in network.parameters() if p not in decoder]
            step = TrainingStep(lambda rows: self.loss(network, *train_rows.batch(rows)), learned)
            budget = self.budget(len(x))
            curve = train(network, [step], len(x), score, budget, before_epoch=link)
            self._record("train", curve)
