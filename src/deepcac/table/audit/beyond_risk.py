"""What groups say about the outcome beyond the predicted risk."""

from typing import NamedTuple

import numpy as np
from joblib import delayed
from scipy import stats
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
from deepcac.table.worker_processes import workers
from deepcac.types import Array, Ids

FOLDS = 5
_CERTAIN = 1e-6
_NO_PENALTY = 1e10


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
    chi2, freedom, p : float
        Likelihood ratio of the groups given the risk; at a horizon, where rows are weighted for
        censoring, and where patients have several rows, the Wald statistic with the variance of
        Huber and White. NaN where such patients are of three classes or more.
    gain, low, high : float
        Less log loss on held-out rows with the groups than without, with a 95 % interval.
    between : float
        Share of the variance of the log odds that lies between groups.
    """

    risk: Array
    auroc: float
    alone: float
    chi2: float
    freedom: int
    p: float
    gain: float
    low: float
    high: float
    between: float


def beyond_risk(table: LabelledTable, groups: Groups, seed: int, jobs: int) -> BeyondRisk:
    """Predict every row by models of other rows; ask what its group adds.

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
    odds, indicators = log_odds(risk), np.eye(groups.k)[_joined(groups)]
    indicators = indicators[:, indicators.any(axis=0)][:, 1:]
    chi2, freedom, p = _tested(table, odds, indicators, weight)
    return BeyondRisk(
        risk,
        float(mean_aurocs(y, risk, undrawn, table.follow)[0]),
        float(mean_aurocs(y, rates, undrawn, table.follow)[0]),
        *(chi2, freedom, p),
        *_held_out_gain(y, odds, indicators, fold, weight, table.group),
        _between(odds, groups.code),
    )


def _tested(
    table: LabelledTable, odds: Array, indicators: Array, weight: Array
) -> tuple[float, int, float]:
    """Test whether the groups add to the risk, as fits the rows; return chi2, freedom and p."""
    y = table.features.label
    if table.follow is None and table.group is None:
        return likelihood_ratio(y, odds, indicators)
    if table.features.n_classes > 2:
        return np.nan, indicators.shape[1] * odds.shape[1], np.nan
    return robust_wald(y, odds, indicators, weight, table.group)


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
    return max(best, key=lambda one: one.validation).risk


def log_odds(risk: Array) -> Array:
    """Return the log odds of every class against the first, of shape (n, n_classes - 1)."""
    logs = np.log(np.clip(risk, _CERTAIN, 1))
    return np.asarray(logs[:, 1:] - logs[:, :1])


def _joined(groups: Groups) -> Ids:
    """Return groups of which those of few rows are one."""
    small = np.bincount(groups.code, minlength=groups.k) < FEW
    first = int(small.argmax())
    return np.where(small[groups.code], first, groups.code)


def likelihood_ratio(y: Ids, odds: Array, indicators: Array) -> tuple[float, int, float]:
    """Test whether groups add to the log odds of a risk; return chi2, degrees of freedom and p.

    Parameters
    ----------
    y : ndarray of shape (n,)
    odds : ndarray of shape (n, n_classes - 1)
    indicators : ndarray of shape (n, q)
        One column a group but the first.
    """
    without, along = (
        _log_likelihood(_fitted(y, X, _NO_PENALTY), X, y).sum()
        for X in (odds, np.hstack([odds, indicators]))
    )
    chi2 = max(2 * float(along - without), 0.0)
    freedom = indicators.shape[1] * odds.shape[1]
    # Groups of few rows may all be one, which says nothing.
    return chi2, freedom, float(stats.chi2.sf(chi2, freedom)) if freedom else 1.0


def robust_wald(
    y: Ids, odds: Array, indicators: Array, weight: Array, unit: Ids | None = None
) -> tuple[float, int, float]:
    """Test whether groups add to a risk of two classes on weighted rows; parameters as above.

    Weights are no counts, and rows of one patient are not independent, so the likelihood ratio has
    no chi-squared distribution. The variance is that of Huber and White (White 1982), with the
    scores of a patient's rows summed (Liang and Zeger 1986). `weight` is of shape (n,), as is
    `unit`, which tells whose row each row is; None where each row is a patient.
    """
    freedom = indicators.shape[1]
    if not freedom:
        return 0.0, 0, 1.0
    X = np.hstack([np.ones((len(y), 1)), odds, indicators])
    model = _fitted(y, X[:, 1:], _NO_PENALTY, weight)
    risk = model.predict_proba(X[:, 1:])[:, 1]
    bread = np.linalg.pinv((X * (weight * risk * (1 - risk))[:, None]).T @ X)
    scores = X * (weight * (y - risk))[:, None]
    if unit is not None:
        scores = np.array([np.bincount(unit, column) for column in scores.T]).T
    variance = bread @ (scores.T @ scores) @ bread
    effect = model.coef_[0, odds.shape[1] :]
    chi2 = float(effect @ np.linalg.pinv(variance[-freedom:, -freedom:]) @ effect)
    return chi2, freedom, float(stats.chi2.sf(chi2, freedom))


def _fitted(y: Ids, X: Array, C: float, weight: Array | None = None) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=2000, tol=1e-6).fit(X, y, weight)


def _log_likelihood(model: LogisticRegression, X: Array, y: Ids) -> Array:
    return np.asarray(model.predict_log_proba(X)[np.arange(len(y)), y])


def _held_out_gain(
    y: Ids, odds: Array, indicators: Array, fold: Ids, weight: Array, unit: Ids | None
) -> tuple[float, float, float]:
    """Return how much more likely held-out outcomes are with the groups, a row, with interval."""
    gain = np.empty(len(y))
    for j in np.unique(fold):
        here, others = fold == j, fold != j
        without, along = (
            _log_likelihood(_fitted(y[others], X[others], 1.0, weight[others]), X[here], y[here])
            for X in (odds, np.hstack([odds, indicators]))
        )
        gain[here] = weight[here] * (along - without)
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


def _between(odds: Array, code: Ids) -> float:
    centred = odds - odds.mean(axis=0)
    sizes = np.bincount(code)
    sums = np.array([np.bincount(code, column) for column in centred.T])
    inside = sums[:, sizes > 0] ** 2 / sizes[sizes > 0]
    return float(inside.sum() / max((centred**2).sum(), 1e-300))
