"""Fitting of any method, by its family, and its device.

Two small families are fitted here: class decomposition (CD+X, CD-KM+X) and k-means in a metric
learnt from the classes (SKM+X). Their training parts include the validation rows.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deepcac.cac.collapse import pure
from deepcac.cac.given_clusters import local_scores
from deepcac.cac.metric_km import MetricKMClassifier
from deepcac.cac.path import AlphaPath
from deepcac.decomposition import ClassDecompositionClassifier
from deepcac.linear.base_classifiers import balanced_shares, class_scores
from deepcac.similarity import ClassMetric
from deepcac.task import Fitted, Task
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import CLASSES, NB, Method
from deepcac_study.experiments import cac_arms
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import class_weight, classifier_seed

_CLUSTERERS = {"cd": "em", "cdk": "kmeans"}


def device(method: Method) -> str:
    """Return the device of a method: ``"cpu"``, or ``"cuda"`` for a deep one if there is a GPU."""
    if method.family != "deep":
        return "cpu"
    from deepcac.nn.fitting.data import find_device

    return find_device("auto").type


class Decomposed(NamedTuple):
    """Clusters of the classes of a training part.

    `rows` are positions of the rows that were clustered; the others choose what is merged.
    `clusters` has their clusters within the classes, shape (len(rows),).
    """

    rows: Ids
    clusters: Ids


@dataclass(frozen=True)
class Shared:
    """Results that methods of one family with k clusters share on a split.

    `stage` has the clusterings (the CAC family) or the file of the pre-trained autoencoders (deep
    methods). `decomposed`, by clusterer, is filled by the first method that computes it.
    """

    stage: AlphaPath | Path | None = None
    decomposed: dict[str, Decomposed] = field(default_factory=dict)


def shared_stage(
    task: Task, setting: Setting, methods: Sequence[Method], file: Path | None
) -> Shared:
    """Compute the results that methods of one family share on a split, for `fit`.

    `file` has the pre-trained autoencoders of deep methods.
    """
    if methods[0].family == "deep":
        return Shared(file)
    return Shared(cac_arms.shared_clusterings(task, setting, methods))


def fit(task: Task, setting: Setting, method: Method, shared: Shared) -> Fitted:
    """Fit a method on a task."""
    stage = shared.stage
    if not isinstance(stage, AlphaPath) and method.family == "deep":
        from deepcac_study.experiments.networks import deep_methods

        return deep_methods.fit_task(task, setting, method, stage)
    if method.arm in CLASSES:
        return _fit_decomposed(task, setting, method, shared.decomposed)
    if method.arm == "skm":
        return _fit_in_metric(task, setting, method)
    return cac_arms.fit_task(task, setting, method, stage if isinstance(stage, AlphaPath) else None)


def _fit_decomposed(
    task: Task, setting: Setting, method: Method, decomposed: dict[str, Decomposed]
) -> Fitted:
    """Fit a classifier to clusters of each class.

    A third of each class decides which clusters are merged. k is the number of k-means clusters
    per class, or the most that EM tries.
    """
    weight = class_weight(method.arm, method.classifier, setting.protocol)
    base = method.learner.load()(classifier_seed(task.seed, setting.protocol))
    start = time.perf_counter()
    model = ClassDecompositionClassifier(
        base,
        task.k,
        clusterer=_CLUSTERERS[method.arm],  # type: ignore[arg-type]
        refit="one_class" if method.classifier == NB else "all",
        class_weight=weight,  # type: ignore[arg-type]
        random_state=task.seed,
    )
    _fit_classes(model, task.X_train, task.y_train, decomposed)
    seconds = {"classifier": time.perf_counter() - start}
    return Fitted(
        probability=class_scores(model, task.X_test, task.n_classes),
        predicted=np.asarray(model.predict(task.X_test), dtype=np.int64),
        cluster=np.asarray(model.estimator_.predict(task.X_test), dtype=np.int64),
        train_cluster=np.asarray(model.estimator_.predict(task.X_train), dtype=np.int64),
        hyperparameters={
            "classifier": method.classifier,
            "class_weight": weight,
            "n_clusters": task.k,
            "n_clusters_found": list(model.n_clusters_),
            "configuration": [[list(group) for group in part] for part in model.configuration_],
            "merges_tried": model.merges_tried_,
            "merges_taken": model.merges_taken_,
            "reverted": model.reverted_,
        },
        tuned=("configuration",),
        calibrated=hasattr(model, "predict_proba"),
        class_shares=balanced_shares(base, weight, task.y_train, task.n_classes),
        seconds=seconds,
    )


def _fit_classes(
    model: ClassDecompositionClassifier, X: Array, y: Ids, decomposed: dict[str, Decomposed]
) -> None:
    """Fit `model` to the clusters that its clusterer left in `decomposed`, or store them there.

    With stored clusters the remaining rows are the validation set.
    """
    if model.clusterer not in decomposed:
        model.fit(X, y)
        decomposed[model.clusterer] = Decomposed(model.training_rows_, model.clusters_)
        return
    rows, clusters = decomposed[model.clusterer]
    held = np.setdiff1d(np.arange(len(y)), rows)
    model.fit(X[rows], y[rows], validation=(X[held], y[held]), labels=clusters)


def _fit_in_metric(task: Task, setting: Setting, method: Method) -> Fitted:
    """Learn a metric from the classes of the training rows, then cluster and classify."""
    weight = class_weight(method.arm, method.classifier, setting.protocol)
    base = method.learner.load()(classifier_seed(task.seed, setting.protocol))
    start = time.perf_counter()
    model = MetricKMClassifier(
        ClassMetric(random_state=task.seed),
        base,
        task.k,
        class_weight=weight,
        random_state=task.seed,
    ).fit(task.X_train, task.y_train)
    seconds = {"classifier": time.perf_counter() - start}
    metric: Any = model.metric_
    scores = local_scores(model, task.X_test, task.n_classes)
    return Fitted(
        probability=scores,
        predicted=scores.argmax(axis=1),
        cluster=model.assign(task.X_test),
        train_cluster=model.subtypes_,
        hyperparameters={
            "classifier": method.classifier,
            "class_weight": weight,
            "n_clusters": task.k,
            "n_clusters_found": model.n_clusters_found_,
            "collapsed": pure(model.class_counts_),
            "polarisation": model.purity_,
            "metric": {
                "C": metric.C,
                "n_iter": metric.n_iter_,
                "converged": metric.converged_,
                "loss": metric.loss_,
                "weights": np.round(metric.weights_, 6).tolist(),
            },
        },
        calibrated=hasattr(model, "predict_proba"),
        class_shares=balanced_shares(base, weight, task.y_train, task.n_classes),
        seconds=seconds,
    )
