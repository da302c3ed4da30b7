"""k-means in a metric learnt from the classes, as the run loop calls it (SKM+X)."""

import time
from typing import Any

import numpy as np

from deepcac.cac.collapse import pure
from deepcac.cac.given_clusters import local_scores
from deepcac.cac.metric_km import MetricKMClassifier
from deepcac.linear.base_classifiers import balanced_shares
from deepcac.similarity import ClassMetric
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import Method
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import class_weight, classifier_seed


def fit_task(task: Task, setting: Setting, method: Method) -> Fitted:
    """Learn a metric from the classes of the training rows, then cluster and classify.

    Parameters
    ----------
    task : Task
        The training part holds the validation rows too.
    setting : Setting
        What the task was made for.
    method : Method
        SKM+X.
    """
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
