"""EC3: six classifiers and three clusterings joined by one objective.

EC3 is transductive: it needs all rows that it is to classify at once, and its answer for one
row depends on the others. It is a rival in Srivastava et al. 2021, "CAC: A Clustering Based
Framework for Classification" (CAC v2), section 2.
"""

import time
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import kneighbors_graph
from sklearn.tree import DecisionTreeClassifier

from deepcac.consensus.objective import Consensus, Weights, membership
from deepcac.linear.base_classifiers import (
    ClassWeight,
    fit_weighted,
    linear_svm,
    logistic_regression,
    nearest_neighbours,
)
from deepcac.task import Fitted, Task
from deepcac.types import Floats, Ints

BUDGET = 7200.0  # seconds; CAC v2 stopped it on Diabetes after two hours
# On ||change|| / (n L). The published copy's 1e-4 ends after a step or two, short of the minimum.
TOLERANCE = 1e-9
MAX_ITER = 1000


class OutOfTimeError(Exception):
    """The time budget is used up."""


class Clock:
    """A time budget that is checked between steps.

    Parameters
    ----------
    budget : float
        Seconds from now.
    """

    def __init__(self, budget: float) -> None:
        self._end = time.monotonic() + budget

    def check(self) -> None:
        """Raise `OutOfTimeError` once the budget is used up."""
        if time.monotonic() > self._end:
            raise OutOfTimeError


def classifiers(seed: int) -> tuple[BaseEstimator, ...]:
    """Return decision tree, naive Bayes, k-NN, LR, linear SVM and SGD (hinge), unfitted."""
    return (
        DecisionTreeClassifier(random_state=seed),
        GaussianNB(),
        nearest_neighbours(seed),
        logistic_regression(seed),
        linear_svm(seed),
        SGDClassifier(loss="hinge", random_state=seed),
    )


def clusterings(X: Floats, n_classes: int, seed: int, clock: Clock) -> Iterator[Ints]:
    """Yield the k-means, hierarchical and DBSCAN clusters of the rows of `X` (n, d).

    The hierarchy (Ward) merges along the graph of ten nearest neighbours, so that memory grows
    with n and not with its square.
    """
    k = min(n_classes, len(X))
    yield KMeans(n_clusters=k, n_init=10, random_state=seed).fit(X).labels_
    clock.check()
    graph = kneighbors_graph(X, min(10, len(X) - 1), include_self=False)
    graph = graph.maximum(graph.T)
    yield AgglomerativeClustering(n_clusters=k, connectivity=graph).fit(X).labels_
    clock.check()
    yield DBSCAN(eps=0.3, min_samples=10).fit(X).labels_


def fit_task(task: Task, class_weight: ClassWeight = None, budget: float = BUDGET) -> Fitted:
    """Join classifiers and clusterings on the test rows of one split.

    Parameters
    ----------
    task : Task
        Static features.
    class_weight : {"balanced"}, dict or None
        Class weights of the classifiers that take class or row weights.
    budget : float
        Seconds after which the status is ``"timeout"`` and nothing is learnt.

    Returns
    -------
    Fitted
        F^o as probabilities. After a timeout every class is equally probable.
    """
    clock, start = Clock(budget), time.perf_counter()
    settings = {"class_weight": class_weight, "budget": budget, **vars(Weights())}
    try:
        probability, iterations = _solve(task, class_weight, clock)
        settings["iterations"], status = iterations, "ok"
    except OutOfTimeError:
        shape = (len(task.y_test), task.n_classes)
        probability, status = np.full(shape, 1.0 / task.n_classes), "timeout"
    return Fitted(
        probability=probability,
        predicted=probability.argmax(axis=1),
        cluster=np.zeros(len(task.y_test), dtype=np.int64),
        train_cluster=np.zeros(len(task.y_train), dtype=np.int64),
        hyperparameters=settings,
        status=status,
        seconds={"ec3": time.perf_counter() - start},
    )


def _solve(task: Task, class_weight: ClassWeight, clock: Clock) -> tuple[Floats, int]:
    """Return the consensus of all base models, (n test, classes), and its iterations."""
    answers: list[Ints] = []
    for base in classifiers(task.seed):
        clock.check()
        model = fit_weighted(base, task.X_train, task.y_train, class_weight)
        answers.append(model.predict(task.X_test).astype(np.int64))
    votes = np.mean([np.eye(task.n_classes)[answer] for answer in answers], axis=0)
    clock.check()
    partitions = list(clusterings(task.X_test, task.n_classes, task.seed, clock))
    consensus = Consensus(membership([*answers, *partitions]), votes)
    iterations, change = 0, np.inf
    while change > TOLERANCE and iterations < MAX_ITER:
        clock.check()
        change = consensus.step()
        iterations += 1
    return consensus.objects, iterations
