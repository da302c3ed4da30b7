"""Checks of claims on the passes of a fit."""

from collections.abc import Callable
from functools import wraps

import numpy as np
import pandas as pd

from deepcac_study.papers.claim_verdicts import Answer, Truth
from deepcac_study.papers.rules.rule import ClaimRule, GroupCheck


def of_passes(check: Callable[[pd.DataFrame], Truth]) -> GroupCheck:
    """Apply a check to the passes of the first fit, since classifiers share a clustering."""

    @wraps(check)
    def of_first(rows: pd.DataFrame, rule: ClaimRule) -> Answer:
        return check(rows.iloc[: int(rows["step"].max()) + 1]), ""

    return of_first


def falls(curve: "pd.Series[float]") -> bool:
    """Return whether a curve never rises, up to rounding."""
    values = curve.dropna().to_numpy()
    return bool((np.diff(values) <= 1e-9 * np.abs(values).max()).all())


@of_passes
def converges(passes: pd.DataFrame) -> Truth:
    """Return whether the cost falls in every pass with moves until convergence; open if stopped."""
    cost, moves = (passes[name].dropna().to_numpy() for name in ("cost", "moves"))
    while_moving = cost[: 1 + int((moves > 0).sum())]
    if not (np.diff(while_moving) < 0).all():
        return False
    return True if moves[-1] == 0 else None


@of_passes
def cost_falls(passes: pd.DataFrame) -> Truth:
    """Return whether the cost never rises."""
    return falls(passes["cost"])


@of_passes
def separation_rises(passes: pd.DataFrame) -> Truth:
    """Return whether the separation never falls."""
    return falls(-passes["separation"])


@of_passes
def higher_after_first_pass(passes: pd.DataFrame) -> Truth:
    """Return whether D and S are both higher after the first pass than at the k-means start."""
    both = passes[["within", "separation"]]
    return bool((both.iloc[1] > both.iloc[0]).all())


@of_passes
def higher_at_the_end(passes: pd.DataFrame) -> Truth:
    """Return whether D and S are both higher at the end than at the k-means start."""
    both = passes[["within", "separation"]].dropna()
    return bool((both.iloc[-1] > both.iloc[0]).all())


@of_passes
def silhouette_stays(passes: pd.DataFrame) -> Truth:
    """Return whether the silhouette does not end below its start."""
    curve = passes["silhouette"].dropna()
    return bool(curve.iloc[-1] >= curve.iloc[0] - 0.01)
