"""The clinical tasks together: tables, the answer in a sentence, and forest plots."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import BENT, HELP, RANDOM
from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.forest import ENDS, POOLED, Forest, Mark
from deepcac_study.catalogue.judge_plan import FAMILY
from deepcac_study.judge.clinical_tasks import (
    ABOVE_ZERO,
    FINISHED,
    TABLES,
    VERDICTS,
)
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.report.declarations import declared_forest, rows_of
from deepcac_study.report.judge.gain_figures import price_figure
from deepcac_study.report.judge.judge_figures import contender_label, spoken

LEARNERS = ("lr", "lgbm")
# Kinds of clusters that have all three references: arm, alpha, mark, name and colour.
KINDS = (
    (KM, "", "s", "in each k-means cluster", PALETTE[0]),
    (CAC, "", "o", "in each CAC cluster", PALETTE[1]),
    (CAC, ABOVE_ZERO, "D", "in each CAC cluster, alpha above 0", PALETTE[2]),
)
PANELS = ((HELP, "no clusters"), (RANDOM, "random groups"), (BENT, "splines"))
ADDED = ("cohorts", "on_splines")
_COLUMNS = ("question", "dataset", "contender", "alpha", "reference", "verdict")


@dataclass(frozen=True)
class ClinicalJudgement:
    """The tables of `deepcac_study.judge.clinical_tasks.clinical_tables`."""

    tasks: pd.DataFrame
    verdicts: pd.DataFrame
    decisions: pd.DataFrame
    pooled: pd.DataFrame
    # Verdicts on what was added after the plan, by name of the experiment (`ADDED`)
    added: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def load_clinical(
    paths: Iterable[str | os.PathLike[str]], archive: str | os.PathLike[str] | None = None
) -> ClinicalJudgement | None:
    """Read the study's tables of the clinical tasks; None without them.

    `archive` is a folder with the shipped tables of what was added after the plan, for those that
    `paths` lack.
    """
    files = {Path(path).stem: Path(path) for path in paths if Path(path).suffix == ".csv"}
    if not files.keys() >= {*TABLES}:
        return None
    tables = {name: filled(pd.read_csv(files[name])) for name in TABLES}
    if tables[VERDICTS].empty:
        return None
    shipped = {name: Path(archive) / f"added_{name}.csv" for name in ADDED} if archive else {}
    found = shipped | {name: files[name] for name in ADDED if name in files}
    added = {name: pd.read_csv(path) for name, path in found.items() if path.exists()}
    return ClinicalJudgement(**tables, added=added)


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with empty strings for missing texts."""
    texts = [name for name in ("alpha", "helps", "status") if name in table]
    return table.assign(
        **{name: table[name].astype(object).fillna("").astype(str).str.lower() for name in texts}
    )


def clinical_answer(decisions: pd.DataFrame, tasks: pd.DataFrame) -> str:
    """Return a text on how many tasks clusters help, by all three tests, and what is missing."""
    counted = tasks[(tasks["status"] == FINISHED) & ~tasks["apart"].astype(bool)]
    rows = decisions[decisions["dataset"].isin(counted["dataset"]) & (decisions["alpha"] == "")]
    helped = rows[rows["helps"] == "true"]
    tests = "the same model without clusters, random groups on average, and splines"
    if helped.empty:
        text = (
            f"We found no clinical task, of {len(counted)}, on which clusters beat all three rivals"
        )
        text += f": {tests}."
    else:
        kinds = [
            f"{dataset} ({', '.join(contender_label(str(name)) for name in group['contender'])})"
            for dataset, group in helped.groupby("dataset")
        ]
        text = (
            f"Clusters beat all three rivals ({tests}) on {len(kinds)} of {len(counted)} clinical"
        )
        text += f" tasks: {'; '.join(kinds)}."
    lacking = tasks.loc[tasks["status"] != FINISHED, "dataset"]
    return text + f" Not finished: {', '.join(lacking)}." * bool(len(lacking))


def clinical_forests(judgement: ClinicalJudgement | None) -> list[Figure]:
    """Return a forest plot for each learner, and the figure of costs by cohort size."""
    if judgement is None:
        return []
    figures = [clinical_forest(judgement.verdicts, judgement.pooled, name) for name in LEARNERS]
    figures.append(price_figure(judgement.verdicts, judgement.tasks))
    return [figure for figure in figures if figure]


def clinical_forest(verdicts: pd.DataFrame, pooled: pd.DataFrame, learner: str) -> Figure | None:
    """Return the gain of clusters on each task over three references; None without rows.

    The last row is the estimate pooled over cohorts, where cohorts that share patients are one.
    """
    tasks, estimates = (_of_learner(table, learner) for table in (verdicts, pooled))
    if tasks.empty:
        return None
    rows = pd.concat([tasks, estimates.assign(dataset=POOLED, verdict="")], ignore_index=True)
    arms = rows["contender"].str.partition("_")[0]
    names = {task["name"]: task["task"] for task in rows_of("tasks.csv")}
    labels = {name: names.get(name, name) for name in tasks["dataset"]}
    forest = Forest(
        points=pd.DataFrame(
            {"panel": rows["question"], "row": rows["dataset"], "mark": arms + rows["alpha"]}
        ).join(rows[list(ENDS)]),
        marks={f"{arm}{alpha}": Mark(*look) for arm, alpha, *look in KINDS},
        panels={question.id: f"minus {reference}" for question, reference in PANELS},
        labels={**labels, POOLED: "all cohorts, pooled"},
        margin=float(tasks["margin"].iloc[0]),
    )
    columns = [*_COLUMNS, *ENDS]
    return declared_forest(
        "clinical_forest",
        forest,
        across=len(PANELS),
        data=rows.reindex(columns=columns).to_numpy().tolist(),
        seen=_seen(estimates),
        learner=learner,
        name=spoken(learner),
        columns=columns,
    )


def _of_learner(table: pd.DataFrame, learner: str) -> pd.DataFrame:
    """Return the comparisons in AUROC of the kinds of clusters drawn, with one learner."""
    kinds = {(f"{arm}_{learner}", alpha) for arm, alpha, *_ in KINDS}
    asked = [question.id for question, _ in PANELS]
    pairs = pd.Series(zip(table["contender"], table["alpha"], strict=True), table.index)
    drawn = pairs.isin(kinds) & (table["metric"] == MAIN) & table["question"].isin(asked)
    rows = table[drawn]
    return rows[rows["pooling"].eq(FAMILY)] if "pooling" in rows else rows


def _seen(estimates: pd.DataFrame) -> str:
    """Return every estimate and interval drawn, as the figure's text."""
    labels = {(arm, alpha): name for arm, alpha, _, name, _ in KINDS}
    texts = [
        f"{labels[str(row['contender']).partition('_')[0], row['alpha']]} minus {reference}: "
        f"{row['mean']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
        for question, reference in PANELS
        for row in estimates[estimates["question"] == question.id].to_dict("records")
    ]
    return "; ".join(texts) or "too few cohorts to pool"
