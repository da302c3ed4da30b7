"""Pictures of risks at a horizon: calibration in risk groups, survival of subtypes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.scoring.censored import KaplanMeier
from deepcac.scoring.small_cells import SMALL
from deepcac.table.answer import contender_name

POINTS = 25  # of a curve, so that no single event can be read from it


def calibration_figure(
    groups: Mapping[str, Sequence[tuple[float, float, float, float]]],
) -> Figure:
    """Draw observed against predicted risk in groups, a panel a learner.

    Parameters
    ----------
    groups : mapping
        Contender to predicted risk, observed risk and its interval, of each group.
    """
    learners = list(dict.fromkeys(name.rpartition("_")[2] for name in groups))

    def draw(canvas: Canvas) -> None:
        panels = np.atleast_1d(canvas.subplots(1, len(learners), sharex=True, sharey=True))
        for axis, learner in zip(panels, learners, strict=True):
            axis.axline((0, 0), slope=1, color="#888888", linewidth=0.8)
            own = [name for name in groups if name.rpartition("_")[2] == learner and groups[name]]
            for place, name in enumerate(own):
                predicted, observed, low, high = np.array(groups[name]).T
                span = np.maximum([observed - low, high - observed], 0)
                axis.errorbar(predicted, observed, yerr=span, label=contender_name(name),
                              color=PALETTE[place], linestyle=LINES[place], marker="o",
                              markersize=4, elinewidth=0.8)  # fmt: skip
            axis.set(xlabel="predicted risk")
            axis.legend(loc="upper left")
        panels[0].set(ylabel="observed risk (Kaplan-Meier)")

    return Figure(
        id="horizon_calibration",
        title="Calibration at the horizon",
        caption="Patients in fifths of predicted risk, each judged by models that had not seen "
        "them. Bars: 95 % intervals. On the grey line risks are right.",
        section="horizon",
        size=(8.6, 4.0),
        draw=draw,
        head=("contender", "predicted", "observed", "low", "high"),
        data=[(name, *one) for name, own in groups.items() for one in own],
    )


def survival_figure(curves: Mapping[int, KaplanMeier], arm: str, horizon: float) -> Figure:
    """Draw the share of patients without the event, a curve a subtype, by its number."""
    moments = np.linspace(0, horizon, POINTS)
    lines = {number: _told(curve, moments) for number, curve in curves.items()}

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for place, (number, (shown, survival)) in enumerate(lines.items()):
            style: Any = {"color": PALETTE[place % 7], "linestyle": LINES[place % len(LINES)]}
            axis.step(shown, survival, where="post", label=f"subtype {number}", **style)
        axis.set(xlim=(0, horizon), ylim=(0, 1.02), xlabel="time", ylabel="without the event")
        if lines:
            axis.legend(loc="lower left")

    return Figure(
        id=f"survival_{arm}",
        title="Without the event, by subtype",
        caption=f"Kaplan-Meier, at {POINTS} times; a curve ends where fewer than {SMALL} patients "
        "are at risk.",
        section="horizon",
        size=(6.5, 3.6),
        draw=draw,
        head=("subtype", "time", "without_event"),
        data=[
            (str(number), float(moment), float(value))
            for number, line in lines.items()
            for moment, value in zip(*line, strict=True)
        ],
    )


def _told(curve: KaplanMeier, moments: Any) -> tuple[Any, Any]:
    """Return the times at which enough patients are at risk, and the survival there."""
    place = np.searchsorted(curve.time, moments, side="left")
    at_risk = np.append(curve.at_risk, 0)[place]
    shown = moments[at_risk >= SMALL]
    return shown, curve.at(shown)
