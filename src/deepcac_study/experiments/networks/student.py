"""Gradient-boosting students of a model's local risk models."""

from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.types import Array, Ids

# A hundred trees of depth 3 at rate 0.1: scikit-learn's defaults, as the paper names no others.
STUDENT: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 3,
    "learning_rate": 0.1,
    "max_bin": 64,
    "tree_method": "hist",
    "importance_type": "total_gain",
    "n_jobs": 1,
    "random_state": 0,
}


def distil(
    X: Array, cluster: Ids, probability: Array, train: npt.NDArray[np.intp], k: int
) -> tuple[Array, Array]:
    """Train a student for the risk model of every cluster.

    A student learns the teacher's probabilities on its cluster's training rows from the raw
    features: each row occurs once for every class with the probability as its weight, so that
    the log-loss is the cross-entropy to the teacher. Importance is the loss that the splits on
    a feature save in all trees, as in scikit-learn's importances; like every importance by
    split, it favours features with many values and is shared among correlated ones (DeepCAC,
    Srivastava et al. 2021, section 14).

    X, (n, d), is in original units, NaN where missing; `probability`, (n, n_classes), is the
    teacher's; `train` has the positions of the training rows. Returned are the importance, (k, d),
    which adds up to 1 in each cluster, and the probabilities of each row's student, (n, n_classes).
    A cluster without training rows has zeros and the teacher's mean.
    """
    from xgboost import XGBClassifier

    n_classes = probability.shape[1]
    importance = np.zeros((k, X.shape[1]))
    answered = np.tile(probability[train].mean(axis=0), (len(X), 1))
    for j in range(k):
        members = cluster == j
        rows = train[members[train]]
        if not len(rows):
            continue
        student = XGBClassifier(**STUDENT)
        student.fit(
            np.tile(X[rows], (n_classes, 1)),
            np.repeat(np.arange(n_classes), len(rows)),
            sample_weight=probability[rows].T.ravel(),
        )
        importance[j] = student.feature_importances_
        answered[members] = student.predict_proba(X[members])
    return importance, answered
