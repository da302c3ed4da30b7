"""A model at another hospital: recalibrated by cluster, or globally, with the same few labels."""

import logging
import os
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from deepcac.cac.cluster import kmeans_labels
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json
from deepcac.judging.contenders import CELLS, HASH, KM
from deepcac.judging.resamples import OUTLIER
from deepcac.preprocess import TableScaler
from deepcac.task import Array, Ids
from deepcac_study.judge.crossed import Crossed, Scored, score
from deepcac_study.judge.moves import SOURCES, Move, grouped, moved, source_odds
from deepcac_study.judge.recalibration import (
    Candidate,
    Choice,
    best,
    candidates,
    deal,
    recalibrated,
)
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.records.record import file_digest, machine
from deepcac_study.simulate.planted import APART, COMMON, COMMON_WEIGHT, INTERCEPT, planted

log = logging.getLogger(__name__)

LEARNERS = ("lr", "lgbm")
DRAWS = 10  # draws of labels for each draw of source rows
LABELS = (50, 100, 200, 500, 1000, 2000)
CLUSTERS = (2, 3, 4, 5)
PARTS = (KM, CELLS, HASH)
NONE, SHIFT, SLOPE, GLOBAL = "none", "intercept", "slope", "global"
# Before an arm that may not choose the global way, and one whose k and penalty are not chosen.
FORCED, FIXED = "forced_", "fixed_"
FIXED_K, FIXED_PENALTY = 3, 10.0
# Question, contender and reference.
COMPARED = (
    ("help", KM, GLOBAL),
    ("forced", FORCED + KM, GLOBAL),
    ("fixed", FIXED + KM, GLOBAL),
    ("any_partition", FORCED + KM, FORCED + CELLS),
    ("any_partition", FIXED + KM, FIXED + CELLS),
    ("any_partition", FORCED + KM, FORCED + HASH),
    ("negative_control", CELLS, GLOBAL),
    ("recalibration", GLOBAL, NONE),
)


class Target(NamedTuple):
    """Rows of the target.

    Attributes
    ----------
    y : ndarray of shape (n,), int64
    odds : mapping of str to ndarray of shape (SOURCES, n)
        Learner to the log odds by each source model.
    points : ndarray of shape (n, q)
        In which rows are parted, scaled by all of them.
    """

    y: Ids
    odds: Mapping[str, Array]
    points: Array


def run_transfer(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    train: Sequence[str],
    test: str,
    units: Sequence[str],
    train_rows: int,
    synthetic: bool = False,
) -> None:
    """Move models from some rows of a feature file to others, and write what is found.

    Parameters
    ----------
    features : path-like
    record : path-like
        JSON to write: ``dataset``, ``move``, ``n_source``, ``n_target``, ``events`` of the target
        and ``learners`` (`transferred`).
    train, test, units
        See `deepcac_study.judge.moves.Move`.
    train_rows : int
        Largest number of training rows.
    """
    begin = time.perf_counter()
    move = Move(train, test, units)
    matrix, group = grouped(read_rows(features), move.units)
    source, target = moved(group, move)
    rows = target_rows(matrix, source, target, LEARNERS, train_rows)
    about = {"dataset": dataset, "synthetic": synthetic, "move": move._asdict()}
    sizes = {"n_source": len(source), "n_target": len(target), "events": int(rows.y.sum())}
    inputs = {"inputs": {"features": file_digest(features)}}
    found = {**about, **sizes, "learners": transferred(rows), **inputs}
    seconds = {"total": time.perf_counter() - begin}
    write_json(record, {**found, "machine": machine(seconds, 1, "cpu")})


def run_planted_transfer(
    path: str | os.PathLike[str], *, shift: float, rows: int, train_rows: int
) -> None:
    """Move logistic regression between generated hospitals, one a shift of the subtypes.

    Parameters
    ----------
    path : path-like
        JSON to write: ``shift``, ``n_source``, ``n_target``, ``events`` and ``learners``.
    shift : float
        Of the log odds, in the target alone: plus this in one subtype, minus this in the other.
    rows : int
        Of the source, and of the target.
    """
    begin = time.perf_counter()
    matrix = shifted(shift, rows)
    both = np.arange(2 * rows)
    found = target_rows(matrix, both[:rows], both[rows:], LEARNERS[:1], train_rows)
    sizes = {"n_source": rows, "n_target": rows, "events": int(found.y.sum())}
    content = {"synthetic": True, "shift": shift, **sizes, "learners": transferred(found)}
    seconds = {"total": time.perf_counter() - begin}
    write_json(path, {**content, "machine": machine(seconds, 1, "cpu")})


def shifted(shift: float, rows: int, seed: int = 0) -> FeatureMatrix:
    """Draw the planted cohort of no reversed risks, twice `rows`; outcomes of the second half move.

    See `run_planted_transfer`.
    """
    matrix, subtype = planted(0.0, 2 * rows, seed)
    risk = INTERCEPT + COMMON_WEIGHT * matrix.X[:, APART : APART + COMMON].sum(axis=1)
    risk += np.where(np.arange(2 * rows) < rows, 0.0, shift * (2.0 * subtype - 1.0))
    chance = np.random.default_rng([seed, 36]).random(2 * rows)
    return replace(matrix, label=(chance < expit(risk)).astype(np.int64))


def target_rows(
    matrix: FeatureMatrix, source: Ids, target: Ids, learners: Sequence[str], train_rows: int
) -> Target:
    """Return the rows of the target with what models of the source say of them."""
    odds = {name: source_odds(matrix, source, target, name, train_rows) for name in learners}
    X = TableScaler().fit_transform(matrix.X[target])
    return Target(matrix.label[target], odds, np.clip(X, -OUTLIER, OUTLIER))


def transferred(target: Target) -> dict[str, list[dict[str, Any]]]:
    """Recalibrate with few labels in many draws.

    Returns
    -------
    dict
        Learner to a row a number of labels: ``labels``, ``draws``, ``scores`` (way to its mean
        scores), ``clustered`` (in how many draws each arm chose clusters), and ``comparisons``:
        ``question``, ``contender``, ``reference``, and for each metric the mean difference, its
        error by test rows and its error by draws (`Crossed`).
    """
    n = len(target.y)
    labels = [m for m in LABELS if 2 * m <= n]
    compared = {
        (name, m): [Crossed(target.y) for _ in COMPARED] for name in target.odds for m in labels
    }
    values: dict[Any, list[dict[str, dict[str, float]]]] = defaultdict(list)
    chosen: dict[Any, dict[str, int]] = {key: dict.fromkeys(PARTS, 0) for key in compared}
    kmeans = {k: kmeans_labels(target.points, k, np.random.RandomState(0)) for k in CLUSTERS}
    for draw in range(SOURCES * DRAWS):
        rng = np.random.default_rng([draw, 36])
        order = rng.permutation(n)
        parts = partitions(kmeans, target.points, rng)
        for name, odds in target.odds.items():
            for m in labels:
                test, own = np.sort(order[m:]), odds[draw % SOURCES]
                found, ways = recalibrations(own, target.y, order[:m], test, parts, rng)
                values[name, m].append({way: one.value for way, one in found.items()})
                for arm, candidate in ways.items():
                    chosen[name, m][arm] += candidate.choice.k > 1
                for one, (_, ours, theirs) in zip(compared[name, m], COMPARED, strict=True):
                    one.add(test, found[ours], found[theirs])
        log.info("labels, draw %d", draw)
    return {
        name: [_entry(m, values[name, m], chosen[name, m], compared[name, m]) for m in labels]
        for name in target.odds
    }


def partitions(
    kmeans: Mapping[int, Ids], points: Array, rng: np.random.Generator
) -> dict[str, dict[int, Ids]]:
    """Return the clusters, and two partitions of the same sizes that mean nothing."""
    return {
        KM: dict(kmeans),
        CELLS: {k: balls(points, np.bincount(own), rng) for k, own in kmeans.items()},
        HASH: {k: rng.permutation(own) for k, own in kmeans.items()},
    }


def balls(points: Array, sizes: Ids, rng: np.random.Generator) -> Ids:
    """Part rows into balls of given sizes, each around a random row of those that are left."""
    label, left = np.empty(len(points), dtype=np.int64), np.arange(len(points))
    squares = (points**2).sum(axis=1)
    *first, last = rng.permutation(len(sizes))
    for j in first:
        centre = points[rng.choice(left)]
        distance = squares[left] - 2 * (points @ centre)[left]
        nearest = np.argpartition(distance, sizes[j] - 1)[: sizes[j]]
        label[left[nearest]] = j
        left = np.delete(left, nearest)
    label[left] = last
    return label


def recalibrations(
    odds: Array,
    y: Ids,
    labelled: Ids,
    test: Ids,
    parts: Mapping[str, Mapping[int, Ids]],
    rng: np.random.Generator,
) -> tuple[dict[str, Scored], dict[str, Candidate]]:
    """Recalibrate with the labelled rows in every way, and score the test rows.

    Returns
    -------
    dict of str to Scored
        Of every way of `COMPARED`, and of `SHIFT` and `SLOPE`.
    dict of str to Candidate
        What each arm chose, where it may choose the global way.
    """
    middle, own, y_own = float(odds.mean()), odds[labelled], y[labelled]
    fold = deal(y_own, rng)
    alike = candidates(own, y_own, fold, middle)
    ways = {SHIFT: alike[0], SLOPE: alike[1], GLOBAL: best(alike)}
    found = {NONE: score(odds[test], y[test])}
    for arm, clusters in parts.items():
        labels = {k: label[labelled] for k, label in clusters.items()}
        offered = candidates(own, y_own, fold, middle, labels)
        ways[FORCED + arm] = best(offered)
        ways[arm] = best([ways[GLOBAL], ways[FORCED + arm]])
        fixed = Choice(ways[GLOBAL].choice.slope, FIXED_K, FIXED_PENALTY)
        ways[FIXED + arm] = next(one for one in offered if one.choice == fixed)
    for way, candidate in ways.items():
        k = candidate.choice.k
        cluster = None if k == 1 else parts[way.rpartition("_")[2]][k][test]
        found[way] = score(recalibrated(candidate, odds[test], middle, cluster), y[test])
    return found, {arm: ways[arm] for arm in parts}


def _entry(
    m: int,
    values: Sequence[Mapping[str, Mapping[str, float]]],
    clustered: Mapping[str, int],
    compared: Sequence[Crossed],
) -> dict[str, Any]:
    """Return the row of `transferred`."""
    means = {
        way: {name: round(float(np.mean([one[way][name] for one in values])), 7) for name in own}
        for way, own in values[0].items()
    }
    comparisons = [
        {"question": question, "contender": ours, "reference": theirs}
        | {name: [round(x, 8) for x in told] for name, told in one.found().items()}
        for one, (question, ours, theirs) in zip(compared, COMPARED, strict=True)
    ]
    return {
        "labels": m,
        "draws": len(values),
        "scores": means,
        "clustered": dict(clustered),
        "comparisons": comparisons,
    }
