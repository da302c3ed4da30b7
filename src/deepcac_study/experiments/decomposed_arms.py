"""Class decomposition as the run loop calls it: X on clusters of each class (CD+X, CD-KM+X)."""

import time

import numpy as np

from deepcac.decomposition import ClassDecompositionClassifier
from deepcac.linear.base_classifiers import balanced_shares, class_scores
from deepcac.task import Fitted, Task
from deepcac_study.catalogue.methods import NB, Method
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import class_weight, classifier_seed

_CLUSTERERS = {"cd": "em", "cdk": "kmeans"}


def fit_task(task: Task, setting: Setting, method: Method) -> Fitted:
    """Fit a classifier to clusters of each class on one split.

    Parameters
    ----------
    task : Task
        The training part holds the validation rows too; a third of each class chooses the
        clusters that are merged. k is the number of k-means clusters a class, or the most that
        EM tries.
    setting : Setting
        What the task was made for.
    method : Method
        CD+X or CD-KM+X.

    Returns
    -------
    Fitted
        The clusters of all rows are the groups that the classifier finds them in.
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
    ).fit(task.X_train, task.y_train)
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
