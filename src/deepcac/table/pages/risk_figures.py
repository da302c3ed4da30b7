"""Figures of risks that all pages share: calibration, and net benefit over thresholds."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from scipy.special import expit, logit

from deepcac.judging.predictions import Predictions
from deepcac.pages.drawing import GREY, LOOKS, calibration_above, draw_calibration
from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.calibration import CalibrationCurve, calibration_curve
from deepcac.scoring.resampled_scores import Patients, benefit, estimate
from deepcac.scoring.small_cells import OTHERS, Rule
from deepcac.types import Array

Drawn = TypeVar("Drawn")
EDGES = np.linspace(0, 1, 21)  # of the bars of risks
MOST_PANELS, _ABREAST = 9, 3
_POINTS = 25  # of a curve over thresholds
TREAT_ALL, TREAT_NONE = "treat all", "treat none"


def usual_thresholds(share: float) -> Array:
    """Return thresholds whose odds go from a third of those of the event to three times them."""
    odds = logit(share)
    return np.asarray(expit(np.linspace(odds - np.log(3), odds + np.log(3), _POINTS)))


def calibration_figure(
    predictions: Mapping[str, Predictions],
    outcomes: Sequence[str] = (),
    rule: Rule = OTHERS,
) -> Figure:
    """Draw smooth calibration curves with pointwise 95 % intervals.

    Parameters
    ----------
    predictions : mapping
        From the name of a panel (a place, or one of several events) to its predictions. Each
        model is a line.
    outcomes : sequence of str
        Names of the two classes. If given, the risks of either are drawn below the one panel.
    rule : Rule
        How the patients below the curve are counted.
    """
    curves = {panel: _curves(drawn) for panel, drawn in list(predictions.items())[:MOST_PANELS]}
    if outcomes:
        (drawn,) = predictions.values()
        size, draw = (
            (5.2, 4.6),
            _over_shares(next(iter(curves.values())), drawn, outcomes, rule),
        )
    else:
        size, draw = _panels(curves, draw_calibration)
    below = f" Below: how the risks are spread, no bar for fewer than {rule.few} patients."
    return Figure(
        id="calibration" if outcomes else "calibration-by-panel",
        title="Are the risks right?",
        caption=f"Observed share at each predicted risk, with a pointwise 95 % interval; on "
        f"the dotted line risks are right.{below * bool(outcomes)}{_left_out(predictions)}",
        size=size,
        draw=draw,
    )


def _curves(predictions: Predictions) -> dict[str, CalibrationCurve]:
    return {
        name: calibration_curve(
            whom.y, whom.risk, predictions.unit, None if whom.follow is None else whom.once()
        )
        for name in predictions.risk
        for whom in [predictions.of(name)]
    }


def _over_shares(
    curves: Mapping[str, CalibrationCurve],
    predictions: Predictions,
    outcomes: Sequence[str],
    rule: Rule,
) -> Callable[[Canvas], None]:
    """Return the drawing of curves above the spread of the first model's risks, by outcome.

    At a horizon, where the outcome of some is not known, the spread is of all patients.
    """
    risk = next(iter(predictions.risk.values()))
    if predictions.follow is None:
        inside = {name: predictions.y == code for code, name in enumerate(outcomes)}
    else:
        inside = {"": np.ones(len(risk), np.bool_)}
    shares = {
        name: risk_shares(risk[rows], predictions.unit[rows], rule) for name, rows in inside.items()
    }
    filled = np.flatnonzero(np.max(list(shares.values()), axis=0) > 0)
    most = max(1.05 * max(float(curve.risk.max()) for curve in curves.values()),
               float(EDGES[filled[-1] + 1]) if len(filled) else 1.0)  # fmt: skip

    def draw(canvas: Canvas) -> None:
        above, below = calibration_above(canvas, curves)
        for colour, (name, share) in zip(PALETTE, shares.items(), strict=False):
            below.stairs(share, EDGES, color=colour, label=name, fill=True, alpha=0.45)
        highest = max(float(share.max()) for share in shares.values())
        above.set(xlim=(0, min(most, 1)))
        below.set(ylabel="share", ylim=(0, 1.25 * highest or 1))
        if len(curves) > 1:
            above.legend(loc="upper left")
        if len(shares) > 1:
            below.legend(loc="upper right", ncols=2)

    return draw


def risk_shares(risk: Array, unit: npt.NDArray[np.int64], rule: Rule = OTHERS) -> Array:
    """Return the share of risks (n,) between `EDGES`, of rounded counts; none of few patients."""
    bar = np.minimum(np.digitize(risk, EDGES) - 1, len(EDGES) - 2)
    patients = np.unique(np.column_stack([bar, unit]), axis=0)[:, 0].astype(np.int64)
    few = rule.is_few(np.bincount(patients, minlength=len(EDGES) - 1))
    counts = np.nan_to_num(rule.count(np.bincount(bar, minlength=len(EDGES) - 1)))
    return np.asarray(np.where(few, 0, counts) / rule.count(len(risk)))


def decision_figure(predictions: Mapping[str, Predictions], ends: Array) -> Figure:
    """Draw net benefit over thresholds, with 95 % intervals where there is one panel.

    Parameters
    ----------
    predictions : mapping
        As of `calibration_figure`.
    ends : ndarray
        Thresholds; the first and the last are the ends of the curves.
    """
    grid = np.linspace(ends[0], ends[-1], _POINTS)
    several = len(predictions) > 1
    lines = {
        panel: benefit_lines(drawn, grid, spread=not several)
        for panel, drawn in list(predictions.items())[:MOST_PANELS]
    }
    size, draw = _panels(lines, _draw_decision)
    return Figure(
        id="decision",
        title="Is acting on the risks worth it?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        f"the threshold, for each patient{', with 95 % intervals' * (not several)}."
        f"{_left_out(predictions)}",
        size=size,
        draw=draw,
    )


def benefit_lines(predictions: Predictions, grid: Array, *, spread: bool) -> dict[str, Array]:
    """Return threshold and net benefit of a patient, (2, T); with `spread` its interval, (4, T)."""
    draws = predictions.draws if spread else predictions.draws[:, :0]
    lines = {}
    for name, whom in treatments(predictions).items():
        drawn = [benefit(whom, draws, t) / 1000 for t in grid.tolist()]
        ends = np.array([line[:1] for line in drawn])
        if spread and name != TREAT_ALL:
            ends = np.array([estimate("", float(line[0]), line[1:])[:3] for line in drawn])
        lines[name] = np.vstack([grid, ends.T])
    return lines | {TREAT_NONE: np.vstack([grid, 0 * grid])}


def treatments(predictions: Predictions) -> dict[str, Patients]:
    """Return whom to treat by what: by the risks of each model, or everybody."""
    named = {name: predictions.of(name) for name in predictions.risk}
    whom = next(iter(named.values()))
    return named | {TREAT_ALL: whom._replace(risk=np.ones(len(whom.y)))}


def _draw_decision(axis: Axes, lines: Mapping[str, Array]) -> None:
    """Draw net benefit over thresholds; the last two lines are those of treating all and nobody."""
    greys = ((GREY, "-."), (GREY, ":"))
    looks = LOOKS[: len(lines) - 2]
    for (colour, dash), (name, line) in zip([*looks, *greys], lines.items(), strict=True):
        axis.plot(line[0], line[1], label=name, color=colour, linestyle=dash)
        if len(line) > 2:
            axis.fill_between(line[0], line[2], line[3], color=colour, alpha=0.15, linewidth=0)
    highest = max(float(line[1].max(initial=0.01)) for line in lines.values())
    axis.set(xlabel="threshold: treat from this risk on", ylabel="net benefit per patient")
    axis.set(ylim=(-0.25 * highest, 1.4 * highest))


def _panels(
    drawn: Mapping[str, Drawn], draw_panel: Callable[[Axes, Drawn], None]
) -> tuple[tuple[float, float], Callable[[Canvas], None]]:
    """Return size and drawing of a picture with a panel for each name."""
    abreast = min(len(drawn), _ABREAST)
    down = -(-len(drawn) // abreast)

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(down, abreast, squeeze=False).ravel()
        for axis, (name, lines) in zip(axes, drawn.items(), strict=False):
            draw_panel(axis, lines)
            axis.set_title(name)
        for axis in axes[len(drawn) :]:
            axis.set_axis_off()
        handles, labels = axes[0].get_legend_handles_labels()
        if len(labels) > 1:
            canvas.legend(handles, labels, loc="outside lower center", ncols=2)

    size = (5.2, 4.4) if len(drawn) == 1 else (3.1 * abreast, 0.7 + 2.9 * down)
    return size, draw


def _left_out(predictions: Mapping[str, Predictions]) -> str:
    if len(predictions) <= MOST_PANELS:
        return ""
    return f" The {MOST_PANELS} largest of {len(predictions)} are drawn."
