"""ExpertNet: one expert network per cluster, trained together with the latents."""

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from deepcac.errors import DataError
from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import divergence, student_t, target_distribution
from deepcac.nn.fitting.training import TrainingStep, train
from deepcac.nn.layers.centroids import kmeans_start
from deepcac.nn.layers.networks import (
    AnyAutoencoder,
    Autoencoder,
    Prediction,
    dense,
    mean_error,
    mix,
)

SIZES = (128, 64)  # hidden layers of the encoder; the decoder mirrors them
EXPERT = (128, 64, 32, 16)  # of an expert
MOST_STEPS, EPOCHS_A_STEP = 10, 5  # steps of the experts a batch: one more every five epochs
SHARPNESS = 10.0  # of the assignment that is balanced


class DeepAutoencoder(Autoencoder):
    """Encoder d - 128 - 64 - latent with ReLU, and its mirror.

    Parameters
    ----------
    n_features, latent : int
        Columns d of the input, and units of the latent.
    """

    def __init__(self, n_features: int, latent: int) -> None:
        super().__init__(n_features, SIZES[0], latent)
        self.encoder = dense(n_features, *SIZES, latent)
        self.decoder = dense(latent, *reversed(SIZES), n_features)


class ExpertNetwork(Network):
    """Autoencoder, fixed centres, and one expert per centre.

    Attributes
    ----------
    centres : Tensor of shape (k, latent)
    """

    centres: Tensor

    def __init__(
        self, autoencoder: Any, k: int, latent: int, n_classes: int, of_probabilities: bool
    ) -> None:
        super().__init__()
        self.autoencoder, self.of_probabilities = autoencoder, of_probabilities
        self.experts = nn.ModuleList(dense(latent, *EXPERT, n_classes) for _ in range(k))
        self.register_buffer("centres", torch.zeros(k, latent))

    def assign(self, z: Tensor) -> Tensor:
        """Return the soft assignments q of latents, shape (n, k)."""
        return student_t(z, self.centres)

    def answers(self, z: Tensor) -> Tensor:
        """Return the logits of every expert, shape (n, k, n_classes)."""
        return torch.stack([expert(z) for expert in self.experts], dim=1)

    def predict(self, x: Tensor) -> Prediction:
        """Answer with sum_j q_j times the experts' logits, or times their probabilities."""
        z = self.autoencoder.encode(x)
        prediction = mix(z, self.assign(z), self.answers(z))
        if self.of_probabilities:
            return prediction
        return prediction._replace(probability=prediction.logits.softmax(dim=1))


def weighted_cross_entropy(q: Tensor, logits: Tensor, y: Tensor) -> Tensor:
    """Return the mean over rows of sum_j q_ij times the cross-entropy of expert j.

    Parameters
    ----------
    q, logits, y : Tensor of shapes (n, k), (n, k, n_classes) and (n,)
    """
    log_p = logits.log_softmax(dim=2)
    chosen = log_p.gather(2, y.view(-1, 1, 1).expand(-1, q.shape[1], 1)).squeeze(2)
    return -(q * chosen).sum(dim=1).mean()


def imbalance(q: Tensor) -> Tensor:
    """Return the distance of sqrt(P) from sqrt(uniform), P the mean of softmax(10 q) over rows."""
    share = (SHARPNESS * q).softmax(dim=1).mean(dim=0)
    return (share.sqrt() - len(share) ** -0.5).norm()


@dataclass(kw_only=True, eq=False, repr=False)
class ExpertNetClassifier(DeepClassifier):
    """Experts weighed by a soft clustering of the latents (Srivastava and Rajan 2023).

    The autoencoder is pre-trained on reconstruction, and the centres are those of k-means on its
    latents; they never move. For each batch the experts take min(10, 1 + epoch / 5) steps on the
    latents as they stand, by cross-entropy weighted with q; then the encoder takes one step on
    alpha * reconstruction + beta * KL(P || Q) + gamma * weighted cross-entropy + delta * imbalance.
    The targets P are those of DEC. At last only the experts are trained. Each stage stops by its
    validation AUPRC. The term of significance, which the authors' first runs switch off, is left
    out.

    Parameters
    ----------
    n_clusters : int
        Clusters k.
    alpha, beta, gamma, delta : float
        Weights of the terms.
    answer : {"logits", "probabilities"}
        What is averaged with weights q: the experts' logits (the authors), or probabilities.
    **parameters
        Those of `DeepClassifier`. `hidden` and `local_hidden` are not used: layers are the
        authors', d-128-64-latent and latent-128-64-32-16-classes. Sequences are not accepted.

    References
    ----------
    Srivastava and Rajan, "ExpertNet: A Deep Learning Approach to Combined Risk Modeling and
    Subtyping in Intensive Care Units", IEEE Journal of Biomedical and Health Informatics, 2023.
    """

    n_clusters: int = 3
    latent: int = 20
    alpha: float = 1.0
    beta: float = 2.0
    gamma: float = 10.0
    delta: float = 0.1
    answer: str = "logits"
    batch_size: int | None = 512
    patience: int = 14

    def _build(self) -> ExpertNetwork:
        return ExpertNetwork(
            self._make_autoencoder(),
            self.n_clusters,
            self.latent,
            len(self.classes_),
            self.answer == "probabilities",
        )

    def _make_autoencoder(self) -> DeepAutoencoder:
        if len(self._shape) > 1:
            raise DataError("ExpertNetClassifier reads static rows (n, d); summarise sequences")
        return DeepAutoencoder(self._shape[0], self.latent)

    def _start(
        self,
        network: Network,
        train: TensorRows,
        validation: TensorRows,
        pretrained: AnyAutoencoder | None,
    ) -> None:
        """Pre-train an autoencoder; a given one has other layers and is ignored."""
        fits = isinstance(pretrained, DeepAutoencoder)
        super()._start(network, train, validation, pretrained if fits else None)

    def loss(self, network: ExpertNetwork, x: Tensor, y: Tensor, target: Tensor) -> Tensor:
        """Return the encoder's loss of a batch."""
        z = network.autoencoder.encode(x)
        q = network.assign(z)
        return (
            self.alpha * mean_error(network.autoencoder, x, z)
            + self.beta * divergence(target, q)
            + self.gamma * weighted_cross_entropy(q, network.answers(z), y)
            + self.delta * imbalance(q)
        )

    def _train(
        self, network: ExpertNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        with self._timed("clustering"):
            z = in_chunks(network.autoencoder.encode, train_rows.x)
            centres, _ = kmeans_start(z, self.n_clusters, self._seed, self._weight)
            network.centres.copy_(centres)
            self._train_together(network, train_rows, validation)
        with self._timed("local"):
            self._train_experts(network, train_rows, validation)

    def _train_together(
        self, network: ExpertNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train encoder and centres, with steps of the experts before each step of theirs."""
        x, y = train_rows.x, train_rows.y
        target = x.new_empty(len(x), self.n_clusters)
        budget = self.budget(len(x))
        experts = list(chain(*(expert.parameters() for expert in network.experts)))
        optimiser = budget.optimiser(experts)
        epoch = 0

        def refresh() -> None:
            nonlocal epoch
            epoch += 1
            z = in_chunks(network.autoencoder.encode, x)
            target.copy_(target_distribution(network.assign(z), train_rows.weight))

        def encoder_loss(rows: Tensor) -> Tensor:
            with torch.no_grad():
                z = network.autoencoder.encode(x[rows])
                q = network.assign(z)
            for _ in range(steps_of_experts(epoch)):
                optimiser.step(weighted_cross_entropy(q, network.answers(z), y[rows]))
            return self.loss(network, x[rows], y[rows], target[rows])

        learned = list(network.autoencoder.parameters())
        curve = train(
            network,
            [TrainingStep(encoder_loss, learned)],
            len(x),
            lambda: self._score(network, validation),
            budget,
            before_epoch=refresh,
        )
        self._record("clustering", curve)

    def _train_experts(
        self, network: ExpertNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train the experts alone, on frozen latents."""
        z = in_chunks(network.autoencoder.encode, train_rows.x)
        q = network.assign(z)
        latents = replace(train_rows, x=z)

        def loss(rows: Tensor) -> Tensor:
            batch, labels = latents.batch(rows)
            return weighted_cross_entropy(q[rows], network.answers(batch), labels)

        curve = train(
            network,
            [TrainingStep(loss, list(network.experts.parameters()))],
            len(z),
            lambda: self._score(network, validation),
            self.budget(len(z)),
        )
        self._record("local", curve)


def steps_of_experts(epoch: int) -> int:
    """Return how many steps the experts take on a batch; epochs are counted from 1."""
    return min(MOST_STEPS, 1 + (epoch - 1) // EPOCHS_A_STEP)
