"""Table 1 of Vilalta, Achari & Eick (2003): one data set, ten runs, two classifiers, three arms."""

import time
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.decomposition.decompose import decompose, labels_of
from deepcac.decomposition.estimator import ClassDecompositionClassifier
from deepcac.decomposition.mixed import Columns, Ints
from deepcac.decomposition.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.search import Ties
from deepcac.decomposition.smo import PairwiseLinearSVC
from deepcac.errors import DataError

Base = Literal["nb", "svm"]
Arm = Literal["alone", "separate", "greedy"]

RUNS = 10
_TRAIN, _VALIDATION, _TEST = 0, 1, 2
_SHARES = (0.5, 0.25)  # for training and validation


class Record(NamedTuple):
    """One run of one arm.

    Attributes
    ----------
    run : int
    base : {"nb", "svm"}
        Naive Bayes or the linear support vector machines.
    arm : {"alone", "separate", "greedy"}
        The base alone, with all clusters as found, or with those that the search merged.
    accuracy : float
        On the test rows.
    validation_accuracy : float
        On the validation rows.
    n_clusters : tuple of int
        Clusters that EM found in each class.
    configuration : tuple of tuple of tuple of int
        For each class the groups of clusters that shared a label.
    reverted : bool
        Whether the search restored the original classes.
    merges_tried, merges_taken : int
    fits, fits_if_all : int
        Discriminants that the search fitted, and what it takes if each configuration is fitted
        as a whole.
    seconds_clustering, seconds : float
        Processor time of the clustering, shared by the arms of a run, and of the fit with its search.
    """

    run: int
    base: Base
    arm: Arm
    accuracy: float
    validation_accuracy: float
    n_clusters: tuple[int, ...]
    configuration: tuple[tuple[tuple[int, ...], ...], ...]
    reverted: bool
    merges_tried: int
    merges_taken: int
    fits: int
    fits_if_all: int
    seconds_clustering: float
    seconds: float


class Parts(NamedTuple):
    """Positions of the rows of one run, each ascending."""

    train: npt.NDArray[np.intp]
    validation: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def run_experiment(
    X: pd.DataFrame,
    y: npt.ArrayLike,
    *,
    stratified: bool = True,
    runs: int = RUNS,
    max_clusters: int | None = None,
    ties: Ties = "separate",
    seed: int = 0,
) -> Iterator[Record]:
    """Yield the records of all runs and arms of one data set.

    Each run draws 50 % of the rows for training, 25 % for validation and 25 % for the test; all
    arms of a run share them, and the clusters.

    Parameters
    ----------
    X : DataFrame of shape (n, d)
        Columns of dtype "category" are nominal, all others numeric; NaN is missing.
    y : array-like of shape (n,)
        Classes.
    stratified : bool
        Keep the class shares in each part; the paper draws plainly.
    runs : int
    max_clusters : int or None
        The most clusters a class that EM tries; None as in the paper.
    ties : {"separate", "merge"}
        What the search does with a merge that changes nothing.
    seed : int
        Run i draws from (seed, i).

    Raises
    ------
    DataError
        A part has no row.
    """
    labels = np.asarray(y)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        parts = draw_parts(labels, rng, stratified=stratified)
        yield from _one_run(X, labels, parts, run, rng, max_clusters, ties)


def draw_parts(y: npt.NDArray[Any], rng: np.random.Generator, *, stratified: bool = True) -> Parts:
    """Draw 50 % of the rows for training, 25 % for validation and 25 % for the test.

    Stratified, a class whose rows do not divide gives the rest to parts at random, at least one
    row to training.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes.
    rng : numpy.random.Generator
    stratified : bool
    """
    strata = [np.flatnonzero(y == label) for label in np.unique(y)] if stratified else None
    part = np.full(len(y), _TEST)
    for rows in strata or [np.arange(len(y))]:
        order = rng.permutation(rows)
        cut = np.array(_SHARES) * len(order) + (rng.random() if stratified else 0.5)
        train = max(int(cut[0]), 1)
        validation = train + int(cut[1])
        part[order[:train]] = _TRAIN
        part[order[train:validation]] = _VALIDATION
    parts = Parts(*(np.flatnonzero(part == p) for p in (_TRAIN, _VALIDATION, _TEST)))
    if not all(map(len, parts)):
        raise DataError(f"{len(y)} rows are too few for training, validation and test")
    return parts


def _one_run(
    X: pd.DataFrame,
    y: npt.NDArray[Any],
    parts: Parts,
    run: int,
    rng: np.random.Generator,
    max_clusters: int | None,
    ties: Ties,
) -> Iterator[Record]:
    start = time.process_time()
    train = X.iloc[parts.train]
    classes = np.unique(y[parts.train], return_inverse=True)[1]
    found = decompose(Columns.of(train).encode(train), classes, max_clusters=max_clusters, rng=rng)
    clusters = labels_of(found, classes)
    shared = time.process_time() - start
    components = tuple(cluster.n_components for cluster in found)
    for base, estimator in _BASES.items():
        for arm in _ARMS:
            start = time.process_time()
            model = ClassDecompositionClassifier(
                estimator(),
                search="greedy" if arm == "greedy" else "none",
                refit="one_class",
                ties=ties,
            )
            labels: Ints = np.zeros_like(clusters) if arm == "alone" else clusters
            held = X.iloc[parts.validation], y[parts.validation]
            model.fit(train, y[parts.train], validation=held, clusters=labels)
            seconds = time.process_time() - start
            yield Record(
                run=run,
                base=base,
                arm=arm,
                accuracy=float(model.score(X.iloc[parts.test], y[parts.test])),
                validation_accuracy=float(model.score(*held)),
                n_clusters=components,
                configuration=model.configuration_,
                reverted=model.reverted_,
                merges_tried=model.merges_tried_,
                merges_taken=model.merges_taken_,
                fits=model.n_fits_,
                fits_if_all=model.n_fits_if_all_,
                seconds_clustering=shared,
                seconds=seconds,
            )


_BASES: dict[Base, Any] = {"nb": MixedNaiveBayes, "svm": PairwiseLinearSVC}
_ARMS: tuple[Arm, ...] = ("alone", "separate", "greedy")
