"""What DeepCAC's clusters are worth: clusters, their weight and the head on the same latents."""

import copy
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor

from deepcac.nn.base import DeepClassifier, predict_in_chunks
from deepcac.nn.clustered import CentroidClassifier, CentroidNetwork
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.fitting import data
from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.fitting.losses import gibbs
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac.task import Task
from deepcac_study.experiments.networks.deep_methods import shared_autoencoder
from deepcac_study.experiments.prepare import Setting

log = logging.getLogger(__name__)

CLUSTERS = (1, 2, 3, 5)
BETAS = (0.0, 1.0, 20.0)  # weights of the within-cluster term; 20 is the paper's
ALPHA = 5.0  # of the AM-softmax, the paper's
Head = Literal["local", "soft", "one", "permuted"]
HEADS: tuple[Head, ...] = ("local", "soft", "one", "permuted")


def factorial(
    tasks: Iterable[Task],
    setting: Setting,
    pretrained: Path,
    clusters: Sequence[int] = CLUSTERS,
    betas: Sequence[float] = BETAS,
) -> pa.Table:
    """Cross the number of clusters, the weight of their term and the head on the same latents.

    A row per split and fit: ``seed``, ``estimator``, ``k``, ``beta``, ``head`` (of
    `deepcac_study.experiments.networks.factorial`), ``auroc`` and ``auprc`` on the test rows,
    ``smallest`` (training rows of the smallest cluster). Beside DeepCAC stand
    one head on the latents as pre-trained (KM-Z, k = 1) and the network that is trained end to end
    (FNN).
    """
    rows = [row for task in tasks for row in _of_task(task, setting, pretrained, clusters, betas)]
    return pa.Table.from_pylist(rows)


def _of_task(
    task: Task, setting: Setting, pretrained: Path, clusters: Sequence[int], betas: Sequence[float]
) -> Iterator[dict[str, Any]]:
    log.info("split %d", task.seed)
    common: dict[str, Any] = {
        "random_state": task.seed,
        "n_threads": torch.get_num_threads(),
        "preprocess": None,
    }
    fit: dict[str, Any] = {
        "validation": (task.X_validation, task.y_validation),
        "pretrained": shared_autoencoder(task, setting, pretrained),
    }
    fnn = FNNClassifier(**common).fit(task.X_train, task.y_train, **fit)
    risk = fnn.predict_proba(task.X_test)[:, 1]
    yield _row(task, fnn, 1, None, HEADS[0], risk, len(task.y_train))
    plain = KMZClassifier(n_clusters=1, **common).fit(task.X_train, task.y_train, **fit)
    yield from _by_head(task, plain, None)
    for k in clusters:
        for beta in betas:
            model = DeepCACClassifier(n_clusters=k, alpha=ALPHA, beta=beta, **common)
            yield from _by_head(task, model.fit(task.X_train, task.y_train, **fit), beta)


def _by_head(task: Task, model: CentroidClassifier, beta: float | None) -> Iterator[dict[str, Any]]:
    """Yield the scores of a fitted method with each head; one cluster has one head only."""
    device = next(model.network_.parameters()).device
    train, validation, test = (
        TensorRows(data.as_inputs(X, None, device), torch.as_tensor(y, device=device))
        for X, y in (
            (task.X_train, task.y_train),
            (task.X_validation, task.y_validation),
            (task.X_test, task.y_test),
        )
    )
    k = model.n_clusters
    sizes = torch.bincount(torch.as_tensor(model.subtypes_), minlength=k)
    for head in HEADS if k > 1 else HEADS[:1]:
        risk = answer_with(model, head, train, validation, test.x)[:, 1].cpu().numpy()
        yield _row(task, model, k, beta, head, risk, int(sizes.min()))


def _row(
    task: Task,
    model: DeepClassifier,
    k: int,
    beta: float | None,
    head: str,
    risk: Any,
    smallest: int,
) -> dict[str, Any]:
    return {
        "seed": task.seed,
        "estimator": type(model).__name__,
        "k": k,
        "beta": beta,
        "head": head,
        "auroc": float(roc_auc_score(task.y_test, risk)),
        "auprc": float(average_precision_score(task.y_test, risk)),
        "smallest": smallest,
    }


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
