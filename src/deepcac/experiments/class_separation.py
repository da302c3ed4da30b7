"""DeepCAC with the separation term of CAC, and with AM-softmax, on the same latents.

Section 7 of the DeepCAC paper says that its authors could not lower CAC's own term, the distance
between the classes' means in a cluster, by gradient descent, and so took AM-softmax.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn

from deepcac.experiments.deep_methods import shared_autoencoder
from deepcac.experiments.finished_sweeps import AM_SOFTMAX, CENTROIDS, NONE
from deepcac.experiments.prepare import Setting
from deepcac.nn.centroids import one_hot
from deepcac.nn.deepcac import DeepCACClassifier, DeepCACNetwork
from deepcac.nn.losses import class_distances
from deepcac.nn.training import Budget
from deepcac.task import Task

log = logging.getLogger(__name__)

Array = npt.NDArray[np.floating[Any]]
Ids = npt.NDArray[np.int64]

ALPHAS = (2.0, 5.0, 20.0, 100.0)  # 5 is the paper's
EPOCHS = 40


@dataclass(kw_only=True, eq=False, repr=False)
class OfFixedLength(DeepCACClassifier):
    """DeepCAC whose latents are trained in every epoch and kept as they end.

    Stopping by the validation score would end the training before a term had acted.
    """

    def _latent_budget(self, n_rows: int) -> Budget:
        return replace(self.budget(n_rows), patience=self.max_epochs, restore=False)


@dataclass(kw_only=True, eq=False, repr=False)
class CentroidDistance(OfFixedLength):
    r"""DeepCAC with the separation term of CAC in place of AM-softmax.

    The term is minus the squared distances between the means of the classes in each cluster. As
    the within-cluster term (delta = 1) of a batch is at least :math:`p_j (1 - p_j) d_j^2` for a
    cluster with a share p_j of one class and the distance d_j, their sum has no lower bound where
    :math:`\alpha > \beta p_j (1 - p_j)`: then longer latents alone lower it.
    """

    def _mixed(self, network: DeepCACNetwork, z: Tensor, y: Tensor, membership: Tensor) -> Tensor:
        return -class_distances(z, one_hot(y, len(self.classes_), z), membership)

    def _learned(self, network: DeepCACNetwork) -> list[nn.Parameter]:
        return list(network.autoencoder.parameters())


def separation_sweep(
    tasks: Iterable[Task],
    setting: Setting,
    pretrained: Path | None,
    alphas: Sequence[float] = ALPHAS,
    epochs: int = EPOCHS,
) -> pa.Table:
    """Train the same latents without a separation term, with AM-softmax and with that of CAC.

    Parameters
    ----------
    tasks : iterable of Task
        Splits of two classes, scaled for the deep family.
    setting : Setting
        What they were made for.
    pretrained : path or None
        The data set's pre-trained autoencoders.
    alphas : sequence of float
        Weights of either term.
    epochs : int
        Of the latents, all of which are made.

    Returns
    -------
    pyarrow.Table
        A row a split and fit: ``seed``, ``term``, ``alpha``; ``limit``, the weight above which
        CAC's term has no lower bound in a cluster of all training rows; ``status`` and the last
        ``loss``; ``length``, the root mean square of the training latents; the `class_share` of
        training rows (``share``), of their directions (``direction_share``) and of test rows
        (``test_share``); ``auroc`` and ``auprc`` on the test rows.
    """
    fits = [(NONE, 0.0)] + [(term, alpha) for term in (AM_SOFTMAX, CENTROIDS) for alpha in alphas]
    return pa.Table.from_pylist(
        [row for task in tasks for row in _of_task(task, setting, pretrained, fits, epochs)]
    )


def _of_task(
    task: Task,
    setting: Setting,
    pretrained: Path | None,
    fits: Sequence[tuple[str, float]],
    epochs: int,
) -> Iterator[dict[str, Any]]:
    start = shared_autoencoder(task, setting, pretrained)
    for term, alpha in fits:
        estimator = CentroidDistance if term == CENTROIDS else OfFixedLength
        model = estimator(
            n_clusters=task.k,
            alpha=alpha,
            max_epochs=epochs,
            random_state=task.seed,
            n_threads=torch.get_num_threads(),
            preprocess=None,
        ).fit(
            task.X_train,
            task.y_train,
            X_val=task.X_validation,
            y_val=task.y_validation,
            pretrained=start,
        )
        row = {"seed": task.seed, "term": term, "alpha": alpha, **_measure(model, task)}
        log.info("%s", row)
        yield row


def _measure(model: DeepCACClassifier, task: Task) -> dict[str, Any]:
    z = model.embed(task.X_train)
    rare = float(np.mean(task.y_train == 1))
    risk = model.predict_proba(task.X_test)[:, 1]
    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    directions = z / np.maximum(lengths, np.finfo(z.dtype).tiny)
    return {
        "limit": model.beta * rare * (1 - rare),
        "status": model.status_,
        "loss": model.history_["clustering_loss"][-1],
        "length": float(np.sqrt(np.mean(lengths**2))),
        "share": class_share(z, task.y_train, model.subtypes_),
        "direction_share": class_share(directions, task.y_train, model.subtypes_),
        "test_share": class_share(model.embed(task.X_test), task.y_test, model.assign(task.X_test)),
        "auroc": float(roc_auc_score(task.y_test, risk)),
        "auprc": float(average_precision_score(task.y_test, risk)),
    }


def class_share(z: Array, y: Ids, cluster: Ids) -> float:
    """Return the share of the scatter inside clusters that lies between their classes' means.

    Unlike the distance of these means it does not grow with the length of the latents.

    Parameters
    ----------
    z : ndarray of shape (n, latent)
    y, cluster : ndarray of shape (n,)
        Ids from 0.

    Returns
    -------
    float
        From 0 to 1; 0 where no cluster has any scatter.
    """
    inside = _scatter(z, cluster)
    return 1 - _scatter(z, cluster * (y.max() + 1) + y) / inside if inside else 0.0


def _scatter(z: Array, group: Ids) -> float:
    """Return the sum of squared distances to the means of the groups."""
    _, group = np.unique(group, return_inverse=True)
    sums = np.zeros((group.max() + 1, z.shape[1]))
    np.add.at(sums, group, z)
    means = sums / np.bincount(group)[:, None]
    return float(((z - means[group]) ** 2).sum())
