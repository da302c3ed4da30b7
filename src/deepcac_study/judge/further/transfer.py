"""A model at another hospital: recalibrated by cluster, or globally, with the same few labels."""

import logging
import os
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from deepcac.cac.cluster import kmeans_labels
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json
from deepcac.judging.contenders import CELLS, HASH, KM
from deepcac.judging.resamples import OUTLIER
from deepcac.preprocess import TableScaler
from deepcac.types import Array, Ids
from deepcac_study.judge.further.crossed import Crossed, Scored, score
from deepcac_study.judge.further.further_files import LEARNERS
from deepcac_study.judge.further.moves import SOURCES, Move, grouped, moved, source_odds
from deepcac_study.judge.further.recalibrating import (
    Candidate,
    Choice,
    best,
    candidates,
    deal,
    log_loss,
    recalibrated,
)
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.records.record import file_digest, machine
from deepcac_study.records.written_scores import as_written

log = logging.getLogger(__name__)

DRAWS = 10  # draws of labels for each draw of source rows
LABELS = (50, 100, 200, 500, 1000, 2000)
CLUSTERS = (2, 3, 4, 5)
DIRECTIONS = "directions"  # the plain rival: as many numbers a row, without groups
PARTS = (KM, CELLS, HASH, DIRECTIONS)
NONE, SHIFT, SLOPE, GLOBAL = "none", "intercept", "slope", "global"
UPDATE, UPDATES = "update", 10  # made in the first draws alone: it costs most
# Before an arm that may not choose the global way, and one whose k and penalty are not chosen.
FORCED, FIXED = "forced_", "fixed_"
FIXED_K, FIXED_PENALTY = 3, 10.0
_NO_SPREAD = 1e-9
# Question, contender and reference.
COMPARED = (
    ("help", KM, GLOBAL),
    ("forced", FORCED + KM, GLOBAL),
    ("fixed", FIXED + KM, GLOBAL),
    ("any_partition", FORCED + KM, FORCED + CELLS),
    ("any_partition", FIXED + KM, FIXED + CELLS),
    ("any_partition", FORCED + KM, FORCED + HASH),
    ("rival", FORCED + KM, FORCED + DIRECTIONS),
    ("rival", DIRECTIONS, GLOBAL),
    ("update", FORCED + KM, UPDATE),
    ("update", UPDATE, GLOBAL),
    ("negative_control", CELLS, GLOBAL),
    ("recalibration", GLOBAL, NONE),
)
PENALTIES = (3000.0, 1000.0, 300.0)  # of all weights, the most cautious first
_FEWEST = 2  # events, so that no fold is without
_FREE = 10.0  # the source's log odds, times this, are hardly penalised


class Target(NamedTuple):
    """Rows of the target.

    `odds` gives, by learner, the log odds by each source model, shape (SOURCES, n). `points`, of
    shape (n, q), are what rows are parted in, scaled by all of them.
    """

    y: Ids
    odds: Mapping[str, Array]
    points: Array


def run_transfer(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    move: Move,
    train_rows: int,
    family: str,
    synthetic: bool = False,
) -> None:
    """Move models from some rows of a feature file to others, and write what is found.

    The JSON has ``dataset``, ``move``, ``n_source``, ``n_target``, ``events`` of the target and
    ``learners`` (`transferred`). `train_rows` is the largest number of training rows,
    `family` the family of Holm's correction.
    """
    begin = time.perf_counter()
    move = Move(*move)  # the workflow hands a plain tuple over
    matrix, group = grouped(read_rows(features), move.units)
    source, target = moved(group, move)
    rows = target_rows(matrix, source, target, LEARNERS, train_rows)
    about = {"dataset": dataset, "synthetic": synthetic, "move": move._asdict()}
    about["family"] = family
    sizes = {"n_source": len(source), "n_target": len(target), "events": int(rows.y.sum())}
    inputs = {"inputs": {"features": file_digest(features)}}
    body = {**about, **sizes, "learners": transferred(rows), **inputs}
    seconds = {"total": time.perf_counter() - begin}
    write_json(record, {**as_written(body), "machine": machine(seconds, 1, "cpu")})


def target_rows(
    matrix: FeatureMatrix, source: Ids, target: Ids, learners: Sequence[str], train_rows: int
) -> Target:
    """Return the rows of the target with what models of the source say of them."""
    odds = {name: source_odds(matrix, source, target, name, train_rows) for name in learners}
    X = TableScaler().fit_transform(matrix.X[target])
    return Target(matrix.label[target], odds, np.clip(X, -OUTLIER, OUTLIER))


def transferred(target: Target) -> dict[str, list[dict[str, Any]]]:
    """Recalibrate with few labels in many draws.

    By learner a row a number of labels: ``labels``, ``scores`` (way to its mean scores),
    ``clustered`` (in how many draws each arm chose clusters), and ``comparisons``: ``question``,
    ``contender``, ``reference``, ``draws``, and for each metric the mean difference, its error by
    test rows and its error by draws (`Crossed`).
    """
    n, fixed = len(target.y), directions(target.points)
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
        parts = {**partitions(kmeans, target.points, rng), DIRECTIONS: fixed}
        for name, odds in target.odds.items():
            for m in labels:
                test, draw_odds = np.sort(order[m:]), odds[draw % SOURCES]
                fold = deal(target.y[order[:m]], rng)
                scores, ways = recalibrations(draw_odds, target.y, order[:m], test, parts, fold)
                if draw < UPDATES:
                    y = target.y[order[:m]]
                    new = updated(draw_odds, target.points, y, order[:m], fold)
                    scores[UPDATE] = score(new[test], target.y[test])
                values[name, m].append({way: result.value for way, result in scores.items()})
                for arm, candidate in ways.items():
                    chosen[name, m][arm] += candidate.choice.k > 1
                for comparison, (_, ours, theirs) in zip(compared[name, m], COMPARED, strict=True):
                    if {ours, theirs} <= scores.keys():
                        comparison.add(test, scores[ours], scores[theirs])
        log.info("labels, draw %d", draw)
    return {
        name: [_entry(m, values[name, m], chosen[name, m], compared[name, m]) for m in labels]
        for name in target.odds
    }


def partitions(
    kmeans: Mapping[int, Ids], points: Array, rng: np.random.Generator
) -> dict[str, dict[int, Array]]:
    """Return the clusters, and two partitions of the same sizes that mean nothing.

    Of each row and k the membership, shape (n, k).
    """
    clusterings = {
        KM: kmeans,
        CELLS: {
            k: balls(points, np.bincount(cluster_ids), rng) for k, cluster_ids in kmeans.items()
        },
        HASH: {k: rng.permutation(cluster_ids) for k, cluster_ids in kmeans.items()},
    }
    return {
        arm: {k: np.eye(k)[label] for k, label in by_k.items()} for arm, by_k in clusterings.items()
    }


def directions(points: Array) -> dict[int, Array]:
    """Return for each k the first k - 1 principal components of the rows, of unit variance."""
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    scores = centred @ axes[:, ::-1][:, : max(CLUSTERS) - 1]
    scores /= np.maximum(scores.std(axis=0), _NO_SPREAD)
    return {k: scores[:, : k - 1] for k in CLUSTERS}


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
    parts: Mapping[str, Mapping[int, Array]],
    fold: Ids,
) -> tuple[dict[str, Scored], dict[str, Candidate]]:
    """Recalibrate with the labelled rows in every way, and score the test rows.

    Scores are of every way of `COMPARED`, and of `SHIFT` and `SLOPE`; candidates are what each arm
    chose, where it may choose the global way.
    """
    middle, labelled_odds, y_own = float(odds.mean()), odds[labelled], y[labelled]
    alike = candidates(labelled_odds, y_own, fold, middle)
    ways = {SHIFT: alike[0], SLOPE: alike[1], GLOBAL: best(alike)}
    scores = {NONE: score(odds[test], y[test])}
    for arm, groups in parts.items():
        members = {k: member[labelled] for k, member in groups.items()}
        offered = candidates(labelled_odds, y_own, fold, middle, members)
        ways[FORCED + arm] = best(offered)
        ways[arm] = best([ways[GLOBAL], ways[FORCED + arm]])
        fixed = Choice(ways[GLOBAL].choice.slope, FIXED_K, FIXED_PENALTY)
        ways[FIXED + arm] = next(option for option in offered if option.choice == fixed)
    for way, candidate in ways.items():
        k = candidate.choice.k
        member = None if k == 1 else parts[way.rpartition("_")[2]][k][test]
        scores[way] = score(recalibrated(candidate, odds[test], middle, member), y[test])
    return scores, {arm: ways[arm] for arm in parts}


def _entry(
    m: int,
    values: Sequence[Mapping[str, Mapping[str, float]]],
    clustered: Mapping[str, int],
    compared: Sequence[Crossed],
) -> dict[str, Any]:
    """Return the row of `transferred`."""
    means = {
        way: {
            name: round(float(np.mean([row[way][name] for row in values if way in row])), 7)
            for name in metrics
        }
        for way, metrics in values[0].items()
    }
    comparisons = [
        {"question": question, "contender": ours, "reference": theirs, "draws": comparison.draws}
        | {name: [round(x, 8) for x in numbers] for name, numbers in comparison.estimates().items()}
        for comparison, (question, ours, theirs) in zip(compared, COMPARED, strict=True)
    ]
    return {
        "labels": m,
        "scores": means,
        "clustered": dict(clustered),
        "comparisons": comparisons,
    }


def updated(odds: Array, points: Array, y: Ids, labelled: Ids, fold: Ids) -> Array:
    """Return log odds of all n rows after an update with m labelled ones, at positions `labelled`.

    A ridge logistic regression on the source's log odds and all predictors of the target (`points`,
    (n, q), standardised); folds choose the penalty. Where fewer than two rows have an outcome, the
    source's log odds stay as they are.
    """
    if np.bincount(y, minlength=2).min() < _FEWEST:
        return odds
    X = np.column_stack([_FREE * odds[labelled], points[labelled]])
    best = min(PENALTIES, key=lambda penalty: _loss(X, y, fold, penalty))
    model = _model(best).fit(X, y)
    weights = model.coef_[0]
    return np.asarray(_FREE * weights[0] * odds + points @ weights[1:] + model.intercept_[0])


def _loss(X: Array, y: Ids, fold: Ids, penalty: float) -> float:
    total = 0.0
    for fold_number in np.unique(fold):
        held_out = fold == fold_number
        model = _model(penalty).fit(X[~held_out], y[~held_out])
        total += log_loss(model.decision_function(X[held_out]), y[held_out]).sum()
    return total


def _model(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=1 / penalty, solver="lbfgs", max_iter=300)
