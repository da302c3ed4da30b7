"""What a risk model may keep of a table: no mean, centre or share of fewer patients than a cell.

A mean times its rows is a sum, and the centre of one patient is that patient. So groups that are
too small join their neighbours, and sums are rounded as counts are: those of levels to `STEP`
patients, those of numbers to `STEP` standard deviations. Else the mean of all rows, less the other
centres, would tell what one centre hides.
"""

from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from deepcac.errors import DataError
from deepcac.files.saved_models import LARGEST, SMALLEST
from deepcac.judging.resamples import OUTLIER
from deepcac.preprocess import TableScaler
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.task import FEW, STEP, rounded
from deepcac.types import Array, Flags, Ids


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
        elif _tells(values, patient):
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


def _tells(values: Array, patient: Ids) -> bool:
    """Tell whether the mean of a number is that of few patients."""
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


def coarse_counts(counts: Ids) -> Ids:
    """Return rounded class counts of a cluster, those of few as 0.

    >>> coarse_counts(np.array([31, 1])).tolist()
    [30, 0]
    """
    return np.where(counts < FEW, 0, rounded(counts))
