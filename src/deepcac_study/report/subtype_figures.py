"""The picture of one run's subtypes: what sets them apart, and where their rows lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.report.planted_truth import plane
from deepcac_study.report.subtype_numbers import Array, Ids, Variable
from deepcac_study.report.subtype_tables import UnseenRows

COLOURS = (*PALETTE[:6], "#888888")  # of the subtypes, here and on the page
MARKS = "osD^vPX"
_MOST = 1500  # rows on the map


@dataclass(frozen=True)
class ProfileLine:
    """One variable of the picture: its full name with unit, and a difference a subtype."""

    name: str
    differences: tuple[float, ...]


def profile_lines(rows: UnseenRows, shown: Sequence[Variable]) -> list[ProfileLine]:
    """Return how far the subtypes lie apart in some variables."""
    return [
        ProfileLine(
            f"{v.name}{f' [{v.unit}]' if v.unit else ''}",
            tuple(v.difference(rows.cluster == j) for j in range(rows.k)),
        )
        for v in shown
    ]


def subtype_map(rows: UnseenRows, X: Array) -> tuple[Array, Ids]:
    """Return the plane of up to 1,500 rows, evenly taken, and their clusters.

    Parameters
    ----------
    rows : UnseenRows
    X : ndarray of shape (n, d)
        Their features.
    """
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST)).astype(np.int64))
    return plane(X[chosen]), rows.cluster[chosen]


def subtype_figure(
    name: str,
    title: str,
    lines: Sequence[ProfileLine],
    where: tuple[Array, Ids] | None,
    *,
    synthetic: bool,
) -> Figure:
    """Return the profile of the subtypes, and their map beside it where one may be shown.

    Parameters
    ----------
    name, title : str
        Id and heading of the page.
    lines : sequence of ProfileLine
    where : (ndarray of shape (n, 2), ndarray of shape (n,)) or None
        Places and clusters of rows; None for restricted data, whose rows are not shown.
    synthetic : bool
        Whether the rows were generated.
    """
    k = len(lines[0].differences)

    def draw(canvas: Canvas) -> None:
        if where is None:
            _profile(canvas.subplots(), lines, k)
            return
        left, right = canvas.subplots(1, 2, width_ratios=[1.25, 1])
        _profile(left, lines, k)
        _scatter(right, *where, k)

    right = (
        ""
        if where is None
        else " Right: rows on the first two principal components of their features, in the same "
        "colours; clusters that live in a network's latents need not lie apart here."
    )
    return Figure(
        id=f"{name}_profile",
        title=title,
        caption="Mean of a subtype less that of all other rows, in standard deviations." + right,
        section="synthetic" if synthetic else "subtypes",
        size=(11.2 if where else 7.2, 1.2 + 0.27 * len(lines)),
        draw=draw,
        head=("variable", *(f"subtype {j + 1}" for j in range(k))),
        data=[(line.name, *line.differences) for line in lines],
        seen=". ".join(_said(line) for line in lines[:3]),
    )


def _said(line: ProfileLine) -> str:
    parts = (
        f"subtype {j + 1} {d:+.1f}" if d == d else f"subtype {j + 1} not measured"
        for j, d in enumerate(line.differences)
    )
    return f"{line.name}: {', '.join(parts)}"


def _look(j: int) -> dict[str, Any]:
    return {"color": COLOURS[j % len(COLOURS)], "marker": MARKS[j % len(MARKS)]}


def _profile(axis: Axes, lines: Sequence[ProfileLine], k: int) -> None:
    axis.axvline(0, color="#888888", linewidth=0.8)
    for j in range(k):
        places = np.arange(len(lines)) + 0.16 * (j - (k - 1) / 2)
        values = [line.differences[j] for line in lines]
        axis.plot(
            values, places, linestyle="none", markersize=5, label=f"subtype {j + 1}", **_look(j)
        )
    axis.set_yticks(range(len(lines)), [line.name for line in lines])
    axis.set(ylim=(len(lines) - 0.5, -0.5), xlabel="difference, standard deviations")
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(k, 4))


def _scatter(axis: Axes, places: Array, cluster: Ids, k: int) -> None:
    for j in range(k):
        x, y = places[cluster == j].T
        axis.scatter(x, y, s=8, alpha=0.6, linewidth=0, rasterized=True, **_look(j))
    axis.set(xlabel="first component", ylabel="second component")
