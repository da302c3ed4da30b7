"""Figures of the judge: gains from clusters for each learner, and power."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.errors import ConfigError
from deepcac.judging.contenders import CAC, DISTANCES, KM, parse_contender
from deepcac.judging.planted_outcomes import ORACLE, TOLD
from deepcac.judging.questions import HELP, NEGATIVE
from deepcac.judging.random_partitions import BEST, MEAN, VIEWS
from deepcac.pages.figures import LINES, PALETTE, Figure, verdicts_in
from deepcac.pages.forest import ENDS, Forest, Mark
from deepcac_study.catalogue.methods import ARM_COLOURS, methods
from deepcac_study.report.declarations import declared_figure, declared_forest, rows_of

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
    CAC: Mark("o", "a model in each CAC cluster"),
    KM: Mark("s", "in each k-means cluster"),
    DISTANCES: Mark("D", "distances to k-means centres"),
    "": Mark("^", "clusters of latents"),
}
_TASKS = "tasks.csv"  # data sets as a stranger knows them, clinical ones first
_CURVE = (
    *("strength", "oracle_gain", "question", "contender", "reference"),
    *("rows", "cohorts", "mean", "detected", "detected_holm"),
)


def contender_label(name: str) -> str:
    """Return the display name of a contender; the stored name if it is no longer known."""
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
    """Return the name of clusters that a contributor added."""
    return f"in {arm} clusters"


def spoken(name: str) -> str:
    """Return the name of a contender for a sentence."""
    label = contender_label(name)
    return _SPOKEN.get(label, label)


def contender_colour(name: str, place: int = 0) -> str:
    """Return a contender's colour: that of its arm, of its learner, or by `place`."""
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
    """Return differences with intervals, one panel per learner.

    The rows are those of one question and metric (`deepcac.judging.verdicts.verdicts`). Learners
    with less than half of the data sets come below the others.
    """
    ordered = rows.sort_values(["dataset", "reference", "contender"])
    arms = [parse_contender(str(name)).arm for name in ordered["contender"]]
    points = ordered.assign(panel=ordered["reference"], row=ordered["dataset"], mark=arms)
    count = points["panel"].value_counts()
    panels = sorted(count.index, key=lambda name: (-count[name], contender_label(name)))
    sets = points.groupby("panel")["row"].nunique()
    tasks = {task["name"]: task["task"] for task in rows_of(_TASKS)}
    columns = ("dataset", "contender", "reference", "verdict", *ENDS, "detectable")
    forest = Forest(
        points=points,
        marks={arm: mark for arm, mark in _marks(arms).items() if arm in arms},
        panels={name: f"{spoken(name)[0].upper()}{spoken(name)[1:]}, tuned" for name in panels},
        labels={**tasks, **{name: tasks.get(name, name) for name in points["row"]}},
        margin=margin,
    )
    return declared_forest(
        "judge_forest",
        forest,
        across=int((2 * sets >= points["row"].nunique()).sum()),
        data=ordered[list(columns)].to_numpy().tolist(),
        seen=f"{len(ordered)} differences from {ordered['mean'].min():+.3f} to "
        f"{ordered['mean'].max():+.3f}; "
        + ", ".join(
            f"{(ordered['verdict'] == name).sum()} {name}"
            for name in verdicts_in(ordered["verdict"])
        ),
        columns=columns,
    )


def _marks(arms: Iterable[str]) -> dict[str, Mark]:
    """Return the mark of each arm: those of the study, then others."""
    others = {arm: Mark("v", _ARM_LABELS.get(arm, _own(arm))) for arm in arms if arm not in _ARMS}
    return _ARMS | others


def power_figure(power: Sequence[dict[str, Any]]) -> Figure:
    """Return power and gain of each arm in the smallest planted cohorts (`power_curve`)."""
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
