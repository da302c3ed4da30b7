"""Tables of the clinical tasks."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from deepcac.judging.choice import OFFERED
from deepcac.judging.contenders import BESIDE, CAC, KM, parse_contender
from deepcac.judging.questions import (
    ANY,
    BEND,
    BENT,
    CHOSEN_RANDOM,
    FORCED,
    HELP,
    RANDOM,
    SEPARATED,
    Question,
)
from deepcac.pages.tables import How, Table
from deepcac.pages.wording import four, interval_text, people
from deepcac.scoring.equivalence import BETTER, EQUIVALENT, NEVER, TIED, UNDECIDED, WORSE
from deepcac_study.catalogue.judge_plan import COHORT, COUNTY, FAMILY, LARGER, SMALLER
from deepcac_study.judge.clinical_tasks import ABOVE_ZERO, DECLINED, FINISHED, PARTITION
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.report.declarations import declared_table
from deepcac_study.report.judge.clinical_forest import LEARNERS, ClinicalJudgement, filled
from deepcac_study.report.judge.judge_figures import contender_label

# How a difference is written on a page of the documentation, by its verdict.
STYLES = {
    **{BETTER: "**{}**", WORSE: "{} worse", EQUIVALENT: "{}", UNDECIDED: "*{}*"},
    **{NEVER: "–", TIED: "tied"},
}
_ROWS = [(KM, ""), (CAC, ""), (CAC, ABOVE_ZERO), *((arm, "") for arm in BESIDE)]
_QUESTIONS = (HELP, RANDOM, BENT)
_MUST = {FORCED.id: ", clusters must be used", ANY.id: ", equal effort"}
POOLED = (HELP, FORCED, RANDOM, ANY, BENT)
_PLAIN = {**dict.fromkeys(STYLES, "{}"), BETTER: "{} ▲", WORSE: "{} ▼", NEVER: "–"}
_BESIDE = (FORCED, SEPARATED, CHOSEN_RANDOM, BEND, PARTITION)
_SHOWN = [question.id for question in (*_QUESTIONS, *_BESIDE)]


def clinical_tasks(tasks: pd.DataFrame) -> Table:
    """Return a row per task: cohort, size, effort, and missing contenders."""
    columns: dict[str, How] = {
        "task": "dataset",
        "cohort": "cohort",
        "rows": ("rows", lambda value: "" if pd.isna(value) else f"{value:,.0f}"),
        "resamples": ("resamples", lambda value: "" if pd.isna(value) else f"{value:.0f}"),
        "core-minutes": ("minutes", lambda value: "" if pd.isna(value) else f"{value:.1f}"),
        "lacking": ("status", lambda value: "" if value == FINISHED else value),
        "pooled": ("apart", lambda value: "no" if value else "yes"),
    }
    return Table.of(tasks, columns)


def clinical_gains(
    verdicts: pd.DataFrame, learner: str, styles: Mapping[str, str] = STYLES
) -> Table:
    """Return the gain of each kind of clusters in AUROC, one row per task.

    A cell has the gains over the learner alone, over random groups on average, and over splines.
    Rivals without clusters have two gains: where they must be used, and where they are optional.
    """
    main = filled(verdicts)
    main = main[main["metric"] == MAIN]
    rows_by_key = {
        (row["question"], row["dataset"], row["contender"], row["alpha"]): row
        for row in main.to_dict("records")
    }

    def gains(*keys: tuple[str, str, str]) -> Callable[[str], str]:
        def cell(dataset: str) -> str:
            rows = [
                rows_by_key.get((question, dataset, model, alpha))
                for question, model, alpha in keys
            ]
            return " / ".join(_gain(row, styles) for row in rows if row)

        return cell

    rivals = main.loc[main["question"].eq(BEND.id) & main["reference"].eq(learner), "contender"]
    columns: dict[str, How] = {"task": str}
    for arm, alpha in _ROWS:
        asked = ((question.id, f"{arm}_{learner}", alpha) for question in _QUESTIONS)
        columns[kind_label(arm, alpha)] = gains(*asked)
    for view, name in (("mean", "random groups"), ("best", "best random groups")):
        columns[name] = gains((PARTITION.id, f"{view}_of_cells_{learner}", ""))
    for rival in dict.fromkeys(rivals):
        used, declined = (BEND.id, rival, ""), (DECLINED.id, f"{OFFERED}{rival}", "")
        columns[contender_label(rival)] = gains(used, declined)
    datasets = main.loc[main["contender"].str.endswith(f"_{learner}"), "dataset"]
    return Table.of(list(dict.fromkeys(datasets)), columns)


def clinical_pooled(pooled: pd.DataFrame, learner: str) -> Table:
    """Return the pooled gains in AUROC, by each way to count cohorts that share patients."""
    main = filled(pooled)
    main = main[main["floor"].astype(str).str.lower() == "true"]
    main = main[(main["metric"] == MAIN) & main["contender"].str.endswith(f"_{learner}")]
    main = main[main["question"].isin([question.id for question in POOLED])]
    key = ["pooling", "contender", "alpha", "question", "reference"]
    intervals = {
        tuple(row[name] for name in key): with_interval(row) for row in main.to_dict("records")
    }

    def counted(pooling: str) -> Callable[[Any], str]:
        return lambda row: intervals.get((pooling, *(row[name] for name in key[1:])), "")

    def clusters(row: Any) -> str:
        return kind_label(row["contender"].removesuffix(f"_{learner}"), row["alpha"])

    columns: dict[str, How] = {
        "clusters": clusters,
        "compared with": lambda row: (
            contender_label(row["reference"]) + _MUST.get(row["question"], "")
        ),
        "cohorts": "cohorts",
        "gain": counted(FAMILY),
        "larger tables only": counted(LARGER),
        "smaller tables only": counted(SMALLER),
        "one county as one": counted(COUNTY),
        "cohorts of the plan": counted(COHORT),
    }
    return Table.of(main[main["pooling"] == FAMILY], columns, n_labels=2)


def added_cohorts(verdicts: pd.DataFrame, contenders: Iterable[str] = ()) -> Table:
    """Return what clusters change in each added cohort, by what the rule compares them with.

    Without `contenders` the table has all that were compared with their learner.
    """
    columns = {"no clusters": HELP, "random groups": RANDOM, "splines in LR": BENT}
    return _added("cohort", verdicts, columns, contenders)


def added_on_splines(verdicts: pd.DataFrame) -> Table:
    """Return what clusters change in splines on each task, and in splines in random groups."""
    columns = {"splines": HELP, "splines, clusters must be used": FORCED, "random groups": ANY}
    return _added("task", verdicts, columns)


def _added(
    label: str,
    verdicts: pd.DataFrame,
    questions: Mapping[str, Question],
    contenders: Iterable[str] = (),
) -> Table:
    rows = verdicts[verdicts["metric"] == MAIN]
    rows_by_key = {
        (row["question"], row["dataset"], row["contender"]): row for row in rows.to_dict("records")
    }

    def gain(question: Question) -> How:
        def cell(key: tuple[str, str]) -> str:
            row = rows_by_key.get((question.id, *key))
            if row is None:
                return "–"
            return NEVER if row["verdict"] == NEVER else with_interval(row)

        return cell

    def model(key: tuple[str, str]) -> str:
        contender = parse_contender(key[1])
        return f"{contender_label(contender.learner)}, {kind_label(contender.arm)}"

    columns: dict[str, How] = {label: lambda key: key[0], "model": model}
    columns |= {name: gain(question) for name, question in questions.items()}
    asked = rows[rows["question"] == HELP.id]
    chosen = list(contenders) or list(dict.fromkeys(asked["contender"]))
    keys = list(product(dict.fromkeys(rows["dataset"]), chosen))
    return Table.of(keys, columns, n_labels=2)


def clinical_tables(judgement: ClinicalJudgement | None) -> list[Table]:
    """Return the report's tables of the clinical tasks."""
    if judgement is None:
        return []
    verdicts = judgement.verdicts[judgement.verdicts["question"].isin(_SHOWN)]
    tables = [
        ("clinical_tasks", clinical_tasks(judgement.tasks), ""),
        *(
            ("clinical_gains", clinical_gains(judgement.verdicts, name, _PLAIN), name)
            for name in LEARNERS
        ),
        *(("clinical_pooled", clinical_pooled(judgement.pooled, name), name) for name in LEARNERS),
        *(
            (id_, of(judgement.added[name]), "")
            for name, id_, of in (
                ("cohorts", "clinical_cohorts", added_cohorts),
                ("on_splines", "clinical_on_splines", added_on_splines),
            )
            if name in judgement.added
        ),
        ("clinical_verdicts", _comparisons(verdicts), ""),
    ]
    return [
        declared_table(
            name, table.rows, columns=table.head, learner=learner, label=contender_label(learner)
        )
        for name, table, learner in tables
        if table.rows
    ]


def _comparisons(verdicts: pd.DataFrame) -> Table:
    columns: dict[str, How] = {
        "question": ("question", lambda name: name.replace("_", " ")),
        "task": "dataset",
        "model": lambda row: _named(row["contender"], row["alpha"]),
        "reference": ("reference", contender_label),
        "metric": ("metric", people),
        "verdict": "verdict",
        "gain": lambda row: four(row["mean"], signed=True),
        "95 % interval": lambda row: interval_text(row["low"], row["high"]),
        "margin": ("margin", lambda value: f"{value:g}"),
        "gain excluded": lambda row: _excluded(row["excluded"]),
        "half of it": lambda row: _excluded(row["excluded_strict"]),
        "all together": lambda row: _excluded(row["excluded_together"]),
    }
    return Table.of(verdicts, columns)


def _excluded(value: Any) -> str:
    """Return the text, empty for a missing value."""
    return value if isinstance(value, str) else ""


def _named(contender: str, alpha: str) -> str:
    return contender_label(contender) + f", alpha {alpha}" * bool(alpha)


def kind_label(arm: str, alpha: str = "") -> str:
    """Return the name of a kind of clusters in tables."""
    return {KM: "k-means", CAC: "CAC", "dist": "distances", "ids": "cluster ids"}.get(
        arm, "mixture weights"
    ) + f", alpha {alpha}" * bool(alpha)


def _gain(row: Mapping[Hashable, Any], styles: Mapping[str, str]) -> str:
    return four(row["mean"], styles[str(row["verdict"])], signed=True)


def with_interval(row: Mapping[Hashable, Any]) -> str:
    """Return an estimate with its interval as text."""
    return f"{four(row['mean'], signed=True)} ({interval_text(row['low'], row['high'])})"
