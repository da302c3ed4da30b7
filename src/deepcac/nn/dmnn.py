"""DMNN: a mixture of local predictors behind a gate, started from k-means or from CAC."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.cac import cluster
from deepcac.nn.base import DeepClassifier, Network
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import mixture_cross_entropy
from deepcac.nn.fitting.stopping import evaluate, log_likelihood
from deepcac.nn.fitting.training import Budget, TrainingStep, train
from deepcac.nn.layers.centroids import cluster_centres, kmeans_start, nearest, one_hot, weighed
from deepcac.nn.layers.networks import (
    AnyAutoencoder,
    Autoencoder,
    LocalPredictors,
    Prediction,
    mean_error,
    mix,
)


class DMNNNetwork(Network):
    """Autoencoder, linear gate over the clusters, and one local predictor per cluster."""

    def __init__(
        self, autoencoder: AnyAutoencoder, predictors: LocalPredictors, latent: int
    ) -> None:
        super().__init__()
        self.autoencoder, self.predictors = autoencoder, predictors
        self.gate = nn.Linear(latent, predictors.k)

    def predict(self, x: Tensor) -> Prediction:
        """Answer with the mixture sum_j g_j f_j(z)."""
        z = self.autoencoder.encode(x)
        return mix(z, self.gate(z).softmax(dim=1), self.predictors(z))


@dataclass(kw_only=True, eq=False, repr=False)
class DMNNClassifier(DeepClassifier):
    """Gate softmax(W z) over k local predictors, trained end to end.

    The autoencoder has no activation (Srivastava et al. 2021, CAC v1, 6.2, and v2): on static
    rows it starts from the principal components, the best there is. The gate first learns the
    k-means labels of the latents; then everything is trained by reconstruction (mean over
    values) + cross-entropy of the mixture + an activity penalty on the latents. Sequences keep
    the shared LSTMs.

    Parameters
    ----------
    n_clusters : int
        Clusters k.
    l1, l2 : float
        Weights of sum |z| and sum z^2, means over rows (Srivastava et al. 2021, CAC v1, 6.2).
    **parameters
        Those of `DeepClassifier`.
    """

    n_clusters: int = 3
    l1: float = 1e-5
    l2: float = 1e-4

    def _build(self) -> DMNNNetwork:
        return DMNNNetwork(
            self._make_autoencoder(), self._make_predictors(self.n_clusters), self.latent
        )

    def _make_autoencoder(self) -> AnyAutoencoder:
        if len(self._shape) > 1:
            return super()._make_autoencoder()
        return linear_autoencoder(self._shape[0], self.hidden, self.latent)

    def _start(
        self,
        network: Network,
        train: TensorRows,
        validation: TensorRows,
        pretrained: AnyAutoencoder | None,
    ) -> None:
        """Initialise the autoencoder by principal components on static rows.

        Autoencoders that were pre-trained for other methods have activations.
        """
        if len(self._shape) == 1:
            with self._timed("pretrain"):
                pretrained = principal_autoencoder(train.x, self.hidden, self.latent, train.weight)
        super()._start(network, train, validation, pretrained)

    def _start_labels(self, z: Tensor, y: Tensor) -> Tensor:
        """Return the clusters that the gate learns first."""
        return kmeans_start(z, self.n_clusters, self.random_state, self._weight)[1]

    def loss(self, network: DMNNNetwork, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss of a batch."""
        z = network.autoencoder.encode(x)
        error = mean_error(network.autoencoder, x, z)
        activity = (self.l1 * z.abs() + self.l2 * z.square()).sum(dim=1).mean()
        gate = network.gate(z).log_softmax(dim=1)
        return error + activity + mixture_cross_entropy(gate, network.predictors(z), y)

    def _train(self, network: DMNNNetwork, train_rows: TensorRows, validation: TensorRows) -> None:
        with self._timed("gate"):
            self._train_gate(network, train_rows, validation)
        with self._timed("train"):
            step, budget = self._mixture_step(network, train_rows)
            score = partial(self._score, network, validation)
            self._record("train", train(network, [step], len(train_rows), score, budget))

    def _mixture_step(
        self, network: DMNNNetwork, train_rows: TensorRows
    ) -> tuple[TrainingStep, Budget]:
        """Return the step that trains gate and predictors together, and its budget."""
        learned = list(network.parameters())
        step = TrainingStep(lambda rows: self.loss(network, *train_rows.batch(rows)), learned)
        return step, self.budget(len(train_rows))

    def _train_gate(
        self, network: DMNNNetwork, train_rows: TensorRows, validation: TensorRows
    ) -> None:
        """Train the gate on the starting clusters until the validation loss stops falling."""
        z = in_chunks(network.autoencoder.encode, train_rows.x)
        z_new = in_chunks(network.autoencoder.encode, validation.x)
        labels = self._start_labels(z, train_rows.y)
        member = one_hot(labels, self.n_clusters, z)
        nowhere = z.new_zeros(self.n_clusters, z.shape[1])
        means = cluster_centres(z, weighed(member, train_rows.weight), nowhere)
        labels_new = nearest(z_new, means)

        def score() -> float:
            with torch.no_grad():
                return evaluate(log_likelihood, labels_new, network.gate(z_new))

        start = TensorRows(z, labels)

        def loss(rows: Tensor) -> Tensor:
            latents, clusters = start.batch(rows)
            return functional.cross_entropy(network.gate(latents), clusters)

        step = TrainingStep(loss, list(network.gate.parameters()))
        self._record("gate", train(network, [step], len(z), score, self.budget(len(z))))


@dataclass(kw_only=True, eq=False, repr=False)
class CACDMNNClassifier(DMNNClassifier):
    """DMNN whose gate starts from CAC's clusters of the latents (a variant in CAC v1 and v2).

    Parameters
    ----------
    alpha : float
        Alpha of CAC; 0.05 is within the range of Srivastava et al. 2021, CAC v1 Table 3, v2
        Table 4.
    **parameters
        Those of `DMNNClassifier`.
    """

    alpha: float = 0.05

    def _start_labels(self, z: Tensor, y: Tensor) -> Tensor:
        start = super()._start_labels(z, y).cpu().numpy()
        clustering = cluster(z.cpu().double().numpy(), y.cpu().numpy(), start, self.alpha)
        return torch.as_tensor(clustering.labels.astype(np.int64), device=z.device)


def linear_autoencoder(n_features: int, hidden: int, latent: int) -> Autoencoder:
    """Return an untrained autoencoder without activations."""
    return Autoencoder(n_features, hidden, latent, nn.Identity)


@torch.no_grad()
def principal_autoencoder(
    x: Tensor, hidden: int, latent: int, weight: Tensor | None = None
) -> Autoencoder:
    """Return the linear autoencoder with the least squared error on rows `x` of shape (n, d).

    Rows' errors are weighted by `weight` (n,) if it is given.

    No gradient steps are needed: its latents are the first principal components (Baldi and
    Hornik 1989). Hidden units beyond the latents hold the next components, which do not reach the
    latents yet; latents beyond the hidden units are 0.
    """
    autoencoder = linear_autoencoder(x.shape[1], hidden, latent).to(x.device)
    mean = x.mean(dim=0) if weight is None else (weight.to(x) / weight.sum()) @ x
    centred = (x - mean).cpu().double()  # some devices have no float64
    heavy = centred if weight is None else centred * weight.cpu().double().unsqueeze(1)
    axes = torch.linalg.eigh(centred.T @ heavy).eigenvectors.flip(1).T
    # The sign of an axis is free; its largest entry is positive here, so that builds agree.
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    axes = (axes * largest.sign()).to(x)
    seen, n_latent = min(hidden, len(axes)), min(latent, hidden, len(axes))
    into, inside = _layers(autoencoder.encoder)
    outside, out_of = _layers(autoencoder.decoder)
    into.weight[:seen], into.bias[:seen] = axes[:seen], -axes[:seen] @ mean
    out_of.weight[:, :n_latent], out_of.bias[:] = axes[:n_latent].T, mean
    out_of.weight[:, n_latent:] = 0.0
    for middle in (inside, outside):
        middle.weight.zero_()
        middle.bias.zero_()
        middle.weight[range(n_latent), range(n_latent)] = 1.0
    return autoencoder


def _layers(stack: nn.Sequential) -> list[nn.Linear]:
    return [layer for layer in stack if isinstance(layer, nn.Linear)]
