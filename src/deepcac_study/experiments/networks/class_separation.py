"""DeepCAC with the separation term of CAC, and with AM-softmax, on the same latents.

Section 7 of the DeepCAC paper says that its authors could not lower CAC's own term, the distance
between the classes' means in a cluster, by gradient descent, and so took AM-softmax.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torch import Tensor, nn

from deepcac.nn.deepcac import DeepCACClassifier, DeepCACNetwork
from deepcac.nn.fitting.data import as_inputs, default_batch_size
from deepcac.nn.fitting.losses import class_distances, within
from deepcac.nn.fitting.training import Budget
from deepcac.nn.layers.centroids import kmeans_start, nearest, one_hot
from deepcac.task import Task
from deepcac.types import Ids
from deepcac_study.experiments.networks.deep_methods import shared_autoencoder
from deepcac_study.experiments.prepare import Setting
from deepcac_study.records.sweep_tables import AM_SOFTMAX, CENTROIDS, NONE, PERMUTED

log = logging.getLogger(__name__)

Array = npt.NDArray[np.floating[Any]]

ALPHAS = (2.0, 5.0, 20.0, 100.0)  # 5 is the paper's
EPOCHS = 40


@dataclass(kw_only=True, eq=False, repr=False)
class OfFixedLength(DeepCACClassifier):
    """DeepCAC whose latents are trained for all epochs, without restoring the best one.

    Early stopping would end the training before a separation term had an effect.
    """

    def _latent_budget(self, n_rows: int) -> Budget:
        return replace(self.budget(n_rows), patience=self.max_epochs, restore=False)


@dataclass(kw_only=True, eq=False, repr=False)
class CentroidDistance(OfFixedLength):
    r"""DeepCAC with the separation term of CAC in place of AM-softmax.

    The term is minus the squared distances :math:`d_j^2` between the means of the classes in each
    cluster. Latents t times as long, with a decoder that undoes it, have the same reconstruction,
    and both other terms :math:`t^2` times: longer latents lower the loss, without end, where
    :math:`\alpha \sum_j d_j^2 > \beta \sum_j s_j`, s_j the mean squared distance to the centroid.
    Since :math:`p_j (1 - p_j) d_j^2 = \eta_j s_j`, with p_j the share of one class and
    :math:`\eta_j` the share of the scatter that lies between the means, this is
    :math:`\alpha > \beta p (1 - p) / \eta` for one cluster (`scaling_limit` for several).
    """

    def _mixed(self, network: DeepCACNetwork, z: Tensor, y: Tensor, membership: Tensor) -> Tensor:
        return -class_distances(z, one_hot(y, len(self.classes_), z), membership)

    def _learned(self, network: DeepCACNetwork) -> list[nn.Parameter]:
        return list(network.autoencoder.parameters())


def separation_sweep(
    tasks: Iterable[Task],
    setting: Setting,
    pretrained: Path,
    alphas: Sequence[float] = ALPHAS,
    epochs: int = EPOCHS,
) -> pa.Table:
    """Train the same latents without a separation term, with AM-softmax and with that of CAC.

    The last is repeated on permuted training labels, which shows chance. Splits are of two
    classes, scaled for the deep family; latents are trained for `epochs`.

    A row per split and fit: ``seed``, ``term``, ``alpha``; ``limit``, beta p (1 - p), below which
    no latents gain by their length; `scaling_limit` of the latents at the start, of all rows
    (``start_scaling``) and in batches (``start_batch_scaling``), and of those at the end
    (``scaling``, ``batch_scaling``); ``status`` and the last ``loss``; ``length``, the root mean
    square of the training latents; the `class_share` of training rows (``share``), of their
    directions (``direction_share``) and of test rows (``test_share``); ``auroc`` and ``auprc`` on
    the test rows.
    """
    terms = (AM_SOFTMAX, CENTROIDS, PERMUTED)
    fits = [(NONE, 0.0)] + [(term, alpha) for term in terms for alpha in alphas]
    return pa.Table.from_pylist(
        [row for task in tasks for row in _of_task(task, setting, pretrained, fits, epochs)]
    )


def _of_task(
    task: Task, setting: Setting, pretrained: Path, fits: Sequence[tuple[str, float]], epochs: int
) -> Iterator[dict[str, Any]]:
    """Yield and log a row per fit: term, alpha, limits at the start and measures."""
    start = shared_autoencoder(task, setting, pretrained)
    labels = np.random.default_rng(task.seed).permutation(task.y_train)
    tasks = {PERMUTED: replace(task, y_train=labels)}
    for term, alpha in fits:
        estimator = CentroidDistance if term in (CENTROIDS, PERMUTED) else OfFixedLength
        fitted_task = tasks.get(term, task)
        model = estimator(
            n_clusters=task.k,
            alpha=alpha,
            max_epochs=epochs,
            random_state=task.seed,
            n_threads=torch.get_num_threads(),
            preprocess=None,
        ).fit(
            fitted_task.X_train,
            fitted_task.y_train,
            validation=(task.X_validation, task.y_validation),
            pretrained=start,
        )
        row = {
            "seed": task.seed,
            "term": term,
            "alpha": alpha,
            **_start_limits(start, fitted_task, model.beta),
            **_measure(model, fitted_task),
        }
        log.info("%s", row)
        yield row


def _start_limits(start: Any, task: Task, beta: float) -> dict[str, float]:
    """Return the limits of the pre-trained latents, with clusters of k-means."""
    with torch.no_grad():
        z = start.encode(as_inputs(task.X_train, task.mask_train, torch.device("cpu")))
    centroids, _ = kmeans_start(z, task.k, task.seed)
    limits = _limits(z, task.y_train, centroids, beta)
    return {f"start_{name}": value for name, value in limits.items()}


def _limits(z: Tensor, y: Ids, centroids: Tensor, beta: float) -> dict[str, float]:
    """Return the scaling limit over all rows and over a batch."""
    size = default_batch_size(len(y), sequence=False)
    return {
        "scaling": scaling_limit(z, y, centroids, beta, len(y)),
        "batch_scaling": scaling_limit(z, y, centroids, beta, size),
    }


def scaling_limit(z: Tensor, y: Ids, centroids: Tensor, beta: float, size: int) -> float:
    """Return the weight of CAC's term above which longer latents alone lower the loss.

    That is beta times the within-cluster term over the distances between the means of classes. Both
    are sums over batches of `size` rows (n is a single batch). `z` is of shape (n, latent),
    centroids (k, latent). Means of a rare class over a small batch are far apart by chance, so
    small batches have a lower limit.
    """
    membership = one_hot(nearest(z, centroids), len(centroids), z)
    classes = one_hot(torch.from_numpy(y), int(y.max()) + 1, z)
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(z)))
    spread = apart = 0.0
    for rows in order.tensor_split(ceil(len(z) / size)):
        spread += float(within(z[rows], centroids, membership[rows], delta=1.0))
        apart += float(class_distances(z[rows], classes[rows], membership[rows]))
    return beta * spread / apart if apart else inf


def _measure(model: DeepCACClassifier, task: Task) -> dict[str, Any]:
    """Return shares of scatter between classes, lengths of latents and test scores."""
    z = model.embed(task.X_train)
    rare = float(np.mean(task.y_train == 1))
    risk = model.predict_proba(task.X_test)[:, 1]
    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    directions = z / np.maximum(lengths, np.finfo(z.dtype).tiny)
    centroids = model.network_.centroids.detach().cpu().double()
    return {
        "limit": model.beta * rare * (1 - rare),
        **_limits(torch.from_numpy(z), task.y_train, centroids, model.beta),
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
    """Return the share of the scatter inside clusters that lies between the means of classes.

    Unlike the distance of these means it does not grow with the length of the latents `z`, of shape
    (n, latent). Ids are from 0. The share is 0 to 1, and 0 where no cluster has any scatter.
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
