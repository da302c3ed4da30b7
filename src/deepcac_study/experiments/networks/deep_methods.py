"""Fitting of deep methods for the run loop, and their predictions for the test rows."""

import logging
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from deepcac.errors import ConfigError
from deepcac.nn.base import DeepClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.fitting import data
from deepcac.nn.fitting.pretrain import pretrain, read_pretrained, write_pretrained
from deepcac.nn.layers.networks import AnyAutoencoder
from deepcac.task import Fitted, Task
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import Method
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import AM_SOFTMAX_WEIGHTS, imitated, printed_alpha
from deepcac_study.published.deepcac_program import published

log = logging.getLogger(__name__)


# An epoch of LSTMs takes 50 times as long, so every sequence method has this smaller budget.
SEQUENCE_BUDGET: dict[str, Any] = {"max_epochs": 40, "patience": 5}


def make_estimator(task: Task, setting: Setting, method: Method) -> DeepClassifier:
    """Return the unfitted estimator of a method, set as in the paper, or as in its program."""
    settings: dict[str, Any] = {
        "random_state": task.seed,
        "n_threads": torch.get_num_threads(),
        "preprocess": None,  # tasks are scaled
    }
    if method.clustered:
        settings["n_clusters"] = task.k
    if method.sequence:
        settings |= SEQUENCE_BUDGET | (method.learner.sequence or {})
    alpha = None
    if method.learner.printed_alpha:
        alpha = printed_alpha(setting.dataset, method.classifier)
    estimator = method.learner.load()
    if issubclass(estimator, DeepCACClassifier) and "D5" in setting.protocol:
        alpha = AM_SOFTMAX_WEIGHTS.get(imitated(setting.dataset))
    settings |= {} if alpha is None else {"alpha": alpha}
    return published(estimator, setting.protocol.labels)(**settings)


def fit_task(
    task: Task,
    setting: Setting,
    method: Method,
    pretrained: Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Fitted:
    """Fit a deep method on one split: probabilities by softmax, with switch D2 raw decision values.

    Without the data set's pre-trained autoencoders one is pre-trained here. `settings` override
    parameters of the estimator.
    """
    model = make_estimator(task, setting, method).set_params(**(settings or {}))
    with warnings.catch_warnings():
        # The record keeps the curves, the status and the clusters that were found.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(
            task.X_train,
            task.y_train,
            validation=(task.X_validation, task.y_validation, task.mask_validation),
            mask=task.mask_train,
            pretrained=shared_autoencoder(task, setting, pretrained),
        )
    start = time.perf_counter()
    raw = "D2" in setting.protocol
    answer = model.logits if raw else model.predict_proba
    scores = np.full((len(task.X_test), task.n_classes), -np.inf if raw else 0.0)
    scores[:, model.classes_] = answer(task.X_test, task.mask_test)
    fitted = Fitted(
        probability=scores,
        predicted=scores.argmax(axis=1).astype(np.int64),
        cluster=model.assign(task.X_test, task.mask_test),
        train_cluster=model.subtypes_,
        hyperparameters=_settings(model, len(task.y_train)),
        history=model.history_,
        embedding_test=model.embed(task.X_test, task.mask_test),
        calibrated=not raw,
        status=model.status_,
        seconds=model.seconds_,
    )
    model.seconds_["predict"] = time.perf_counter() - start
    return fitted


def _settings(model: DeepClassifier, n_train: int) -> dict[str, Any]:
    """Return the settings as used, JSON-ready, without device, threads and the like."""
    left_out = ("class_weight", "device", "n_threads", "preprocess", "pretrain_epochs", "verbose")
    settings = {name: v for name, v in model.get_params().items() if name not in left_out}
    budget = model.budget(n_train)
    return settings | {"batch_size": budget.batch_size, "max_epochs": budget.max_epochs}


def shared_autoencoder(task: Task, setting: Setting, path: Path | None) -> AnyAutoencoder | None:
    """Read the pre-trained autoencoder of a task's split; None without a file."""
    if path is None:
        if "D14" in setting.protocol:
            raise ConfigError("switch D14 shares one autoencoder; give the pre-trained file")
        return None
    seed = None if "D14" in setting.protocol else task.seed
    return read_pretrained(path, seed, _row_shape(task))


def _row_shape(task: Task) -> tuple[int, ...]:
    """Return the shape of one row; sequences have a mask per variable too."""
    if task.X_train.ndim == 2:
        return (task.X_train.shape[1],)
    return (task.X_train.shape[1], 2 * task.X_train.shape[2])


def pretrain_tasks(tasks: Iterable[Task], setting: Setting, path: Path) -> None:
    """Pre-train one autoencoder per split and write them to one file; with D14 only the first.

    Each task is released before the next is made, to save memory.
    """
    device = data.find_device("auto")
    autoencoders: dict[int, AnyAutoencoder] = {}
    curves: dict[str, dict[str, list[float]]] = {}
    for task in tasks:
        if "D14" in setting.protocol and autoencoders:
            break
        with data.session(device, task.seed, torch.get_num_threads()):
            autoencoder, curve = pretrain(
                data.as_inputs(task.X_train, task.mask_train, device),
                data.as_inputs(task.X_validation, task.mask_validation, device),
            )
        autoencoders[task.seed] = autoencoder
        curves[str(task.seed)] = {"loss": curve.loss, "score": curve.score}
        log.info("split %d: %d epochs, error %.4f", task.seed, len(curve.loss), -max(curve.score))
    write_pretrained(path, autoencoders, {"curves": curves})


def latent_plane(latents: Array, cluster: Ids, label: Ids) -> pa.Table:
    """Return the first two principal components of latents as ``x``, ``y``, ``cluster``, ``label``.

    Rows have no ids. Latents are of shape (n, m), m at least 2; clusters have the network's
    numbers. Fits that diverged pass no rows, and get an empty table. The signs of the components
    are scikit-learn's, so that the same latents give the same plane.
    """
    components = PCA(n_components=2, svd_solver="full")
    plane = components.fit_transform(latents) if len(latents) > 1 else np.empty((len(latents), 2))
    return pa.table(
        {
            "x": pa.array(plane[:, 0].astype(np.float32)),
            "y": pa.array(plane[:, 1].astype(np.float32)),
            "cluster": pa.array(cluster, pa.int16()),
            "label": pa.array(label, pa.int8()),
        }
    )
