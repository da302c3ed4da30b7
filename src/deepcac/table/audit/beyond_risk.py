"""What groups say about the outcome beyond the predicted risk."""

from typing import NamedTuple

import numpy as np
from joblib import delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from deepcac.judging.contenders import Contender
from deepcac.scoring.resampled_scores import LOSS
from deepcac.scoring.small_cells import FEW
from deepcac.table.audit.group_column import Groups
from deepcac.table.budgeted_trials import MOST_TRAIN, TRIALS, booster, linear
from deepcac.table.elsewhere.fold_trials import mean_aurocs, tuned
from deepcac.table.elsewhere.folds import Fold
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.types import Array, Ids
from deepcac.worker_processes import workers

FOLDS = 5
_CERTAIN = 1e-6


class BeyondRisk(NamedTuple):
    """What groups add to the risk of the best model without them.

    Attributes
    ----------
    risk : ndarray of shape (n, n_classes)
        Of models that have not seen the row.
    auroc : float
        Of this risk.
    alone : float
        AUROC of the share of the outcome in each group, learnt on other rows.
    gain, low, high : float
        Less log loss on held-out rows with the groups than without, with a 95 % interval.
    """

    risk: Array
    auroc: float
    alone: float
    gain: float
    low: float
    high: float


def beyond_risk(table: LabelledTable, groups: Groups, seed: int, jobs: int) -> BeyondRisk:
    """Estimate what groups add to out-of-fold risk predictions.

    Groups of fewer than eight rows count as one. `seed` is that of the folds and the models; `jobs`
    folds are fitted at a time.
    """
    folds = _folds(table, seed)
    risks = workers(min(jobs, FOLDS))(
        delayed(_held_out_risk)(part, seed + j) for j, part in enumerate(folds)
    )
    y = table.features.label
    weight = np.ones(len(y)) if table.follow is None else table.follow.weights()
    risk = np.empty((len(y), table.features.n_classes))
    fold = np.empty(len(y), dtype=np.int64)
    for j, (part, fold_risk) in enumerate(zip(folds, risks, strict=True)):
        risk[part.test], fold[part.test] = fold_risk, j
    undrawn, rates = np.empty((len(y), 0)), _rates(groups.code, y, fold, weight)
    small = np.bincount(groups.code, minlength=groups.k) < FEW
    joined = np.where(small[groups.code], int(small.argmax()), groups.code)
    odds, indicators = log_odds(risk), np.eye(groups.k)[joined]
    indicators = indicators[:, indicators.any(axis=0)][:, 1:]
    return BeyondRisk(
        risk,
        float(mean_aurocs(y, risk, undrawn, table.follow)[0]),
        float(mean_aurocs(y, rates, undrawn, table.follow)[0]),
        *_held_out_gain(y, odds, indicators, fold, weight, table.group),
    )


def _folds(table: LabelledTable, seed: int) -> list[Fold]:
    features = table.features
    kind = StratifiedKFold if table.group is None else StratifiedGroupKFold
    split = kind(FOLDS, shuffle=True, random_state=seed)
    parts = split.split(features.X, features.label, table.group)
    return [
        Fold(str(j), features, fit, test, table.group, table.follow)
        for j, (fit, test) in enumerate(parts)
    ]


def _held_out_risk(fold: Fold, seed: int) -> Array:
    """Return the risks of a fold by the model without clusters of the best validation log loss."""
    sample = fold.sample(seed, MOST_TRAIN)
    alone = [Contender(linear()), Contender(booster())]
    with threadpool_limits(1):
        best = [tuned(sample, contender, TRIALS)[LOSS] for contender in alone]
    return max(best, key=lambda model: model.validation).risk


def log_odds(risk: Array) -> Array:
    """Return the log odds of every class against the first, of shape (n, n_classes - 1)."""
    logs = np.log(np.clip(risk, _CERTAIN, 1))
    return np.asarray(logs[:, 1:] - logs[:, :1])


def _held_out_gain(
    y: Ids, odds: Array, indicators: Array, fold: Ids, weight: Array, unit: Ids | None
) -> tuple[float, float, float]:
    """Return the mean held-out log-likelihood gain per row from the groups, with its 95 % CI."""
    gain = np.empty(len(y))
    for j in np.unique(fold):
        here, others = fold == j, fold != j
        model = LogisticRegression(max_iter=2000, tol=1e-6)
        without, along = (
            model.fit(X[others], y[others], weight[others]).predict_log_proba(X[here])
            for X in (odds, np.hstack([odds, indicators]))
        )
        gain[here] = weight[here] * (along - without)[np.arange(here.sum()), y[here]]
    mean = float(gain.mean())
    apart = gain - mean if unit is None else np.bincount(unit, gain - mean)
    half = 1.96 * float(np.sqrt((apart**2).sum())) / len(y)
    return mean, mean - half, mean + half


def _rates(code: Ids, y: Ids, fold: Ids, weight: Array) -> Array:
    """Return the shares of the classes in the group of each row, learnt on other folds."""
    rates = np.empty((len(y), int(y.max()) + 1))
    for j in np.unique(fold):
        here, others = fold == j, fold != j
        counts = np.zeros((int(code.max()) + 1, rates.shape[1]))
        np.add.at(counts, (code[others], y[others]), weight[others])
        share = (counts + counts.sum(axis=0) / counts.sum()) / (counts.sum(axis=1)[:, None] + 1)
        rates[here] = share[code[here]]
    return rates
