"""Differences with their intervals, coloured by verdict, on one pair of axes."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import VERDICT_COLOURS
from deepcac.scoring.equivalence import NEVER

Line = tuple[str, float, float, float, str]  # name, mean, low, high, verdict
_PLAIN = "#1c2430"


def verdict_points(canvas: Canvas, lines: Sequence[Line], margin: float, marks: str) -> Axes:
    """Draw a line a difference, from the top, over the band of the margin.

    Parameters
    ----------
    canvas : matplotlib Figure
    lines : sequence of tuple
        Name, mean, low, high and verdict; without a verdict the name is a heading where `marks`
        has a space.
    margin : float
    marks : str
        Marker of each line, a space for none.
    """
    axis = canvas.subplots()
    axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
    axis.axvline(0, color="#888888", linewidth=0.8)
    ticks = []
    for place, ((name, mean, low, high, word), mark) in enumerate(zip(lines, marks, strict=True)):
        if mark == " ":
            axis.text(0, place, name, transform=axis.get_yaxis_transform(), va="center",
                      fontweight="bold", fontsize=8)  # fmt: skip
            continue
        ticks.append((place, name))
        axis.errorbar(mean, place, xerr=None if word == NEVER else [[mean - low], [high - mean]],
                      fmt=mark, markersize=6 if mark == "D" else 4, elinewidth=1.2,
                      color=VERDICT_COLOURS.get(word, _PLAIN),
                      markerfacecolor="none" if word == NEVER else None)  # fmt: skip
    axis.set_yticks(*zip(*ticks, strict=True))
    axis.tick_params(axis="y", length=0)
    axis.locator_params(axis="x", nbins=5)
    axis.set(ylim=(len(lines) - 0.4, -0.6), xlabel="difference in AUROC")
    seen = {line[-1] for line in lines}
    for word, colour in VERDICT_COLOURS.items():
        if word in seen:
            axis.plot([], [], "o", color=colour, label=word, markersize=4)
    canvas.legend(loc="outside lower center", ncols=5, columnspacing=1, handletextpad=0.3)
    return axis
