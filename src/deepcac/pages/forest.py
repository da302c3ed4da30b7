"""Forest plots: estimates with their 95 % intervals, a panel for each rival, score or question."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deepcac.pages.figures import INK, VERDICT_COLOURS, verdicts_in

POOLED = "pooled"  # the row of all together
ENDS = ("mean", "low", "high")
_APART = 0.24  # rows between two marks of one row
_GREY = "#888888"
_RATIOS = (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10)
_DETECTABLE: dict[str, Any] = {"marker": "|", "color": "#7d8790", "markersize": 5, "linestyle": ""}


class Mark(NamedTuple):
    """How one kind of difference is drawn; the verdict gives the colour where it has none."""

    shape: str
    label: str
    colour: str = ""


class Scale(NamedTuple):
    """The axis of a panel: its name, the value of no difference, and whether it is of ratios."""

    unit: str
    none: float = 0.0
    ratio: bool = False


@dataclass(frozen=True)
class Forest:
    """What a forest shows.

    Attributes
    ----------
    points : DataFrame
        A difference a row: ``panel``, ``row``, ``mark``, ``mean``, ``low`` and ``high``, the last
        two not apart where nothing is tested; ``verdict`` and ``detectable`` where there are.
    marks, panels, labels : dict of str
        What is drawn how, and the names of panels and of rows for people, in their order.
    margin : float
        Differences up to it are negligible.
    unit : str
        The name of the axis that all panels share.
    scales : dict of str to Scale
        Of panels that have an axis each.
    pooled : collection of str
        The rows of all others together.
    """

    points: pd.DataFrame
    marks: Mapping[str, Mark]
    panels: Mapping[str, str]
    labels: Mapping[str, str]
    margin: float = 0.0
    unit: str = "difference in AUROC"
    scales: Mapping[str, Scale] = field(default_factory=dict)
    pooled: Collection[str] = (POOLED,)

    def lines(self, across: int) -> list[tuple[list[str], list[str]]]:
        """Return the panels of each line, and the rows that these have."""
        names = list(self.panels)
        lines = [names[start : start + across] for start in range(0, len(names), across)]
        present = [
            set(self.points.loc[self.points["panel"].isin(panels), "row"]) for panels in lines
        ]
        rows = ([name for name in self.labels if name in line] for line in present)
        return list(zip(lines, rows, strict=True))

    def size(self, across: int) -> tuple[float, float]:
        """Return width and height in inches."""
        step = 0.1 + 0.08 * len(self.marks)
        height = sum(0.5 + step * len(rows) for _, rows in self.lines(across))
        return (max(7.6, 3.4 + 2.4 * across) if across > 1 else 4.4, 1.2 + height)

    def draw(self, canvas: Canvas, across: int) -> None:
        """Draw it, with so many panels next to each other."""
        lines = self.lines(across)
        heights = [len(rows) + 0.5 for _, rows in lines]
        shared: Any = {"sharex": not self.scales, "squeeze": False, "height_ratios": heights}
        grid = canvas.subplots(len(lines), across, **shared)
        for axes, (panels, rows) in zip(grid, lines, strict=True):
            for axis, name in zip(axes, panels, strict=False):
                self._panel(axis, name, rows)
                if axis.get_xscale() == "linear":
                    axis.xaxis.set_major_locator(MaxNLocator(4 if across > 1 else 3))
                axis.set_yticks(range(len(rows)), [])
            axes[0].set_yticks(range(len(rows)), [self.labels[name] for name in rows])
            for axis in axes[len(panels) :]:
                axis.set_axis_off()
        lowest = [axis for axis in grid.ravel() if axis.axison][-across:]
        for axis, name in zip(lowest, lines[-1][0] if self.scales else lowest, strict=False):
            axis.set_xlabel(self.scales[name].unit if self.scales else self.unit)
            axis.tick_params(labelbottom=True)
        self._legend(canvas, across)

    def _panel(self, axis: Axes, name: str, rows: list[str]) -> None:
        scale = self.scales.get(name, Scale(self.unit))
        points = self.points[self.points["panel"] == name]
        if scale.ratio:
            _ratio_ticks(axis, points)
        ends = scale.none - self.margin, scale.none + self.margin
        axis.axvspan(*ends, color="#e3e6ea", linewidth=0)
        axis.axvline(scale.none, color=_GREY, linewidth=0.8)
        for row in [row for row in rows if row in self.pooled][:1]:
            axis.axhline(rows.index(row) - 0.5, color=_GREY, linewidth=0.8)
        # To the right, so that it fits on a phone, where the plot is narrower than its title.
        axis.set_title(self.panels[name], fontsize="medium", loc="right")
        axis.set(ylim=(max(len(rows), 1) - 0.5, -0.5))
        places = list(self.marks)
        for point in points.to_dict("records"):
            place = places.index(point["mark"]) - (len(places) - 1) / 2
            self._point(axis, point, rows.index(point["row"]) + _APART * place)

    def _point(self, axis: Axes, point: Mapping[Any, Any], height: float) -> None:
        shape, _, colour = self.marks[point["mark"]]
        colour = colour or VERDICT_COLOURS.get(point["verdict"], INK)
        pooled = point["row"] in self.pooled
        # A score is tested against nothing; two sides that are one model have no interval.
        tested = point["panel"] in self.scales or point["high"] > point["low"]
        shape = "D" if pooled and len(self.marks) == 1 else shape
        if "detectable" in point:
            axis.plot(point["detectable"], height, **_DETECTABLE)
        if tested:
            ends = [point["low"], point["high"]]
            axis.plot(ends, [height] * 2, color=colour, linewidth=3.0 if pooled else 1.2)
        face, size = colour if tested else "none", 6 if pooled else 4
        axis.plot(point["mean"], height, shape, color=colour, markerfacecolor=face, markersize=size)

    def _legend(self, canvas: Canvas, across: int) -> None:
        """Show the marks above the panels, and below them what the colours of verdicts say."""
        shown: Any = {"linestyle": ""}
        marks = [
            Line2D([], [], marker=shape, color=colour or "#555555", label=label, **shown)
            for shape, label, colour in self.marks.values()
            if label
        ]
        if "detectable" in self.points:
            marks.append(Line2D([], [], label="a gain found with 80 % power", **_DETECTABLE))
        where: Any = "outside upper center"
        if marks:
            canvas.legend(handles=marks, loc=where, ncols=across, fontsize="small")
        if all(mark.colour for mark in self.marks.values()):
            return
        count = self.points["verdict"].value_counts()
        colours = [
            Line2D(
                [], [], color=VERDICT_COLOURS[name], label=f"{name} ({count.get(name, 0)})", lw=3
            )
            for name in verdicts_in(self.points["verdict"])
        ]
        below: Any = "outside lower center"
        canvas.legend(handles=colours, loc=below, ncols=2 * across, fontsize="small")


def _ratio_ticks(axis: Axes, points: pd.DataFrame) -> None:
    """Set a logarithmic axis, with ticks near the ends of intervals."""
    low, high = points[list(ENDS)].min().min(), points[list(ENDS)].max().max()
    axis.set_xscale("log")
    near = (tick for tick in _RATIOS if low / 1.3 <= tick <= high * 1.3)
    axis.set_xticks(sorted({1, *near}))
