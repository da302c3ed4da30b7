"""A risk model of a table: encoding, clusters, a logistic regression in each, as arrays."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances_argmin

from deepcac.judging.fitting import FEWEST
from deepcac.judging.partitions import part
from deepcac.judging.resamples import OUTLIER, Resample, Rows
from deepcac.preprocess import TableScaler
from deepcac.table.coarse_states import (
    coarse_centres,
    coarse_counts,
    coarse_scaler,
    indicators,
    patients,
)
from deepcac.table.columns.roles import Roles
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.table_model import TableModel
from deepcac.types import Array, Ids

DIRECTIONS = 20  # in which the log odds of refits differ, of a model that is kept
_WIDE = 1.959963984540054  # 97.5 % of the normal distribution


@dataclass(frozen=True)
class Plane:
    """A fitted logistic regression, or the class shares where none can be had.

    Attributes
    ----------
    coef : ndarray of shape (c, q)
        One row for two classes, else one per class; zeros for shares.
    intercept : ndarray of shape (c,)
    """

    coef: Array
    intercept: Array

    def probability(self, X: Array) -> Array:
        """Return probabilities of shape (n, n_classes)."""
        scores = X @ self.coef.T + self.intercept
        if scores.shape[1] == 1:
            return np.hstack([expit(-scores), expit(scores)])
        return np.asarray(softmax(scores, axis=1))


@dataclass(frozen=True)
class RefitSpread:
    """How the log odds of models of other draws of the patients vary (`optimism.spread`).

    Attributes
    ----------
    centre : ndarray of shape (p,)
        Mean coefficients of `RiskModel.design`.
    directions : ndarray of shape (m, p)
        In which coefficients differ, each as long as its standard deviation.
    rest : float
        Variance of the log odds that these leave.
    """

    centre: Array
    directions: Array
    rest: float

    def interval(self, design: Array) -> Array:
        """Return the ends (n, 2) between which 95 % of refits put each risk."""
        middle = design @ self.centre
        variance = ((design @ self.directions.T) ** 2).sum(axis=1) + self.rest
        half = _WIDE * np.sqrt(variance)
        return expit(np.column_stack([middle - half, middle + half]))


@dataclass(frozen=True)
class RiskModel(TableModel):
    """What predicts risk and subtype of the rows of a table.

    Attributes
    ----------
    method : dict
        ``arm``, ``n_clusters``, ``alpha``, ``C`` and ``clip``, and how they were chosen.
    centres : ndarray of shape (k, q)
        No rows without clusters.
    planes : list of Plane
        One per cluster, or one.
    spread : RefitSpread, optional
        Of a model that was fitted with ``--bootstrap``.
    """

    centres: Array
    planes: list[Plane]
    spread: RefitSpread | None = None

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""
        rows, cluster = self.placed(X)
        risk = np.empty((len(X), len(self.classes)))
        for j, plane in enumerate(self.planes):
            risk[cluster == j] = plane.probability(rows[cluster == j])
        return risk, cluster + 1

    def ranges(self, X: Array) -> Array | None:
        """Return the ends (n, 2) of the risks that refits give encoded rows; None without any."""
        return None if self.spread is None else self.spread.interval(self.design(X))

    def design(self, X: Array) -> Array:
        """Return what the log odds are linear in, shape (n, clusters * (1 + q))."""
        rows, cluster = self.placed(X)
        columns = np.column_stack([np.ones(len(rows)), rows])
        return np.hstack([columns * (cluster == j)[:, None] for j in range(len(self.planes))])

    def placed(self, X: Array) -> tuple[Array, Ids]:
        """Return encoded rows as the planes take them, and the plane of each."""
        scaled = self.scaler.transform(X)
        clip = self.method["clip"]
        rows = scaled if clip is None else np.clip(scaled, -clip, clip)
        if not len(self.centres):
            return rows, np.zeros(len(X), dtype=np.int64)
        bounded = np.clip(scaled, -OUTLIER, OUTLIER)
        return rows, pairwise_distances_argmin(bounded, self.centres).astype(np.int64)

    @property
    def n_subtypes(self) -> int:
        """Clusters, 0 without."""
        return len(self.centres)


def whole_table(table: LabelledTable, seed: int) -> tuple[TableScaler, Resample]:
    """Return all rows as a resample, each of whose parts they are, and what scaled them."""
    scaler = TableScaler().fit(table.features.X)
    return scaler, _as_resample(table, scaler, seed)


def _as_resample(
    table: LabelledTable, scaler: TableScaler, seed: int, weight: Array | None = None
) -> Resample:
    features = table.features
    X, y = features.X, features.label
    rows = Rows(X, scaler.transform(X), y, features.row_id, weight=weight)
    return Resample(rows, rows, rows, features.n_classes, seed)


def fit_risk_model(
    table: LabelledTable, roles: Roles, method: dict[str, Any], seed: int
) -> RiskModel:
    """Fit a model on all rows of a table, at a horizon on those whose outcome is known.

    The method has ``arm`` ("", "km" or "cac"), ``n_clusters``, ``alpha``, ``C`` and ``clip``. The
    seed is that of the k-means start. Label and id of the roles are kept. No mean, centre or share
    is that of fewer patients than a cell (`coarse_states`), so that there may be fewer clusters.
    """
    scaler, labelled = coarse_scaler(table), np.arange(len(table.features.label))
    whole = _as_resample(table, scaler, seed)
    if table.follow is not None:
        weight = table.follow.weights()
        labelled = np.flatnonzero(weight)
        labelled_rows = _as_resample(table, scaler, seed, weight).train.take(labelled)
        whole = replace(whole, train=labelled_rows, validation=labelled_rows, test=labelled_rows)
    rows = whole.train
    k = method["n_clusters"] if method["arm"] else 1
    centres = np.empty((0, rows.scaled.shape[1]))
    cluster = np.zeros(len(rows), dtype=np.int64)
    if k > 1:
        cluster_ids = part(whole, method["arm"], k, method["alpha"]).train
        shares = indicators(table, scaler)[scaler.kept_]
        centres, cluster = coarse_centres(
            rows.bounded, cluster_ids, patients(table)[labelled], scaler, shares
        )
    clip = method["clip"]
    X = rows.scaled if clip is None else np.clip(rows.scaled, -clip, clip)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    overall = np.bincount(rows.y, weight, minlength=table.features.n_classes) / weight.sum()
    planes = [
        _plane(X[members], rows.y[members], weight[members], overall, method["C"])
        for members in (cluster == j for j in range(max(len(centres), 1)))
    ]
    return RiskModel(
        table.encoder, scaler, table.classes, roles.label, roles.id, method, centres, planes
    )


def refitted(model: RiskModel, X: Array, y: Ids, weight: Array) -> RiskModel:
    """Return a model with coefficients of other patients, of encoded rows (n, d).

    Columns, scale, clusters and penalty stay.
    """
    rows, cluster = model.placed(X)
    overall = np.bincount(y, weight, minlength=len(model.classes)) / weight.sum()
    planes = [
        _plane(rows[members], y[members], weight[members], overall, model.method["C"])
        for members in (cluster == j for j in range(len(model.planes)))
    ]
    return replace(model, planes=planes, spread=None)


def _plane(X: Array, y: Ids, weight: Array, overall: Array, C: float) -> Plane:
    """Fit one cluster; its class shares, smoothed by those of all, where a model cannot be had."""
    counts = np.bincount(y, minlength=len(overall))
    if len(y) < FEWEST or counts.min() < 2:
        coarse = coarse_counts(counts)
        scores = np.log((coarse + overall) / (coarse.sum() + 1))
        scores = scores[1:] - scores[:1] if len(overall) == 2 else scores
        return Plane(np.zeros((len(scores), X.shape[1])), scores)
    model = LogisticRegression(C=C, max_iter=1000).fit(X, y, sample_weight=weight)
    return Plane(model.coef_, model.intercept_)
