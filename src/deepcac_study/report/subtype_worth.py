"""What each part of the classifier with subtypes is worth, and how stable its subtypes are."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from deepcac.files.storage import read_json
from deepcac.pages.tables import Table, text_row
from deepcac.scoring.equivalence import difference
from deepcac_study.experiments.stored import check_place

WITHOUT, WITH = "networks", "with_trees"
BEST, _K = "soft", 3  # what the others are compared with
_MARGIN = 0.005  # only the interval is shown, which does not depend on it
ARMS = {
    "soft": "soft subtypes",
    "backbone": "no subtypes (backbone)",
    "hard": "hard subtypes",
    "permuted": "memberships permuted among the rows",
    "risk": "strata of the predicted risk",
    "random": "cells around random rows",
    "inputs": "k-means of the inputs, no labels",
}
ONE_HEAD = "one head for all rows"
METHODS = {
    "subtypes": "subtypes",
    "risk": ARMS["risk"],
    "km": "k-means of the inputs",
    "cac": "CAC",
}
_ARMS_NOTE = (
    "Mean over {n} resamples; the same backbone, one part changed at a time. Risk alone: "
    "AUROC of nothing but the training rate of a test row's subtype. Ahead by: three soft "
    "subtypes less the row, by networks alone, with the 95 % interval of the corrected resampled "
    "t-test."
)
_STABLE_NOTE = (
    "Adjusted Rand index of the clusters that two resamples find, over all rows of the data set: "
    "mean (least) of all pairs."
)


@dataclass(frozen=True)
class Ablation:
    """A record of `deepcac_study.judge.subtype_ablation` as tables."""

    dataset: str
    arms: dict[str, pd.DataFrame]
    stability: pd.DataFrame

    @property
    def test_share(self) -> float:
        """The part for the test of the rows that were learnt from or tested on; no others count."""
        sizes = self.arms[WITHOUT][["n_train", "n_test"]].mean()
        return float(sizes["n_test"] / sizes.sum())

    def scores(self, backbone: str, arm: str, k: int, metric: str) -> pd.Series:
        """Return a metric of each resample."""
        table = self.arms[backbone]
        own = table[(table["arm"] == arm) & (table["k"] == k)]
        return own.set_index("seed")[metric].sort_index()


def load_ablations(paths: Iterable[str | os.PathLike[str]]) -> list[Ablation]:
    """Read ``results/judge/ablations/{dataset}.json`` files, in order of their data sets."""
    records = {path: read_json(path) for path in paths}
    for path, record in records.items():
        check_place(path, record, "{dataset}.json")
    return [_ablation(own) for own in sorted(records.values(), key=lambda one: one["dataset"])]


def _ablation(record: dict[str, Any]) -> Ablation:
    arms = {name: pd.DataFrame(record[name]["arms"]) for name in (WITHOUT, WITH)}
    return Ablation(record["dataset"], arms, pd.DataFrame(record["stability"]))


def ablation_tables(found: Sequence[Ablation]) -> list[Table]:
    """Return two tables for each data set."""
    return [table for one in found for table in (_arms_table(one), _stability_table(one))]


def _arms_table(one: Ablation) -> Table:
    table = one.arms[WITHOUT]
    order = list(ARMS)
    fits = sorted(
        set(zip(table["arm"], table["k"], strict=True)), key=lambda fit: (order.index(fit[0]), fit)
    )
    rows = []
    for arm, k in fits:
        risk = one.scores(WITHOUT, arm, k, "risk_auroc").mean()
        rows.append(
            text_row(
                ONE_HEAD if (arm, k) == (BEST, 1) else ARMS[arm],
                str(k),
                *(
                    f"{one.scores(backbone, arm, k, metric).mean():.4f}"
                    for backbone in (WITHOUT, WITH)
                    for metric in ("auroc", "auprc")
                ),
                "" if pd.isna(risk) else f"{risk:.3f}",
                *_ahead(one, arm, k),
            )
        )
    return Table(
        id=f"subtypes_worth_{one.dataset}",
        title=f"What subtypes are worth, on {one.dataset}",
        note=_ARMS_NOTE.format(n=table["seed"].nunique()),
        head=(
            *("arm", "k", "AUROC, networks", "AUPRC, networks", "AUROC, trees", "AUPRC, trees"),
            *("risk alone", "ahead by", "95 % interval"),
        ),
        rows=rows,
        mixed=True,
    )


def _ahead(one: Ablation, arm: str, k: int) -> tuple[str, str]:
    """Return how far three soft subtypes are ahead of an arm, with the interval."""
    gap = one.scores(WITHOUT, BEST, _K, "auroc") - one.scores(WITHOUT, arm, k, "auroc")
    if not gap.any():
        return "", ""
    gained = difference(gap.tolist(), test_share=one.test_share, margin=_MARGIN)
    return f"{gained.mean:+.4f}", f"{gained.low:+.4f} to {gained.high:+.4f}"


def _stability_table(one: Ablation) -> Table:
    pairs = one.stability.groupby(["method", "k"])["ari"].agg(["mean", "min"])
    clusters = sorted(one.stability["k"].unique())
    rows = [
        text_row(label, *(_stable(pairs.loc[(method, k)]) for k in clusters))
        for method, label in METHODS.items()
        if method in pairs.index
    ]
    return Table(
        id=f"subtypes_stability_{one.dataset}",
        title=f"Are they the same subtypes on other rows? {one.dataset}",
        note=_STABLE_NOTE,
        head=("method", *(f"k = {k}" for k in clusters)),
        rows=rows,
    )


def _stable(pair: "pd.Series[float]") -> str:
    return f"{pair['mean']:.2f} ({pair['min']:.2f})"
