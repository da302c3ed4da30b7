"""The judge in pictures: what clusters add to each learner, and what it could have seen."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deepcac.errors import ConfigError
from deepcac.judging.contenders import CAC, DISTANCES, KM, parse_contender
from deepcac.judging.planted_outcomes import ORACLE, TOLD
from deepcac.judging.questions import HELP, NEGATIVE
from deepcac.judging.random_partitions import BEST, MEAN, VIEWS
from deepcac.pages.figures import LINES, PALETTE, VERDICT_COLOURS, Figure, verdicts_in
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac_study.catalogue.methods import ARM_COLOURS, methods
from deepcac_study.report.declarations import declared_figure, rows_of

_ARM_LABELS = {
    "km": "in k-means clusters",
    "cac": "in CAC clusters",
    "dist": "with distances to centres",
    "cells": "in random groups",
    "hash": "in parts by a hash",
    "ids": "with cluster ids",
    "soft": "with mixture weights",
}
_VIEW_LABELS = {
    MEAN: "in random groups, on average",
    BEST: "in the random groups that validation chose",
}
_COLOURS = {"dist": "#2E8B57", "cells": "#C49C94", "hash": "#7F7F7F"} | ARM_COLOURS
_LEARNERS = {
    "lgbm": "LightGBM",
    "catboost": "CatBoost",
    "hgb": "Histogram boosting",
    "centroid": "Nearest class centroid",
    "bag": "Bagged boosting",
    "spline_lr": "Splines in LR",
    "products_lr": "Products in LR",
    "linear_lgbm": "LightGBM with lines in leaves",
    "moe": "Mixture of experts",
    "subtypes": "Risk model with subtypes",
    "subtypes_gbm": "Risk model with subtypes, boosted",
}
_SPOKEN = {"LR": "logistic regression", "FNN": "the network"}
_LEARNER_COLOURS = {
    "lgbm": "#B8860B",
    "catboost": "#17A2B8",
    "subtypes": "#8C564B",
    "subtypes_gbm": "#7A3E9D",
}
_ARMS = {
    CAC: ("o", "a model in each CAC cluster"),
    KM: ("s", "in each k-means cluster"),
    DISTANCES: ("D", "distances to k-means centres"),
    "": ("^", "clusters of latents"),
}
_TASKS = "tasks.csv"  # data sets as a stranger knows them, clinical ones first
_APART = 0.22  # rows between two arms of one data set
_CURVE = (
    *("strength", "oracle_gain", "question", "contender", "reference"),
    *("rows", "cohorts", "mean", "detected", "detected_holm"),
)


# The smallest gain that a comparison would have shown.
_SEEN: dict[str, Any] = {"marker": "|", "color": "#7d8790", "markersize": 5}
_ENDS = ("mean", "low", "high")


def contender_label(name: str) -> str:
    """Return a contender as people write it; one that is no longer known, as it is stored."""
    if name.startswith(TOLD):
        return f"{contender_label(name.removeprefix(TOLD))} with the true subtypes"
    view = next((view for view in VIEWS if name.startswith(f"{view}_")), "")
    if view:
        return f"{contender_label(name.removeprefix(f'{view}_'))} {_VIEW_LABELS[view]}"
    try:
        contender = parse_contender(name)
    except ConfigError:
        return name
    method = methods().get(contender.learner)
    learner = method.label if method else _LEARNERS.get(contender.learner, contender.learner)
    return (
        f"{learner} {_ARM_LABELS.get(contender.arm, _own(contender.arm))}"
        if contender.arm
        else learner
    )


def _own(arm: str) -> str:
    """Return how clusters are called that a contributor adds."""
    return f"in {arm} clusters"


def spoken(name: str) -> str:
    """Return a contender as it is called in a sentence."""
    label = contender_label(name)
    return _SPOKEN.get(label, label)


def contender_colour(name: str, place: int = 0) -> str:
    """Return a contender's colour: of its arm, else its learner's, else by its place."""
    by_place = PALETTE[place % len(PALETTE)]
    try:
        contender = parse_contender(name)
    except ConfigError:
        return by_place
    if contender.arm in _COLOURS:
        return _COLOURS[contender.arm]
    method = methods().get(contender.learner)
    colour = method.colour if method else _LEARNER_COLOURS.get(contender.learner)
    return colour or by_place


def verdict_forest(rows: pd.DataFrame, margin: float) -> Figure:
    """Return differences with their intervals, a panel for each learner without clusters.

    The rows are those of one question and metric (`deepcac.judging.verdicts.verdicts`).
    """
    ordered = rows.sort_values(["dataset", "reference", "contender"])
    columns = ("dataset", "contender", "reference", "verdict", *_ENDS, "detectable")
    n_panels = len(_lines_of_panels(ordered, ordered["reference"].nunique())[0])
    heights = [len(_datasets(ordered, line)) for line in _lines_of_panels(ordered, n_panels)]
    wide = declared_figure(
        "judge_forest",
        size=(max(7.6, 3.6 + 2.6 * n_panels), 1.2 + 0.42 * sum(heights) + 0.6 * len(heights)),
        draw=lambda canvas: _draw_forest(canvas, ordered, margin, n_panels),
        data=ordered[list(columns)].to_numpy().tolist(),
        seen=f"{len(ordered)} differences from {ordered['mean'].min():+.3f} to "
        f"{ordered['mean'].max():+.3f}; "
        + ", ".join(
            f"{(ordered['verdict'] == name).sum()} {name}"
            for name in verdicts_in(ordered["verdict"])
        ),
        columns=columns,
    )
    narrow = replace(
        wide,
        id=f"{wide.id}_narrow",
        size=(
            4.2,
            1.5 + sum(0.5 + 0.36 * n for n in ordered.groupby("reference")["dataset"].nunique()),
        ),
        draw=lambda canvas: _draw_forest(canvas, ordered, margin, 1),
    )
    return replace(wide, narrow=narrow)


def _draw_forest(canvas: Canvas, rows: pd.DataFrame, margin: float, across: int) -> None:
    tasks = {task["name"]: task["task"] for task in rows_of(_TASKS)}
    lines = _lines_of_panels(rows, across)
    heights = [len(_datasets(rows, line)) + 0.5 for line in lines]
    grid = canvas.subplots(len(lines), across, sharex=True, squeeze=False, height_ratios=heights)
    for panels, references in zip(grid, lines, strict=True):
        datasets = _datasets(rows, references)
        for axis, reference in zip(panels, references, strict=False):
            _panel(axis, rows[rows["reference"] == reference], datasets, margin)
            name = spoken(reference)
            axis.set_title(f"{name[0].upper()}{name[1:]}, tuned", fontsize="medium")
            axis.set_yticks(range(len(datasets)), [])
            axis.tick_params(labelbottom=True)
        panels[0].set_yticks(range(len(datasets)), [tasks.get(name, name) for name in datasets])
        for axis in panels[len(references) :]:
            axis.set_axis_off()
    _label_lowest(grid, lines)
    marks, colours = _keys(rows)
    beside: Any = "outside upper left" if across > 1 else "outside upper center"
    canvas.legend(handles=marks, loc=beside, ncols=across, fontsize="small")
    below: Any = "outside upper right" if across > 1 else "outside lower center"
    canvas.legend(handles=colours, loc=below, ncols=2, fontsize="small")


def _lines_of_panels(rows: pd.DataFrame, across: int) -> list[list[str]]:
    """Return the learners of each line of panels, so many beside each other.

    Learners with fewer than half of the data sets stand in lines of their own, below.
    """
    count = rows.groupby("reference")["dataset"].nunique()
    many = [name for name in _references(rows) if 2 * count[name] >= rows["dataset"].nunique()]
    few = [name for name in _references(rows) if name not in many]
    return [
        group[start : start + across]
        for group in (many, few)
        for start in range(0, len(group), across)
    ]


def _datasets(rows: pd.DataFrame, references: list[str]) -> list[str]:
    """Return the data sets of some learners, clinical ones first."""
    present = set(rows.loc[rows["reference"].isin(references), "dataset"])
    ordered = [task["name"] for task in rows_of(_TASKS) if task["name"] in present]
    return ordered + sorted(present - set(ordered))


def _label_lowest(grid: npt.NDArray[Any], lines: list[list[str]]) -> None:
    """Name the axis below the lowest panel of each column."""
    for column, panels in enumerate(grid.T):
        lowest = max(line for line, names in enumerate(lines) if column < len(names))
        panels[lowest].set_xlabel("difference in AUROC")


def _references(rows: pd.DataFrame) -> list[str]:
    """Return the learners without clusters, those with the most comparisons first."""
    count = rows["reference"].value_counts()
    return sorted(count.index, key=lambda name: (-count[name], contender_label(name)))


def _panel(axis: Axes, rows: pd.DataFrame, datasets: list[str], margin: float) -> None:
    axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
    axis.axvline(0, color="#888888", linewidth=0.8)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    axis.set(ylim=(len(datasets) - 0.5, -0.5))
    arms = list(_marks(rows))
    for row in rows.to_dict("records"):
        arm = parse_contender(str(row["contender"])).arm
        colour = VERDICT_COLOURS[str(row["verdict"])]
        mean, low, high = (float(row[name]) for name in _ENDS)
        compared = row["verdict"] not in NOT_TESTED
        height = datasets.index(str(row["dataset"])) + _APART * (arms.index(arm) - 1)
        axis.plot(float(row["detectable"]), height, **_SEEN)
        axis.errorbar(
            mean,
            height,
            xerr=np.array([[mean - low], [high - mean]]) if compared else None,
            fmt=_marks(rows)[arm][0],
            color=colour,
            markerfacecolor=colour if compared else "none",
            markersize=4,
            elinewidth=1.2,
        )


def _marks(rows: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the mark and the name of each arm: those of the study, then others that are there."""
    present = (parse_contender(str(name)).arm for name in rows["contender"])
    others = ((arm, ("v", _ARM_LABELS.get(arm, _own(arm)))) for arm in present)
    return {**_ARMS, **{arm: mark for arm, mark in others if arm not in _ARMS}}


def _keys(rows: pd.DataFrame) -> tuple[list[Line2D], list[Line2D]]:
    """Return the marks of the arms that are there, and the colours of the verdicts."""
    present = {parse_contender(str(name)).arm for name in rows["contender"]}
    marks = [shown for arm, shown in _marks(rows).items() if arm in present]
    shapes = [
        Line2D([], [], marker=mark, color="#555555", linestyle="", label=label)
        for mark, label in marks
    ]
    counts = rows["verdict"].value_counts()
    colours = [
        Line2D(
            [],
            [],
            color=VERDICT_COLOURS[name],
            linewidth=3,
            label=f"{name} ({counts.get(name, 0)})",
        )
        for name in verdicts_in(rows["verdict"])
    ]
    seen = Line2D([], [], linestyle="", label="a gain found with 80 % power", **_SEEN)
    return [*shapes, seen], colours


def power_figure(power: Sequence[dict[str, Any]]) -> Figure:
    """Draw what arms find, and what they add, in the smallest planted cohorts (`power_curve`)."""
    asked, rows = (HELP.id, NEGATIVE.id, ORACLE.id), min(point["rows"] for point in power)
    curve = [point for point in power if point["question"] in asked and point["rows"] == rows]
    contenders = list(dict.fromkeys(str(point["contender"]) for point in curve))

    def draw(canvas: Canvas) -> None:
        left, right = canvas.subplots(1, 2, sharex=True)
        for index, name in enumerate(contenders):
            points = [point for point in curve if point["contender"] == name]
            _line(left, points, "detected_holm", index, name)
            _line(right, points, "mean", index, name)
        gains = sorted({point["oracle_gain"] for point in curve})
        right.plot(gains, gains, color="#888888", linewidth=0.8, linestyle=":")
        left.set(ylabel="share of cohorts found better", ylim=(-0.05, 1.05))
        right.set(ylabel="mean difference in AUROC")
        for axis in (left, right):
            axis.set(xlabel="AUROC that the true subtypes add")
            axis.xaxis.set_major_locator(MaxNLocator(4))
        lines = left.get_legend_handles_labels()
        canvas.legend(*lines, loc="outside upper center", ncols=min(len(contenders), 4))

    return declared_figure(
        "judge_power",
        size=(8.6, 3.7),
        draw=draw,
        data=[tuple(point[name] for name in _CURVE) for point in curve],
        seen="; ".join(
            f"{contender_label(point['contender'])} is found better in "
            f"{100 * point['detected_holm']:.0f} % where the subtypes add "
            f"{point['oracle_gain']:.2f}"
            for point in curve
            if point["detected_holm"]
        )
        or "nothing is found better",
        rows=rows,
        cohorts=curve[0]["cohorts"],
        curve=_CURVE,
    )


def _line(axis: Axes, rows: list[dict[str, Any]], field: str, index: int, name: str) -> None:
    gains = [point["oracle_gain"] for point in rows]
    # Curves that lie on each other are set apart by their marks.
    axis.plot(
        gains,
        [point[field] for point in rows],
        marker="osD^vX*"[index % 7],
        markersize=4 + 1.5 * (index % 2),
        markerfacecolor="none",
        linestyle=LINES[(index + index // len(LINES)) % len(LINES)],
        color=contender_colour(name, index),
        label=contender_label(name),
    )
