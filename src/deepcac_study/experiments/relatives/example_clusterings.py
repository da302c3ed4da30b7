"""Supervised k-means and its baselines on example clusterings (Finley and Joachims 2008, 6.2, 6.3).

Each clustering of a data set is tested once, by a model of the others
(`deepcac_study.experiments.relatives.leave_one_out`); the loss is Delta, from 0 to 100.
"""

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import write_json
from deepcac.similarity import EqualWeights, ItemSet, PairSimilarity, SupervisedKMeans
from deepcac.similarity.clusterers import Name
from deepcac.similarity.weighted import SimilarityClusterer
from deepcac.types import Ids
from deepcac_study.catalogue.config import ITERATIVE, LEARNERS, NONE, PAIR, Budget
from deepcac_study.experiments.relatives.leave_one_out import (
    Fit,
    Fold,
    fit_without,
    leave_one_out,
    powers_of_ten,
)
from deepcac_study.features.pairwise import PairwiseData
from deepcac_study.records.record import machine

_REPEATED = (NONE, ITERATIVE)  # the training of the others draws nothing


@dataclass(frozen=True)
class Examples:
    """The n example clusterings of a data set, of shapes (m_i,), by name in alphabetical order."""

    names: tuple[str, ...]
    item_sets: Sequence[ItemSet]
    clusterings: Sequence[Ids]


def examples(data: PairwiseData) -> Examples:
    """Return the item set and the clusters of each group of rows."""
    if not len(data.group):
        raise DataError("the data set has no row; build it again")
    names = np.unique(data.group)
    features = data.pair_features()
    sets = [_item_set(data, np.flatnonzero(data.group == name), features) for name in names]
    return Examples(tuple(names.tolist()), sets, [data.label[data.group == name] for name in names])


def _item_set(data: PairwiseData, rows: Ids, features: Any) -> ItemSet:
    """Return the item set of these rows, with the pairs whose ends are both in it."""
    parts: dict[str, Any] = {"n_items": len(rows)}
    if data.nodes.shape[1]:
        parts["nodes"] = data.nodes[rows]
    if features.shape[1]:
        inside = np.flatnonzero(np.isin(data.first, rows))
        ends = [np.searchsorted(rows, side[inside]) for side in (data.first, data.second)]
        parts |= {"edges": np.column_stack(ends), "pairs": features[inside]}
    return ItemSet(**parts)


def build(method: str, C: float, budget: Budget, seed: int) -> SimilarityClusterer:
    """Return the unfitted model of a method."""
    common: dict[str, Any] = {"n_restarts": budget.n_restarts, "random_state": seed}
    if method == NONE:
        return EqualWeights(**common)
    common |= {"C": C, "max_iter": budget.max_iter}
    if method == PAIR:
        return PairSimilarity(**common)
    if method not in get_args(Name):
        raise ConfigError(f"{method!r} is no method of this experiment; use {', '.join(LEARNERS)}")
    return SupervisedKMeans(
        oracle=method,  # type: ignore[arg-type]
        epsilon=budget.epsilon,
        warm_start=True,
        **common,
    )


def experiment(cases: Examples, method: str, budget: Budget) -> list[tuple[list[Fold], list[Fit]]]:
    """Leave each clustering out in turn; once per seed if training or clusters are random.

    The method is "pair", "iterative", "spectral", or "none": no learning, and clusters by
    point-incremental k-means (section 6.2). Returned are folds and fits, one pair per seed.
    """
    seeds = range(budget.seeds if method in _REPEATED else 1)
    with warnings.catch_warnings():
        # The record says which fits did not end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == NONE:
            return [_unlearnt(cases, budget, seed) for seed in seeds]
        return [
            leave_one_out(
                cases.item_sets,
                cases.clusterings,
                lambda C, seed=seed: build(method, C, budget, seed),  # type: ignore[misc]
                powers_of_ten(*budget.C),
            )
            for seed in seeds
        ]


def _unlearnt(cases: Examples, budget: Budget, seed: int) -> tuple[list[Fold], list[Fit]]:
    """Test equal weights on each clustering."""
    sets, truths = cases.item_sets, cases.clusterings
    model = build(NONE, 1.0, budget, seed)
    fits = [fit_without(sets, truths, (i,), model, 1.0, (ITERATIVE,)) for i in range(len(sets))]
    folds = [
        Fold(i, 1.0, ITERATIVE, loss, loss, 0, 0, 0, 0.0, fit.seconds, True)
        for i, fit in enumerate(fits)
        for loss in fit.losses.values()
    ]
    return folds, fits


def write_experiment(
    path: str | os.PathLike[str], data: PairwiseData, dataset: str, method: str, budget: Budget
) -> None:
    """Run one method on a data set and write its record as JSON.

    All but ``machine`` is reproducible: the data set's sizes (``n_clusterings``, ``k``, mean
    ``items``, ``n_node``, ``n_pair``), the budget, and for each seed the folds and the number of
    models whose training was stopped.
    """
    begin = time.perf_counter()
    cases = examples(data)
    repeats = experiment(cases, method, budget)
    record: dict[str, Any] = {
        "dataset": dataset,
        "method": method,
        "budget": budget.model_dump(mode="json"),
        **_sizes(cases),
        "repeats": [
            {
                "seed": seed,
                "folds": [_fold(cases, fold) for fold in folds],
                "n_fits": len(fits),
                "n_unfinished": sum(not fit.converged for fit in fits),
            }
            for seed, (folds, fits) in enumerate(repeats)
        ],
    }
    seconds = {
        "total": time.perf_counter() - begin,
        "training": sum(fit.seconds for _, fits in repeats for fit in fits),
        "longest_training": max(fit.seconds for _, fits in repeats for fit in fits),
    }
    write_json(path, {**record, "machine": machine(seconds, 1, "cpu")})


def _sizes(cases: Examples) -> dict[str, Any]:
    """Return the number of clusterings, most clusters, mean items and feature counts."""
    n_node, n_pair = cases.item_sets[0].shape
    return {
        "n_clusterings": len(cases.names),
        "k": max(len(np.unique(labels)) for labels in cases.clusterings),
        "items": float(np.mean([len(labels) for labels in cases.clusterings])),
        "n_node": n_node,
        "n_pair": n_pair,
    }


def _fold(cases: Examples, fold: Fold) -> dict[str, Any]:
    """Return the fields of a fold with the name of its clustering, without seconds."""
    fields: dict[str, Any] = {
        key: value for key, value in fold.record().items() if key != "seconds"
    }
    fields |= {key: max(0.0, round(fields[key], 9)) for key in ("loss", "inner_loss")}
    return {**fields, "test": cases.names[fold.test]}
