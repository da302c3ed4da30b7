"""What is learnt from labels that only training rows have, for rows that have none."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold

from deepcac.cac.cluster import kmeans_labels
from deepcac.judging.partitions import Partition
from deepcac.judging.resamples import Resample, Rows
from deepcac.types import Array, Ids

FOLDS = 5
_RIDGES = np.logspace(0, 4, 9)
_TREES = {"learning_rate": 0.05, "num_leaves": 15, "min_data_in_leaf": 40, "num_threads": 1}
_ROUNDS = 100


@dataclass(frozen=True)
class LabelledSample:
    """A resample whose n training rows have l further labels, standardised, shape (n, l).

    `shared` holds what several trials have in common.
    """

    sample: Resample
    labels: Array
    shared: dict[Any, Any] = field(default_factory=dict)


class Further(NamedTuple):
    """Further predictors: of training rows out of fold, and of any others."""

    train: Array
    of: Callable[[Rows], Array]


def rich_clusters(labelled: LabelledSample, k: int, share: float) -> Partition:
    """Return clusters of predictors and labels; rows are assigned by their predictors alone.

    Training rows, too, are assigned by a discriminant that did not see them, so that no row's
    cluster knows its labels.
    """
    member = _discriminant(labelled, k, share)
    return Partition(member.train.argmax(axis=1), lambda rows: member.of(rows).argmax(axis=1))


def memberships(labelled: LabelledSample, k: int, share: float) -> Further:
    """Return the probabilities of all clusters but the first, standardised."""
    member = _discriminant(labelled, k, share)
    return _standardised(Further(member.train[:, 1:], lambda rows: member.of(rows)[:, 1:]))


def predictions(labelled: LabelledSample, learner: str) -> Further:
    """Return what a model of the learner's kind predicts of each label, standardised.

    Logistic regression has ridge regression beside it, LightGBM its own regression.
    """
    if learner not in labelled.shared:
        train, columns = labelled.sample.train, labelled.labels.T
        folds = list(KFold(FOLDS, shuffle=True, random_state=labelled.sample.seed).split(train.y))
        regressed = [_regressed(train, label, folds, learner) for label in columns]
        labelled.shared[learner] = _standardised(
            Further(
                np.column_stack([prediction.train for prediction in regressed]),
                lambda rows: np.column_stack([prediction.of(rows) for prediction in regressed]),
            )
        )
    predicted: Further = labelled.shared[learner]
    return predicted


def _discriminant(labelled: LabelledSample, k: int, share: float) -> Further:
    """Return the probability of each cluster, shape (n, k), by a linear discriminant."""
    key = k, share
    if key not in labelled.shared:
        sample = labelled.sample
        X, labels = sample.train.bounded, labelled.labels
        # So that the labels have their share in the sum of all variances.
        weight = np.sqrt(share / (1 - share) * X.var(axis=0).sum() / labels.var(axis=0).sum())
        points = np.hstack([X, weight * labels])
        cluster = kmeans_labels(points, k, np.random.RandomState(sample.seed))
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=sample.seed)
        outside = np.zeros((len(X), k))
        for fit_rows, held_out in folds.split(X, cluster):
            outside[held_out] = _probabilities(X[fit_rows], cluster[fit_rows], k)(X[held_out])
        whole = _probabilities(X, cluster, k)
        labelled.shared[key] = Further(outside, lambda rows: whole(rows.bounded))
    membership: Further = labelled.shared[key]
    return membership


def _probabilities(X: Array, cluster: Ids, k: int) -> Callable[[Array], Array]:
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, cluster)

    def predict(points: Array) -> Array:
        probability = np.zeros((len(points), k))
        probability[:, model.classes_] = model.predict_proba(points)
        return probability

    return predict


def _regressed(train: Rows, label: Array, folds: list[tuple[Ids, Ids]], learner: str) -> Further:
    fit = _ridge if learner == "lr" else _trees
    outside = np.empty(len(label))
    for fit_rows, held_out in folds:
        outside[held_out] = fit(train.take(fit_rows), label[fit_rows])(train.take(held_out))
    return Further(outside, fit(train, label))


def _ridge(rows: Rows, label: Array) -> Callable[[Rows], Array]:
    model = RidgeCV(_RIDGES).fit(rows.bounded, label)
    return lambda rows: model.predict(rows.bounded)


def _trees(rows: Rows, label: Array) -> Callable[[Rows], Array]:
    # Here, so that a report reads finished records without it.
    import lightgbm

    settings = {**_TREES, "objective": "regression", "deterministic": True, "verbose": -1}
    model = lightgbm.train(settings, lightgbm.Dataset(rows.raw, label), _ROUNDS)
    return lambda rows: np.asarray(model.predict(rows.raw, num_threads=1))


def _standardised(columns: Further) -> Further:
    mean, scale = columns.train.mean(axis=0), columns.train.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return Further((columns.train - mean) / scale, lambda rows: (columns.of(rows) - mean) / scale)
