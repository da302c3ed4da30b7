"""What happened during training: CAC's cost by pass, deep methods' curves by epoch."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac_study.catalogue.methods import ARM_COLOURS, CAC_LR, parse_method
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.runtables import alphas

_CAC_CURVES = {
    "cost": "cost φ = D − α S",
    "within": "within-cluster sum D",
    "separation": "class separation S",
    "moves": "rows moved",
}


def history_figures(runs: Runs) -> list[Figure]:
    """Return the passes of CAC and the epochs of deep methods, sound runs, one per data set."""
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


def _section(runs: Sequence[Run]) -> str:
    return "synthetic" if runs[0].synthetic else "figures"


def _alpha(run: Run) -> str:
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
                colour, name = PALETTE[index % len(PALETTE)], f"k = {run.k}{_alpha(run)}"
                _draw(axis, run, curve, colour, LINES[index % len(LINES)], name)
            axis.set(title=title, xlabel="pass")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.ticklabel_format(axis="y", scilimits=(-2, 4))
        axes[0].legend()

    return declared_figure(
        "cac_passes",
        size=(11, 2.9),
        draw=draw,
        data=_rows(runs, list(_CAC_CURVES)),
        dataset=dataset,
        section=_section(runs),
    )


def _draw(axis: Axes, run: Run, curve: str, colour: str, dash: Any, name: str) -> None:
    """Draw a curve of every split, named once."""
    for number, split in enumerate(run.splits):
        values = split.get("history", {}).get(curve, ())
        label = None if number else name
        axis.plot(values, color=colour, linestyle=dash, linewidth=1, label=label)


def _silhouette(dataset: str, runs: list[Run]) -> Figure:
    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for index, run in enumerate(runs):
            colour, dash = parse_method(run.method).colour, LINES[index % len(LINES)]
            _draw(axis, run, "silhouette", colour, dash, f"{method_label(run.method)}, k = {run.k}")
        axis.set(xlabel="epoch or pass", ylabel="silhouette")
        axis.legend()

    return declared_figure(
        "silhouette",
        size=(6, 3.6),
        draw=draw,
        data=_rows(runs, ["silhouette"]),
        dataset=dataset,
        section=_section(runs),
    )


def _separation(runs: Sequence[Run]) -> Figure | None:
    """Return class separation under k-means and CAC a data set (CAC v1 Figure 5)."""
    data = []
    for run in runs:
        if run.method == CAC_LR and not run.synthetic and _has(run, "separation"):
            ends = [split["history"]["separation"] for split in run.splits]
            start = sum(curve[0] for curve in ends) / len(ends)
            end = sum(curve[-1] for curve in ends) / len(ends)
            data.append((run.dataset, run.k, float(start), float(end)))
    if not data:
        return None

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        # A bar has no foot on a logarithmic axis: points, joined for each data set.
        for index, row in enumerate(data):
            axis.plot([index, index], row[2:], color="#888888", linewidth=0.8)
        for arm, column, name in (("km", 2, "k-means"), ("cac", 3, "CAC")):
            heights = [float(row[column]) for row in data]
            look: Any = {"color": ARM_COLOURS[arm], "marker": "os"[column - 2], "linestyle": "none"}
            axis.plot(range(len(data)), heights, label=name, **look)
        axis.set_xticks(range(len(data)), [f"{row[0]}\nk = {row[1]}" for row in data])
        axis.set_yscale("log")
        axis.set_ylabel("class separation S")
        axis.legend()

    return declared_figure(
        "separation", size=(max(4.0, 0.9 * len(data) + 2), 3.4), draw=draw, data=data
    )
