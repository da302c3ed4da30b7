"""What is cheap to know of a table before any tuning, as a sign that clusters would help."""

import os
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.neighbors import NearestNeighbors

from deepcac.files.storage import write_json
from deepcac.judging.learners import lgbm, lr
from deepcac.judging.resamples import Resample
from deepcac.judging.spaces import trials
from deepcac.judging.trial_scores import score_trial
from deepcac.judging.trials import Effort, study_resamples
from deepcac.types import Array
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.tables.made_with import start_clock
from deepcac_study.records.record import file_digest

MOST, PROBES = 1000, 200  # rows that are looked at, and points of Hopkins' statistic
CLUSTERS = (2, 3, 4, 5)
STUMP = 2  # leaves of a tree that uses one variable: their sum has no interaction


def run_shape(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    effort: Effort,
    grouped: bool = False,
    synthetic: bool = False,
) -> None:
    """Write the statistics of `shape` on each resample of a table, as ``shapes`` of a JSON record.

    Other arguments are those of `deepcac_study.judge.trial_files.run_trials`.
    """
    made = start_clock()
    matrix = read_rows(features)
    samples = study_resamples(matrix, effort, matrix.group if grouped else None)
    written = {
        "dataset": dataset,
        "synthetic": synthetic,
        "n_rows": len(matrix.label),
        "n_features": len(matrix.names),
        "n_classes": matrix.n_classes,
        "rarest": float(np.bincount(matrix.label).min() / len(matrix.label)),
        "shapes": [{"seed": sample.seed, **shape(sample)} for sample in samples],
        "inputs": {"features": file_digest(features)},
    }
    write_json(record, written | {"machine": made()})


def shape(sample: Resample) -> dict[str, float]:
    """Return cheap statistics of the training rows, and of three default fits.

    Keys: ``hopkins`` (0.5 where rows lie as uniform points do, towards 1 in clusters),
    ``silhouette`` (the best of k-means with 2 to 5 clusters), ``interaction`` (validation AUROC of
    LightGBM less that with stumps), ``curvature`` (stumps less logistic regression).
    """
    rng = np.random.default_rng(sample.seed)
    X = sample.train.bounded
    X = X[rng.permutation(len(X))[:MOST]]
    line, stumps, trees = (
        _validation_auroc(sample, fit, values)
        for fit, values in (
            (lr, trials("lr", 1)[0]),
            (lgbm, trials("lgbm", 1)[0] | {"num_leaves": STUMP}),
            (lgbm, trials("lgbm", 1)[0]),
        )
    )
    statistics = {
        "hopkins": hopkins(X, rng),
        "silhouette": best_silhouette(X, sample.seed),
        "interaction": trees - stumps,
        "curvature": stumps - line,
    }
    return {name: round(float(value), 6) for name, value in statistics.items()}


def hopkins(X: Array, rng: np.random.Generator) -> float:
    """Return Hopkins' statistic: how much nearer rows lie to each other than random points do.

    Distances of random points of the rows' bounding box to their nearest row, as a share of these
    and the distances of as many rows to theirs.

    Hopkins and Skellam 1954; Lawson and Jurs 1990 (without the power of the dimension, which is too
    large here for any other value than 0 or 1).
    """
    n = min(PROBES, len(X) // 2)
    near = NearestNeighbors(n_neighbors=2).fit(X)
    points = rng.uniform(X.min(axis=0), X.max(axis=0), size=(n, X.shape[1]))
    rows = X[rng.choice(len(X), n, replace=False)]
    outside = near.kneighbors(points, n_neighbors=1)[0][:, 0].sum()
    inside = near.kneighbors(rows)[0][:, 1].sum()
    return float(outside / (outside + inside))


def best_silhouette(X: Array, seed: int) -> float:
    """Return the best mean silhouette of k-means with `CLUSTERS`."""
    clusterings = [KMeans(k, n_init=3, random_state=seed).fit_predict(X) for k in CLUSTERS]
    return max(
        float(silhouette_score(X, labels)) for labels in clusterings if len(np.unique(labels)) > 1
    )


def _validation_auroc(sample: Resample, fit: Any, values: dict[str, Any]) -> float:
    answer = fit(values, sample.train, sample.validation, sample)
    y, test = sample.validation.y, sample.test
    scored = score_trial(y, test.y, answer(sample.validation), answer(test))
    return scored["validation"]["auroc"]
