"""Splits: the part (training, validation or test) of each row id, for every seed."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.model_selection import StratifiedKFold, train_test_split

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_table
from deepcac.judging.draws import SHARE, TEST, TRAIN, VALIDATION, draw, units
from deepcac_study.catalogue.protocol import SOUND, Protocol

PARTS = ("train", "validation", "test")
FOLDS = 5
HOLDOUT_SEED = 108  # the published CAC program's fixed hold-out (switch A14)
SEQUENCE_SPLITS = 3  # of hourly sequences in DeepCAC section 15 (switch D3)


@dataclass(frozen=True)
class Split:
    """Row positions of the parts of one split, each ascending."""

    seed: int
    train: npt.NDArray[np.intp]
    validation: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def draw_holdout(label: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Draw the published CAC program's one hold-out: 75 % train, 25 % test, no validation.

    It is stratified, since only then plain logistic regression gives the printed scores on Adult,
    Credit and Diabetes with this seed. Row positions are in the order of the draw: CAC, the
    perceptron and SGD depend on the order of rows, and give the printed scores only in this one.
    """
    train, test = train_test_split(
        np.arange(len(label)), test_size=SHARE, random_state=HOLDOUT_SEED, stratify=label
    )
    return train, test


def holdout(label: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Return the part of each row in the published hold-out (`draw_holdout`)."""
    part = np.full(len(label), TRAIN, dtype=np.int8)
    part[draw_holdout(label)[1]] = TEST
    return part


def folds(label: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Return the test fold of each row, 0 to 4, of a stratified 5-fold cross-validation.

    The published program shuffles again, without a seed, for every arm (A9); here all arms share
    one shuffle.
    """
    fold = np.zeros(len(label), dtype=np.int8)
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for f, (_, test) in enumerate(splitter.split(label, label)):
        fold[test] = f
    return fold


def make_splits(
    row_id: npt.NDArray[np.int64],
    label: npt.NDArray[np.int64],
    seeds: list[int],
    protocol: Protocol = SOUND,
    published_share: float = SHARE,
    unit: npt.NDArray[Any] | None = None,
) -> pa.Table:
    """Draw one split per seed, the published hold-out and the folds, as a table.

    Columns are ``row_id``, ``split_{seed}`` and ``holdout`` with parts as int8, and ``fold``. With
    switch D3 the draws are not stratified: `published_share` of the rows is for the test, and of
    the rest for validation. Rows of equal `unit`, such as a patient, stay in one part (`units`);
    shares are then shares of units.
    """
    columns = {"row_id": pa.array(row_id, pa.int64())}
    drawn, place = units(label, unit)
    for seed in seeds:
        published = "D3" in protocol
        share = published_share if published else SHARE
        part = draw(drawn, seed, stratified=not published, share=share)
        columns[f"split_{seed}"] = pa.array(part[place], pa.int8())
    columns["holdout"] = pa.array(holdout(drawn)[place], pa.int8())
    columns["fold"] = pa.array(folds(drawn)[place], pa.int8())
    return pa.table(columns)


def write_splits(path: str | os.PathLike[str], table: pa.Table) -> None:
    """Write the table of `make_splits`."""
    write_table(path, table)


def scheme(protocol: Protocol, family: str) -> str:
    """Return the splits that a family is scored on: "seeds", with A14 "holdout", with CV5 "folds".

    Both switches apply to the family "cac" only.
    """
    if family == "cac" and "CV5" in protocol:
        return "folds"
    if family == "cac" and "A14" in protocol:
        return "holdout"
    return "seeds"


def most_splits(protocol: Protocol, *, sequence: bool) -> int | None:
    """Return the largest number of splits of a file to use; None for all."""
    return SEQUENCE_SPLITS if sequence and "D3" in protocol else None


def read_splits(
    path: str | os.PathLike[str], row_id: npt.NDArray[np.int64], scheme: str = "seeds"
) -> list[Split]:
    """Read splits of `write_splits` and check that they belong to these rows, in their order.

    Positions refer to `row_id`; hold-outs and folds (`scheme`) have no validation rows. A missing
    column and other row ids are a `DataError`.
    """
    table = read_table(path)
    if not np.array_equal(_column(path, table, "row_id"), row_id):
        raise DataError(f"{path}: row ids differ from the feature file; build the splits again")
    if scheme == "folds":
        fold = _column(path, table, "fold")
        return [_split(f, np.where(fold == f, TEST, TRAIN)) for f in range(FOLDS)]
    if scheme == "holdout":
        return [_split(HOLDOUT_SEED, _column(path, table, "holdout"))]
    names = [name for name in table.column_names if name.startswith("split_")]
    return [_split(int(name.removeprefix("split_")), table[name].to_numpy()) for name in names]


def _column(path: str | os.PathLike[str], table: pa.Table, name: str) -> npt.NDArray[np.integer]:
    if name not in table.column_names:
        raise DataError(f"{path}: has no column {name!r}; build the splits again")
    return table[name].to_numpy()


def _split(seed: int, part: npt.NDArray[np.integer]) -> Split:
    """Return the split with row positions per part."""
    return Split(seed, *(np.flatnonzero(part == p) for p in (TRAIN, VALIDATION, TEST)))
