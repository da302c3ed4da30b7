"""The documentation's tables and sentences of the tables that are judged in one job each."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from deepcac.judging.choice import CLUSTERED, TUNED
from deepcac.judging.contenders import parse_contender
from deepcac.judging.questions import BAG, SUBTYPES
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import four, three
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, UNDECIDED, WORSE
from deepcac_study.judge.tables.helping import LINE, STATISTICS, TABLE, TREES
from deepcac_study.judge.tables.over_tables import MAIN, MARGINS
from deepcac_study.report.judge.judge_figures import contender_label
from deepcac_study.report.kept.judge_docs import counted

_SCOPES = {"all": "all", "new": "new alone", "room": "LR below 0.995"}
_WORDS = {
    "advantage": "advantage of trees",
    "hopkins": "Hopkins' statistic",
    "silhouette": "best silhouette",
    "interaction": "interaction strength",
    "curvature": "curvature",
}
_WAYS = {
    "tables": "tables left out",
    "sources": "whole sources left out",
    "halves": "gain and advantage from other resamples",
    "k-means": "k-means in the place of CAC",
}


def table_sizes(means: pd.DataFrame) -> Table:
    """Return how large each new table is, and what it cost."""
    columns: dict[str, How] = {
        "data set": lambda group: group[0],
        "rows": lambda group: f"{group[1]['n_rows'].iloc[0]:,}",
        "columns": lambda group: group[1]["n_features"].iloc[0],
        "classes": lambda group: group[1]["n_classes"].iloc[0],
        "resamples": lambda group: group[1]["resamples"].iloc[0],
        "CPU seconds": lambda group: f"{group[1]['seconds'].sum():.0f}",
    }
    return Table.of(means.groupby("dataset"), columns)


def over(table: pd.DataFrame, question: str) -> Table:
    """Return what clusters do on a new table, by pair: from all tables, and the new ones alone."""
    own = table[(table["question"] == question) & table["scope"].isin(list(_SCOPES))]
    columns: dict[str, How] = {
        "tables": lambda row: f"{_SCOPES[row['scope']]} ({row['tables']})",
        "contender": ("contender", contender_label),
        "never chosen": "never",
        "mean": ("mean", lambda value: four(value, signed=True)),
        "signed-rank p, Holm": ("p_holm", three),
        **_probabilities("rank", "signed-rank"),
        **_probabilities("new", "hierarchical"),
    }
    return Table.of(own, columns, n_labels=2)


def _probabilities(kind: str, name: str) -> dict[str, How]:
    def cell(row: dict[str, Any]) -> str:
        return " / ".join(f"{row[f'{kind}_{side}']:.2f}" for side in ("worse", "same", "better"))

    return {f"worse / same / better, {name}": cell}


def table_points(points: pd.DataFrame) -> Table:
    """Return the points of the figure, the largest advantage of trees first."""
    own = points.sort_values("advantage", ascending=False)
    columns: dict[str, How] = {
        "data set": "dataset",
        "gain of CAC": ("gain", lambda value: four(value, signed=True)),
        "gain of k-means": ("gain_km", partial(_known, signed=True)),
        **{
            _WORDS[name]: (name, partial(_known, signed=name == STATISTICS[0]))
            for name in STATISTICS
        },
    }
    return Table.of(own, columns)


def _known(value: float, signed: bool = False) -> str:
    return "" if pd.isna(value) else three(value, signed=signed)


def table_rules(table: pd.DataFrame) -> Table:
    """Return every rule and its errors on tables that did not choose it."""
    columns: dict[str, How] = {
        "rule": ("statistic", _WORDS.__getitem__),
        "tried by": ("way", _WAYS.__getitem__),
        "tables": "tables",
        "helped": "helped",
        "clusters help above": ("threshold", lambda value: _known(value) if value < 1 else "never"),
        "errors": lambda row: f"{row['errors']} ({row['low']:.2f} to {row['high']:.2f})",
        'errors of "never"': "never_errors",
        "p, Holm": ("p_holm", three),
        "error of a line": ("line_error", four),
        "of the mean": ("mean_error", four),
    }
    return Table.of(table, columns, n_labels=2)


def rule_said(points: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say the rule of the trees' advantage, with its errors."""
    own = table[(table["way"] == "tables") & (table["statistic"] == STATISTICS[0])].iloc[0]
    known = points[points["kind"] == TABLE]
    ahead = known["advantage"] > own["threshold"]
    helped = known["gain"] >= MARGINS[MAIN]
    added = (
        f"CAC's clusters added {three(MARGINS[MAIN])} AUROC or more to logistic regression on "
        f"{own['helped']} of {own['tables']} tables."
    )
    rule = "By all tables together no threshold is better than saying never."
    if np.isfinite(own["threshold"]):
        rule = (
            "The rule of all tables: they help where LightGBM is ahead by more than "
            f"{three(own['threshold'])}. It holds on {(ahead & helped).sum()} of the "
            f"{ahead.sum()} tables above, and misses {(helped & ~ahead).sum()} below."
        )
    tried = (
        f'With each table left out in turn it is wrong on {own["errors"]}, "never" on '
        f"{own['never_errors']}."
    )
    return f"{added} {rule} {tried}\n"


def table_rivals(verdicts: pd.DataFrame) -> Table:
    """Return the risk model with subtypes and the bag of trees, less their rivals."""
    own = verdicts[(verdicts["metric"] == MAIN) & verdicts["question"].isin([SUBTYPES.id, BAG.id])]
    columns: dict[str, How] = {
        "contender": lambda group: contender_label(group[0][0]),
        "less": lambda group: contender_label(group[0][1]),
        "tables": lambda group: len(group[1]),
        **counted((BETTER, EQUIVALENT, UNDECIDED, WORSE)),
    }
    return Table.of(own.groupby(["contender", "reference"]), columns, n_labels=2)


def table_risks(table: pd.DataFrame) -> Table:
    """Return calibration and net benefit of each contender, medians over the tables of two classes.

    Medians are over the tables that all of them have. Brier score and net benefit are those less
    the learner's alone.
    """
    learner = table["contender"].map(lambda name: parse_contender(str(name)).learner)
    own = table.assign(learner=learner)[learner.isin([LINE, TREES])]
    ways = own.groupby(["contender", "choice"]).ngroups
    shared = own.groupby("dataset")["contender"].transform("size") == ways
    own = own[shared]
    alone = own[(own["contender"] == own["learner"]) & (own["choice"] == TUNED)]
    both = own.merge(alone, on=["dataset", "learner"], suffixes=("", "_alone"))
    against = ["brier", *(str(name) for name in own if str(name).startswith("net_benefit"))]
    for name in against:
        both[name] -= both[f"{name}_alone"]
    columns: dict[str, How] = {
        "contender": lambda group: contender_label(group[0][0]),
        "choice": lambda group: "k >= 2" if group[0][1] == CLUSTERED else group[0][1],
        **{
            head: _median(name, signed)
            for head, name, signed in (
                ("slope", "slope", False),
                ("intercept", "intercept", True),
                ("observed / expected", "observed_expected", False),
                ("Brier score, less alone", "brier", True),
                ("net benefit at 0.1, less alone", "net_benefit_0.1", True),
                ("net benefit at 0.3, less alone", "net_benefit_0.3", True),
            )
        },
    }
    return Table.of(both.groupby(["contender", "choice"]), columns, n_labels=2)


def _median(name: str, signed: bool) -> How:
    return lambda group: three(group[1][name].median(), signed=signed)
