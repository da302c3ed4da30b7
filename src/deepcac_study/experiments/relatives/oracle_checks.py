"""Theory of supervised k-means, measured on small sets (Finley and Joachims 2008).

Sections 4.3 to 5: the loss, the two kinds of k-means, and the effect of an inexact oracle on
training; and section 6.1.3: Synth without noise. The numbers are reproducible.
"""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deepcac.files.storage import write_json
from deepcac.similarity import ItemSet, Reading, SupervisedKMeans, delta, rand_loss
from deepcac.similarity.clusterers import iterative, objective
from deepcac.similarity.clustering import indicator
from deepcac.similarity.cutting import largest_number_of_cuts
from deepcac.similarity.separation import Oracle
from deepcac.types import Array, Ids
from deepcac_study.catalogue.config import ITERATIVE, SPECTRAL
from deepcac_study.experiments.relatives.example_clusterings import Examples, examples
from deepcac_study.simulate.synth_pairs import synth_pairs

EPSILON = 0.1
MAX_LOSS = 100.0
_SETS = 12  # small training sets
_MATRICES = 200  # random similarities
_SEARCH = 40  # restarts of the search for constraints that training has missed


def oracle_checks() -> dict[str, Any]:
    """Run all measurements.

    Keys: ``training`` (a row for each small set and oracle), ``loss`` (the properties of Delta),
    ``large_clusters`` (Delta and the Rand loss by the cluster with errors), ``kmeans`` (batch
    against point-incremental), ``noise_free`` (losses on Synth without noise) and ``similarity``
    (K of a test clustering before and after learning).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the rows say it
        return {
            "training": [
                _training(seed, oracle) for seed in range(_SETS) for oracle in (ITERATIVE, SPECTRAL)
            ],
            "loss": _loss_properties(),
            "large_clusters": _large_clusters(),
            "kmeans": _two_kmeans(),
            "noise_free": _noise_free(),
            "similarity": _similarity(),
        }


def write_checks(path: str | os.PathLike[str]) -> None:
    """Run `oracle_checks` and write them as JSON."""
    write_json(path, oracle_checks())


def _planted(seed: int, n: int = 2, m: int = 40, k: int = 8) -> Examples:
    """Return item sets in which k features separate the clusters and five are weak noise."""
    rng = np.random.default_rng(seed)
    truths = [rng.permutation(np.arange(m) % k) for _ in range(n)]
    sets = [
        ItemSet(
            np.hstack([np.eye(k)[t] + 0.2 * rng.normal(size=(m, k)), 0.1 * rng.normal(size=(m, 5))])
        )
        for t in truths
    ]
    return Examples(tuple(map(str, range(n))), sets, truths)


def _training(seed: int, oracle: str, C: float = 100.0) -> dict[str, Any]:
    """Train with one random start per call, then search harder for violated constraints.

    Returns one row of ``training``.
    """
    cases = _planted(seed)
    model = SupervisedKMeans(
        C=C,
        oracle=oracle,  # type: ignore[arg-type]
        predictor=oracle,  # type: ignore[arg-type]
        epsilon=EPSILON,
        n_restarts=1,
        random_state=seed,
    ).fit(cases.item_sets, cases.clusterings)
    pairs = zip(cases.item_sets, cases.clusterings, strict=True)
    losses = np.array([model.loss(items, truth) for items, truth in pairs])
    planes = model.cutting_planes_
    radius = float(np.linalg.norm(planes.normals, axis=1).max())
    return {
        "seed": seed,
        "oracle": oracle,
        "n_cuts": model.n_cuts_,
        "most_cuts": largest_number_of_cuts(len(losses), C, EPSILON, MAX_LOSS, radius),
        "converged": model.converged_,
        "dual_objective": float(planes.dual_objective),
        "slack": float(model.slack_.mean()),
        "training_loss": float(losses.mean()),
        "above_slack": int(np.sum(losses > model.slack_ + EPSILON + 1e-6)),
        "missed": _missed(cases, model),
    }


def _missed(cases: Examples, model: SupervisedKMeans) -> int:
    """Count the examples with a clustering that violates its constraint by more than epsilon."""
    search = Oracle(
        cases.item_sets, cases.clusterings, ITERATIVE, _SEARCH, np.random.default_rng(0), Reading()
    )
    cuts = [search.separate(i, model.weights_) for i in range(len(cases.item_sets))]
    worst = [cut.loss - model.weights_ @ cut.normal for cut in cuts]
    return int(np.sum(np.array(worst) > model.slack_ + EPSILON + 1e-6))


def _loss_properties() -> dict[str, float]:
    """Return the largest deviations from the properties of Delta in section 4.3."""
    rng = np.random.default_rng(0)
    symmetric = relabelled = whole = 0.0
    for _ in range(_MATRICES):
        k = int(rng.integers(2, 7))
        truth, other = (rng.permutation(np.arange(30) % k) for _ in range(2))
        loss, names = delta(truth, other), rng.permutation(k)
        symmetric = max(symmetric, abs(loss - delta(other, truth)))
        relabelled = max(relabelled, abs(loss - delta(truth, names[other])))
        all_in_one = delta(truth, np.zeros(30, dtype=np.int64))
        whole = max(whole, abs(all_in_one - MAX_LOSS * (k - 1) / k))
    return {"symmetric": symmetric, "relabelled": relabelled, "all_in_one": whole}


def _large_clusters(share: float = 0.25) -> list[dict[str, Any]]:
    """Return both losses after moving a quarter of the large cluster, then of a small one."""
    truth = np.repeat(np.arange(5), [80, 20, 20, 20, 20])
    rows = []
    for name, cluster, to in (("large", 0, 1), ("small", 1, 2)):
        moved, members = truth.copy(), np.flatnonzero(truth == cluster)
        moved[members[: round(share * len(members))]] = to
        losses = {"delta": delta(truth, moved), "rand": rand_loss(truth, moved)}
        rows.append({"cluster": name, "moved": round(share * len(members)), **losses})
    return rows


def _two_kmeans(m: int = 40, k: int = 4) -> dict[str, int]:
    """Count which kind of k-means ends higher, from equal starts on random symmetric K.

    Most of these K are indefinite.
    """
    rng = np.random.default_rng(0)
    tally = {"matrices": _MATRICES, "indefinite": 0, "incremental_better": 0, "batch_better": 0}
    for seed in range(_MATRICES):
        half = rng.normal(size=(m, m))
        K = half + half.T if seed % 2 else half @ half.T
        tally["indefinite"] += int(np.linalg.eigvalsh(K)[0] < 0)
        incremental = objective(K, iterative(K, k, np.random.default_rng(seed), n_restarts=1))
        other = objective(K, indicator(batch(K, k, np.random.default_rng(seed))))
        tally["incremental_better"] += int(incremental > other + 1e-9 * abs(other))
        tally["batch_better"] += int(other > incremental + 1e-9 * abs(incremental))
    return tally


def batch(K: Array, k: int, rng: np.random.Generator, max_passes: int = 1000) -> Ids:
    """Return the labels of batch k-means, in which all items move to their nearest centre at once.

    With an indefinite K the passes need not converge; then the last one counts. A cluster that
    would become empty gets its nearest item.
    """
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, len(K) - k)]))
    for _ in range(max_passes):
        members = np.eye(k)[labels]
        sizes = members.sum(axis=0)
        sums = K @ members / sizes
        within = np.einsum("ic,ic->c", members, sums) / sizes
        distance = within - 2.0 * sums
        new = distance.argmin(axis=1)
        for c in np.setdiff1d(np.arange(k), new):
            new[distance[:, c].argmin()] = c
        if (new == labels).all() or len(np.unique(new)) < k:
            break
        labels = new
    return labels


def _noise_free() -> list[dict[str, Any]]:
    """Return the losses on each clustering of Synth without noise, by a model of the others."""
    cases = examples(synth_pairs(noise=0.0))
    return [
        {"oracle": oracle, "test": i, "loss": _left_out(cases, oracle, i)}
        for oracle in (ITERATIVE, SPECTRAL)
        for i in range(len(cases.names))
    ]


def _left_out(cases: Examples, oracle: str, test: int) -> float:
    """Return the loss on example `test` of the clusterer fitted on the others."""
    model = _learnt(cases, oracle, test)
    return model.loss(cases.item_sets[test], cases.clusterings[test])


def _learnt(cases: Examples, oracle: str, test: int) -> SupervisedKMeans:
    """Return a clusterer fitted on all examples but number `test`."""
    training: Sequence[int] = [i for i in range(len(cases.names)) if i != test]
    model = SupervisedKMeans(
        C=100.0,
        oracle=oracle,  # type: ignore[arg-type]
        epsilon=1.0,
        max_iter=50,
        random_state=0,
    )
    return model.fit(
        [cases.item_sets[i] for i in training], [cases.clusterings[i] for i in training]
    )


def _similarity() -> dict[str, Any]:
    """Return K of a held-out clustering of Synth before and after learning, and its labels.

    Items are ordered by cluster; values have three decimals.
    """
    cases = examples(synth_pairs(points=12))
    items, truth = cases.item_sets[0], cases.clusterings[0]
    after = _learnt(cases, ITERATIVE, 0).similarity(items)
    before = items.similarity(np.ones(items.n_features))
    rounded = {"before": before.round(3).tolist(), "after": after.round(3).tolist()}
    return {**rounded, "label": truth.tolist()}
