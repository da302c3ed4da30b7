"""Other predictors on the latents of a fitted method: what its clusters are worth."""

import copy
from typing import Literal

import torch
from torch import Tensor

from deepcac.nn.base import predict_in_chunks
from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.fitting import data
from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.fitting.losses import gibbs

Head = Literal["local", "soft", "one", "permuted"]
HEADS: tuple[Head, ...] = ("local", "soft", "one", "permuted")


class PermutedNetwork(CentroidNetwork):
    """Gives each row the cluster of another row: the sizes stay, the meaning goes."""

    def membership(self, z: Tensor) -> Tensor:
        """Return the one-hot nearest centroids (n, k) of other rows."""
        nearest = super().membership(z)
        order = torch.randperm(len(z), generator=torch.Generator().manual_seed(len(z)))
        return nearest[order.to(z.device)]


def answer_with(
    model: CentroidClassifier, head: Head, train: TensorRows, validation: TensorRows, x: Tensor
) -> Tensor:
    """Return class probabilities (n, n_classes) of rows `x` by another head on the same latents.

    Parameters
    ----------
    model : CentroidClassifier
        Fitted; it is left as it is.
    head : {"local", "soft", "one", "permuted"}
        The model's own predictors by the nearest centroid, or all of them mixed by
        softmax(-||z - mu||^2); one predictor for all rows, trained anew; local ones, trained anew
        on clusters that are permuted among the rows.
    train, validation : Rows
        What the model was fitted to, and stopped by.
    x : Tensor of shape (n, d)
    """
    with data.session(x.device, int(model.random_state), model.n_threads):
        if head in ("local", "soft"):
            network = copy.deepcopy(model.network_)
            network.weigh = _mixed if head == "soft" else None
        else:
            network = _trained(model, head, train, validation)
        return predict_in_chunks(network.eval(), x).probability


def _mixed(z: Tensor, centroids: Tensor) -> Tensor:
    return gibbs(z, centroids, 1.0)


def _trained(
    model: CentroidClassifier, head: Head, train: TensorRows, validation: TensorRows
) -> CentroidNetwork:
    """Train local predictors anew, for one cluster or for permuted ones."""
    make = PermutedNetwork if head == "permuted" else CentroidNetwork
    k = 1 if head == "one" else model.n_clusters
    predictors = model._make_predictors(k)
    network = make(copy.deepcopy(model.network_.autoencoder), predictors, model.latent)
    if k > 1:
        network.centroids.data.copy_(model.network_.centroids)
    network.to(train.x.device)
    trainer = copy.copy(model)
    trainer.history_, trainer.best_epoch_ = {}, {}
    trainer._train_predictors(network, train, validation)
    return network
