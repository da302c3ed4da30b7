"""Rules on the synthetic grid of the CAC papers, which all three of them have."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from deepcac.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.rules import Rule
from deepcac.papers.sweep_rules import sound_only
from deepcac.papers.truth import by_share

GridCheck = Callable[[pd.DataFrame, str], tuple[str, str]]


def grid_rules(
    table: pd.DataFrame | None,
    checks: Mapping[str, GridCheck],
    *,
    rare: bool = False,
    metrics: tuple[str, ...] = ("f1",),
) -> dict[str, Rule]:
    """Return rules by claim id from checks of the grid with balanced or rare positives."""
    return {
        name: sound_only(_on_grid(table, rare, metrics, check)) for name, check in checks.items()
    }


def _on_grid(
    table: pd.DataFrame | None, rare: bool, metrics: tuple[str, ...], check: GridCheck
) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        if table is None:
            return Decision(NOT_RUN, "the synthetic grid has not been run yet")
        own = table[table["imbalanced"] == rare]
        found = {metric: check(own, metric) for metric in metrics}
        verdicts = {verdict for verdict, _ in found.values()}
        figures = " | ".join(f"{metric}: {text}" for metric, (_, text) in found.items())
        verdict = verdicts.pop() if len(verdicts) == 1 else PARTLY
        return Decision(verdict, figures, ("results/sweeps/grid.parquet",))

    return rule


def _cac(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["method"] == "cac_lr"]


def _monotone(means: "pd.Series[float]", sign: int) -> tuple[str, str]:
    rho = sign * float(spearmanr(means.index, means).statistic)
    text = ", ".join(f"{place:g}: {value:.3f}" for place, value in means.items())
    return (HOLDS if rho > 0.999 else PARTLY if rho > 0.5 else FAILS), text


def rises_with_ics(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Check that the mean score rises with the inner class separation."""
    return _monotone(_cac(table).groupby("ics")[metric].mean(), 1)


def falls_with_clusters(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Check that the mean score falls with the number of natural clusters."""
    return _monotone(_cac(table).groupby("clusters")[metric].mean(), -1)


def little_by_ocs(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Compare the range over OCS with that over ICS: below a quarter holds, below half partly."""
    ranges = {}
    for column in ("ocs", "ics"):
        means = _cac(table).groupby(column)[metric].mean()
        ranges[column] = float(means.max() - means.min())
    share = ranges["ocs"] / ranges["ics"] if ranges["ics"] else np.inf
    verdict = HOLDS if share < 0.25 else PARTLY if share < 0.5 else FAILS
    return verdict, f"range over OCS {ranges['ocs']:.3f}, over ICS {ranges['ics']:.3f}"


def enough(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Compare k >= K with k < K at the same K, where both occur."""
    cac = _cac(table)
    gains = {}
    for clusters, own in cac.groupby("clusters"):
        enough_k = own["k"] >= own["clusters"]
        if enough_k.any() and not enough_k.all():
            gains[clusters] = float(own[metric][enough_k].mean() - own[metric][~enough_k].mean())
    share = np.mean([gain > 0 for gain in gains.values()])
    text = ", ".join(f"K = {clusters}: {gain:+.3f}" for clusters, gain in gains.items())
    return by_share(float(share), 1.0), text


def clustering_helps(table: pd.DataFrame, metric: str) -> tuple[str, str]:
    """Compare the arms cell by cell: KM+LR over LR, and CAC+LR over KM+LR."""
    place = ["ics", "ocs", "clusters"]
    wide = table.pivot_table(index=[*place, "k"], columns="method", values=metric)
    plain = wide["lr"].groupby(place).transform("first")
    first = (wide["km_lr"] - plain).dropna()
    second = (wide["cac_lr"] - wide["km_lr"]).dropna()
    texts, right = [], []
    for name, gain in (("KM+LR over LR", first), ("CAC+LR over KM+LR", second)):
        share = float((gain > 0).mean())
        right.append(gain.mean() > 0 and share > 0.5)
        texts.append(f"{name} {gain.mean():+.4f}, up in {100 * share:.0f} % of cells")
    return (HOLDS if all(right) else PARTLY if any(right) else FAILS), "; ".join(texts)
