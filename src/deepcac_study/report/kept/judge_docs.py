"""The documentation's tables and sentences of the judge and of the classifier with subtypes."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from deepcac.judging.contenders import CAC, CELLS, DISTANCES, HASH, KM, parse_contender
from deepcac.judging.planted_outcomes import ORACLE
from deepcac.judging.questions import ANY, BOOSTING, FORCED, HELP, NEGATIVE, Question
from deepcac.judging.resample_scores import METRICS
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import Row, four, three
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, LEVEL, NEVER, TIED, UNDECIDED, WORSE
from deepcac_study.report.judge.judge_figures import contender_label, spoken

STYLES = {
    **{BETTER: "**{}**", WORSE: "{} worse", EQUIVALENT: "{}", UNDECIDED: "*{}*"},
    **{NEVER: "–", TIED: "tied"},
}


def clusters(table: pd.DataFrame, verdicts: pd.DataFrame, learner: str) -> Table:
    """Return what clusters add to a learner on every data set, and what the controls add.

    With what they add goes in how many resamples clusters were chosen at all.
    """
    alone = table.set_index(["dataset", "contender"])["auroc_tuned"]
    key = ["question", "contender", "reference"]
    by_pair = {
        (*(str(row[name]) for name in key), str(row["dataset"])): row
        for row in _judged(verdicts).to_dict("records")
    }

    def added(question: Question, arm: str, reference: str = learner) -> Callable[[str], str]:
        pair = (question.id, f"{arm}_{learner}", reference)
        compared.add(pair)
        chosen = question in (HELP, NEGATIVE)
        return lambda dataset: _gain(by_pair.get((*pair, dataset)), chosen=chosen)

    compared: set[tuple[str, str, str]] = set()
    columns: dict[str, How] = {
        "data set": str,
        f"{contender_label(learner)}, no clusters": lambda dataset: three(alone[dataset, learner]),
        "+ CAC": added(HELP, CAC),
        "+ k-means": added(HELP, KM),
        "+ distances": added(HELP, DISTANCES),
        "CAC, k >= 2": added(FORCED, CAC),
        "CAC − random groups, k >= 2": added(ANY, CAC, f"{CELLS}_{learner}"),
        "+ hash": added(NEGATIVE, HASH),
    }
    return Table.of(sorted({place[3] for place in by_pair if place[:3] in compared}), columns)


def excluded(table: pd.DataFrame, learner: str) -> str:
    """Say how often a gain is excluded where two clusters or more had to be used, in sentences."""
    rows = table[table["contender"].map(_learner) == learner]
    forced = {metric: _of(rows, FORCED, metric) for metric in METRICS}
    margin = three(rows["margin"].iloc[0])
    offered = _of(rows, HELP, METRICS[0])
    (raw, held), (raw_prc, held_prc) = (
        ((family["better"] < LEVEL).sum(), (family["p_gain_excluded_holm"] < LEVEL).sum())
        for family in forced.values()
    )
    sentences = [
        f"When {spoken(learner)} had to use two clusters or more, a gain of {margin} AUROC or "
        f"more is excluded in {raw} of {len(forced[METRICS[0]])} comparisons ({held} after Holm's "
        "correction).",
        f"By AUPRC such a gain is excluded in {raw_prc} ({held_prc}).",
    ]
    never = (offered["verdict"] == NEVER).sum()
    if never:
        ends = f"{never} of {len(offered)} comparisons."
        sentences.append(f"Offered clusters, it chose none in {ends}")
    return " ".join(sentences) + "\n"


def planted(table: pd.DataFrame, learner: str) -> Table:
    """Return what was found of planted subtypes by arms of a learner, by size and by their worth.

    With what a learner gains that is told them, and who else is ahead of the learner. Found by the
    study's rule, and in brackets by a test of its own.
    """
    asked = (ORACLE.id, HELP.id, NEGATIVE.id, BOOSTING.id)
    rows = table[table["question"].isin(asked) & (table["reference"] == learner)]

    def detection(name: str) -> How:
        def cell(group: tuple[Any, pd.DataFrame]) -> str:
            arms = group[1][group[1]["contender"] == name]
            return "" if arms.empty else _detection(arms.iloc[0])

        return cell

    columns: dict[str, How] = {
        "patients": lambda group: f"{group[0][0]:,.0f}",
        "strength": lambda group: f"{group[0][1]:g}",
        "worth": lambda group: three(group[1]["oracle_gain"].iloc[0]),
    }
    for question in asked:
        less = f" − {contender_label(learner)}" * (question == BOOSTING.id)
        for name in rows.loc[rows["question"] == question, "contender"].unique():
            columns[f"{contender_label(name)}{less}"] = detection(name)
    return Table.of(rows.groupby(["rows", "strength"]), columns, n_labels=2)


def _detection(row: "pd.Series[Any]") -> str:
    cohorts = round(row["cohorts"])
    alone, by_rule = (f"{row[way] * cohorts:.0f}" for way in ("detected", "detected_holm"))
    return f"{three(row['mean'], signed=True)}, {by_rule} of {cohorts} ({alone})"


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons by AUROC."""
    return table[table["metric"] == METRICS[0]]


def _of(rows: pd.DataFrame, question: Question, metric: str) -> pd.DataFrame:
    return rows[(rows["question"] == question.id) & (rows["metric"] == metric)]


def _learner(contender: str) -> str:
    return parse_contender(contender).learner


def _gain(row: Row | None, verdict: str = "verdict", *, chosen: bool = False) -> str:
    """Write a difference in the style of its verdict; and how many resamples chose clusters."""
    if row is None:
        return ""
    mean = four(row["mean"], STYLES[str(row[verdict])], signed=True)
    return f"{mean}, {row['clustered']} of {row['resamples']}" if chosen else mean


def headline(table: pd.DataFrame) -> str:
    """Return the answer of the whole study."""
    return f"{table['sentence'].iloc[0]}\n"
