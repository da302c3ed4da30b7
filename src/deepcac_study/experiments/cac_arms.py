"""The CAC family for the run loop: X alone, KM+X and CAC+X."""

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from deepcac.cac.collapse import pure
from deepcac.cac.estimator import CACClassifier
from deepcac.cac.given_clusters import fit_clusters, local_scores
from deepcac.cac.km import KMClassifier
from deepcac.cac.local_training import LocalClassifier
from deepcac.cac.path import GRID, START, AlphaPath, alpha_path, tune
from deepcac.consensus import ec3
from deepcac.linear.base_classifiers import balanced_shares, class_scores, fit_weighted
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import Method, classifiers
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import class_weight, classifier_seed, given_alpha


def alphas_needed(dataset: str, protocol: Protocol) -> tuple[tuple[float, ...], bool]:
    """Return the alphas that a data set's runs need, and whether any run tunes alpha.

    Alphas are the grid; with switch A11 the printed ones, and the grid only where none is printed.
    Only tuning needs the folds.
    """
    printed = {given_alpha(dataset, x, protocol) for x in classifiers()}
    tuned = None in printed
    fixed = {alpha for alpha in printed if alpha is not None}
    return tuple(sorted(fixed.union(GRID if tuned else ()))), tuned


def shared_clusterings(task: Task, setting: Setting, methods: Iterable[Method]) -> AlphaPath | None:
    """Compute the clusterings that methods share on one split; None if none has clusters."""
    if not any(method.arm in ("km", "cac") for method in methods):
        return None
    alphas, tuned = alphas_needed(setting.dataset, setting.protocol)
    return alpha_path(task.X_train, task.y_train, task.k, task.seed, alphas, full_only=not tuned)


def fit_task(
    task: Task, setting: Setting, method: Method, clusterings: AlphaPath | None = None
) -> Fitted:
    """Fit a method of the CAC family on one split.

    The training part includes the validation rows. Without `clusterings` of this split
    (`shared_clusterings`) they are computed here. The result includes the cost curves of CAC.
    """
    arm, name = method.arm, method.classifier
    weight = class_weight(arm, name, setting.protocol)
    learner = method.learner.load()
    if learner is ec3.fit_task:  # transductive: it fits the task itself
        return ec3.fit_task(task, weight)
    base = learner(classifier_seed(task.seed, setting.protocol))
    if arm == "base":
        return _fit_alone(task, base, name, weight)
    path = shared_clusterings(task, setting, [method]) if clusterings is None else clusterings
    assert path is not None
    printed = given_alpha(setting.dataset, name, setting.protocol) if arm == "cac" else None
    model = KMClassifier(base, task.k, class_weight=weight, random_state=task.seed)
    return _fit_clustered(task, arm, name, model, printed, path)


def _fit_alone(task: Task, base: BaseEstimator, name: str, weight: str | None) -> Fitted:
    """Fit one classifier on all training rows; every row is in cluster 0."""
    start = time.perf_counter()
    model = fit_weighted(base, task.X_train, task.y_train, weight)
    seconds = {"classifier": time.perf_counter() - start}
    scores = class_scores(model, task.X_test, task.n_classes)
    return Fitted(
        probability=scores,
        predicted=scores.argmax(axis=1),
        cluster=np.zeros(len(task.y_test), dtype=np.int64),
        train_cluster=np.zeros(len(task.y_train), dtype=np.int64),
        hyperparameters={"classifier": name, "class_weight": weight},
        calibrated=hasattr(model, "predict_proba"),
        class_shares=balanced_shares(base, weight, task.y_train, task.n_classes),
        seconds=seconds,
    )


def _fit_clustered(
    task: Task, arm: str, name: str, model: LocalClassifier, printed: float | None, path: AlphaPath
) -> Fitted:
    """Fit local classifiers on the arm's clusters; CAC's alpha is tuned unless printed."""
    clock = [time.perf_counter()]
    X, y = task.X_train, task.y_train
    alpha, scores = START if printed is None else printed, dict[str, float]()
    if arm == "cac" and printed is None:
        alpha, scores = tune(model, X, y, path)
    clock.append(time.perf_counter())
    if arm == "cac":
        model = CACClassifier(**model.get_params(deep=False), alpha=alpha)
    fit_clusters(model, X, y, path.whole[alpha])
    clock.append(time.perf_counter())
    spent = np.diff(clock).tolist()
    stages = dict(zip(("tuning", "classifier"), spent, strict=True))
    return _report(task, model, name, scores, stages)


def _report(
    task: Task, model: LocalClassifier, name: str, f1: dict[str, float], seconds: dict[str, float]
) -> Fitted:
    """Return the model's predictions; `f1` has the CV score of each alpha, empty if not tuned."""
    hyperparameters: dict[str, Any] = {
        "classifier": name,
        "class_weight": model.class_weight,
        "n_clusters": task.k,
        "n_clusters_found": model.n_clusters_found_,
        "collapsed": pure(model.class_counts_),
        "polarisation": model.purity_,
    }
    history = {}
    if isinstance(model, CACClassifier):
        hyperparameters |= {"alpha": model.alpha, "separation": model.separation}
        hyperparameters |= {"alpha_f1": f1} if f1 else {}
        history = {
            "cost": model.cost_history_.tolist(),
            "within": model.within_history_.tolist(),
            "separation": model.separation_history_.tolist(),
            "moves": model.moves_.astype(float).tolist(),
        }
    scores = local_scores(model, task.X_test, task.n_classes)
    return Fitted(
        probability=scores,
        predicted=scores.argmax(axis=1),
        cluster=model.assign(task.X_test),
        train_cluster=model.subtypes_,
        hyperparameters=hyperparameters,
        tuned=("alpha",) if f1 else (),
        history=history,
        calibrated=hasattr(model, "predict_proba"),
        class_shares=balanced_shares(
            model.base_estimator, model.class_weight, task.y_train, task.n_classes
        ),
        seconds=seconds,
    )
