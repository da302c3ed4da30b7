"""IDEC-Z: improved deep embedded clustering, then local predictors."""

from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from torch import Tensor, nn

from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.fitting.data import TensorRows, in_chunks
from deepcac.nn.fitting.losses import divergence, student_t, target_distribution
from deepcac.nn.fitting.training import TrainingStep, train
from deepcac.nn.layers.networks import mean_error


@dataclass(kw_only=True, eq=False, repr=False)
class IDECClassifier(CentroidClassifier):
    """Latents and centroids trained by reconstruction + gamma KL(P || Q).

    Scales are those of Guo et al. 2017's program: the reconstruction is the mean over values, the
    divergence the sum over clusters and the mean over rows. The targets P come from all
    training rows and are refreshed every epoch. The centroids are trained by gradient. Local
    predictors follow, as in Srivastava et al. 2021, DeepCAC, section 8.

    Parameters
    ----------
    gamma : float
        Weight of the divergence; 0.5 in DeepCAC (0.1 in Guo et al. 2017).
    **parameters
        Those of `CentroidClassifier`.
    """

    gamma: float = 0.5

    target_epochs: ClassVar[int] = 1  # between two refreshments of the targets

    def loss(self, network: CentroidNetwork, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of a batch with targets `target` of shape (n, k)."""
        z = network.autoencoder.encode(x)
        together = divergence(target, student_t(z, network.centroids))
        return mean_error(network.autoencoder, x, z) + self.gamma * together

    def _learned(self, network: CentroidNetwork) -> list[nn.Parameter]:
        """Return the parameters that the clustering stage trains by gradient."""
        return [*network.autoencoder.parameters(), network.centroids]

    def _cluster(self, network: Any, train_rows: TensorRows, validation: TensorRows) -> None:
        """Train with the clustering loss; renew the target every `target_epochs` epochs."""
        x = train_rows.x
        target = x.new_empty(len(x), self.n_clusters)
        epochs = count()

        def refresh() -> None:
            if next(epochs) % self.target_epochs:
                return
            z = in_chunks(network.autoencoder.encode, x)
            q = student_t(z, network.centroids.detach())
            target.copy_(target_distribution(q, train_rows.weight))

        learned, aims = self._learned(network), TensorRows(x, target)
        network.centroids.requires_grad_(True)
        curve = train(
            network,
            [TrainingStep(lambda rows: self.loss(network, *aims.batch(rows)), learned)],
            len(x),
            lambda: self._clustering_score(network, train_rows, validation),
            self.budget(len(x)),
            before_epoch=refresh,
        )
        network.centroids.requires_grad_(False)
        self._record("clustering", curve)
