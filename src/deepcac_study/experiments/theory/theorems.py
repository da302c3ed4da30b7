"""Both sides of the theorems of the CAC papers, measured on the training rows of one split.

Theorems are numbered as in Srivastava et al. 2021, CAC v1, unless DeepCAC is named.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_argmin

from deepcac.cac.cluster import cluster, kmeans_labels
from deepcac.errors import ConfigError
from deepcac.task import Task
from deepcac.types import Array, Ids
from deepcac_study.catalogue.methods import CAC_LR, KM_LR, LR
from deepcac_study.experiments.prepare import Setting
from deepcac_study.experiments.sweeps import ALPHAS
from deepcac_study.experiments.theory import bounds
from deepcac_study.records.record import machine

_LLOYD_PASSES = 20
ALPHA = 0.05  # of the clusters that the bounds are evaluated in
SIZES = (1000, 2000, 4000, 8000)  # within the processor's cache, so that the curve has no kink
TIMED_ROWS = 8000
TIMED_KS = (2, 4, 8, 16)
SHARES = (0.125, 0.25, 0.5, 1.0)
_REPEATS = 5


def theory_checks(task: Task) -> dict[str, Any]:
    """Evaluate every theorem on one split of two classes, scaled for the CAC family.

    Keys: ``cost`` (Theorem 2 by alpha, and Lloyd's variant), ``growth`` (Theorem 3), ``log_loss``
    (Theorem 4 and Lemma 1 by model), ``am_softmax`` (DeepCAC, Theorem 3) and ``risk`` (Theorem 1 by
    arm). All are reproducible; ``growth`` counts operations.
    """
    X, y = task.X_train, task.y_train
    start = kmeans_labels(X, task.k, task.seed)
    aware = cluster(X, y, start, ALPHA, n_clusters=task.k).labels
    arms = {LR: np.zeros(len(y), dtype=np.int64), KM_LR: start, CAC_LR: aware}
    return {
        "alpha": ALPHA,
        "cost": [_cost(task, start, alpha) for alpha in ALPHAS],
        "growth": growth(X, y, task.k, operations),
        "log_loss": [row for arm, labels in arms.items() for row in _log_loss(X, y, arm, labels)],
        "am_softmax": _am_softmax(X, y),
        "risk": _risk(task, arms),
    }


def theory(tasks: Iterable[Task], setting: Setting, *, synthetic: bool = False) -> dict[str, Any]:
    """Return `theory_checks` of the first split, as a record with data set and machine.

    Only ``machine`` varies between runs; it has the exponents of Theorem 3 in wall time. A data set
    of more than two classes is a `ConfigError`.
    """
    begin = time.perf_counter()
    task = next(iter(tasks))
    if task.n_classes != 2:
        raise ConfigError(
            f"{setting.dataset} has {task.n_classes} classes; the theorems are about two, "
            "leave it out"
        )
    about = {
        "dataset": setting.dataset,
        "k": task.k,
        "seed": task.seed,
        "protocol": setting.protocol.name,
        "synthetic": synthetic,
        "n_train": len(task.y_train),
        "n_test": len(task.y_test),
        "n_features": task.X_train.shape[1],
    }
    checks = theory_checks(task)
    timed = growth(task.X_train, task.y_train, task.k, seconds)
    made = machine({"total": time.perf_counter() - begin}, 1, "cpu")
    return about | checks | {"machine": {**made, "growth": timed}}


def _cost(task: Task, start: Ids, alpha: float) -> dict[str, float]:
    """Return the largest rises of the cost by Hartigan's and by Lloyd's moves."""
    clustering = cluster(task.X_train, task.y_train, start, alpha, n_clusters=task.k)
    lloyd = bounds.lloyd_costs(
        task.X_train, task.y_train, start, alpha, k=task.k, passes=_LLOYD_PASSES
    )
    return {
        "alpha": alpha,
        "passes": clustering.n_iter,
        "first": float(clustering.cost[0]),
        "last": float(clustering.cost[-1]),
        "rise": bounds.largest_rise(clustering.cost),
        "lloyd_rise": bounds.largest_rise(lloyd),
    }


def _with_ones(X: Array) -> Array:
    """Return rows with a column of ones, since the theorems have no intercept."""
    return np.column_stack([X, np.ones(len(X))])


def _coefficients(X: Array, y: Ids, C: float) -> Array:
    """Return logistic regression's coefficients; `X` ends with its column of ones.

    Rows of one class have no finite optimum: they get only an intercept, by the rule of succession.
    """
    if y.min() == y.max():
        beta = np.zeros(X.shape[1])
        beta[-1] = np.log(len(y) + 1.0) * (1 if y[0] else -1)
        return beta
    model = LogisticRegression(C=C, fit_intercept=False, max_iter=1000)
    return np.asarray(model.fit(X, y).coef_[0])


def _log_loss(X: Array, y: Ids, arm: str, labels: Ids) -> list[dict[str, Any]]:
    """Return the bounds of an unregularised fit in each cluster, and the terms of Lemma 1."""
    rows = []
    for j in np.unique(labels):
        members, classes = _with_ones(X[labels == j]), y[labels == j]
        beta = _coefficients(members, classes, np.inf)
        sandwich = bounds.log_loss_sandwich(members, classes, beta)
        rows.append(
            {
                "arm": arm,
                "cluster": int(j) + 1,
                "rows": len(members),
                "lower": sandwich.lower,
                "loss": sandwich.loss,
                "upper": sandwich.upper,
                "radius": float(np.linalg.norm(members - members.mean(axis=0), axis=1).max()),
                **_lemma(members[:, :-1], classes, beta[:-1]),
            }
        )
    return rows


def _lemma(X: Array, y: Ids, beta: Array) -> dict[str, float | None]:
    """Return the share of features with beta_i u_i > 0 and the sum beta.u, u = mu+ - mu-."""
    if y.min() == y.max():
        return {"same_sign": None, "projection": None}
    apart = beta * (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    return {"same_sign": float((apart > 0).mean()), "projection": float(apart.sum())}


def _am_softmax(X: Array, y: Ids) -> list[dict[str, Any]]:
    """Return both pairs of bounds for three embeddings, one row each.

    These are standardised rows with the class means as class vectors; every row on its own class
    vector, the optimum of training; every row on the other one, without a margin.
    """
    means = np.stack([X[y == c].mean(axis=0) for c in (0, 1)])
    poles = np.array([[-1.0, 0.0], [1.0, 0.0]])
    nonzero = np.linalg.norm(X, axis=1) > 0
    cases = {
        "class means": (X[nonzero], y[nonzero], means, 0.4),
        "own vector": (poles[y], y, poles, 0.4),
        "other vector, m = 0": (poles[1 - y], y, poles, 0.0),
    }
    rows = []
    for name, (Z, classes, W, m) in cases.items():
        sandwich = bounds.am_softmax_sandwich(Z, classes, W, m=m)
        printed = bounds.printed_am_softmax_bounds(Z, classes, W, m=m)
        rows.append(
            {
                "case": name,
                "lower": sandwich.lower,
                "loss": sandwich.loss,
                "upper": sandwich.upper,
                "printed_lower": printed[0],
                "printed_upper": printed[1],
            }
        )
    return rows


def _risk(task: Task, arms: dict[str, Ids]) -> list[dict[str, Any]]:
    """Return Theorem 1's terms and the test loss of each arm, with one norm for all classifiers."""
    X, y = _with_ones(task.X_train), task.y_train
    betas = {
        arm: np.stack([_local(X, y, labels == j) for j in range(labels.max() + 1)])
        for arm, labels in arms.items()
    }
    norm = max(float(np.linalg.norm(coefficients, axis=1).max()) for coefficients in betas.values())
    rows = []
    for arm, labels in arms.items():
        bound = bounds.risk_bound(X, y, labels, betas[arm], norm=norm, seed=task.seed)
        rows.append(
            {
                "arm": arm,
                "norm": norm,
                "training": bound.training,
                "complexity": bound.complexity,
                "confidence": bound.confidence,
                "total": bound.total,
                "test": _test_loss(task, labels, betas[arm]),
            }
        )
    return rows


def _local(X: Array, y: Ids, members: npt.NDArray[np.bool_]) -> Array:
    """Return the coefficients fitted on `members`, zeros without any."""
    return _coefficients(X[members], y[members], 1.0) if members.any() else np.zeros(X.shape[1])


def _test_loss(task: Task, labels: Ids, betas: Array) -> float:
    """Return the mean test log loss, each row by the classifier of the nearest centroid."""
    cluster_ids = np.unique(labels)
    centroids = np.stack([task.X_train[labels == j].mean(axis=0) for j in cluster_ids])
    nearest = cluster_ids[pairwise_distances_argmin(task.X_test, centroids)]
    score = np.einsum("ij,ij->i", _with_ones(task.X_test), betas[nearest])
    return float(np.logaddexp(0.0, np.where(task.y_test == 1, -score, score)).mean())


def growth(
    X: Array,
    y: Ids,
    k: int,
    work: Callable[[Array, Ids, Ids, int], float],
    *,
    sizes: Sequence[int] = SIZES,
    ks: Sequence[int] = TIMED_KS,
    rows: int = TIMED_ROWS,
) -> dict[str, float]:
    """Return the exponents in n, d and k of the cost of a first pass, in `operations` or `seconds`.

    Rows are repeated in order where there are too few. The starting labels are random, so that
    every row is visited and most rows move.
    """

    def of(n: int, d: int, clusters: int) -> float:
        chosen = np.arange(n) % len(X)
        labels = np.random.default_rng(0).integers(0, clusters, n)
        return work(np.ascontiguousarray(X[chosen, :d]), y[chosen], labels, clusters)

    d = X.shape[1]
    widths = sorted({max(1, round(share * d)) for share in SHARES})
    curves = {
        "n": [(n, of(n, d, k)) for n in sizes],
        "d": [(width, of(rows, width, k)) for width in widths],
        "k": [(clusters, of(rows, d, clusters)) for clusters in ks],
    }
    return {name: bounds.growth_exponent(*np.array(curve).T) for name, curve in curves.items()}


def seconds(X: Array, y: Ids, labels: Ids, k: int) -> float:
    """Return the shortest of a few measured times of a first pass."""
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        cluster(X, y, labels, ALPHA, max_iter=1, n_clusters=k)
        times.append(time.perf_counter() - begin)
    return min(times)


def operations(X: Array, y: Ids, labels: Ids, k: int) -> float:
    """Return the multiplications and additions of a first pass, from the moves that it made.

    Counted are those of the plain pass, which visits every row; bounds that let the kernel skip
    some (`deepcac.cac.kernels.kernel`) change no move. As each row is visited once, the labels
    before and after determine all operations: k dot products per row; the weights of a class
    again after a move changed a cluster; class sums and their products for each move. The last row
    of a class in its cluster is skipped.
    """
    after = cluster(X, y, labels, ALPHA, max_iter=1, n_clusters=k).labels
    n_classes = int(y.max()) + 1
    counts = np.zeros((k, n_classes), dtype=np.int64)
    np.add.at(counts, (labels, y), 1)
    stale = [set(range(k)) for _ in range(n_classes)]
    products = 0
    for c, p, q in zip(y.tolist(), labels.tolist(), after.tolist(), strict=True):
        if counts[p, c] == 1:
            continue
        for j in stale[c]:
            products += n_classes * (1 + int(counts[j, c] >= 2))
        stale[c].clear()
        products += k
        if p != q:
            counts[p, c] -= 1
            counts[q, c] += 1
            products += 2 + 2 * n_classes
            for stale_clusters in stale:
                stale_clusters |= {p, q}
    return float(2 * X.shape[1] * products)
