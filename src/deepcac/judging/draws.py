"""Draws of training, validation and test rows, by row or by patient."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from deepcac.errors import DataError

TRAIN, VALIDATION, TEST = 0, 1, 2
_FEWEST = 4  # of a class, or of the patients of a stratum
SHARE = 0.25  # for the test, and of what is left for validation: 57 / 18 / 25 (DeepCAC, section 8)


def draw(
    label: npt.NDArray[np.int64], seed: int, *, stratified: bool, share: float = SHARE
) -> npt.NDArray[np.int8]:
    """Assign each row to a part: 0 train, 1 validation, 2 test, shape (n,).

    `share` is that of the rows for the test, and of the others for validation. `stratified` keeps
    the class shares in each part; not to is switch D3. Too few rows of a class are a `DataError`.
    """
    classes, counts = np.unique(label, return_counts=True)
    if len(classes) < 2:
        raise DataError(f"only class {classes.tolist()} is present; a split needs two classes")
    if counts.min() < _FEWEST:  # also without strata: the hold-out and the folds are stratified
        raise DataError(
            f"class {classes[counts.argmin()]} has {counts.min()} rows; a stratified split needs "
            f"{_FEWEST}"
        )
    rows = np.arange(len(label))
    rest, test = train_test_split(
        rows, test_size=share, random_state=seed, stratify=label if stratified else None
    )
    _, validation = train_test_split(
        rest, test_size=share, random_state=seed, stratify=label[rest] if stratified else None
    )
    part = np.full(len(label), TRAIN, dtype=np.int8)
    part[validation], part[test] = VALIDATION, TEST
    return part


def units(
    label: npt.NDArray[np.int64], unit: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[np.int64], Any]:
    """Return what is drawn in place of rows, so that rows of one patient stay together.

    `unit`, shape (n,), is equal where rows are of one patient; None where every row is one.
    Returned are labels of m patients, and the place of each row among them. The label of a patient
    is the rarest class of the rows: 0 if that is the most frequent class, 1 the next, and so on.
    Where fewer than four patients have rows of the most frequent class only, they count as those
    with the next. Without `unit` labels and rows are as they are.
    """
    if unit is None:
        return label, slice(None)
    names, place = np.unique(unit, return_inverse=True)
    counts = np.bincount(label)
    rarity = np.argsort(np.lexsort((-np.arange(len(counts)), -counts)))
    marked = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(marked, place, rarity[label])
    lone = marked == 0
    if 0 < lone.sum() < _FEWEST and not lone.all():
        marked[lone] = marked[~lone].min()
    if (marked == marked[0]).all():  # no strata among the patients: halves that mean nothing
        marked = np.arange(len(marked)) % 2
    return marked, place
