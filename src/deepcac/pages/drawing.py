"""What several figures draw alike: calibration curves, heat maps, groups of rows on a plane."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.image import AxesImage

from deepcac.pages.figures import LINES, MARKERS, PALETTE, ink_on
from deepcac.scoring.calibration import CalibrationCurve
from deepcac.types import Array, Ids

GREY = "#888888"
Look = tuple[str, Any]  # colour and dash
LOOKS: tuple[Look, ...] = tuple(zip(PALETTE, LINES, strict=False))


def draw_calibration(
    axis: Axes, curves: Mapping[str, CalibrationCurve], looks: Iterable[Look] = LOOKS
) -> None:
    """Draw curves with their intervals, and the line on which risks are right."""
    most = max((float(curve.risk.max()) for curve in curves.values()), default=1.0)
    axis.plot([0, most], [0, most], color=GREY, linewidth=0.8, linestyle=":")
    for (colour, dash), (name, curve) in zip(looks, curves.items(), strict=False):
        axis.plot(curve.risk, curve.observed, color=colour, linestyle=dash, label=name)
        axis.fill_between(curve.risk, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    axis.set(xlabel="predicted risk", xlim=(0, most), ylim=(0, 1), ylabel="observed share")


def calibration_above(
    canvas: Canvas, curves: Mapping[str, CalibrationCurve], looks: Iterable[Look] = LOOKS
) -> tuple[Axes, Axes]:
    """Draw curves above a panel on how the risks are spread; return both."""
    above, below = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    draw_calibration(above, curves, looks)
    above.set(xlabel="")
    below.set(xlabel="predicted risk")
    return above, below


def draw_heat(
    axis: Axes,
    values: npt.NDArray[Any],
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    ends: tuple[float, float] | None = None,
    colours: str = "RdBu_r",
    write: Callable[[float], str] | None = None,
) -> AxesImage:
    """Draw a matrix as colours between two ends, with a number in each cell if it is to `write`."""
    low, high = ends or (None, None)
    image = axis.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")
    for (row, column), value in np.ndenumerate(values if write else np.empty((0, 0))):
        if write and np.isfinite(value):
            ink = ink_on(image.to_rgba(value)[:3])
            axis.text(column, row, write(value), ha="center", va="center", color=ink, size=8)
    axis.set_yticks(range(len(rows)), [str(name) for name in rows])
    axis.set_xticks(range(len(columns)), [str(name) for name in columns])
    axis.grid(visible=False)
    return image


def draw_groups(
    axis: Axes,
    places: Array,
    group: Ids,
    names: Sequence[str] = (),
    colours: Sequence[str] = (*PALETTE[:6], GREY),
) -> None:
    """Draw rows at places (n, 2) on a plane, a colour and a mark for each group from 0 on."""
    for j in range(int(group.max()) + 1 if len(group) else 0):
        look: Any = {"color": colours[j % len(colours)], "marker": MARKERS[j % len(MARKERS)]}
        look |= {"label": names[j]} if names else {}
        look |= {"s": 9, "alpha": 0.65, "linewidth": 0, "rasterized": True}
        axis.scatter(*places[group == j].T, **look)
    axis.set(xlabel="first component")
    if names:
        axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(names), 3))
