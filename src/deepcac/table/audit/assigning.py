"""Can a new patient be given a group? The groups, read from the other columns of held-out rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score

from deepcac.judging.resamples import Resample, Rows
from deepcac.table.audit.group_column import Groups
from deepcac.table.budgeted_trials import MOST_TRAIN, table_resamples
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.types import Ids

RESAMPLES, SHUFFLES = 5, 20
_TREES = 50


class Assignable(NamedTuple):
    """How well the other columns give the groups back; means over resamples.

    Attributes
    ----------
    accuracy, agreement : float
        Share of test rows that get their group; adjusted Rand index.
    accuracy_by_chance, agreement_by_chance : float
        Highest of the same with the groups of the test rows shuffled.
    largest : float
        Share of the largest group: the accuracy of naming it always.
    """

    accuracy: float
    agreement: float
    accuracy_by_chance: float
    agreement_by_chance: float
    largest: float


def assigner(sample: Resample, train: Ids, validation: Ids) -> Callable[[Rows], Ids]:
    """Return what reads groups from the other columns; the label is no part of them.

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
    """Read the groups of test rows from the other columns, by models of the training rows."""
    rng = np.random.default_rng(seed)
    scores = []
    for sample in table_resamples(
        table.features, RESAMPLES, MOST_TRAIN, first=seed, unit=table.group
    ):
        true = groups.of(sample.test)
        read = assigner(sample, groups.of(sample.train), groups.of(sample.validation))(sample.test)
        mixed = [rng.permutation(true) for _ in range(SHUFFLES)]
        scores.append(
            (
                np.mean(read == true),
                adjusted_rand_score(true, read),
                max(np.mean(read == shuffled) for shuffled in mixed),
                max(adjusted_rand_score(shuffled, read) for shuffled in mixed),
                np.bincount(true).max() / len(true),
            )
        )
    return Assignable(*np.mean(scores, axis=0).tolist())
