"""Cohorts of a given size from real tables, with a reversed risk planted in a subgroup.

The plan is in docs/archive/judge-plan-evidence.md, "What the study can see, by size".
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from deepcac.cac.cluster import kmeans_labels
from deepcac.feature_matrix import FeatureMatrix
from deepcac.judging.contenders import Contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.resamples import Resample, Rows, prepared
from deepcac.preprocess import TableScaler
from deepcac.types import Array, Flags, Ids

LINE, SPLINES = Contender("lr"), Contender("spline_lr")
GROUPS, REVERSED = 3, 2  # clusters, and columns whose coefficients change sign in one of them
UNSEEN = 5_000  # rows that score all models of a cohort, at most
TYPICAL = 1_000  # rows of the subgroup by which its strongest columns are found, at most


@dataclass(frozen=True)
class Ground:
    """Rows of a real table on which outcomes are drawn.

    `risk` (n,) are log odds by splines fitted to the real outcome of all rows, `reversal` (n,) is
    the change from reversing the sign of the strongest columns in the `subgroup` (n,), and `share`
    is the share of rows with the real outcome. `columns` are the names of the reversed columns.
    """

    features: FeatureMatrix
    rows: Rows
    risk: Array
    reversal: Array
    subgroup: Flags
    columns: list[str]
    share: float

    def true(self, strength: float) -> Array:
        """Return the true risk of each row; the outcome is as frequent as the real one."""
        odds = self.risk + strength * self.reversal
        middle = brentq(lambda shift: expit(odds + shift).mean() - self.share, -50, 50)
        return expit(odds + middle)


class Cohort(NamedTuple):
    """Patients of a clinic, and unseen ones for testing."""

    clinic: FeatureMatrix
    unseen: FeatureMatrix


def ground(features: FeatureMatrix, name: str) -> Ground:
    """Fit splines to a table, and draw a subgroup, a k-means cluster, seeded by the name."""
    sample = _whole(features)
    rows = sample.train
    rng = np.random.RandomState(zlib.crc32(name.encode()))
    subgroup = kmeans_labels(rows.bounded, GROUPS, rng) == rng.randint(GROUPS)
    odds, members = _log_odds(SPLINES, sample), np.flatnonzero(subgroup)
    every = np.arange(rows.scaled.shape[1])
    spread = _column_parts(odds, rows.take(members[:TYPICAL]), every).std(axis=0)
    strongest = np.argsort(-spread, kind="stable")[:REVERSED]
    part = _column_parts(odds, rows.take(members), strongest).sum(axis=1)
    reversal = np.zeros(len(rows))
    reversal[members] = -2 * (part - part.mean())
    names = TableScaler().fit(features.X).get_feature_names_out(np.array(features.names, object))
    columns = names[strongest].tolist()
    share = float(features.label.mean())
    return Ground(features, rows, odds(rows), reversal, subgroup, columns, share)


def draw_cohort(ground: Ground, strength: float, rows: int, draw: int) -> Cohort:
    """Draw the patients of a clinic without replacement, unseen patients, and outcomes.

    A larger clinic includes the patients of smaller ones of the same draw. All strengths use the
    same random numbers for the outcomes.
    """
    rng = np.random.default_rng([draw, 47])
    order = rng.permutation(len(ground.risk))
    label = (rng.random(len(order)) < ground.true(strength)).astype(np.int64)
    drawn = replace(ground.features, label=label, group=None)
    return Cohort(_take(drawn, order[:rows]), _take(drawn, order[rows : rows + UNSEEN]))


def worth(ground: Ground, strength: float) -> tuple[float, float]:
    """Return the gain of logistic regression from knowing the subgroup, and its lead over splines.

    Both are differences of expected AUROC, of models fitted to the true risks of all rows.
    """
    true = ground.true(strength)
    column = ground.subgroup[:, None].astype(np.float64)
    grouped = ground.rows.beside(np.hstack([column, ground.rows.bounded * column]))
    line, informed, splines = (
        _ample_auroc(contender, rows, true)
        for contender, rows in ((LINE, ground.rows), (LINE, grouped), (SPLINES, ground.rows))
    )
    return informed - line, informed - splines


def _ample_auroc(contender: Contender, rows: Rows, true: Array) -> float:
    """Return the expected AUROC of a model fitted to the true risks of `rows`."""
    n = len(rows)
    y, weight = np.repeat([0, 1], n), np.concatenate([1 - true, true])
    twice = replace(rows.take(np.tile(np.arange(n), 2)), y=y, weight=weight)
    odds = _log_odds(contender, Resample(twice, twice, twice, 2, 0))(rows)
    return float(roc_auc_score(y, np.tile(odds, 2), sample_weight=weight))


def _whole(features: FeatureMatrix) -> Resample:
    """Return all rows as training, validation and test rows alike."""
    every = np.arange(len(features.label))
    return prepared(features, (every, every, every), 0)


def _log_odds(contender: Contender, sample: Resample) -> Callable[[Rows], Array]:
    """Fit a model with default values to the training rows; return its log-odds function."""
    predict = fit_trial(contender, contender.trials(1)[0], sample)
    return lambda rows: logit(np.clip(predict(rows)[:, 1], 1e-12, 1 - 1e-12))


def _column_parts(odds: Callable[[Rows], Array], rows: Rows, columns: Ids) -> Array:
    """Return the terms of some columns in additive log odds, shape (n, len(columns))."""
    parts = np.empty((len(rows), len(columns)))
    for place, j in enumerate(columns):
        alone = np.zeros_like(rows.scaled)
        alone[:, j] = rows.scaled[:, j]
        parts[:, place] = odds(replace(rows, scaled=alone))
    return parts


def _take(features: FeatureMatrix, rows: npt.NDArray[np.intp]) -> FeatureMatrix:
    label: Ids = features.label[rows]
    return replace(features, row_id=features.row_id[rows], label=label, X=features.X[rows])
