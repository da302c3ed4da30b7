"""DeepCAC: latents that are clustered and class-separable inside each cluster."""

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.base import CONSTRAINTS
from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.fitting.losses import am_softmax, cluster_means, within
from deepcac.sklearn_compat import Interval


class DeepCACNetwork(CentroidNetwork):
    """A `CentroidNetwork` with one vector per class, for the AM-softmax loss."""

    def add_class_vectors(self, n_classes: int) -> None:
        """Add the class vectors w_c, shape (n_classes, latent), as a linear layer starts them."""
        latent = self.centroids.shape[1]
        bound = latent**-0.5
        self.class_vectors = nn.Parameter(torch.empty(n_classes, latent).uniform_(-bound, bound))


@dataclass(kw_only=True, eq=False, repr=False)
class DeepCACClassifier(CentroidClassifier):
    r"""DeepCAC (Srivastava et al. 2021, DeepCAC, equation 2 and Algorithm 2).

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
        In the within-cluster denominator, positive; not stated in the paper. 1 makes it n_j, so
        that a cluster of one row has the weight of any other.
    n_clusters, preprocess, max_epochs, random_state, verbose, ...
        Those of `CentroidClassifier` and `DeepClassifier`.

    Attributes
    ----------
    subtypes_, history_, best_epoch_, ...
        Those of `DeepClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from deepcac import DeepCACClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # raw columns: the network scales them itself
    >>> model = DeepCACClassifier(n_clusters=2, max_epochs=5, random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape, model.subtypes_.shape, model.embed(X).shape
    ((569, 2), (569,), (569, 32))
    """

    alpha: float = 5.0
    beta: float = 20.0
    s: float = 30.0
    m: float = 0.4
    delta: float = 1.0

    # At 0 the term of a cluster of one row is 0 / 0.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "delta": [Interval(Real, 0, None, closed="neither")]
    }

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
        """Return the loss of a batch, with assignments to the current centroids."""
        z = network.autoencoder.encode(x)
        membership = network.membership(z.detach())
        total = self._error(network, x, z) + self.beta * self._spread(network, z, membership)
        if self.alpha:
            total = total + self.alpha * self._mixed(network, z, y, membership)
        return total

    def _error(self, network: DeepCACNetwork, x: Tensor, z: Tensor) -> Tensor:
        """Return the reconstruction term."""
        return network.autoencoder.error(x, z).mean()

    def _spread(self, network: DeepCACNetwork, z: Tensor, membership: Tensor) -> Tensor:
        """Return the within-cluster term."""
        return within(z, network.centroids, membership, self.delta)

    def _mixed(self, network: DeepCACNetwork, z: Tensor, y: Tensor, membership: Tensor) -> Tensor:
        """Return the AM-softmax term, which falls as classes separate within clusters."""
        margins = am_softmax(z, y, self._class_vectors(network), self.s, self.m)
        return cluster_means(margins, membership)

    def _class_vectors(self, network: DeepCACNetwork) -> Tensor:
        """Return the vectors w_c, shape (n_classes, latent)."""
        return functional.normalize(network.class_vectors, dim=1)

    def _learned(self, network: DeepCACNetwork) -> list[nn.Parameter]:
        """Return the parameters that the clustering stage trains by gradient."""
        parameters = list(network.autoencoder.parameters())
        return [*parameters, network.class_vectors] if self.alpha else parameters

    def _cluster(self, network: Any, train_rows: TensorRows, validation: TensorRows) -> None:
        loss = partial(self.loss, network)
        self._train_latents(loss, self._learned(network), network, train_rows, validation)
