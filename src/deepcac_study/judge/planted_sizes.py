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

    `risk` (n,) are log odds by splines that were fitted to the real outcome of all rows, `reversal`
    (n,) is what a change of sign of the strongest columns adds to them in the `subgroup` (n,), and
    `share` is that of the real outcome. `columns` are the names of the reversed ones.
    """

    features: FeatureMatrix
    rows: Rows
    risk: Array
    reversal: Array
    subgroup: Flags
    columns: list[str]
    share: float

    def true(self, strength: float) -> Array:
        """Return the risk of each row, the outcome as frequent as the real one."""
        odds = self.risk + strength * self.reversal
        middle = brentq(lambda shift: expit(odds + shift).mean() - self.share, -50, 50)
        return expit(odds + middle)


class Cohort(NamedTuple):
    """Patients of a clinic, and others that no model sees."""

    clinic: FeatureMatrix
    unseen: FeatureMatrix


def ground(features: FeatureMatrix, name: str) -> Ground:
    """Fit splines to a table, and draw its subgroup: one cluster of k-means, by its name."""
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
    """Draw the patients of a clinic without replacement, those that no model sees, and outcomes.

    A larger clinic has the patients of the smaller ones of the same draw. All strengths share the
    chance that a patient of a given risk has the outcome.
    """
    rng = np.random.default_rng([draw, 47])
    order = rng.permutation(len(ground.risk))
    label = (rng.random(len(order)) < ground.true(strength)).astype(np.int64)
    drawn = replace(ground.features, label=label, group=None)
    return Cohort(_take(drawn, order[:rows]), _take(drawn, order[rows : rows + UNSEEN]))


def worth(ground: Ground, strength: float) -> tuple[float, float]:
    """Return what knowing the subgroup adds to logistic regression, and its lead over splines then.

    These are expected AUROC of models that are fitted to the true risks of all rows.
    """
    true = ground.true(strength)
    column = ground.subgroup[:, None].astype(np.float64)
    told = ground.rows.beside(np.hstack([column, ground.rows.bounded * column]))
    line, informed, splines = (
        _ample_auroc(contender, rows, true)
        for contender, rows in ((LINE, ground.rows), (LINE, told), (SPLINES, ground.rows))
    )
    return informed - line, informed - splines


def _ample_auroc(contender: Contender, rows: Rows, true: Array) -> float:
    """Return the expected AUROC of a model that is fitted to the true risks."""
    n = len(rows)
    y, weight = np.repeat([0, 1], n), np.concatenate([1 - true, true])
    twice = replace(rows.take(np.tile(np.arange(n), 2)), y=y, weight=weight)
    odds = _log_odds(contender, Resample(twice, twice, twice, 2, 0))(rows)
    return float(roc_auc_score(y, np.tile(odds, 2), sample_weight=weight))


def _whole(features: FeatureMatrix) -> Resample:
    every = np.arange(len(features.label))
    return prepared(features, (every, every, every), 0)


def _log_odds(contender: Contender, sample: Resample) -> Callable[[Rows], Array]:
    """Fit a model with its default values to the training rows; return what gives log odds."""
    predict = fit_trial(contender, contender.trials(1)[0], sample)
    return lambda rows: logit(np.clip(predict(rows)[:, 1], 1e-12, 1 - 1e-12))


def _column_parts(odds: Callable[[Rows], Array], rows: Rows, columns: Ids) -> Array:
    """Return the parts of some columns in additive log odds, a column each."""
    parts = np.empty((len(rows), len(columns)))
    for place, j in enumerate(columns):
        alone = np.zeros_like(rows.scaled)
        alone[:, j] = rows.scaled[:, j]
        parts[:, place] = odds(replace(rows, scaled=alone))
    return parts


def _take(features: FeatureMatrix, rows: npt.NDArray[np.intp]) -> FeatureMatrix:
    label: Ids = features.label[rows]
    return replace(features, row_id=features.row_id[rows], label=label, X=features.X[rows])
