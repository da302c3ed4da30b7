"""Pictures of a comparison on one's own table: differences, subtypes, missing values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.pages.drawing import draw_heat
from deepcac.pages.figures import INK, PALETTE, Figure
from deepcac.pages.wording import minus
from deepcac.scoring.small_cells import OTHERS, WITHHELD, Count, Rule
from deepcac.table.comparison_words import signed
from deepcac.table.found_subtypes import FoundClustering
from deepcac.table.reading.table_encoder import EncodedColumn
from deepcac.types import Array

_CLEAR = 1.5  # standard deviations at which the colour is full


def subtype_profile(
    clustering: FoundClustering, classes: tuple[str, ...], rule: Rule = OTHERS
) -> Figure:
    """Draw the features that set clusters apart, and the outcome in each of them."""
    shown = clustering.telling
    values = clustering.profile[:, shown].T.round(1) + 0.0  # no minus before a zero
    columns = [f"{s.number}\nn = {rule.show(Count(s.size))}" for s in clustering.subtypes]
    every = np.array([[rate.under(rule) for rate in s.rates] for s in clustering.subtypes])
    positive = _event(every[:, :, 0].mean(axis=0))
    rates = every[:, positive]

    def draw(canvas: Canvas) -> None:
        heat, bars = canvas.subplots(1, 2, width_ratios=[2.2, 1])
        names = [clustering.names[f].replace("=", " = ") for f in shown]
        clear: Any = {"ends": (-_CLEAR, _CLEAR), "write": lambda value: minus(signed(value, 1))}
        draw_heat(heat, values, names, columns, **clear)
        heat.set(xlabel="subtype")
        _bars(bars, rates, classes[positive])

    return Figure(
        id=f"profile_{clustering.arm}",
        title="What is in the subtypes",
        caption="Left: mean of each feature in the subtype, in standard deviations from the mean "
        "of all rows; the features with the largest distances. Right: the outcome, with 95 % "
        "intervals. Withheld: groups of fewer than eight rows.",
        section="subtypes",
        size=(8.6, 1.3 + 0.26 * max(len(shown), 3)),
        draw=draw,
        head=("feature", *(str(s.number) for s in clustering.subtypes)),
        data=[(clustering.names[f], *map(float, clustering.profile[:, f])) for f in shown],
        as_drawn=True,
    )


def _bars(axis: Axes, rates: Array, event: str) -> None:
    """Draw a rate with its interval for each subtype, or that it is withheld."""
    place = np.arange(len(rates))
    axis.barh(place, rates[:, 0], color=PALETTE[0], height=0.55)
    errors = np.abs(rates[:, 1:].T - rates[:, 0])
    axis.errorbar(rates[:, 0], place, xerr=errors, fmt="none", ecolor=INK, elinewidth=1)
    for j in np.flatnonzero(np.isnan(rates[:, 0])).tolist():
        axis.text(0.02, j, WITHHELD, va="center", fontsize=8)
    axis.set_yticks(place, [str(j + 1) for j in place])
    axis.set(xlim=(0, 1), ylim=(len(rates) - 0.5, -0.5), ylabel="subtype")
    axis.set_xlabel(f"share of {event}")
    axis.grid(visible=False, axis="y")


def _event(mean: Array) -> int:
    """Return the positive class of two; of more the rarest that is shown in every subtype."""
    return 1 if len(mean) == 2 or np.isnan(mean).all() else int(np.nanargmin(mean))


def missingness(columns: Sequence[EncodedColumn], n: int, rule: Rule = OTHERS) -> Figure | str:
    """Draw the share of `n` rows that miss a value, by column; or say that there are none."""
    holes = [column for column in columns if column.missing >= rule.few]
    named = ((float(rule.share(column.missing, n)), column.name) for column in holes)
    shares = sorted(named, reverse=True)[:30]
    if not shares:
        return "No empty cells to show: there are none, or too few to tell how many."
    names = [name for _, name in shares]

    def draw(canvas: Canvas) -> None:
        axis = canvas.subplots()
        axis.barh(range(len(names)), [share for share, _ in shares], color=PALETTE[0], height=0.7)
        axis.set_yticks(range(len(names)), names)
        axis.set(xlim=(0, 1), ylim=(len(names) - 0.4, -0.6), xlabel="share missing")
        axis.grid(visible=False, axis="y")

    return Figure(
        id="missing",
        title="Missing values",
        caption="Share of rows without a value, before any imputation; at most 30 columns.",
        section="cohort",
        size=(6.5, 0.9 + 0.2 * len(names)),
        draw=draw,
        head=("column", "share_missing"),
        data=[(name, share) for share, name in shares],
    )
