"""Table 1 of Vilalta, Achari & Eick (2003): one data set, ten runs, two classifiers, three arms."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from deepcac.decomposition.classifier import ClassDecompositionClassifier
from deepcac.decomposition.decompose import decompose, labels_of
from deepcac.decomposition.mixtures.mixed import Columns
from deepcac.decomposition.mixtures.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.search import Ties
from deepcac.decomposition.smo import PairwiseLinearSVC, UnitPoints
from deepcac.errors import ConfigError, DataError
from deepcac.types import Ints

Base = Literal["nb", "svm", "svm_rest"]
Arm = Literal["alone", "separate", "greedy"]

USUAL: tuple[Base, ...] = ("nb", "svm")  # those of the paper, as WEKA has them
AGAINST_REST: Base = "svm_rest"
RUNS = 10
_TRAIN, _VALIDATION, _TEST = 0, 1, 2
SHARES = (0.5, 0.25, 0.25)  # for training, validation and test


class RunRecord(NamedTuple):
    """One run of one arm.

    Attributes
    ----------
    run : int
    base : {"nb", "svm", "svm_rest"}
        Naive Bayes, or linear support vector machines one against one or one against rest.
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
    validation_steps : tuple of float
        Validation accuracy with all clusters separate, after each merge tried, and of the result;
        empty without a search.
    fits, fits_if_all : int
        Discriminants that the search fitted, and the number if each configuration were fitted as
        a whole.
    seconds_clustering, seconds : float
        Processor time of the clustering, which the arms share, and of the fit with its search.
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
    validation_steps: tuple[float, ...]
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
    bases: Sequence[Base] = USUAL,
    seed: int = 0,
) -> Iterator[RunRecord]:
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
        Keep the class shares in each part; the paper draws without stratification.
    runs : int
    max_clusters : int or None
        The most clusters per class that EM tries; None as in the paper.
    ties : {"separate", "merge"}
        What the search does with a merge that changes nothing.
    bases : sequence of {"nb", "svm", "svm_rest"}
        Base classifiers. The paper does not say how its machines treat more than two classes:
        WEKA's compare pairs, its printed gains on Vehicle and Vowel need one against rest.
    seed : int
        Run i draws from (seed, i).

    Raises
    ------
    ConfigError
        An unknown base.
    DataError
        A part has no row.
    """
    unknown = set(bases) - set(_BASES)
    if unknown:
        raise ConfigError(f"no base classifier {min(unknown)!r}; known: {', '.join(_BASES)}")
    labels = np.asarray(y)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        parts = draw_parts(labels, rng, stratified=stratified)
        data = cluster_parts(X, labels, parts, run, max_clusters, rng)
        for base in bases:
            for arm in ARMS:
                yield _run_arm(data, base, arm, ties)


def draw_parts(y: npt.NDArray[Any], rng: np.random.Generator, *, stratified: bool = True) -> Parts:
    """Draw 50 % of the rows for training, 25 % for validation and 25 % for the test.

    Stratified, the remainder of a class's rows is assigned at random, with at least one row in
    training.

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
        cut = np.array(SHARES[:2]) * len(order) + (rng.random() if stratified else 0.5)
        train = max(int(cut[0]), 1)
        validation = train + int(cut[1])
        part[order[:train]] = _TRAIN
        part[order[train:validation]] = _VALIDATION
    parts = Parts(*(np.flatnonzero(part == p) for p in (_TRAIN, _VALIDATION, _TEST)))
    if not all(map(len, parts)):
        raise DataError(f"{len(y)} rows are too few for training, validation and test")
    return parts


class DrawnRows(NamedTuple):
    """Data and clusters that the arms of a run share."""

    run: int
    train: tuple[pd.DataFrame, npt.NDArray[Any]]
    validation: tuple[pd.DataFrame, npt.NDArray[Any]]
    test: tuple[pd.DataFrame, npt.NDArray[Any]]
    clusters: Ints
    n_clusters: tuple[int, ...]
    seconds: float


def cluster_parts(
    X: pd.DataFrame,
    y: npt.NDArray[Any],
    parts: Parts,
    run: int,
    max_clusters: int | None,
    rng: np.random.Generator,
) -> DrawnRows:
    """Cluster the training rows of a run, class by class."""
    start = time.process_time()
    train, validation, test = ((X.iloc[rows], y[rows]) for rows in parts)
    classes = np.unique(train[1], return_inverse=True)[1]
    rows = Columns.of(X).encode(train[0])
    clusterings = decompose(rows, classes, max_clusters=max_clusters, rng=rng)
    counts = tuple(clusters.n_components for clusters in clusterings)
    labels = labels_of(clusterings, classes)
    return DrawnRows(run, train, validation, test, labels, counts, time.process_time() - start)


def fit_arm(
    data: DrawnRows, base: Base, arm: Arm, ties: Ties = "separate"
) -> ClassDecompositionClassifier:
    """Fit one arm to the training rows of a run."""
    model = ClassDecompositionClassifier(
        _BASES[base](), search="greedy" if arm == "greedy" else "none", refit="one_class", ties=ties
    )
    clusters = np.zeros_like(data.clusters) if arm == "alone" else data.clusters
    return model.fit(*data.train, validation=data.validation, labels=clusters)


def _run_arm(data: DrawnRows, base: Base, arm: Arm, ties: Ties) -> RunRecord:
    start = time.process_time()
    model = fit_arm(data, base, arm, ties)
    seconds = time.process_time() - start
    return RunRecord(
        run=data.run,
        base=base,
        arm=arm,
        accuracy=float(model.score(*data.test)),
        validation_accuracy=float(model.score(*data.validation)),
        n_clusters=data.n_clusters,
        configuration=model.configuration_,
        reverted=model.reverted_,
        merges_tried=model.merges_tried_,
        merges_taken=model.merges_taken_,
        validation_steps=tuple(model.validation_accuracy_.tolist()),
        fits=model.n_fits_,
        fits_if_all=model.n_fits_if_all_,
        seconds_clustering=data.seconds,
        seconds=seconds,
    )


def _machines_against_rest() -> Any:
    return make_pipeline(UnitPoints(), OneVsRestClassifier(SVC(kernel="linear")))


_BASES: dict[Base, Any] = {
    "nb": MixedNaiveBayes,
    "svm": PairwiseLinearSVC,
    "svm_rest": _machines_against_rest,
}
ARMS: tuple[Arm, ...] = ("alone", "separate", "greedy")
