"""IDEC-Z: improved deep embedded clustering, then local predictors (Guo 2017; 003_* section 8)."""

from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar

from torch import Tensor

from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.data import Rows, in_chunks
from deepcac.nn.losses import divergence, student_t, target_distribution
from deepcac.nn.stopping import StoppingRule, macro_auprc, min_precision_specificity
from deepcac.nn.training import Step, train


@dataclass(kw_only=True, eq=False, repr=False)
class IDECClassifier(CentroidClassifier):
    """Latents and centroids trained by reconstruction + gamma KL(P || Q).

    Scales are those of Guo's program: the reconstruction is the mean over values, the divergence
    the sum over clusters and the mean over rows. The targets P come from all training rows and
    are refreshed every epoch. The centroids are trained by gradient. (The published program leaves
    the centroids where k-means put them, and refreshes every second epoch: switch D13.)

    Parameters
    ----------
    gamma : float
        Weight of the divergence; 0.5 in the paper (0.1 in Guo 2017).
    **parameters
        Those of `CentroidClassifier`.
    """

    gamma: float = 0.5

    published_soft: ClassVar[bool] = True
    published_stopping: ClassVar[StoppingRule] = StoppingRule(
        clustering="untrained",
        measure_clustering=macro_auprc,
        measure=min_precision_specificity,
    )

    def loss(self, network: CentroidNetwork, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of a batch with targets `target` of shape (n, k)."""
        z = network.autoencoder.encode(x)
        error = network.autoencoder.error(x, z).sum() / network.autoencoder.entries(x).clamp(min=1)
        return error + self.gamma * divergence(target, student_t(z, network.centroids))

    def _cluster(self, network: Any, train_rows: Rows, validation: Rows) -> None:
        x = train_rows.x
        target = x.new_empty(len(x), self.n_clusters)

        published = "D13" in self.protocol
        epochs = count()

        def refresh() -> None:
            if published and next(epochs) % 2:
                return
            z = in_chunks(network.autoencoder.encode, x)
            target.copy_(target_distribution(student_t(z, network.centroids.detach())))

        learned = list(network.autoencoder.parameters())
        if not published:
            network.centroids.requires_grad_(True)
            learned.append(network.centroids)
        curve = train(
            network,
            [Step(lambda rows: self.loss(network, x[rows], target[rows]), learned)],
            len(x),
            lambda: self._clustering_score(network, train_rows, validation),
            self.budget(len(x)),
            before_epoch=refresh,
        )
        network.centroids.requires_grad_(False)
        self._record("clustering", curve)
