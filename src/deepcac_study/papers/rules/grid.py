"""Checks of claims on the synthetic grid, which all three CAC papers have."""

from collections.abc import Callable
from functools import wraps

import numpy as np
import pandas as pd
from scipy import stats

from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    NOT_RUN,
    PARTLY,
    Outcome,
    Truth,
    all_hold,
    counts_in_words,
    settled,
    together,
)
from deepcac_study.papers.rules.rule import Check, ClaimRule

_AXES = ("ics", "ocs", "clusters", "k")


def by_metric(check: Callable[[pd.DataFrame, str, ClaimRule], Outcome]) -> Check:
    """Apply a check to each metric of the rule."""

    @wraps(check)
    def of_metrics(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
        outcomes = {metric: check(rows, metric, rule) for metric in rule.metrics}
        figures = " | ".join(f"{metric}: {text}" for metric, (_, text, *_) in outcomes.items())
        return Outcome(all_hold(verdict for verdict, *_ in outcomes.values()), figures)

    return of_metrics


def _cac(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["method"] == "cac_lr"]


def _sure(mean: float, error: float, freedom: int) -> Truth:
    """Return whether a mean is above 0; None if its 95 % interval has both signs."""
    half = float(stats.t.ppf(0.975, freedom)) * error if freedom > 0 else np.inf
    return True if mean - half > 0 else False if mean + half < 0 else None


def _mean_above(values: "pd.Series[float]") -> Truth:
    numbers = values.to_numpy(dtype=np.float64)
    error = float(numbers.std(ddof=1)) / np.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return _sure(float(numbers.mean()), error, len(numbers) - 1)


def _monotone(table: pd.DataFrame, column: str, metric: str, sign: int, rule: ClaimRule) -> Outcome:
    """Check whether the score moves in the direction `sign` at every step of `column`."""
    others = [name for name in _AXES if name != column]
    wide = _cac(table).pivot_table(index=others, columns=column, values=metric)
    steps = sign * wide.diff(axis=1).iloc[:, 1:]
    answers = [_mean_above(steps[level].dropna()) for level in steps]
    text = ", ".join(f"{level:g}: {value:.3f}" for level, value in wide.mean().items())
    share = rule.share(len(answers))
    figures = f"{text}; {counts_in_words(answers)} steps; needed for {share:.0%}"
    return Outcome(settled(answers, share), figures)


@by_metric
def rises_with_ics(table: pd.DataFrame, metric: str, rule: ClaimRule) -> Outcome:
    """Check that the mean score rises with the inner class separation."""
    return _monotone(table, "ics", metric, 1, rule)


@by_metric
def falls_with_clusters(table: pd.DataFrame, metric: str, rule: ClaimRule) -> Outcome:
    """Check that the mean score falls with the number of natural clusters."""
    return _monotone(table, "clusters", metric, -1, rule)


@by_metric
def little_by_ocs(table: pd.DataFrame, metric: str, rule: ClaimRule) -> Outcome:
    """Check the range over OCS against that over ICS: below a quarter holds, below half partly."""
    ranges = {}
    for column in ("ocs", "ics"):
        means = _cac(table).groupby(column)[metric].mean()
        ranges[column] = float(means.max() - means.min())
    share = ranges["ocs"] / ranges["ics"] if ranges["ics"] else np.inf
    verdict = HOLDS if share < 0.25 else PARTLY if share < 0.5 else FAILS
    return Outcome(verdict, f"range over OCS {ranges['ocs']:.3f}, over ICS {ranges['ics']:.3f}")


@by_metric
def enough(table: pd.DataFrame, metric: str, rule: ClaimRule) -> Outcome:
    """Check whether scores are higher for k >= K than for k < K, given the effects of k and K.

    Least squares on the mean of each (K, k), with a level for each K, one for each k, and a step
    where k reaches K.
    """
    means = _cac(table).groupby(["clusters", "k"])[metric].mean()
    clusters, k = (means.index.get_level_values(name).to_numpy() for name in ("clusters", "k"))
    parts = [clusters[:, None] == np.unique(clusters), k[:, None] == np.unique(k)[1:]]
    X = np.column_stack([*parts, k >= clusters]).astype(float)
    if np.linalg.matrix_rank(X) < X.shape[1]:
        return Outcome(NOT_RUN, "needs a grid with k below and above several K")
    solution = np.linalg.lstsq(X, means.to_numpy(), rcond=None)[0]
    rest = means.to_numpy() - X @ solution
    freedom = len(X) - X.shape[1]
    error = float(np.sqrt(rest @ rest / max(freedom, 1) * np.linalg.inv(X.T @ X)[-1, -1]))
    text = f"step at k = K {solution[-1]:+.4f} (standard error {error:.4f}), k and K held"
    return Outcome(settled([_sure(float(solution[-1]), error, freedom)]), text)


@by_metric
def clustering_helps(table: pd.DataFrame, metric: str, rule: ClaimRule) -> Outcome:
    """Check the arms cell by cell: KM+LR above LR, and CAC+LR above KM+LR."""
    place = ["ics", "ocs", "clusters"]
    wide = table.pivot_table(index=[*place, "k"], columns="method", values=metric)
    plain = wide["lr"].groupby(place).transform("first")
    gains = {
        "KM+LR over LR": (wide["km_lr"] - plain).dropna(),
        "CAC+LR over KM+LR": (wide["cac_lr"] - wide["km_lr"]).dropna(),
    }
    texts = [
        f"{name} {gain.mean():+.4f}, up in {(gain > 0).mean():.0%} of cells"
        for name, gain in gains.items()
    ]
    return Outcome(together([_mean_above(gain) for gain in gains.values()]), "; ".join(texts))
