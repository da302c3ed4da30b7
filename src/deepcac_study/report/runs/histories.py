"""What happened during training: CAC's cost by pass, deep methods' curves by epoch."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac_study.catalogue.methods import ARM_COLOURS, CAC_LR
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.runtables import alphas

_PANELS = 4  # beside each other
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
        names = axes[0].get_legend_handles_labels()
        canvas.legend(*names, loc="outside upper center", ncols=len(runs))

    return declared_figure(
        "cac_passes",
        size=(11, 3.2),
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
    """Return the silhouette by epoch: a panel for each method, a colour and a dash for each k."""
    names = list(dict.fromkeys(run.method for run in runs))
    ks = sorted({run.k for run in runs})

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for axis, name in zip(axes, names, strict=True):
            for run in (run for run in runs if run.method == name):
                look = ks.index(run.k)
                colour, dash = PALETTE[look % len(PALETTE)], LINES[look % len(LINES)]
                _draw(axis, run, "silhouette", colour, dash, f"k = {run.k}")
            axis.set(title=method_label(name), xlabel="epoch or pass")
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
        section=_section(runs),
    )


def _separation(runs: Sequence[Run]) -> Figure | None:
    """Return class separation under k-means and CAC, by data set (CAC v1 Figure 5)."""
    data = []
    for run in runs:
        if run.method == CAC_LR and not run.synthetic and _has(run, "separation"):
            ends = [split["history"]["separation"] for split in run.splits]
            start = sum(curve[0] for curve in ends) / len(ends)
            end = sum(curve[-1] for curve in ends) / len(ends)
            data.append((run.dataset, run.k, float(start), float(end)))
    if not data:
        return None
    names = list(dict.fromkeys(row[0] for row in data))
    columns = min(len(names), _PANELS)
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
