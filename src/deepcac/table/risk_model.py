"""A risk model of a table: encoding, clusters, and what predicts in each of them, as arrays.

No mean, centre or share that it keeps is of fewer patients than a cell. A mean times its rows is a
sum, and the centre of one patient is that patient. So groups that are too small join their
neighbours, and sums are rounded as counts are: those of levels to `STEP` patients, those of numbers
to `STEP` standard deviations. Else the mean of all rows, less the other centres, would tell what
one centre hides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import pairwise_distances_argmin

from deepcac.errors import DataError
from deepcac.files.saved_models import LARGEST, SMALLEST
from deepcac.judging.local_models import BoostedTrees, Plane, Splines, fit_plane, grow_trees
from deepcac.judging.partitions import part
from deepcac.judging.resamples import OUTLIER, Resample, Rows
from deepcac.preprocess import TableScaler
from deepcac.scoring.calibration import log_odds
from deepcac.table.answer import arm_name, contender_name
from deepcac.table.budgeted_trials import BOOSTERS, bent_line
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.table_model import TableModel
from deepcac.task import FEW, STEP, rounded
from deepcac.types import Array, Flags, Ids

DIRECTIONS = 20  # in which the log odds of refits differ, of a model that is kept
_WIDE = 1.959963984540054  # 97.5 % of the normal distribution


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
        ``learner`` (an id of `judging.spaces`), ``arm``, ``n_clusters`` and ``alpha``; of a
        logistic regression ``C`` and ``clip``, and ``knots`` of splines; of boosted trees their
        values as ``trees``; and how all of them were chosen.
    centres : ndarray of shape (k, q)
        No rows without clusters.
    parts : list of Plane or BoostedTrees
        One per cluster, or one.
    splines : Splines
        Of the columns; of logistic regression with splines only.
    spread : RefitSpread, optional
        Of a model that was fitted with ``--bootstrap``.
    """

    centres: Array
    parts: Sequence[Plane | BoostedTrees]
    splines: Splines = field(default_factory=Splines)
    spread: RefitSpread | None = None

    def answers(self, X: Array) -> tuple[Array, Ids]:
        """Return probabilities (n, n_classes) of encoded rows (n, d), and subtypes, from 1."""
        rows, cluster = self.placed(X)
        risk = np.empty((len(X), len(self.classes)))
        for j, part_model in enumerate(self.parts):
            risk[cluster == j] = part_model.probability(rows[cluster == j])
        return risk, cluster + 1

    def ranges(self, X: Array) -> Array | None:
        """Return the ends (n, 2) of the risks that refits give encoded rows (n, d)."""
        return None if self.spread is None else self.spread.interval(self.design(X))

    def design(self, X: Array) -> Array:
        """Return what the log odds are linear in, shape (n, clusters * (1 + p)).

        Of boosted trees the columns, and their own log odds, stand for what refits vary in.
        """
        rows, cluster = self.placed(X)
        if self.boosted:
            odds = log_odds(self.answers(X)[0][:, 1])
            rows = np.column_stack([np.clip(self.scaler.transform(X), -OUTLIER, OUTLIER), odds])
        columns = np.column_stack([np.ones(len(rows)), rows])
        return np.hstack([columns * (cluster == j)[:, None] for j in range(len(self.parts))])

    def placed(self, X: Array) -> tuple[Array, Ids]:
        """Return encoded rows as the parts take them, and the part of each."""
        scaled = self.scaler.transform(X)
        rows = X if self.boosted else linear_rows(scaled, self.method["clip"], self.splines)
        if not len(self.centres):
            return rows, np.zeros(len(X), dtype=np.int64)
        bounded = np.clip(scaled, -OUTLIER, OUTLIER)
        return rows, pairwise_distances_argmin(bounded, self.centres).astype(np.int64)

    @property
    def boosted(self) -> bool:
        """Whether its parts are trees, and no coefficients."""
        return self.method["learner"] in BOOSTERS

    @property
    def n_subtypes(self) -> int:
        """Clusters, 0 without."""
        return len(self.centres)

    @property
    def kind(self) -> str:
        """In words what it is."""
        k = self.n_subtypes
        which = f"{k} {arm_name(self.method['arm'])}" if k else "no"
        return f"{contender_name(self.method['learner'])}, {which} clusters"

    @property
    def name(self) -> str:
        """In words what it is, and how it was chosen."""
        return f"{self.kind}, {self.method['chosen']}"


def linear_rows(scaled: Array, clip: float | None, splines: Splines) -> Array:
    """Return standardised rows (n, q) as a plane takes them: cut, with the terms of splines."""
    return splines.beside(scaled if clip is None else np.clip(scaled, -clip, clip))


def fit_risk_model(table: LabelledTable, method: dict[str, Any], seed: int) -> RiskModel:
    """Fit a model on all rows of a table, at a horizon on those whose outcome is known.

    The method is that of a `RiskModel`. The seed is that of the k-means start and of trees. No
    mean, centre, share, knot or leaf is that of fewer patients than a cell (`coarse_scaler`,
    `coarse_centres`), so that there may be fewer clusters.
    """
    scaler, features, weight = coarse_scaler(table), table.features, None
    labelled = np.arange(len(features.label))
    if table.follow is not None:
        weight = table.follow.weights()
        labelled = np.flatnonzero(weight)
    X, y = features.X, features.label
    rows = Rows(X, scaler.transform(X), y, features.row_id, table.group, weight).take(labelled)
    patient = patients(table)[labelled]
    k = method["n_clusters"] if method["arm"] else 1
    centres = np.empty((0, rows.scaled.shape[1]))
    cluster = np.zeros(len(rows), dtype=np.int64)
    if k > 1:
        whole = Resample(rows, rows, rows, features.n_classes, seed)
        cluster_ids = part(whole, method["arm"], k, method["alpha"]).train
        shares = indicators(table, scaler)[scaler.kept_]
        centres, cluster = coarse_centres(rows.bounded, cluster_ids, patient, scaler, shares)
    splines = Splines()
    if method["learner"] == bent_line():
        splines = Splines.learn(rows.bounded, patient, method["knots"])
    n_parts, n_classes = max(len(centres), 1), features.n_classes
    parts = _fitted(
        rows, [cluster == j for j in range(n_parts)], scaler, splines, method, n_classes, seed
    )
    return RiskModel(
        table.encoder, scaler, table.classes, table.label, table.description.use.id, method,
        centres, parts, splines,
    )  # fmt: skip


def _fitted(
    rows: Rows,
    members: Sequence[Flags],
    scaler: TableScaler,
    splines: Splines,
    method: dict[str, Any],
    n_classes: int,
    seed: int,
) -> Sequence[Plane | BoostedTrees]:
    """Return what predicts in each cluster, whose rows `members` mark."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    counts = rounded(np.bincount(rows.y, weight, minlength=n_classes))
    overall = counts / counts.sum()
    if (library := method["learner"]) in BOOSTERS:
        values = method["trees"]
        return [
            grow_trees(rows.take(inside), scaler, library, values, overall, seed)
            for inside in members
        ]
    X = linear_rows(rows.scaled, method["clip"], splines)
    return [
        fit_plane(X[inside], rows.y[inside], weight[inside], overall, method["C"])
        for inside in members
    ]


def refitted(model: RiskModel, X: Array, y: Ids, weight: Array) -> RiskModel:
    """Return a model with coefficients of other patients, of encoded rows (n, d).

    Columns, scale, splines, clusters and penalty stay; boosted trees have no coefficients.
    """
    rows, cluster = model.placed(X)
    overall = np.bincount(y, weight, minlength=len(model.classes)) / weight.sum()
    parts = [
        fit_plane(rows[members], y[members], weight[members], overall, model.method["C"])
        for members in (cluster == j for j in range(len(model.parts)))
    ]
    return replace(model, parts=parts, spread=None)


def coarse_scaler(table: LabelledTable) -> TableScaler:
    """Return what scales the rows of a table, and tells of no group of fewer patients than a cell.

    The share of a level, or of missing values, that fewer than `FEW` patients have (or lack) is
    that of `FEW` patients. A number that fewer than `FEW` patients have, or that is the same in
    all but fewer than `FEW`, is left out.

    Raises
    ------
    DataError
        No column is left, or one has numbers that no model file can hold.
    """
    X, patient = table.features.X, patients(table)
    scaler = TableScaler().fit(X)
    shares = indicators(table, scaler)
    full = np.hstack([X, np.isnan(X)[:, scaler.flagged_]])
    mean, scale = (np.zeros(len(scaler.kept_)) for _ in range(2))
    mean[scaler.kept_], scale[scaler.kept_] = scaler.mean_, scaler.scale_
    step = STEP / len(np.unique(patient))
    for f in np.flatnonzero(scaler.kept_):
        values = full[:, f]
        if shares[f]:
            mean[f] = _share(values, mean[f], patient)
            scale[f] = np.sqrt(mean[f] * (1 - mean[f]))
        elif _mean_discloses(values, patient):
            scaler.kept_[f] = False
            scaler.median_[f] = 0.0
        elif scale[f] < SMALLEST or max(abs(mean[f]), scale[f]) > LARGEST:
            name = table.encoder.names[f]
            raise DataError(f"column {name!r} is beyond all numbers; give it in another unit")
        else:
            scale[f] = (1 + step) ** np.round(np.log(scale[f]) / np.log1p(step))
            mean[f] = _to_steps(mean[f], step * scale[f])
    if not scaler.kept_.any():
        raise DataError(f"no column has two values in {FEW} patients or more")
    scaler.mean_, scaler.scale_ = mean[scaler.kept_], scale[scaler.kept_]
    return scaler


def patients(table: LabelledTable) -> Ids:
    """Return the patient of each row: its group, or the row itself."""
    return np.arange(len(table.features.label)) if table.group is None else table.group


def indicators(table: LabelledTable, scaler: TableScaler) -> Flags:
    """Return which columns and flags, kept or not, are the share of a level or of no value."""
    names, levels = table.encoder.names, table.encoder.level_names
    return np.array([*(name in levels for name in names), *(True for _ in scaler.flagged_)])


def _share(values: Array, mean: float, patient: Ids) -> float:
    """Return the share that an indicator is given: of rounded rows, and of `FEW` where of fewer."""
    n = len(values)
    for given, least in ((1, FEW / n), (0, 1 - FEW / n)):
        if len(np.unique(patient[values == given])) < FEW:
            return least
    return float(np.clip(_to_steps(mean, STEP / n), FEW / n, 1 - FEW / n))


def _to_steps(value: Any, step: Any) -> Any:
    return step * np.round(value / step)


def _mean_discloses(values: Array, patient: Ids) -> bool:
    """Return whether a feature's mean would disclose fewer than `FEW` patients."""
    seen = np.isfinite(values)
    if len(np.unique(patient[seen])) < FEW:
        return True
    different, counts = np.unique(values[seen], return_counts=True)
    others = seen & (values != different[counts.argmax()])
    return len(np.unique(patient[others])) < FEW


def coarse_centres(
    bounded: Array, label: Ids, patient: Ids, scaler: TableScaler, shares: Flags
) -> tuple[Array, Ids]:
    """Return the centres of clusters of `FEW` patients or more, and the nearest one of each row.

    A cluster of fewer joins its neighbours; at least one is left. Where fewer than `FEW` patients
    of a cluster have a level, or lack it, its centre has half of a cell.

    Parameters
    ----------
    bounded : ndarray of shape (n, q)
        Standardised rows, cut at `OUTLIER`.
    label, patient : ndarray of shape (n,)
        Cluster and patient of each row.
    scaler : TableScaler
    shares : ndarray of bool, shape (q,)
        Columns that are 0 or 1 before they are standardised.
    """
    used = [j for j in np.unique(label) if len(np.unique(patient[label == j])) >= FEW]
    if not used:
        used, label = [0], np.zeros_like(label)
    members = [label == j for j in used]
    while True:
        centres = np.array(
            [_centre(bounded[mask], patient[mask], scaler, shares) for mask in members]
        )
        nearest = pairwise_distances_argmin(bounded, centres).astype(np.int64)
        sizes = [len(np.unique(patient[nearest == j])) for j in range(len(centres))]
        if min(sizes) >= FEW or len(members) == 1:
            return centres, nearest
        del members[int(np.argmin(sizes))]


def _centre(rows: Array, patient: Ids, scaler: TableScaler, shares: Flags) -> Array:
    """Return the rounded mean of rows, with half a cell for what few patients have or lack."""
    n = len(rows)
    centre = _to_steps(rows.mean(axis=0), STEP / len(np.unique(patient)))
    zero = np.clip(-scaler.mean_ / scaler.scale_, -OUTLIER, OUTLIER)
    unit = np.clip((1 - scaler.mean_) / scaler.scale_, -OUTLIER, OUTLIER)
    for f in np.flatnonzero(shares):
        has = np.abs(rows[:, f] - unit[f]) < np.abs(rows[:, f] - zero[f])
        centre[f] = zero[f] + (unit[f] - zero[f]) * _to_steps(has.mean(), STEP / n)
        for which, here, other in ((has, unit[f], zero[f]), (~has, zero[f], unit[f])):
            if 0 < len(np.unique(patient[which])) < FEW:
                centre[f] = (FEW / 2 * here + (n - FEW / 2) * other) / n
    return centre
