"""The case study: who is in DeepCAC's clusters, and what its risk models look at.

Srivastava et al. 2021, DeepCAC, section 14. The run loop stores no clusters of training rows, and
the paper describes training rows (its cluster sizes add up to 9/16 of the 12,000 stays). So
DeepCAC is fitted here once more on the splits of its run, with the same seeds and the same
pre-trained autoencoders; the agreement of its test clusters with those of the run is reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from scipy import special, stats
from sklearn.metrics import adjusted_rand_score

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import read_table, write_json, write_table
from deepcac.scoring.metrics import one_against_rest
from deepcac.scoring.statistics import holm
from deepcac.scoring.subtypes import sizes_by_class
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import DEEPCAC, parse_method
from deepcac_study.experiments.fit import Shared, fit
from deepcac_study.experiments.networks.deep_methods import latent_plane
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

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


@dataclass(frozen=True)
class View:
    """Clusters and risks of one fitted model for every row of a data set.

    The status is "ok" or "diverged"; `train` and `test` are row positions. `cluster`, shape (n,),
    has ids 0..k-1, ordered by the mean class of their training rows; `probability` is of shape (n,
    n_classes). `plane` has the test rows' latents (`latent_plane`), under the network's own
    numbers.
    """

    seed: int
    status: str
    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    cluster: Ids
    probability: Array
    plane: pa.Table | None = None


def fit_view(
    features: FeatureMatrix, split: Split, setting: Setting, pretrained: Path | None
) -> View:
    """Fit DeepCAC on the training rows of a split, and predict all rows; static features only."""
    if features.n_steps > 1:
        raise ConfigError(f"{setting.dataset} holds sequences; a case study needs static features")
    task = make_task(features, split, setting)
    rows = np.concatenate([split.train, split.validation, split.test])
    X = np.concatenate([task.X_train, task.X_validation, task.X_test])
    everyone = replace(task, X_test=X, y_test=features.label[rows])
    fitted = fit(everyone, setting, parse_method(DEEPCAC), Shared(pretrained))
    probability = fitted.probability
    if not fitted.calibrated:  # decision values (D2); the network's probabilities follow from them
        probability = special.softmax(probability, axis=1)
    place = np.argsort(rows)
    cluster = order_clusters(fitted.cluster[place], features.label, split.train, setting.k)
    seen = place[split.test] if fitted.status == "ok" else place[:0]
    assert fitted.embedding_test is not None
    plane = latent_plane(fitted.embedding_test[seen], fitted.cluster[seen], everyone.y_test[seen])
    return View(
        split.seed, fitted.status, split.train, split.test, cluster, probability[place], plane
    )


def order_clusters(cluster: Ids, y: Ids, train: npt.NDArray[np.intp], k: int) -> Ids:
    """Return clusters numbered by the mean class of their training rows, an empty one last."""
    count = np.bincount(cluster[train], minlength=k)
    total = np.bincount(cluster[train], weights=y[train], minlength=k)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.inf)
    return np.argsort(np.argsort(mean, kind="stable"), kind="stable")[cluster]


def separation(values: Array, cluster: Ids, k: int) -> tuple[float, float]:
    """Return effect size and p value of the difference between clusters in a feature (n,).

    The effect is the share of the variance of the ranks that lies between clusters, 0 to 1: eta
    squared of the Kruskal-Wallis test, its statistic over n - 1. Rows with NaN are left out. Both
    are NaN for a constant or for fewer than two clusters.
    """
    seen = ~np.isnan(values)
    labels = cluster[seen]
    count = np.bincount(labels, minlength=k)
    n_clusters = int((count > 0).sum())
    rank = stats.rankdata(values[seen])
    rank -= rank.mean() if len(rank) else 0.0
    total = float(rank @ rank)
    if n_clusters < 2 or total == 0:
        return np.nan, np.nan
    sums = np.bincount(labels, weights=rank, minlength=k)
    effect = float((sums**2 / np.maximum(count, 1)).sum()) / total
    return effect, float(stats.chi2.sf(effect * (len(rank) - 1), n_clusters - 1))


def cluster_means(X: Array, cluster: Ids, k: int) -> tuple[Array, Ids]:
    """Return mean and count of the measured values in each cluster, both of shape (k, d)."""
    members = np.eye(k)[cluster]
    seen = ~np.isnan(X)
    count = (members.T @ seen).astype(np.int64)
    with np.errstate(invalid="ignore"):
        return members.T @ np.nan_to_num(X) / np.where(count, count, np.nan), count


def _fill(X: Array) -> Array:
    """Return X with column means for missing values, as in the input of the networks."""
    seen = ~np.isnan(X)
    mean = np.nan_to_num(X).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.where(seen, X, mean)


def describe_view(features: FeatureMatrix, view: View, k: int) -> tuple[dict[str, Any], pa.Table]:
    """Describe the clusters of a split: a summary, and a table with a row per feature and cluster.

    The summary has seed, status, sizes by class in training and test rows, macro AUPRC of teacher
    and students on the test rows, and the share of test rows on which they predict the same class.
    Columns: seed, feature, cluster (from 1), rows (training rows with a value), mean and filled in
    original units, sd (all training rows), effect and p of `separation` on the test rows
    (Holm-adjusted over the features), importance. ``filled`` is the mean where a missing value
    counts as the mean of all training rows.
    """
    X, y, d = features.X, features.label, len(features.names)
    train, test, cluster = view.train, view.test, view.cluster
    importance, student = distil(X, cluster, view.probability, train, k)
    mean, rows = cluster_means(X[train], cluster[train], k)
    filled, _ = cluster_means(_fill(X[train]), cluster[train], k)
    apart = np.array([separation(column, cluster[test], k) for column in X[test].T])
    spread = pd.DataFrame(X[train]).std().to_numpy()
    table = {
        "seed": np.full(k * d, view.seed),
        "feature": np.repeat(features.names, k),
        "cluster": np.tile(np.arange(1, k + 1), d),
        "rows": rows.T.ravel(),
        "mean": mean.T.ravel(),
        "filled": filled.T.ravel(),
        "sd": np.repeat(spread, k),
        "effect": np.repeat(apart[:, 0], k),
        "p": np.repeat(holm(apart[:, 1]), k),
        "importance": importance.T.ravel(),
    }
    same = view.probability[test].argmax(axis=1) == student[test].argmax(axis=1)
    summary = {
        "seed": view.seed,
        "status": view.status,
        "sizes_train": sizes_by_class(cluster[train], y[train], k, features.n_classes),
        "sizes_test": sizes_by_class(cluster[test], y[test], k, features.n_classes),
        "auprc": _auprc(y[test], view.probability[test]),
        "student_auprc": _auprc(y[test], student[test]),
        "student_agrees": float(same.mean()),
    }
    return summary, pa.table(table)


def _auprc(y: Ids, probability: Array) -> float | None:
    value = one_against_rest(y, probability, probability.shape[1], "auprc").mean()
    return float(value) if np.isfinite(value) else None


def agreement_between_seeds(views: Sequence[View]) -> list[dict[str, Any]]:
    """Return the adjusted Rand index of every pair of views, one row per pair of seeds.

    Every model assigns every row, so ``all`` compares all rows; ``test`` those that are test rows
    of both.
    """
    pairs = []
    for first, other in combinations(views, 2):
        common = np.intersect1d(first.test, other.test)
        pairs.append(
            {
                "seeds": [first.seed, other.seed],
                "all": float(adjusted_rand_score(first.cluster, other.cluster)),
                "test": float(adjusted_rand_score(first.cluster[common], other.cluster[common])),
                "test_rows": len(common),
            }
        )
    return pairs


def agreement_with_run(features: FeatureMatrix, view: View, scores: pa.Table) -> float:
    """Return the adjusted Rand index between a run's test clusters and those of a view."""
    seeds = scores["seed"].to_numpy()
    of_run = dict(
        zip(
            scores["row_id"].to_numpy()[seeds == view.seed].tolist(),
            scores["cluster"].to_numpy()[seeds == view.seed].tolist(),
            strict=True,
        )
    )
    theirs = [of_run[row] for row in features.row_id[view.test].tolist()]
    return float(adjusted_rand_score(theirs, view.cluster[view.test]))


def write_case_study(
    path: Path,
    features: FeatureMatrix,
    splits: Sequence[Split],
    setting: Setting,
    *,
    pretrained: Path | None,
    run_scores: Path,
    synthetic: bool = False,
) -> None:
    """Fit and describe DeepCAC on every split; write a JSON and two tables.

    `path` is the JSON; next to it are the table of features, ``.features.parquet``, and the latents
    of the first split's test rows, ``.plane.parquet``. `run_scores` are those of the run explained.
    """
    scores = read_table(run_scores, columns=["row_id", "seed", "cluster"])
    views = [fit_view(features, split, setting, pretrained) for split in splits]
    described = [describe_view(features, view, setting.k) for view in views]
    entries = [
        {**summary, "ari_to_run": agreement_with_run(features, view, scores)}
        for (summary, _), view in zip(described, views, strict=True)
    ]
    write_table(path.with_suffix(".features.parquet"), pa.concat_tables([t for _, t in described]))
    if views[0].plane is not None:
        write_table(path.with_suffix(".plane.parquet"), views[0].plane)
    write_json(
        path,
        {
            "dataset": setting.dataset,
            "method": DEEPCAC,
            "k": setting.k,
            "protocol": setting.protocol.name,
            "switches": sorted(setting.protocol.labels),
            "synthetic": synthetic,
            "splits": entries,
            "stability": agreement_between_seeds(views),
        },
    )


def distil(
    X: Array, cluster: Ids, probability: Array, train: npt.NDArray[np.intp], k: int
) -> tuple[Array, Array]:
    """Train a student model of the risk model of every cluster, and return what it learnt.

    A student learns the teacher's probabilities on its cluster's training rows from the raw
    features: each row occurs once for every class with the probability as its weight, so that
    the log-loss is the cross-entropy to the teacher. Importance is the decrease of the loss by the
    splits on a feature in all trees, as in scikit-learn; like every importance by splits, it
    favours features with many values and is shared among correlated ones (DeepCAC,
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
