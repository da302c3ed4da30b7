"""DeepCAC: latents that are clustered and class-separable inside each cluster (003_* section 7)."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.centroids import move_online
from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.data import Rows
from deepcac.nn.losses import am_softmax, cluster_means, within, within_norm
from deepcac.nn.stopping import StoppingRule, macro_auprc

# The program restarts every counter at 100 in each batch and steps by 1 / 100 first (D16), which
# is a centroid that has seen 99 rows.
PUBLISHED_COUNT = 99.0


class DeepCACNetwork(CentroidNetwork):
    """A `CentroidNetwork` with one vector a class, for the AM-softmax loss."""

    def add_class_vectors(self, n_classes: int) -> None:
        """Add the class vectors w_c, shape (n_classes, latent), as a linear layer starts them."""
        latent = self.centroids.shape[1]
        bound = latent**-0.5
        self.class_vectors = nn.Parameter(torch.empty(n_classes, latent).uniform_(-bound, bound))


@dataclass(kw_only=True, eq=False, repr=False)
class DeepCACClassifier(CentroidClassifier):
    r"""DeepCAC (003_* equation 2 and Algorithm 2).

    The loss of a mini-batch is

    .. math::
        \frac1n \sum_i \|x_i - D(E(x_i))\|^2
        + \beta \sum_j \sum_{i \in C_j} \frac{\|z_i - \mu_j\|^2}{n_j - 1 + \delta}
        + \alpha \sum_j \frac1{n_j} \sum_{i \in C_j} l_{AM}(z_i, y_i)

    with n_j the rows of the batch in cluster j. After each gradient step the rows of the batch
    are assigned anew and the centroids move online. Then the encoder is frozen and the local
    predictors are trained.

    Parameters
    ----------
    alpha, beta : float
        Weights of the AM-softmax and of the within-cluster term (static data 5 and 20;
        sequences 20 and 5, section 15).
    s, m : float
        Scale and margin of the AM-softmax.
    delta : float
        In the within-cluster denominator; not stated in the paper. 1 makes it n_j, which keeps
        the weight of a cluster of one row like that of any other.
    **parameters
        Those of `CentroidClassifier`.
    """

    alpha: float = 5.0
    beta: float = 20.0
    s: float = 30.0
    m: float = 0.4
    delta: float = 1.0

    published_stopping: ClassVar[StoppingRule] = StoppingRule(
        clustering="loss", measure=macro_auprc
    )

    def _build(self) -> DeepCACNetwork:
        network = DeepCACNetwork(
            self._make_autoencoder(),
            self._make_predictors(self.n_clusters),
            self.latent,
            self._weigh(),
        )
        network.add_class_vectors(len(self.classes_))
        return network

    def loss(self, network: DeepCACNetwork, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss of a batch; assignments are those of the centroids as they stand."""
        z = network.autoencoder.encode(x)
        membership = network.membership(z.detach())
        error = network.autoencoder.error(x, z)
        if "D8" in self.protocol:
            total = error.sum() / network.autoencoder.entries(x).clamp(min=1.0)
            spread = within_norm(z, network.centroids, membership)
        else:
            total = error.mean()
            spread = within(z, network.centroids, membership, self.delta)
        if self.alpha or "D9" not in self.protocol:
            total = total + self.beta * spread
        if self.alpha:
            trained = "D6" not in self.protocol
            raw = network.class_vectors
            vectors = functional.normalize(raw, dim=1) if trained else raw
            margins = am_softmax(z, y, vectors, self.s, self.m)
            total = total + self.alpha * cluster_means(margins, membership)
        return total

    def _cluster(self, network: Any, train_rows: Rows, validation: Rows) -> None:
        learned = list(network.autoencoder.parameters())
        if "D6" not in self.protocol and self.alpha:
            learned.append(network.class_vectors)
        loss = partial(self.loss, network)
        self._train_latents(loss, learned, network, train_rows, validation)

    def _move(
        self, network: CentroidNetwork, z: Tensor, membership: Tensor
    ) -> tuple[Tensor, Tensor]:
        if "D16" not in self.protocol:
            return super()._move(network, z, membership)
        restarted = torch.full_like(network.counts, PUBLISHED_COUNT)
        return move_online(network.centroids, restarted, z, membership)
