"""DCN-Z: a deep clustering network, then local predictors (Yang 2017; 003_* section 8)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.data import Rows
from deepcac.nn.losses import within
from deepcac.nn.stopping import StoppingRule, min_precision_specificity


@dataclass(kw_only=True, eq=False, repr=False)
class DCNClassifier(CentroidClassifier):
    """Latents trained by reconstruction + (beta / 2) ||z_i - mu_{s_i}||^2, means over a batch.

    Steps on the network, assignments and online centroids alternate as in DeepCAC. The running
    counts start at the k-means cluster sizes (Yang's program starts them at 100).

    Parameters
    ----------
    beta : float
        Weight of the clustering term; 2 in the paper.
    **parameters
        Those of `CentroidClassifier`.
    """

    beta: float = 2.0

    published_soft: ClassVar[bool] = True
    published_stopping: ClassVar[StoppingRule] = StoppingRule(
        clustering="untrained",
        measure_clustering=min_precision_specificity,
        measure=min_precision_specificity,
        max_epochs=50,
    )

    def loss(self, network: CentroidNetwork, x: Tensor) -> Tensor:
        """Return the loss of a batch."""
        z = network.autoencoder.encode(x)
        membership = network.membership(z.detach())
        error = network.autoencoder.error(x, z)
        if "D8" in self.protocol:
            mean_error = error.sum() / network.autoencoder.entries(x).clamp(min=1.0)
            return mean_error + self.beta * within(z, network.centroids, membership, delta=2.0)
        spread = (z - membership @ network.centroids).square().sum(dim=1)
        return (error + self.beta / 2 * spread).mean()

    def _cluster(self, network: Any, train_rows: Rows, validation: Rows) -> None:
        self._train_latents(
            lambda x, y: self.loss(network, x),
            list(network.autoencoder.parameters()),
            network,
            train_rows,
            validation,
        )

    def _move(
        self, network: CentroidNetwork, z: Tensor, membership: Tensor
    ) -> tuple[Tensor, Tensor]:
        if "D13" not in self.protocol:
            return super()._move(network, z, membership)
        # For each cluster j in turn, the published program pulls every centre from j on towards
        # zero: by the centre's own sum over 1 + its rows, at a rate that j's rows set.
        size = membership.sum(dim=0).unsqueeze(1)
        pull = membership.T @ z / (1.0 + size)
        rate = (1.0 / (100.0 + size)).cumsum(dim=0)
        return network.centroids - rate * pull, network.counts
