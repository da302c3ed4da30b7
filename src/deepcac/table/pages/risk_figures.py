"""Are the risks right, and is acting on them worth it? Pictures of two models side by side."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.scoring.calibration import CalibrationCurve, calibration_curve
from deepcac.scoring.net_benefit import net_benefit, net_benefit_gain, treat_all
from deepcac.scoring.small_cells import FEW
from deepcac.table.answer import contender_name, signed
from deepcac.table.held_out_risks import HeldOut
from deepcac.task import Array, Ids

_BINS = 20


def calibration_figure(found: HeldOut, names: tuple[str, ...], event: str) -> Figure:
    """Draw smooth calibration curves of models with their intervals."""
    curves = {name: calibration_curve(found.y, found.risk[name], found.patient) for name in names}
    return Figure(
        id="calibration",
        title="Are the risks right?",
        caption=f"Share of {event} at each predicted risk, on test rows of all resamples, with a "
        "95 % interval over patients. On the dotted line a risk of 20 % means 20 of 100.",
        section="risks",
        size=(5.2, 4.4),
        draw=lambda canvas: _draw_calibration(canvas, curves, event),
        head=("model", "risk", "observed", "low", "high"),
        data=[
            (name, *map(float, line))
            for name, curve in curves.items()
            for line in zip(*curve, strict=True)
        ],
    )


def _draw_calibration(canvas: Canvas, curves: Mapping[str, CalibrationCurve], event: str) -> None:
    axis = canvas.subplots()
    most = max(float(curve.risk.max()) for curve in curves.values())
    axis.plot([0, most], [0, most], color="#888888", linewidth=0.8, linestyle=":")
    for colour, (name, curve) in zip(PALETTE, curves.items(), strict=False):
        axis.plot(curve.risk, curve.observed, color=colour, label=contender_name(name))
        axis.fill_between(curve.risk, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
    axis.set(xlabel="predicted risk", ylabel=f"share of {event}", xlim=(0, most), ylim=(0, None))
    axis.legend(loc="upper left")


def decision_figure(found: HeldOut, names: tuple[str, ...], thresholds: Array) -> Figure:
    """Draw the net benefit of models over thresholds, beside treating all and nobody."""
    lines = {contender_name(name): net_benefit(found.y, found.risk[name], thresholds)
             for name in names}  # fmt: skip
    lines |= {"treat all": treat_all(found.y, thresholds), "treat none": 0 * thresholds}
    return Figure(
        id="decision",
        title="Is acting on the risks worth it?",
        caption="Net benefit: patients rightly treated minus those wrongly treated at the odds of "
        "the threshold, for each patient. Predictions of all resamples are pooled.",
        section="risks",
        size=(5.2, 4.0),
        draw=lambda canvas: _draw_decision(canvas, lines, thresholds),
        head=("model", "threshold", "net_benefit"),
        data=[
            (name, float(t), float(v))
            for name, values in lines.items()
            for t, v in zip(thresholds, values, strict=True)
        ],
    )


def _draw_decision(canvas: Canvas, lines: Mapping[str, Array], thresholds: Array) -> None:
    axis = canvas.subplots()
    grey = "#888888"
    looks = [*((colour, "-") for colour in PALETTE[: len(lines) - 2]), (grey, "--"), (grey, ":")]
    for (colour, dash), (name, values) in zip(looks, lines.items(), strict=True):
        axis.plot(thresholds, values, label=name, color=colour, linestyle=dash)
    highest = max(float(values.max()) for values in lines.values())
    axis.set(xlabel="threshold: treat from this risk on", ylabel="net benefit a patient")
    axis.set(ylim=(-0.25 * highest, 1.4 * highest))
    axis.legend(loc="upper right")


def risks_by_outcome(found: HeldOut, name: str, classes: tuple[str, ...]) -> Figure:
    """Draw how the risks of one model are spread among rows with and without the event."""
    edges = np.linspace(0, 1, _BINS + 1)
    shares = [_shares(found.risk[name][own], found.patient[own], edges) for own in
              (found.y == j for j in range(2))]  # fmt: skip

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        for colour, label, share in zip(PALETTE, classes, shares, strict=False):
            axis.stairs(share, edges, color=colour, label=label, fill=True, alpha=0.45)
        axis.set(xlabel="predicted risk", ylabel="share of the rows", xlim=(0, 1))
        axis.set(ylim=(0, 1.25 * max(float(share.max()) for share in shares)))
        axis.legend(loc="upper center", ncols=2)

    return Figure(
        id="risks",
        title="Who is given which risk?",
        caption=f"Predicted risks of {contender_name(name)} on test rows, by what came of them. "
        f"Bars of fewer than {FEW} patients are not drawn.",
        section="risks",
        size=(5.2, 3.2),
        draw=draw,
        head=("from", *classes),
        data=[(float(e), *map(float, row)) for e, *row in zip(edges[:-1], *shares, strict=True)],
    )


def _shares(risk: Array, patient: Ids, edges: Array) -> Array:
    """Return the share of the risks between edges; 0 where they are of fewer than five patients."""
    inside = np.minimum(np.digitize(risk, edges) - 1, len(edges) - 2)
    patients = np.array([np.unique(patient[inside == j]).size for j in range(len(edges) - 1)])
    shares = np.bincount(inside, minlength=len(patients)) / len(risk)
    return np.where(patients < FEW, 0.0, shares)


def worth(found: HeldOut, clustered: str, best: str, thresholds: Array) -> str:
    """Say what clusters change at the middle threshold, among 1,000 patients."""
    gain, low, high = 1000 * net_benefit_gain(
        found.y, found.risk[clustered], found.risk[best], thresholds, found.patient
    )
    j = len(thresholds) // 2
    who = f"Treating from a risk of {100 * thresholds[j]:.0f} % on: with clusters"
    what = "of 1,000 patients are treated rightly, false alarms subtracted"
    if np.array_equal(found.risk[clustered], found.risk[best]):
        return f"{who} as many {what}, since no clusters were chosen."
    change = f"{abs(gain[j]):.1f} {'more' if gain[j] > 0 else 'fewer'}"
    if not round(gain[j], 1):
        change = "as many"
    return f"{who} {change} {what} (95 % interval {signed(low[j], 1)} to {signed(high[j], 1)})."


def usual_thresholds(found: HeldOut) -> Array:
    """Return thresholds from half the share of events to three times it, below .95."""
    share = float(found.y.mean())
    return np.linspace(share / 2, min(3 * share, 0.95), 25)
