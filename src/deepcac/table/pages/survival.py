"""Subtypes at a horizon: how many are still followed, and how many have had the event."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.judging.contenders import CAC
from deepcac.pages.figures import LINES, PALETTE, Figure
from deepcac.pages.sections import Block
from deepcac.pages.tables import Table
from deepcac.scoring.censored import (
    FollowUp,
    KaplanMeier,
    incidence_curve,
    kaplan_meier,
    observed_risk,
)
from deepcac.scoring.small_cells import OTHERS, Count, Rule, withheld
from deepcac.table.found_subtypes import FoundClustering

QUARTERS = 4  # of the horizon, where numbers at risk are told
POINTS = 25  # of a curve, so that no single event can be read from it


def survival_blocks(follow: FollowUp, clustering: FoundClustering) -> list[Block]:
    """Return curves of the subtypes, and the numbers at risk, by Kaplan and Meier."""
    parts = [follow.take(clustering.label == subtype.number - 1) for subtype in clustering.subtypes]
    moments = np.linspace(0, follow.horizon, QUARTERS + 1)
    at_risk = np.array([[(part.time >= moment).sum() for moment in moments] for part in parts])
    outcomes = [np.bincount(part.outcome, minlength=2) for part in parts]

    def hidden(j: int, rule: Rule) -> bool:
        """Tell whether a subtype, or one of its outcomes, is of few patients."""
        rates = [rate.under(rule) for rate in clustering.subtypes[j].rates]
        return bool(rule.is_few(outcomes[j]).any() or np.isnan(rates).any())

    rows = []
    for j, subtype in enumerate(clustering.subtypes):
        cells = (*map(Count, at_risk[j]), _risk(parts[j]))
        rows.append((str(subtype.number), *(withheld(cell, partial(hidden, j)) for cell in cells)))

    def figure(rule: Rule) -> Figure:
        curves = {
            subtype.number: _curve(parts[j])
            for j, subtype in enumerate(clustering.subtypes)
            if not hidden(j, rule) and len(parts[j].time) >= rule.few
        }
        return survival_figure(curves, clustering.arm, follow.horizon, rule)

    head = ("subtype", *(f"at risk at {moment:g}" for moment in moments), "risk at the horizon")
    title = f"Subtypes by {'CAC' if clustering.arm == CAC else 'k-means'}, at risk"
    return [
        figure,
        Table.of_texts(f"at-risk-{clustering.arm}", title, head, rows),
    ]


def _curve(follow: FollowUp) -> KaplanMeier:
    """Return the share without the event: beside competing ones that of Aalen and Johansen."""
    if follow.other is not None:
        return incidence_curve(follow)
    return kaplan_meier(follow.time, follow.event)


def _risk(follow: FollowUp) -> str:
    share, low, high = observed_risk(follow)
    return f"{100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def survival_figure(
    curves: Mapping[int, KaplanMeier], arm: str, horizon: float, rule: Rule
) -> Figure:
    """Draw the share of patients without the event, a curve a subtype, by its number."""
    moments = np.linspace(0, horizon, POINTS)
    lines = {number: _survival_at(curve, moments, rule) for number, curve in curves.items()}

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
        caption=f"At {POINTS} times, by Kaplan and Meier, with competing events by Aalen and "
        f"Johansen; a curve ends where fewer than {rule.few} patients are at risk"
        + f", and falls by {rule.few} events or more at once." * (rule.few > 1)
        + "." * (rule.few <= 1),
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


def _survival_at(curve: KaplanMeier, moments: Any, rule: Rule = OTHERS) -> tuple[Any, Any]:
    """Return the times at which enough patients are at risk, and the survival there.

    It falls only where a cell of patients or more had the event since it fell last, and by the end.
    """
    place = np.searchsorted(curve.time, moments, side="left")
    at_risk = np.append(curve.at_risk, 0)[place]
    few = rule.few
    shown = moments[at_risk >= few]
    events = np.append(0, np.cumsum(curve.events))
    seen = events[np.searchsorted(curve.time, moments, side="right")]
    falls = [0.0]
    for moment, so_far in zip(shown, seen, strict=False):
        last = events[np.searchsorted(curve.time, falls[-1], side="right")]
        if so_far - last >= few and (seen[-1] == so_far or seen[-1] - so_far >= few):
            falls.append(float(moment))
    latest = np.array(falls)[np.searchsorted(falls, shown, side="right") - 1]
    return shown, np.where(latest > 0, curve.at(latest), 1.0)
