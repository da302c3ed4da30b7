"""Tables of the documentation about the classifier with subtypes, from the snapshot of a run."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from deepcac.judging.questions import SUBTYPES
from deepcac.judging.resample_scores import METRICS
from deepcac.judging.spaces import of_kind
from deepcac.scoring.equivalence import NEVER
from deepcac_study.report import snapshot
from deepcac_study.report.contender_names import contender_label
from deepcac_study.report.markdown import (
    SHOWN,
    Tables,
    four,
    gain,
    interval,
    judged,
    markdown_table,
    three,
)
from deepcac_study.report.subtype_worth import ARMS as CHANGED
from deepcac_study.report.subtype_worth import BEST, METHODS, ONE_HEAD, WITH, WITHOUT


def arms(tables: Tables, dataset: str) -> str:
    """Show a classifier with subtypes, one part changed at a time."""
    table = tables[snapshot.ARMS]
    own = table[table["dataset"] == dataset].pivot(index=["arm", "k"], columns="backbone")
    rows = []
    for arm, k in sorted(own.index, key=lambda at: (list(CHANGED).index(at[0]), at[1])):
        row = own.loc[(arm, k)]
        risk = row["risk_auroc", WITHOUT]
        rows.append(
            [
                ONE_HEAD if (arm, k) == (BEST, 1) else CHANGED[arm],
                str(k),
                *(four(row[m, b]) for b in (WITHOUT, WITH) for m in METRICS),
                "" if pd.isna(risk) else three(risk),
            ]
        )
    scored = ("AUROC, networks", "AUPRC", "AUROC, with trees", "AUPRC")
    return markdown_table(("what is changed", "k", *scored, "risk alone, AUROC"), rows)


def stability(tables: Tables, dataset: str) -> str:
    """Return the Rand index between resamples, mean and least."""
    table = tables[snapshot.STABILITY]
    own = table[table["dataset"] == dataset].set_index(["method", "k"])
    clusters = sorted({k for _, k in own.index})
    rows = [
        [label, *(f"{own['mean'][method, k]:.2f} ({own['min'][method, k]:.2f})" for k in clusters)]
        for method, label in METHODS.items()
        if method in own.index
    ]
    return markdown_table(("method", *(f"k = {k}" for k in clusters)), rows)


def subtypes(tables: Tables, contender: str) -> str:
    """Return a classifier with two subtypes or more less each rival, by the strict margin."""
    own = judged(tables)
    own = own[(own["question"] == SUBTYPES.id) & (own["contender"] == contender)]
    rivals = [name for name in of_kind("boosting", "network") if name in set(own["reference"])]
    rows = []
    for dataset, group in own.groupby("dataset"):
        by_rival = group.set_index("reference").to_dict("index")
        cells = (
            f"{gain(by_rival[name], 'verdict_strict')} {interval(by_rival[name])}"
            if name in by_rival
            else ""
            for name in rivals
        )
        rows.append([str(dataset), four(group["score"].iloc[0]), *cells])
    head = ("data set", "AUROC", *(f"less {contender_label(name)}" for name in rivals))
    return markdown_table(head, rows)


def blends(tables: Tables) -> str:
    """Return greedy blends of other contenders' trials, and the boosted classifier less each."""
    table = tables[snapshot.BLENDS]
    names = list(dict.fromkeys(table["blend"]))
    rows = []
    for dataset, group in table.groupby("dataset"):
        own = {str(row["blend"]): row for row in group.to_dict("records")}
        cells = [_blend(own[name]) if name in own else ("", "") for name in names]
        rows.append([str(dataset), *(text for pair in cells for text in pair)])
    spoken = (" and ".join(map(contender_label, name.split("+"))) for name in names)
    head = [text for name in spoken for text in (f"{name}, blended", "subtypes less it")]
    return markdown_table(("data set", *head), rows)


def pairs(tables: Tables, division: str) -> str:
    """Return the boosted classifier less each rival on a published division."""
    own = {
        (str(row["reference"]), str(row["metric"])): row
        for row in _divided(tables, division, ours=True)
    }
    rows = [
        [contender_label(name), *(_signed(own[name, metric]) for metric in METRICS)]
        for name in dict.fromkeys(name for name, _ in own)
    ]
    return markdown_table(("less", "AUROC", "AUPRC"), rows)


def less_learner(tables: Tables, *divisions: str) -> str:
    """Return each learner with clusters less itself without, on published divisions."""
    rows = []
    for division in divisions:
        own = {
            (str(row["contender"]), str(row["metric"])): row
            for row in _divided(tables, division, ours=False)
        }
        rows += [
            [division, contender_label(name), *(_tested(own[name, metric]) for metric in METRICS)]
            for name in dict.fromkeys(name for name, _ in own)
        ]
    return markdown_table(("division", "less its learner", "AUROC", "AUPRC"), rows, n_labels=2)


def _divided(tables: Tables, division: str, *, ours: bool) -> list[dict[Hashable, Any]]:
    table = tables[snapshot.PAIRS]
    mine = table["contender"] == of_kind("subtypes")[-1]
    return table[(table["division"] == division) & (mine == ours)].to_dict("records")


def _tested(row: dict[Hashable, Any]) -> str:
    """Write a difference and its adjusted p; nothing where a model meets itself."""
    if pd.isna(row["p"]):
        return SHOWN[NEVER]
    return f"{_signed(row)}, p {three(row['p_holm'])}"


def _signed(row: dict[Hashable, Any]) -> str:
    return f"{four(row['mean'], signed=True)} {interval(row)}"


def _blend(row: dict[Hashable, Any]) -> tuple[str, str]:
    return four(row["auroc"]), _signed(row)
