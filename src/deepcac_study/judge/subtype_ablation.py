"""What each part of SubtypeClassifier is worth, and how stable its subtypes are."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from torch import Tensor

from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_json
from deepcac.judging.contenders import CAC, CELLS, KM
from deepcac.judging.deep_learners import shared_cases, shared_networks, shared_trees
from deepcac.judging.partitions import part
from deepcac.judging.resamples import Resample, Rows
from deepcac.judging.trial_scores import scores
from deepcac.judging.trials import Effort, study_resamples
from deepcac.nn.fitting import data
from deepcac.preprocess import TableScaler
from deepcac.subtyping.backbone import Answers, Backbone, fit_backbone
from deepcac.subtyping.gates import Gates, find_gates
from deepcac.subtyping.packed import full_logits
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac.subtyping.subtype_heads import fit_heads
from deepcac.types import Array, Ids
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.records.record import file_digest, machine
from deepcac_study.records.written_scores import as_written

log = logging.getLogger(__name__)


K = 3  # of every arm but that of k
CLUSTERS = (1, 2, 3, 4, 5, 6, 8)
PENALTY = 30.0  # of the heads in all arms, so that they differ in the subtypes alone
ALPHA = 0.03  # of CAC, whose subtypes' stability is shown beside
SOFT, HARD, PERMUTED, RANDOM, INPUTS = "soft", "hard", "permuted", "random", "inputs"
STRATA = "risk"  # as many rows in each, by the backbone's risk: groups without reasons
NONE, SUBTYPES = "backbone", "subtypes"
BAG = "trees"  # a model of boosted trees for each fold, averaged: no network and no subtype
NETWORKS, WITH_TREES = "networks", "with_trees"
BACKBONES = {NETWORKS: False, WITH_TREES: True}  # whether trees join
SHOWN = ("auroc", "auprc", "log_loss", "brier")


class Fitted(NamedTuple):
    """A backbone on one resample, and what it answers out of fold (`outside`) and on test rows.

    `model` is unfitted, with the settings.
    """

    model: SubtypeClassifier
    backbone: Backbone
    outside: Answers
    test: Answers


def run_ablation(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    effort: Effort,
    grouped: bool = False,
) -> None:
    """Change the parts with and without trees, on the judge's resamples, and write the scores.

    The JSON has ``dataset`` and what `ablate` returns. `grouped`: rows of one group, those of a
    patient, stay in one part of a resample.
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    unit = matrix.group if grouped else None
    ablation = ablate(study_resamples(matrix, effort, unit), matrix)
    about = {"dataset": dataset, "inputs": {"features": file_digest(features)}}
    seconds = machine({"total": time.perf_counter() - begin}, 1, "cpu")
    write_json(record, {**about, **as_written(ablation), "machine": seconds})


def ablate(samples: Iterable[Resample], features: FeatureMatrix) -> dict[str, Any]:
    """Change one part at a time on the same backbones of each resample.

    ``networks`` and ``with_trees`` each have ``arms``: a row a resample and arm with ``seed``,
    ``n_train``, ``n_test``, ``arm``, ``k``, the scores of `trial_scores`, ``smallest`` (share of
    the training rows) and ``risk_auroc`` (of the test rows by nothing but the rate of their subtype
    in training). ``stability``: a row a pair of resamples, ``method`` and ``k`` with ``ari`` over
    all rows of the data set.
    """
    arms: dict[str, list[dict[str, Any]]] = {name: [] for name in BACKBONES}
    labels: dict[tuple[str, int], list[Ids]] = {}
    for sample in samples:
        log.info("resample %d", sample.seed)
        with data.session(data.find_device("cpu"), sample.seed, 1):
            fitted = {name: fit(sample, boosting) for name, boosting in BACKBONES.items()}
            for name, backbone in fitted.items():
                arms[name] += list(_arms(sample, backbone))
            arms[WITH_TREES].append(_bag(sample, fitted[WITH_TREES]))
            # Of the networks alone, whose contributions make the subtypes.
            for key, cluster_ids in _subtypes(sample, fitted[NETWORKS], features):
                labels.setdefault(key, []).append(cluster_ids)
    stability = [
        {"method": method, "k": k, "ari": adjusted_rand_score(cluster_ids, other)}
        for (method, k), assignments in labels.items()
        for cluster_ids, other in combinations(assignments, 2)
    ]
    return {**{name: {"arms": rows} for name, rows in arms.items()}, "stability": stability}


def fit(sample: Resample, boosting: bool) -> Fitted:
    """Fit the backbone with its default settings."""
    model = SubtypeClassifier(n_clusters=K, boosting=boosting, random_state=sample.seed)
    cases = shared_cases(sample, model.folds)
    trees = shared_trees(sample, cases) if boosting else None
    backbone, outside = fit_backbone(cases, shared_networks(sample, cases, model), trees)
    return Fitted(model, backbone, outside, backbone.answers(sample.test.raw))


def _arms(sample: Resample, fitted: Fitted) -> Iterator[dict[str, Any]]:
    """Yield the row of each arm; one subtype is the backbone with heads for all rows."""
    yield {**_sizes(sample), "arm": NONE, "k": 1, **_scores(sample, fitted.test.logits)}
    points = _points(fitted.outside), _points(fitted.test)
    for k in CLUSTERS:
        gates = _gates(sample, fitted, k)
        yield _arm(sample, fitted, SOFT, k, [gates.weigh(coordinates) for coordinates in points])
    gates, rng = _gates(sample, fitted, K), np.random.default_rng(sample.seed)
    yield _arm(
        sample, fitted, HARD, K, [np.eye(K)[gates.assign(coordinates)] for coordinates in points]
    )
    yield _arm(
        sample,
        fitted,
        PERMUTED,
        K,
        [rng.permutation(gates.weigh(coordinates)) for coordinates in points],
    )
    risks = _risk(fitted.outside), _risk(fitted.test)
    yield _arm(sample, fitted, STRATA, K, [np.eye(K)[strata(risks[0], risk, K)] for risk in risks])
    for arm, partition in ((RANDOM, CELLS), (INPUTS, KM)):
        assign = part(sample, partition, K, 0.0).assign
        membership = [np.eye(K)[assign(rows)] for rows in (sample.train, sample.test)]
        yield _arm(sample, fitted, arm, K, membership)


def _arm(
    sample: Resample, fitted: Fitted, arm: str, k: int, membership: list[Array]
) -> dict[str, Any]:
    """Fit heads for the memberships (n, k) of training and test rows, and score them."""
    train_membership, new = membership
    y, y_test = sample.train.y, sample.test.y
    gates, label, alike = (
        torch.as_tensor(train_membership),
        torch.as_tensor(y),
        torch.ones(len(y)).double(),
    )
    heads = fit_heads(*fitted.outside, gates, label, alike, PENALTY)
    change = heads.change(torch.as_tensor(new), fitted.test.parts)
    measures = _scores(sample, fitted.test.logits + change)
    cluster = train_membership.argmax(axis=1)
    size = np.bincount(cluster, minlength=train_membership.shape[1])
    rate = np.bincount(cluster, y, train_membership.shape[1]) / np.maximum(size, 1)
    risk = roc_auc_score(y_test, rate[new.argmax(axis=1)])
    about = {"smallest": float(size.min() / len(train_membership)), "risk_auroc": float(risk)}
    return {**_sizes(sample), "arm": arm, "k": k, **measures, **about}


def _sizes(sample: Resample) -> dict[str, int]:
    return {"seed": sample.seed, "n_train": len(sample.train), "n_test": len(sample.test)}


def _bag(sample: Resample, fitted: Fitted) -> dict[str, Any]:
    """Return the row of the backbone's boosted trees alone."""
    outputs = shared_trees(sample, shared_cases(sample, fitted.model.folds)).folds.outputs
    measures = _scores(sample, torch.as_tensor(outputs(sample.test.raw)))
    return {**_sizes(sample), "arm": BAG, "k": 1, **measures}


def _scores(sample: Resample, logits: Tensor) -> dict[str, float]:
    """Score answers (n, n_outputs) for the test rows."""
    probability = full_logits(logits).softmax(dim=1).numpy()
    measures = scores(sample.test.y, probability, 0.5)
    return {metric: measures[metric] for metric in SHOWN}


def _subtypes(
    sample: Resample, fitted: Fitted, features: FeatureMatrix
) -> Iterator[tuple[tuple[str, int], Ids]]:
    """Yield the subtype of every row of the data set, by this resample's models."""
    scaled = TableScaler().fit(sample.train.raw).transform(features.X)
    everyone = Rows(features.X, scaled, features.label, features.row_id)
    points = fitted.backbone.explain(features.X).flatten(1).numpy()
    risk, training = _risk(fitted.backbone.answers(features.X)), _risk(fitted.outside)
    for k in CLUSTERS[1:]:
        yield (STRATA, k), strata(training, risk, k)
        yield (SUBTYPES, k), _gates(sample, fitted, k).assign(points)
        for arm in (KM, CAC):
            yield (arm, k), part(sample, arm, k, ALPHA).assign(everyone)


def _gates(sample: Resample, fitted: Fitted, k: int) -> Gates:
    temperature, risk = fitted.model.temperature, _risk(fitted.outside)
    return find_gates(_points(fitted.outside), k, temperature, 0.0, sample.seed, risk)


def strata(training: Array, risk: Array, k: int) -> Ids:
    """Return which of `k` strata with as many training rows each a risk (n,) lies in."""
    return np.searchsorted(np.quantile(training, np.arange(1, k) / k), risk, side="right")


def _risk(answers: Answers) -> Array:
    return np.asarray(full_logits(answers.logits).softmax(dim=1)[:, 1].numpy())


def _points(answers: Answers) -> Array:
    return answers.parts.flatten(1).numpy()
