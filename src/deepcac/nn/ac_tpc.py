"""AC-TPC: actor-critic predictive clustering (Lee & van der Schaar 2020), for one label per row."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import embedding_separation, entropy, expected_cross_entropy
from deepcac.nn.fitting.stopping import evaluate, log_likelihood
from deepcac.nn.fitting.training import TrainingStep, train
from deepcac.nn.layers.centroids import kmeans_start, nearest
from deepcac.nn.layers.networks import AnyAutoencoder, Prediction, autoencoder_for, dense, mix

OWN_HIDDEN = 32  # of the encoder d - 32 - 32 on static data
INSIDE = 1.0 - 1e-4  # an embedding is stored as its arctanh, which is infinite at 1


class ACTPCNetwork(Network):
    """Encoder, selector over the clusters, and predictor on the clusters' embeddings.

    Parameters
    ----------
    autoencoder : Autoencoder or SequenceAutoencoder
        Its encoder, followed by tanh, is the encoder.
    k, latent, hidden, n_classes : int
        Clusters and layer sizes; selector and predictor have two hidden layers.
    """

    def __init__(
        self, autoencoder: AnyAutoencoder, k: int, latent: int, hidden: int, n_classes: int
    ) -> None:
        super().__init__()
        self.autoencoder = autoencoder
        self.selector = dense(latent, hidden, hidden, k)
        self.predictor = dense(latent, hidden, hidden, n_classes)
        self.raw_embeddings = nn.Parameter(torch.zeros(k, latent))

    def encode(self, x: Tensor) -> Tensor:
        """Embed rows in (-1, 1)."""
        return self.autoencoder.encode(x).tanh()

    def cluster_logits(self) -> Tensor:
        """Return the class scores g(e_k) of every cluster, shape (k, n_classes)."""
        return self.predictor(self.raw_embeddings.tanh())

    def log_weights(self, x: Tensor) -> Tensor:
        """Return the selector's log probabilities, shape (n, k)."""
        return self.selector(self.encode(x)).log_softmax(dim=1)

    def predict(self, x: Tensor) -> Prediction:
        """Answer with the expectation over the selector (the official program draws at random)."""
        z = self.encode(x)
        logits = self.cluster_logits().expand(len(z), -1, -1)
        return mix(z, self.selector(z).softmax(dim=1), logits)


@dataclass(kw_only=True, eq=False, repr=False)
class ACTPCClassifier(DeepClassifier):
    """AC-TPC with one time step per row.

    Stages: encoder and predictor learn the labels; the predicted probabilities are clustered by
    k-means, which starts the clusters' embeddings and the selector; then critic, actor and
    embedding steps alternate on every batch. The cluster that the official program samples is
    summed out: the actor's loss has the same expected gradient and less noise.

    Parameters
    ----------
    n_clusters : int
        Clusters k, from 1 on.
    alpha, beta : float
        Weights of the selector's entropy and of the embedding separation.
    **parameters
        Those of `DeepClassifier`; the authors' rate is 1e-3. `hidden` counts the units of each
        hidden layer of selector and predictor. On static data the encoder is the method's own
        (d - 32 - 32) and no autoencoder is pre-trained (Srivastava et al. 2021, DeepCAC,
        section 8).
    """

    n_clusters: int = 3
    alpha: float = 1.0
    beta: float = 1e-3
    lr: float = 1e-3

    def _build(self) -> ACTPCNetwork:
        static = len(self._shape) == 1
        autoencoder = autoencoder_for(
            self._shape, OWN_HIDDEN if static else self.hidden, self.latent
        )
        return ACTPCNetwork(
            autoencoder, self.n_clusters, self.latent, self.hidden, len(self.classes_)
        )

    def _start(
        self,
        network: Network,
        train_rows: TensorRows,
        validation: TensorRows,
        pretrained: AnyAutoencoder | None,
    ) -> None:
        """Pretrain for tables only; networks of time series start from random weights."""
        if len(self._shape) == 2:
            super()._start(network, train_rows, validation, pretrained)

    def critic_loss(self, network: ACTPCNetwork, log_weights: Tensor, y: Tensor) -> Tensor:
        """Return L1 of a batch by its log weights (n, k), for the predictor."""
        log_p = network.cluster_logits().log_softmax(dim=1)
        return expected_cross_entropy(log_weights.exp(), log_p, y)

    def actor_loss(self, network: ACTPCNetwork, log_weights: Tensor, y: Tensor) -> Tensor:
        """Return L1 + alpha L2 of a batch, for encoder and selector."""
        return self.critic_loss(network, log_weights, y) + self.alpha * entropy(log_weights)

    def embedding_loss(self, network: ACTPCNetwork, log_weights: Tensor, y: Tensor) -> Tensor:
        """Return L1 + beta L3 of a batch, for the clusters' embeddings."""
        separation = embedding_separation(network.cluster_logits().log_softmax(dim=1))
        return self.critic_loss(network, log_weights, y) + self.beta * separation

    def _train(self, network: ACTPCNetwork, train_rows: TensorRows, validation: TensorRows) -> None:
        with self._timed("supervised"):
            self._train_supervised(network, train_rows, validation)
        with self._timed("selector"):
            self._start_clusters(network, train_rows, validation)
        with self._timed("actor_critic"):
            self._train_actor_critic(network, train_rows, validation)

    def _train_supervised(
        self, network: ACTPCNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train encoder and predictor on the labels, without clusters."""

        def loss(rows: Tensor) -> Tensor:
            x, y = train_rows.batch(rows)
            return functional.cross_entropy(network.predictor(network.encode(x)), y)

        def score() -> float:
            return evaluate(self._measure, validation.y, _predicted(network, validation.x))

        learned = [*network.autoencoder.encoding_parameters(), *network.predictor.parameters()]
        n = len(train_rows)
        curve = train(network, [TrainingStep(loss, learned)], n, score, self.budget(n))
        self._record("supervised", curve)

    def _start_clusters(
        self, network: ACTPCNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Initialise embeddings and selector by k-means on the predicted probabilities."""
        z = in_chunks(network.encode, train_rows.x)
        z_new = in_chunks(network.encode, validation.x)
        predicted = _predicted(network, train_rows.x)
        centres, labels = kmeans_start(
            predicted, self.n_clusters, self.random_state, train_rows.weight
        )
        typical = torch.cdist(centres, predicted, p=1).argmin(dim=1)
        network.raw_embeddings.data.copy_(z[typical].clamp(-INSIDE, INSIDE).atanh())
        labels_new = nearest(_predicted(network, validation.x), centres)
        start = TensorRows(z, labels)

        def loss(rows: Tensor) -> Tensor:
            latents, clusters = start.batch(rows)
            return functional.cross_entropy(network.selector(latents), clusters)

        def score() -> float:
            with torch.no_grad():
                return evaluate(log_likelihood, labels_new, network.selector(z_new))

        step = TrainingStep(loss, list(network.selector.parameters()))
        self._record("selector", train(network, [step], len(z), score, self.budget(len(z))))

    def _train_actor_critic(
        self, network: ACTPCNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train predictor, encoder with selector, and embeddings in turn on each batch."""
        weights: list[Tensor] = []  # of the batch; the critic leaves encoder and selector alone

        def critic(rows: Tensor) -> Tensor:
            x, y = train_rows.batch(rows)
            weights.append(network.log_weights(x))
            return self.critic_loss(network, weights[0].detach(), y)

        def actor(rows: Tensor) -> Tensor:
            return self.actor_loss(network, weights.pop(), train_rows.y[rows])

        def embedding(rows: Tensor) -> Tensor:
            x, y = train_rows.batch(rows)
            with torch.no_grad():
                moved = network.log_weights(x)
            return self.embedding_loss(network, moved, y)

        encoder = network.autoencoder.encoding_parameters()
        steps = [
            TrainingStep(critic, list(network.predictor.parameters())),
            TrainingStep(actor, [*encoder, *network.selector.parameters()]),
            TrainingStep(embedding, [network.raw_embeddings]),
        ]
        score = partial(self._score, network, validation)
        n = len(train_rows)
        self._record("actor_critic", train(network, steps, n, score, self.budget(n)))


def _predicted(network: ACTPCNetwork, x: Tensor) -> Tensor:
    """Return the predictor's class probabilities on the rows' own latents."""
    return in_chunks(lambda rows: network.predictor(network.encode(rows)).softmax(dim=1), x)
