"""DCN-Z: a deep clustering network, then local predictors."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.fitting.data import TensorRows


@dataclass(kw_only=True, eq=False, repr=False)
class DCNClassifier(CentroidClassifier):
    """Latents trained by reconstruction + beta ||z_i - mu_{s_i}||^2, means over a batch.

    The weight is beta, as Srivastava et al. 2021, DeepCAC, section 5, write the loss (Yang et al.
    2017 have half of it). Steps on the network, assignments and online centroids alternate as in
    DeepCAC. The running counts start at the k-means cluster sizes (Yang et al. 2017's program
    starts them at 100). Local predictors follow, as in Srivastava et al. 2021, DeepCAC, section 8.

    Parameters
    ----------
    beta : float
        Weight of the clustering term; 2 in DeepCAC.
    **parameters
        Those of `CentroidClassifier`.
    """

    beta: float = 2.0

    def loss(self, network: CentroidNetwork, x: Tensor) -> Tensor:
        """Return the loss of a batch."""
        z = network.autoencoder.encode(x)
        membership = network.membership(z.detach())
        error = network.autoencoder.error(x, z)
        spread = (z - membership @ network.centroids).square().sum(dim=1)
        return (error + self.beta * spread).mean()

    def _cluster(self, network: Any, train_rows: TensorRows, validation: TensorRows) -> None:
        self._train_latents(
            lambda x, y: self.loss(network, x),
            list(network.autoencoder.parameters()),
            network,
            train_rows,
            validation,
        )
