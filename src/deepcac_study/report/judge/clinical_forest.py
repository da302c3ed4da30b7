"""The clinical tasks together: what was judged, the answer in a sentence, and the forest of it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import BENT, HELP, RANDOM
from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.catalogue.judge_plan import FAMILY
from deepcac_study.judge.clinical_tasks import (
    ABOVE_ZERO,
    FINISHED,
    TABLES,
    VERDICTS,
)
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.report.declarations import declared_figure, rows_of
from deepcac_study.report.judge.judge_figures import contender_label, spoken
from deepcac_study.report.judge.price_figure import price_figure

LEARNERS = ("lr", "lgbm")
# Kinds of clusters that have all three references: arm, alpha, mark, colour and name.
KINDS = (
    (KM, "", "s", PALETTE[0], "in each k-means cluster"),
    (CAC, "", "o", PALETTE[1], "in each CAC cluster"),
    (CAC, ABOVE_ZERO, "D", PALETTE[2], "in each CAC cluster, alpha above 0"),
)
PANELS = ((HELP, "no clusters"), (RANDOM, "random groups"), (BENT, "splines"))
_COLUMNS = ("question", "dataset", "contender", "alpha", "reference", "verdict")
_APART = 0.24  # rows between two kinds of one task
_ENDS = ("mean", "low", "high")


@dataclass(frozen=True)
class ClinicalJudgement:
    """The tables of `deepcac_study.judge.clinical_tasks.clinical_tables`."""

    tasks: pd.DataFrame
    verdicts: pd.DataFrame
    decisions: pd.DataFrame
    pooled: pd.DataFrame


def load_clinical(paths: Iterable[str | os.PathLike[str]]) -> ClinicalJudgement | None:
    """Read the tables that the judge wrote of the clinical tasks; None without them."""
    files = {Path(path).stem: Path(path) for path in paths if Path(path).suffix == ".csv"}
    if not files.keys() >= {*TABLES}:
        return None
    tables = {name: filled(pd.read_csv(files[name])) for name in TABLES}
    return None if tables[VERDICTS].empty else ClinicalJudgement(**tables)


def filled(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose empty texts are texts, and not missing."""
    texts = [name for name in ("alpha", "helps", "status") if name in table]
    return table.assign(
        **{name: table[name].astype(object).fillna("").astype(str).str.lower() for name in texts}
    )


def clinical_answer(decisions: pd.DataFrame, tasks: pd.DataFrame) -> str:
    """Say on how many tasks clusters help, by the three tests of the plan, and what is lacking."""
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


def clinical_forests(judged: ClinicalJudgement | None) -> list[Figure]:
    """Return a forest of three panels for each learner, and what offering groups costs by size."""
    if judged is None:
        return []
    figures = [clinical_forest(judged.verdicts, judged.pooled, name) for name in LEARNERS]
    figures.append(price_figure(judged.verdicts, judged.tasks))
    return [figure for figure in figures if figure]


def clinical_forest(verdicts: pd.DataFrame, pooled: pd.DataFrame, learner: str) -> Figure | None:
    """Return what clusters add on each task, less each of three references; None without rows.

    The last row is the estimate pooled over cohorts, those that share patients as one.
    """
    tasks, estimates = (_of_learner(table, learner) for table in (verdicts, pooled))
    if tasks.empty:
        return None
    names = list(dict.fromkeys(tasks["dataset"]))
    panels, rows = len(PANELS), len(names) + 1
    wide = declared_figure(
        "clinical_forest",
        size=(3.4 + 2.4 * panels, 1.6 + 0.34 * rows),
        draw=lambda canvas: _draw(canvas, tasks, estimates, panels),
        data=_data(tasks, estimates),
        seen=_seen(estimates),
        learner=learner,
        name=spoken(learner),
        columns=(*_COLUMNS, *_ENDS),
    )
    narrow = replace(
        wide,
        id=f"{wide.id}_narrow",
        size=(4.4, 1.6 + panels * (0.5 + 0.3 * rows)),
        draw=lambda canvas: _draw(canvas, tasks, estimates, 1),
    )
    return replace(wide, narrow=narrow)


def _of_learner(table: pd.DataFrame, learner: str) -> pd.DataFrame:
    """Return the comparisons of the kinds that are drawn, by AUROC, with one learner."""
    kinds = {(f"{arm}_{learner}", alpha) for arm, alpha, *_ in KINDS}
    asked = [question.id for question, _ in PANELS]
    pairs = pd.Series(zip(table["contender"], table["alpha"], strict=True), table.index)
    drawn = pairs.isin(kinds) & (table["metric"] == MAIN) & table["question"].isin(asked)
    rows = table[drawn]
    return rows[rows["pooling"].eq(FAMILY)] if "pooling" in rows else rows


def _data(tasks: pd.DataFrame, estimates: pd.DataFrame) -> list[list[object]]:
    ends = [*_COLUMNS, *_ENDS]
    summary = estimates.assign(dataset="pooled", verdict="")
    rows: list[list[object]] = [
        *tasks.reindex(columns=ends).to_numpy().tolist(),
        *summary.reindex(columns=ends).to_numpy().tolist(),
    ]
    return rows


def _seen(estimates: pd.DataFrame) -> str:
    labels = {(arm, alpha): name for arm, alpha, *_, name in KINDS}
    texts = [
        f"{labels[str(row['contender']).partition('_')[0], row['alpha']]} minus {reference}: "
        f"{row['mean']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
        for question, reference in PANELS
        for row in estimates[estimates["question"] == question.id].to_dict("records")
    ]
    return "; ".join(texts) or "too few cohorts to pool"


def _draw(canvas: Canvas, tasks: pd.DataFrame, estimates: pd.DataFrame, across: int) -> None:
    names = list(dict.fromkeys(tasks["dataset"]))
    spoken_names = {row["name"]: row["task"] for row in rows_of("tasks.csv")}
    margin = float(tasks["margin"].iloc[0])
    down = -(-len(PANELS) // across)
    axes = canvas.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for axis, (question, reference) in zip(axes, PANELS, strict=True):
        axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
        axis.axvline(0, color="#888888", linewidth=0.8)
        axis.axhline(len(names) - 0.5, color="#888888", linewidth=0.8)
        for place, (arm, alpha, mark, colour, _) in enumerate(KINDS):
            shift = _APART * (place - 1)
            for row in _kind(tasks, question.id, arm, alpha):
                _point(axis, row, names.index(row["dataset"]) + shift, mark, colour)
            for row in _kind(estimates, question.id, arm, alpha):
                _estimate(axis, row, len(names) + shift, mark, colour)
        # To the right, so that it fits on a phone, where the plot is narrower than its title.
        axis.set_title(f"minus {reference}", fontsize="medium", loc="right")
        axis.xaxis.set_major_locator(MaxNLocator(4 if across > 1 else 2))
        axis.set(ylim=(len(names) + 0.5, -0.5))
    labels = [spoken_names.get(name, name) for name in names]
    axes[0].set_yticks(range(len(names) + 1), [*labels, "all cohorts, pooled"])
    for axis in axes[-across:]:
        axis.set_xlabel("difference in AUROC")
    marks = [
        Line2D([], [], marker=mark, color=colour, linestyle="", label=name)
        for *_, mark, colour, name in KINDS
    ]
    canvas.legend(handles=marks, loc="outside upper center", ncols=across, fontsize="small")


def _kind(table: pd.DataFrame, question: str, arm: str, alpha: str) -> list[dict[Any, Any]]:
    of_arm = table["contender"].str.startswith(f"{arm}_") & (table["alpha"] == alpha)
    return table[of_arm & (table["question"] == question)].to_dict("records")


def _point(axis: Axes, row: dict[Any, Any], height: float, mark: str, colour: str) -> None:
    tested = row["high"] > row["low"]
    if tested:
        axis.plot([row["low"], row["high"]], [height, height], color=colour, linewidth=1.2)
    face = colour if tested else "none"
    axis.plot(row["mean"], height, mark, color=colour, markerfacecolor=face, markersize=4)


def _estimate(axis: Axes, row: dict[Any, Any], height: float, mark: str, colour: str) -> None:
    axis.plot([row["low"], row["high"]], [height, height], color=colour, linewidth=3.0)
    axis.plot(row["mean"], height, mark, color=colour, markersize=6)
