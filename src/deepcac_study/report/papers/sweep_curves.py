"""Curves over one setting: alpha by pass, synthetic grid, loss weights, separation term."""

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.pages.drawing import draw_heat
from deepcac.pages.figures import LINES, MARKERS, PALETTE, Figure
from deepcac.pages.wording import people
from deepcac_study.catalogue.methods import CAC_LR, label, parse_method
from deepcac_study.records.sweep_tables import CENTROIDS, TERMS, Sweeps, by_split, final_pass
from deepcac_study.report.declarations import declared_figure

Draw = Callable[[Canvas], None]
Size = tuple[float, float]
# Of the colours from violet to yellow: what is paler is hardly seen on white.
_PALEST = 0.85
_FINAL = {
    "f1": "F1",
    "train_log_loss": "training rows",
    "test_log_loss": "test rows",
    "separation": "class separation S",
}
_PANELS = {
    "train_log_loss": "log-loss, training rows",
    "test_log_loss": "log-loss, test rows",
    "separation": "class separation S",
    "cost": "fall of the cost φ since the start",
    "silhouette": "silhouette",
}


def sweep_figures(sweeps: Sweeps) -> list[Figure]:
    """Return a figure for every sweep (two for the grid: balanced, and one to ten)."""
    figures = []
    for (dataset, k), table in sweeps.of("alpha").items():
        first = by_split(table)[0]
        figures += [_by_pass(dataset, k, first), _by_alpha(dataset, k, first)]
    if sweeps.grid is not None:
        figures += [_grid(part, rare) for rare, part in sweeps.grid.groupby("imbalanced")]
    figures += [_by_weight(*key, table) for key, table in sweeps.of("weights").items()]
    return figures + [_by_term(*key, table) for key, table in sweeps.of("separation").items()]


def _figure(
    name: str, table: pd.DataFrame, size: Size, draw: Draw, dataset: str, /, **words: Any
) -> Figure:
    data = table.to_numpy(dtype=object).tolist()
    words |= {"dataset": dataset, "columns": table.columns}
    section = "synthetic" if dataset.startswith("demo_") else "figures"
    return declared_figure(name, size=size, draw=draw, data=data, section=section, **words)


def _by_pass(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    groups = list(table.groupby("alpha"))
    colours = matplotlib.colormaps["viridis"](np.linspace(0, _PALEST, len(groups)))

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(_PANELS))
        for axis, (column, title) in zip(axes, _PANELS.items(), strict=True):
            for (alpha, part), colour in zip(groups, colours, strict=True):
                values = part[column]
                if column == "cost":
                    values = values.iloc[0] - values
                axis.plot(part["pass"], values, color=colour, label=f"{alpha:g}", linewidth=1.2)
            axis.set(title=title, xlabel="pass")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if column in ("separation", "cost"):
                axis.set_yscale("symlog" if column == "cost" else "log")
        canvas.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", title="α")

    return _figure("alpha_passes", table, (14, 2.9), draw, dataset, k=k)


def _by_alpha(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    last = final_pass(table)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 3)
        lines = (("f1",), ("train_log_loss", "test_log_loss"), ("separation",))
        for axis, columns in zip(axes, lines, strict=True):
            for place, column in enumerate(columns):
                look: Any = {"marker": MARKERS[place], "linestyle": LINES[place], "ms": 4}
                axis.plot(
                    *(last["alpha"], last[column]),
                    color=PALETTE[place],
                    label=_FINAL[column],
                    **look,
                )
            axis.set_xscale("symlog", linthresh=0.01)
            axis.set(xlabel="α", title=_FINAL[columns[0]] if len(columns) == 1 else "log-loss")
        axes[1].legend(loc="best")
        axes[2].set_yscale("log")

    return _figure("alpha_final", last, (9, 2.9), draw, dataset, k=k)


def _grid(table: pd.DataFrame, imbalanced: object) -> Figure:
    ratio = "classes one to ten" if imbalanced else "balanced classes"

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 5, width_ratios=[1, 1, 1, 1.15, 1.15])
        for axis, column in zip(axes, ("ics", "ocs", "clusters"), strict=False):
            _lines(axis, table, column)
        names = axes[0].get_legend_handles_labels()
        canvas.legend(*names, loc="outside upper left", ncols=3)
        for axis, metric in zip(axes[3:], ("f1", "auroc"), strict=True):
            _heat(canvas, axis, table, metric)

    name = "rare" if imbalanced else "balanced"
    return _figure("synthetic_grid", table, (15, 3.3), draw, "", name=name, ratio=ratio)


def _lines(axis: Axes, table: pd.DataFrame, column: str) -> None:
    titles = {"ics": "ICS", "ocs": "OCS", "clusters": "K"}
    for place, method in enumerate(table["method"].unique()):
        colour, mark = parse_method(method).colour, MARKERS[place % len(MARKERS)]
        means = table[table["method"] == method].groupby(column)[["f1", "auroc"]].mean()
        axis.plot(means.index, means["f1"], color=colour, marker=mark, ms=4, label=label(method))
        look: Any = {"linestyle": "--", "linewidth": 1, "marker": mark, "ms": 3, "mfc": "none"}
        axis.plot(means.index, means["auroc"], color=colour, **look)
    axis.set(xlabel=titles[column], ylabel="F1, AUROC")


def _heat(canvas: Canvas, axis: Axes, table: pd.DataFrame, metric: str) -> None:
    cac = table[table["method"] == CAC_LR]
    values = cac.pivot_table(index="k", columns="clusters", values=metric)
    numbers = values.to_numpy(dtype=float)
    image = draw_heat(axis, numbers, [*values.index], [*values.columns], colours="viridis")
    axis.invert_yaxis()
    axis.set(xlabel="K", ylabel="k", title=f"{metric.upper()} of {label(CAC_LR)}")
    canvas.colorbar(image, ax=axis)


def _by_weight(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 2, sharey=True)
        for axis, parameter in zip(axes, ("alpha", "beta"), strict=True):
            groups = table[table["parameter"] == parameter].groupby("value")
            for place, column in enumerate(("auroc", "auprc", "silhouette")):
                _bars(axis, groups[column], place, people(column))
            axis.set_xscale("symlog", linthresh=0.1)
            axis.set(xlabel={"alpha": "α", "beta": "β"}[parameter])
        names = axes[0].get_legend_handles_labels()
        canvas.legend(*names, loc="outside upper center", ncols=3)

    return _figure("weights", table, (8, 3.5), draw, dataset, k=k)


def _bars(
    axis: Axes, groups: "pd.api.typing.SeriesGroupBy[Any, Any]", place: int, name: str
) -> None:
    mean, spread = groups.mean(), groups.std().fillna(0)
    look: Any = {"marker": MARKERS[place], "linestyle": LINES[place], "color": PALETTE[place]}
    look |= {"markersize": 4, "elinewidth": 0.8}
    axis.errorbar(mean.index, mean, spread, label=name, **look)


def _by_term(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    columns = {
        "share": "share of scatter",
        "direction_share": "the same, of directions",
        "test_share": "share, test rows",
        "length": "length of latents",
        "auprc": "AUPRC",
    }
    none, *terms = TERMS
    rows = table[table["term"] == CENTROIDS]
    limit, start = rows[["limit", "start_batch_scaling"]].mean()

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(columns))
        for axis, (column, title) in zip(axes, columns.items(), strict=True):
            without = table.loc[table["term"] == none, column].mean()
            axis.axhline(without, color="grey", linewidth=1, label="without a term")
            for place, term in enumerate(terms):
                by_alpha = table[table["term"] == term].groupby("alpha")[column]
                _bars(axis, by_alpha, place, term.replace("_", " "))
            axis.set(xlabel="α", title=title, xscale="log")
            axis.set_yscale("log" if column == "length" else "linear")
        canvas.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")

    words = {"k": k, "limit": limit, "start": start}
    return _figure("separation_by_term", table, (14, 2.9), draw, dataset, **words)
