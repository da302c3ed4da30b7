"""The column of groups that is audited: read, and whether new patients can be given a group."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from deepcac.errors import DataError
from deepcac.judging.resamples import Resample, Rows, resamples
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.budgeted_trials import MOST_TRAIN
from deepcac.table.columns.cells import row_names
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.types import Ids

MOST_GROUPS = 50
ABSENT = "(no group)"


@dataclass(frozen=True)
class Groups:
    """Groups of all rows of a table.

    Attributes
    ----------
    column : str
    names : tuple of str, length k
        Values of the column; `ABSENT` where it is empty.
    row_id : ndarray of shape (n,), int64
        Ascending.
    code : ndarray of shape (n,), int64
        Group of each row.
    """

    column: str
    names: tuple[str, ...]
    row_id: Ids
    code: Ids

    @property
    def k(self) -> int:
        """Number of groups."""
        return len(self.names)

    def of(self, rows: Rows) -> Ids:
        """Return the groups of rows."""
        return self.code[np.searchsorted(self.row_id, rows.row_id)]

    def shuffled(self, seed: int) -> "Groups":
        """Return groups of the same sizes, drawn at random."""
        code = np.random.default_rng(seed).permutation(self.code)
        return Groups(self.column, self.names, self.row_id, code)

    def remarks(self) -> list[str]:
        """Return what a reader must know of them."""
        counts = np.bincount(self.code, minlength=self.k)
        sentences: list[str] = []
        if self.names[-1] == ABSENT:
            n, text = Count(counts[-1]).capitalize(), "{} rows have no group; they are a group of "
            sentences.append(Text(text + "their own, {}.", n, ABSENT))
        if few := int((counts < FEW).sum()):
            sentences.append(
                f"Groups of fewer than {FEW} rows: {few}; they are used and not shown."
            )
        return sentences


def read_groups(table: LabelledTable, column: str) -> Groups:
    """Return the groups that a column holds.

    Raises
    ------
    DataError
        It holds one value or too many, or is the label.
    """
    cells = row_names(table.rows[column], column, "a group")
    cells = pc.if_else(pc.is_null(cells, nan_is_null=True), None, cells)
    values = cells.cast(pa.string()).to_pandas().fillna(ABSENT)
    named = sorted({*values} - {ABSENT})
    if len(named) > MOST_GROUPS:
        raise DataError(
            f"column {column!r} holds {len(named):,} different values in {len(values):,} rows; a "
            f"partition has 2 to {MOST_GROUPS} groups; join them, or name another column"
        )
    names = [*named, ABSENT] if ABSENT in {*values} else named
    if len(names) < 2:
        raise DataError(f"column {column!r} holds {names[0]!r} in every row; two groups are needed")
    place = {name: j for j, name in enumerate(names)}
    code = values.map(place).to_numpy(np.int64)
    _refuse_label(column, code, table)
    return Groups(column, tuple(names), table.features.row_id, code)


def _refuse_label(column: str, code: Ids, table: LabelledTable) -> None:
    pairs = set(zip(code.tolist(), table.features.label.tolist(), strict=True))
    if len(pairs) == len({group for group, _ in pairs}) == len(table.classes):
        raise DataError(
            f"column {column!r} is the label under another coding; groups that are the outcome "
            "cannot be tested; name the groups that were there before it"
        )


RESAMPLES = 5
_TREES = 50


class Assignable(NamedTuple):
    """How well the other columns give the groups back; means over resamples.

    Attributes
    ----------
    accuracy, agreement : float
        Share of test rows that get their group; adjusted Rand index, 0 as by chance.
    largest : float
        Share of the largest group: the accuracy of naming it always.
    """

    accuracy: float
    agreement: float
    largest: float


def assigner(sample: Resample, train: Ids, validation: Ids) -> Callable[[Rows], Ids]:
    """Return a function that predicts groups from the features, excluding the outcome.

    Logistic regression or boosting, whichever is right more often on the validation rows. `train`
    and `validation` are the groups of the sample's rows.
    """
    only = np.unique(train)
    if len(only) == 1:
        return lambda rows: np.full(len(rows), only[0])
    linear: Any = LogisticRegression(max_iter=300).fit(sample.train.bounded, train)
    trees: Any = HistGradientBoostingClassifier(
        max_iter=_TREES, early_stopping=False, random_state=sample.seed
    ).fit(sample.train.raw, train)
    by_linear = linear.predict(sample.validation.bounded) == validation
    by_trees = trees.predict(sample.validation.raw) == validation
    if by_linear.mean() >= by_trees.mean():
        return lambda rows: np.asarray(linear.predict(rows.bounded), dtype=np.int64)
    return lambda rows: np.asarray(trees.predict(rows.raw), dtype=np.int64)


def assignable(table: LabelledTable, groups: Groups, seed: int) -> Assignable:
    """Estimate how accurately test rows' groups are predicted from the other columns."""
    scores = []
    for sample in resamples(table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group):
        true = groups.of(sample.test)
        read = assigner(sample, groups.of(sample.train), groups.of(sample.validation))(sample.test)
        scores.append(
            (
                np.mean(read == true),
                adjusted_rand_score(true, read),
                np.bincount(true).max() / len(true),
            )
        )
    return Assignable(*np.mean(scores, axis=0).tolist())
