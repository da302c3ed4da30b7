"""Resamples of a data set, and their rows as the contenders are given them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.draws import TEST, TRAIN, VALIDATION, draw, units
from deepcac.preprocess import TableScaler
from deepcac.scoring.censored import FollowUp
from deepcac.types import Array, Ids

OUTLIER = 5.0  # standard deviations; what lies further makes no cluster of its own


@dataclass(frozen=True)
class Rows:
    """Rows of one part: n of them.

    Features as they are (`raw`, (n, d), NaN where missing), and imputed, flagged and standardised
    (`scaled`, (n, q), `TableScaler`); class ids; row ids. Rows with one `unit`, those of a patient,
    stay together. `weight` is how many patients each row stands for (`FollowUp.weights`).
    """

    raw: Array
    scaled: Array
    y: Ids
    row_id: Ids
    unit: npt.NDArray[Any] | None = None
    weight: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def counted(self) -> int:
        """Rows whose outcome is known."""
        return len(self) if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def bounded(self) -> Array:
        """The scaled features without outliers, in which rows are parted."""
        return np.clip(self.scaled, -OUTLIER, OUTLIER)

    def take(self, rows: npt.NDArray[Any]) -> "Rows":
        """Return some of the rows."""
        unit, weight = (
            None if values is None else values[rows] for values in (self.unit, self.weight)
        )
        return Rows(
            self.raw[rows], self.scaled[rows], self.y[rows], self.row_id[rows], unit, weight
        )

    def beside(self, columns: Array) -> "Rows":
        """Return the rows with further columns, standardised already."""
        return Rows(
            np.hstack([self.raw, columns]),
            np.hstack([self.scaled, columns]),
            self.y,
            self.row_id,
            self.unit,
            self.weight,
        )


@dataclass(frozen=True)
class Resample:
    """One draw of training, validation and test rows.

    The seed is that of the draw and of every random choice of a contender. `shared` holds what
    contenders have in common (clusterings, autoencoders).
    """

    train: Rows
    validation: Rows
    test: Rows
    n_classes: int
    seed: int
    shared: dict[Any, Any] = field(default_factory=dict)


def resamples(
    features: FeatureMatrix,
    n: int,
    train_rows: int,
    *,
    first: int = 0,
    unit: npt.NDArray[Any] | None = None,
    follow: FollowUp | None = None,
) -> Iterator[Resample]:
    """Yield `n` stratified resamples: 56 % for training, 19 % validation, 25 % test.

    Resample i has seed `first` + i. Of more than `train_rows` training rows a stratified part is
    drawn, anew in each resample; validation and test stay whole, so that a difference is measured
    as sharply. Rows of one `unit`, those of a patient, stay in one part; the shares are then shares
    of patients (`deepcac.judging.draws.units`). With `follow` rows are weighted for censoring, as
    learnt from the training rows; those whose outcome is not known are left out of training and
    validation, and weigh nothing in the test.
    """
    drawn, place = units(features.label, unit)
    for seed in range(first, first + n):
        part = draw(drawn, seed, stratified=True)[place]
        train, validation, test = (np.flatnonzero(part == p) for p in (TRAIN, VALIDATION, TEST))
        train = at_most(train_rows, train, features.label, seed)
        yield prepared(features, (train, validation, test), seed, unit, follow)


def at_most(most: int, rows: npt.NDArray[np.intp], label: Ids, seed: int) -> npt.NDArray[np.intp]:
    """Return rows (positions in `label`), or of more than `most` a stratified part.

    A stratified part has a row of each class. Where fewer rows are beyond `most`, so many more are
    left out.
    """
    if len(rows) <= most:
        return rows
    few = len(np.unique(label[rows]))
    most -= few * (len(rows) - most < few)
    subset, _ = train_test_split(rows, train_size=most, random_state=seed, stratify=label[rows])
    return np.sort(subset)


def prepared(
    features: FeatureMatrix,
    parts: tuple[npt.NDArray[np.intp], ...],
    seed: int,
    unit: npt.NDArray[Any] | None = None,
    follow: FollowUp | None = None,
) -> Resample:
    """Return a resample whose rows are scaled by its training rows; `resamples` has the rest."""
    weight = None if follow is None else follow.weights(parts[0])
    if follow is not None:
        parts = (*(part[follow.outcome_known[part]] for part in parts[:2]), parts[2])
    scaler = TableScaler().fit(features.X[parts[0]])
    train, validation, test = (_rows(features, part, scaler, unit, weight) for part in parts)
    return Resample(train, validation, test, features.n_classes, seed)


def _rows(
    features: FeatureMatrix,
    rows: npt.NDArray[Any],
    scaler: TableScaler,
    unit: npt.NDArray[Any] | None,
    weight: Array | None,
) -> Rows:
    X = features.X[rows]
    extras = (None if values is None else values[rows] for values in (unit, weight))
    return Rows(X, scaler.transform(X), features.label[rows], features.row_id[rows], *extras)
