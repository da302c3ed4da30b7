"""Pictures of risks that all pages draw alike: calibration, net benefit, who has which risk."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from scipy.special import expit, logit

from deepcac.pages.figures import LINES, PALETTE
from deepcac.scoring.calibration import CalibrationCurve
from deepcac.scoring.small_cells import is_few, round_count
from deepcac.types import Array

GREY = "#888888"
EDGES = np.linspace(0, 1, 21)  # of the bars of risks
MOST_PANELS, _ABREAST = 9, 3


def usual_thresholds(share: float, n: int = 25) -> Array:
    """Return thresholds whose odds go from a third of those of the event to three times them."""
    odds = logit(share)
    return np.asarray(expit(np.linspace(odds - np.log(3), odds + np.log(3), n)))


def draw_calibration(axis: Axes, curves: Mapping[str, CalibrationCurve]) -> None:
    """Draw curves with their intervals, and the line on which risks are right."""
    most = max(float(curve.risk.max()) for curve in curves.values())
    axis.plot([0, most], [0, most], color=GREY, linewidth=0.8, linestyle=":")
    for colour, dash, (name, curve) in zip(PALETTE, LINES, curves.items(), strict=False):
        axis.plot(curve.risk, curve.observed, color=colour, linestyle=dash, label=name)
        axis.fill_between(curve.risk, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    axis.set(xlabel="predicted risk", xlim=(0, most), ylim=(0, None))


def calibration_lines(curves: Mapping[str, CalibrationCurve]) -> list[tuple[object, ...]]:
    """Return the points of curves: name, risk, observed, low, high."""
    return [
        (name, *map(float, point))
        for name, curve in curves.items()
        for point in zip(*curve, strict=True)
    ]


def draw_decision(axis: Axes, lines: Mapping[str, Array]) -> None:
    """Draw net benefit over thresholds.

    `lines` are of shape (2, T), threshold and net benefit, or (4, T) with an interval; the last two
    are those of treating all and nobody.
    """
    greys = ((GREY, "-."), (GREY, ":"))
    looks = [*zip(PALETTE, LINES, strict=False)][: len(lines) - 2]
    for (colour, dash), (name, line) in zip([*looks, *greys], lines.items(), strict=True):
        axis.plot(line[0], line[1], label=name, color=colour, linestyle=dash)
        if len(line) > 2:
            axis.fill_between(line[0], line[2], line[3], color=colour, alpha=0.15, linewidth=0)
    highest = max(float(line[1].max(initial=0.01)) for line in lines.values())
    axis.set(xlabel="threshold: treat from this risk on", ylabel="net benefit per patient")
    axis.set(ylim=(-0.25 * highest, 1.4 * highest))


def decision_lines(lines: Mapping[str, Array]) -> list[tuple[object, ...]]:
    """Return the points of lines: name, threshold, net benefit, and its interval."""
    return [(name, *map(float, point)) for name, line in lines.items() for point in line.T]


def risk_shares(risk: Array, patient: npt.NDArray[np.int64]) -> Array:
    """Return the share of risks (n,) between `EDGES`, of rounded counts; none of few patients."""
    bar = np.minimum(np.digitize(risk, EDGES) - 1, len(EDGES) - 2)
    patients = np.unique(np.column_stack([bar, patient]), axis=0)[:, 0]
    few = is_few(np.bincount(patients, minlength=len(EDGES) - 1))
    counts = np.nan_to_num(round_count(np.bincount(bar, minlength=len(EDGES) - 1)))
    return np.asarray(np.where(few, 0, counts) / round_count(len(risk)))


def draw_shares(axis: Axes, shares: Mapping[str, Array]) -> None:
    """Draw how risks are spread, by the names of their groups."""
    for colour, (name, share) in zip(PALETTE, shares.items(), strict=False):
        axis.stairs(share, EDGES, color=colour, label=name, fill=True, alpha=0.45)
    highest = max(float(share.max()) for share in shares.values())
    axis.set(xlabel="predicted risk", ylim=(0, 1.25 * highest or 1))


def panels(
    names: Sequence[str], panel: Callable[[Axes, str], None]
) -> tuple[tuple[float, float], Callable[[Canvas], None]]:
    """Return size and drawing of a picture with a panel for each name."""
    abreast = min(len(names), _ABREAST)
    down = -(-len(names) // abreast)

    def draw(canvas: Canvas) -> None:
        axes = np.atleast_1d(canvas.subplots(down, abreast, squeeze=False)).ravel()
        for axis, name in zip(axes, names, strict=False):
            panel(axis, name)
            axis.set_title(name)
        for axis in axes[len(names) :]:
            axis.set_axis_off()
        handles, labels = axes[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=2)

    size = (5.4, 4.4) if len(names) == 1 else (3.1 * abreast, 0.7 + 2.9 * down)
    return size, draw
