"""Curves of training by pass and epoch, and of sweeps: alpha, the grid, weights, terms."""

from collections.abc import Callable, Sequence
from itertools import groupby
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
from deepcac_study.catalogue.methods import ARM_COLOURS, CAC_LR, label, parse_method
from deepcac_study.records.runs import Run, Runs
from deepcac_study.records.sweep_tables import CENTROIDS, TERMS, Sweeps, by_split, final_pass
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.runtables import alphas

_BESIDE = 4  # panels in a row
_CAC_CURVES = {
    "cost": "cost φ = D − α S",
    "within": "within-cluster sum D",
    "separation": "class separation S",
    "moves": "rows moved",
}
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


def history_figures(runs: Runs) -> list[Figure]:
    """Return figures of CAC's passes and deep methods' epochs in sound runs, by data set."""
    figures = []
    usable = [run for run in runs.where(protocol="sound") if run.splits]
    for dataset, group in groupby(usable, lambda run: run.dataset):
        members = list(group)
        cac = [run for run in members if run.method == CAC_LR and _has(run, "cost")]
        figures += [_cac(dataset, cac)] if cac else []
        deep = [run for run in members if run.k > 1 and _has(run, "silhouette")]
        figures += [_silhouette(dataset, deep)] if deep else []
    separated = _separation(usable)
    return [*figures, separated] if separated else figures


def _has(run: Run, curve: str) -> bool:
    return bool(run.splits[0].get("history", {}).get(curve))


def _section(synthetic: bool) -> str:
    return "synthetic" if synthetic else "figures"


def _alpha(run: Run) -> str:
    """Return the alphas of a run for the legend, empty without any."""
    used = alphas(run)
    return f", α = {used}{', by split' * (' to ' in used)}" if used else ""


def _rows(runs: Sequence[Run], curves: Sequence[str]) -> list[tuple[object, ...]]:
    return [
        (curve, run.method, run.k, split["seed"], step, float(value))
        for run in runs
        for split in run.splits
        for curve in curves
        for step, value in enumerate(split.get("history", {}).get(curve, ()))
    ]


def _cac(dataset: str, runs: list[Run]) -> Figure:
    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(_CAC_CURVES))
        for axis, (curve, title) in zip(axes, _CAC_CURVES.items(), strict=True):
            for index, run in enumerate(runs):
                _draw(axis, run, curve, index, f"k = {run.k}{_alpha(run)}")
            axis.set(title=title, xlabel="pass")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.ticklabel_format(axis="y", scilimits=(-2, 4))
        _legend(canvas, axes[0], ncols=len(runs))

    return declared_figure(
        "cac_passes",
        size=(11, 3.2),
        draw=draw,
        data=_rows(runs, list(_CAC_CURVES)),
        dataset=dataset,
        section=_section(runs[0].synthetic),
    )


def _draw(axis: Axes, run: Run, curve: str, place: int, name: str) -> None:
    """Draw a curve of every split, with one entry in the legend."""
    look: Any = {"color": PALETTE[place % len(PALETTE)], "linestyle": LINES[place % len(LINES)]}
    for number, split in enumerate(run.splits):
        values = split.get("history", {}).get(curve, ())
        axis.plot(values, linewidth=1, label=None if number else name, **look)


def _legend(canvas: Canvas, axis: Axes, where: Any = "outside upper center", **look: Any) -> None:
    canvas.legend(*axis.get_legend_handles_labels(), loc=where, **look)


def _silhouette(dataset: str, runs: list[Run]) -> Figure:
    """Return the silhouette by epoch: a panel for each method, colour and dashes by k."""
    names = list(dict.fromkeys(run.method for run in runs))
    ks = sorted({run.k for run in runs})

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for axis, name in zip(axes, names, strict=True):
            for run in (run for run in runs if run.method == name):
                _draw(axis, run, "silhouette", ks.index(run.k), f"k = {run.k}")
            axis.set(title=label(name), xlabel="epoch or pass")
        axes[0].set_ylabel("silhouette")
        lines = {line.get_label(): line for axis in axes for line in axis.get_lines()}
        shown = [lines[f"k = {k}"] for k in ks]
        canvas.legend(handles=shown, loc="outside upper center", ncols=len(ks))

    return declared_figure(
        "silhouette",
        size=(max(5.0, 2.6 * len(names) + 0.6), 3.5),
        draw=draw,
        data=_rows(runs, ["silhouette"]),
        dataset=dataset,
        section=_section(runs[0].synthetic),
    )


def _separation(runs: Sequence[Run]) -> Figure | None:
    """Return class separation under k-means and CAC, by data set (CAC v1 Figure 5)."""
    data: list[tuple[Any, ...]] = []
    for run in runs:
        if run.method == CAC_LR and not run.synthetic and _has(run, "separation"):
            curves = [split["history"]["separation"] for split in run.splits]
            ends = (float(sum(curve[at] for curve in curves) / len(curves)) for at in (0, -1))
            data.append((run.dataset, run.k, *ends))
    if not data:
        return None
    names = list(dict.fromkeys(row[0] for row in data))
    columns = min(len(names), _BESIDE)
    lines = -(-len(names) // columns)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(lines, columns, squeeze=False).ravel()
        for axis, name in zip(axes, names, strict=False):
            _draw_separation(axis, sorted(row[1:] for row in data if row[0] == name))
            axis.set_title(name)
        for axis in axes[len(names) :]:
            axis.axis("off")
        for axis in axes[::columns]:
            axis.set_ylabel("class separation S")
        axes[0].legend()

    size = (2.5 * columns + 1, 2.3 * lines + 0.3)
    return declared_figure("separation", size=size, draw=draw, data=data)


def _draw_separation(axis: Axes, rows: Sequence[tuple[int, float, float]]) -> None:
    """Draw the separation at the k-means start and after CAC against k."""
    ks = [row[0] for row in rows]
    for arm, column, name, dash in (("km", 1, "k-means", "--"), ("cac", 2, "CAC", "-")):
        look: Any = {"color": ARM_COLOURS[arm], "marker": " os"[column], "linestyle": dash}
        axis.plot(ks, [row[column] for row in rows], label=name, markersize=4, **look)
    axis.set(xticks=ks, xlabel="k")
    axis.set_ylim(bottom=0)
    axis.ticklabel_format(axis="y", scilimits=(-2, 4))


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
    section = _section(dataset.startswith("demo_"))
    return declared_figure(name, size=size, draw=draw, data=data, section=section, **words)


def _by_pass(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    """Draw the measures of CAC over its passes, a line per alpha."""
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
        _legend(canvas, axes[0], "outside right center", title="α")

    return _figure("alpha_passes", table, (14, 2.9), draw, dataset, k=k)


def _by_alpha(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    """Draw F1, log-loss and separation after the last pass over alpha."""
    last = final_pass(table)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 3)
        lines = (("f1",), ("train_log_loss", "test_log_loss"), ("separation",))
        for axis, columns in zip(axes, lines, strict=True):
            for place, column in enumerate(columns):
                axis.plot(last["alpha"], last[column], label=_FINAL[column], **_marked(place))
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
        _legend(canvas, axes[0], "outside upper left", ncols=3)
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
    """Draw the scores over the loss weights alpha and beta."""

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 2, sharey=True)
        for axis, parameter in zip(axes, ("alpha", "beta"), strict=True):
            groups = table[table["parameter"] == parameter].groupby("value")
            for place, column in enumerate(("auroc", "auprc", "silhouette")):
                _bars(axis, groups[column], place, people(column))
            axis.set_xscale("symlog", linthresh=0.1)
            axis.set(xlabel={"alpha": "α", "beta": "β"}[parameter])
        _legend(canvas, axes[0], ncols=3)

    return _figure("weights", table, (8, 3.5), draw, dataset, k=k)


def _bars(
    axis: Axes, groups: "pd.api.typing.SeriesGroupBy[Any, Any]", place: int, name: str
) -> None:
    """Draw means with a standard deviation either way."""
    mean, spread = groups.mean(), groups.std().fillna(0)
    axis.errorbar(mean.index, mean, spread, label=name, elinewidth=0.8, **_marked(place))


def _marked(place: int) -> dict[str, Any]:
    """Return the style of the curve at a position in a panel."""
    look = {"marker": MARKERS[place], "linestyle": LINES[place], "color": PALETTE[place]}
    return {**look, "markersize": 4}


def _by_term(dataset: str, k: int, table: pd.DataFrame) -> Figure:
    """Draw the measures over alpha per term; a grey line shows none."""
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
        _legend(canvas, axes[0], "outside right center")

    words = {"k": k, "limit": limit, "start": start}
    return _figure("separation_by_term", table, (14, 2.9), draw, dataset, **words)
