"""What each part of the classifier with subtypes is worth, and how stable its subtypes are."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from deepcac.files.storage import read_json
from deepcac.pages.tables import How, Table
from deepcac.scoring.equivalence import Difference, difference
from deepcac.scoring.margins import MARGIN
from deepcac_study.records.stored import check_place
from deepcac_study.records.written_scores import as_scored
from deepcac_study.report.declarations import declaration

WITHOUT, WITH = "networks", "with_trees"
BEST, _K = "soft", 3  # what the others are compared with
ARMS = {
    "soft": "soft subtypes",
    "backbone": "no subtypes (backbone)",
    "trees": "its boosted trees only",
    "hard": "hard subtypes",
    "permuted": "memberships permuted among the rows",
    "risk": "strata of the predicted risk",
    "random": "random groups",
    "inputs": "k-means of the inputs, no labels",
}
ONE_HEAD = "one head for all rows"
METHODS = {
    "subtypes": "subtypes",
    "risk": ARMS["risk"],
    "km": "k-means of the inputs",
    "cac": "CAC",
}


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
        rows = table[(table["arm"] == arm) & (table["k"] == k)]
        return rows.set_index("seed")[metric].sort_index()


def load_ablations(paths: Iterable[str | os.PathLike[str]]) -> list[Ablation]:
    """Read ``results/judge/ablations/{dataset}.json`` files, in order of their data sets."""
    records = {path: as_scored(read_json(path)) for path in paths}
    for path, record in records.items():
        check_place(path, record, "{dataset}.json")
    return [
        _ablation(content)
        for content in sorted(records.values(), key=lambda content: content["dataset"])
    ]


def _ablation(record: dict[str, Any]) -> Ablation:
    arms = {name: pd.DataFrame(record[name]["arms"]) for name in (WITHOUT, WITH)}
    return Ablation(record["dataset"], arms, pd.DataFrame(record["stability"]))


def ablation_tables(ablations: Sequence[Ablation]) -> list[Table]:
    """Return two tables for each data set."""
    return [
        table
        for ablation in ablations
        for table in (_arms_table(ablation), _stability_table(ablation))
    ]


def _arms_table(ablation: Ablation) -> Table:
    n = ablation.arms[WITHOUT]["seed"].nunique()
    return _of_arms(
        arm_means(ablation),
        lambda value, digits: "" if pd.isna(value) else f"{value:.{digits}f}",
        {
            "ahead by": lambda at: _written(ahead(ablation, WITHOUT, *at), "{0.mean:+.4f}"),
            "95 % interval": lambda at: _written(
                ahead(ablation, WITHOUT, *at), "{0.low:+.4f} to {0.high:+.4f}"
            ),
        },
        **declaration("tables", "subtypes_worth", {"dataset": ablation.dataset, "n": n}),
    )


def arm_means(ablation: Ablation) -> pd.DataFrame:
    """Return the means over resamples: a row a backbone, arm and k."""
    return pd.concat(
        table.groupby(["arm", "k"], as_index=False).mean().assign(backbone=backbone)
        for backbone, table in ablation.arms.items()
    )


def _of_arms(
    means: pd.DataFrame,
    write: Callable[[Any, int], str],
    more: Mapping[str, How] | None = None,
    **about: Any,
) -> Table:
    """Declare the table of a classifier with subtypes, one part changed at a time."""
    wide = means.pivot(index=["arm", "k"], columns="backbone")

    def score(metric: str, backbone: str, digits: int = 4) -> How:
        return lambda at: write(wide.loc[at, (metric, backbone)], digits)

    columns: dict[str, How] = {
        "model": lambda at: ONE_HEAD if at == (BEST, 1) else ARMS[at[0]],
        "k": lambda at: at[1],
        "AUROC, networks": score("auroc", WITHOUT),
        "AUPRC, networks": score("auprc", WITHOUT),
        "AUROC, trees": score("auroc", WITH),
        "AUPRC, trees": score("auprc", WITH),
        "subtype's rate": score("risk_auroc", WITHOUT, 3),
    }
    order = sorted(wide.index, key=lambda at: (list(ARMS).index(at[0]), at))
    return Table.of(order, {**columns, **(more or {})}, **about)


def ahead(ablation: Ablation, backbone: str, arm: str, k: int) -> Difference | None:
    """Return how far three soft subtypes are ahead of an arm by AUROC; None of themselves."""
    best, other = (ablation.scores(backbone, *at, "auroc") for at in ((BEST, _K), (arm, k)))
    gap = (best - other).dropna()
    if not gap.any():  # or an arm of trees alone, which has no networks
        return None
    return difference(gap.tolist(), test_share=ablation.test_share, margin=MARGIN)


def _written(gap: Difference | None, how: str) -> str:
    return how.format(gap) if gap else ""


def _stability_table(ablation: Ablation) -> Table:
    return _of_stability(
        agreement(ablation),
        **declaration("tables", "subtypes_stability", {"dataset": ablation.dataset}),
    )


def agreement(ablation: Ablation) -> pd.DataFrame:
    """Return the mean and the least Rand index of all pairs of resamples, a row a method and k."""
    return ablation.stability.groupby(["method", "k"])["ari"].agg(["mean", "min"])


def _of_stability(pairs: pd.DataFrame, **about: Any) -> Table:
    """Declare the table of the Rand index between resamples, mean and least."""

    def of_k(k: int) -> How:
        return lambda method: "{mean:.2f} ({min:.2f})".format(**pairs.loc[(method, k)])

    columns: dict[str, How] = {f"k = {k}": of_k(k) for k in sorted({k for _, k in pairs.index})}
    there = [method for method in METHODS if method in pairs.index]
    return Table.of(there, {"method": METHODS.__getitem__, **columns}, **about)
