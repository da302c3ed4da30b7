"""Forest plots: estimates with their 95 % intervals, a line each, under headings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import VERDICT_COLOURS, Figure, verdicts_in
from deepcac.scoring.equivalence import NOT_TESTED
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE

INK = "#1c2430"
_RATIOS = (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10)
_AXES = {AUROC: ("AUROC", 0.5), RATIO: ("observed / expected", 1), SLOPE: ("calibration slope", 1)}


class Line(NamedTuple):
    """A line of a forest plot; a heading has only a name.

    Attributes
    ----------
    name : str
    mean, low, high : float
    verdict : str
        Gives the colour.
    pooled : bool
        Whether it is of all lines together.
    """

    name: str
    mean: float = np.nan
    low: float = np.nan
    high: float = np.nan
    verdict: str = ""
    pooled: bool = False


def differences_forest(id: str, what: str, lines: Sequence[Line], margin: float) -> Figure:
    """Draw differences in AUROC; the data call a line `what`. `margin` is a negligible one."""
    pooled = any(line.pooled for line in lines)

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
        axis.axvline(0, color="#888888", linewidth=0.8)
        for place, line in enumerate(lines):
            _draw_line(axis, place, line)
        axis.set_yticks(*_labels(lines))
        axis.tick_params(axis="y", length=0)
        axis.locator_params(axis="x", nbins=5)  # long names leave little room
        axis.set(ylim=(len(lines) - 0.3, -0.7), xlabel="difference in AUROC")
        for verdict in verdicts_in(line.verdict for line in lines):
            axis.plot([], [], "o", color=VERDICT_COLOURS[verdict], label=verdict, markersize=4)
        canvas.legend(loc="outside lower center", ncols=5, columnspacing=1, handletextpad=0.3)

    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference with its 95 % interval. Grey band: negligible differences (margin "
        f"{margin:g}). Hollow: nothing is tested, as both sides are one model (never chosen) or "
        "have the same scores (tied)."
        + " Diamonds: over all, and where the difference of a new one is expected."
        * pooled,
        section="comparison",
        size=(6.2, 1.2 + 0.25 * len(lines)),
        draw=draw,
        head=(what, "mean", "low", "high", "verdict"),
        data=[line[:5] for line in lines],
    )


def _labels(lines: Sequence[Line]) -> tuple[list[int], list[str]]:
    places = [place for place, line in enumerate(lines) if not np.isnan(line.mean)]
    return places, [lines[place].name for place in places]


def _draw_line(axis: Axes, place: int, line: Line) -> None:
    """Draw a line at its place; a heading above its lines, so that their names are short."""
    if np.isnan(line.mean):
        axis.text(0.01, place, line.name, transform=axis.get_yaxis_transform(), va="center",
                  fontsize=8, fontweight="bold")  # fmt: skip
        return
    tested = line.verdict not in NOT_TESTED
    colour = VERDICT_COLOURS.get(line.verdict, INK)
    ends = [[max(line.mean - line.low, 0)], [max(line.high - line.mean, 0)]]
    axis.errorbar(
        line.mean, place, xerr=ends if tested else None, fmt="D" if line.pooled else "o",
        markersize=6 if line.pooled else 4, color=colour, elinewidth=1.2,
        markerfacecolor=colour if tested else "none",
    )  # fmt: skip


def scores_forest(scores: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw AUROC, observed / expected events and slope by place, a panel each.

    `scores` holds lines by the name of a score; those over all places are the last.
    """
    names = list(dict.fromkeys(line.name for lines in scores.values() for line in lines))

    def draw(canvas: Canvas) -> None:
        axes = np.atleast_1d(canvas.subplots(1, len(scores), sharey=True))
        for axis, (score, lines) in zip(axes, scores.items(), strict=True):
            for line in lines:
                _draw_line(axis, names.index(line.name), line)
            title, right = _AXES[score]
            axis.set(xlabel=title, ylim=(len(names) - 0.4, -0.6))
            axis.axvline(right, color="#888888", linewidth=0.8)
            if score == RATIO:
                _log_ticks(axis, lines)
        axes[0].set_yticks(range(len(names)), names)

    pooled = any(line.pooled for lines in scores.values() for line in lines)
    return Figure(
        id="scores_by_place",
        title="The model by place",
        caption="With 95 % intervals"
        f"{', the mean over places, and where a new place is expected (diamonds)' * pooled}. Grey "
        "lines: no better than chance; as many events as expected; risks as spread as they should "
        "be.",
        section="places",
        size=(8.2 if len(scores) > 1 else 6.2, 1.2 + 0.3 * len(names)),
        draw=draw,
        head=("place", "score", "value", "low", "high"),
        data=[(line.name, score, *line[1:4]) for score, lines in scores.items() for line in lines],
    )


def _log_ticks(axis: Axes, lines: Sequence[Line]) -> None:
    ends = np.array([line[1:4] for line in lines])
    axis.set_xscale("log")
    near = (tick for tick in _RATIOS if ends.min() / 1.3 <= tick <= ends.max() * 1.3)
    axis.set_xticks(sorted({1, *near}))


def score_line(name: str, values: Sequence[float], *, pooled: bool = False) -> Line:
    """Return the line of a value with the ends of its interval."""
    mean, low, high = map(float, values[:3])
    return Line(name, mean, low, high, pooled=pooled)
