"""The forests of a page about a table: differences in AUROC, and scores by place."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from deepcac.pages.figures import INK, Figure
from deepcac.pages.forest import ENDS, Forest, Mark, Scale
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE

_SCALES = {
    AUROC: Scale("AUROC", 0.5),
    RATIO: Scale("observed / expected", 1, ratio=True),
    SLOPE: Scale("calibration slope", 1),
}


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
    """Draw differences in AUROC, a panel a heading; the data call a line `what`.

    Parameters
    ----------
    id, what : str
    lines : sequence of Line
    margin : float
        Of a negligible difference.
    """
    panel, placed = "", []
    for place, line in enumerate(lines):
        panel = line.name if np.isnan(line.mean) else panel
        placed += [(panel, str(place), line)] * (not np.isnan(line.mean))
    forest = Forest(
        points=_points(placed),
        marks={"": Mark("o", "")},
        panels={name: name for name, *_ in placed} or {"": ""},
        labels={row: line.name for _, row, line in placed},
        margin=margin,
        pooled={row for _, row, line in placed if line.pooled},
    )
    return Figure(
        id=id,
        title="Differences in AUROC",
        caption="Mean difference with its 95 % interval. Grey band: negligible differences (margin "
        f"{margin:g}). Hollow: nothing is tested, as both sides are one model (never chosen) or "
        "have the same scores (tied)."
        + " Diamonds: over all, and where the difference of a new one is expected."
        * bool(forest.pooled),
        section="comparison",
        size=(6.2, forest.size(1)[1]),
        draw=lambda canvas: forest.draw(canvas, 1),
        head=(what, "mean", "low", "high", "verdict"),
        data=[line[:5] for line in lines],
    )


def _points(placed: Sequence[tuple[str, str, Line]]) -> pd.DataFrame:
    """Return the points of a `Forest`: of lines, with their panel and row."""
    columns = ["panel", "row", "mark", *ENDS, "verdict"]
    rows = [(panel, row, "", *line[1:5]) for panel, row, line in placed]
    return pd.DataFrame(rows, columns=columns)


def scores_forest(scores: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw AUROC, observed / expected events and slope by place, a panel each.

    `scores` holds lines by the name of a score; those over all places are the last.
    """
    every = [(score, line) for score, lines in scores.items() for line in lines]
    names = dict.fromkeys(line.name for _, line in every)
    forest = Forest(
        points=_points([(score, line.name, line) for score, line in every]),
        marks={"": Mark("o", "", INK)},
        panels=dict.fromkeys(scores, ""),
        labels={name: name for name in names},
        scales={score: _SCALES[score] for score in scores},
        pooled={line.name for _, line in every if line.pooled},
    )
    diamonds = ", the mean over places, and where a new place is expected (diamonds)"
    return Figure(
        id="scores_by_place",
        title="The model by place",
        caption=f"With 95 % intervals{diamonds * bool(forest.pooled)}. Grey lines: no better than "
        "chance; as many events as expected; risks as spread as they should be.",
        section="places",
        size=(8.2 if len(scores) > 1 else 6.2, 1.2 + 0.3 * len(names)),
        draw=lambda canvas: forest.draw(canvas, len(scores)),
        head=("place", "score", "value", "low", "high"),
        data=[(line.name, score, *line[1:4]) for score, line in every],
    )


def score_line(name: str, values: Sequence[float], *, pooled: bool = False) -> Line:
    """Return the line of a value with the ends of its interval."""
    mean, low, high = map(float, values[:3])
    return Line(name, mean, low, high, pooled=pooled)
