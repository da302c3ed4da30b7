"""Pictures of places: a forest plot of differences, and how the best model does in each."""

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, VERDICT_COLOURS, Figure
from deepcac.scoring.equivalence import NEVER
from deepcac.table.elsewhere.fold_trials import BEST, JudgedFold
from deepcac.table.elsewhere.place_answer import PlaceAnswer
from deepcac.task import Array

_PREDICTED = "in a new site"
_RATIOS = (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10)


def places_forest(judged: list[JudgedFold], found: PlaceAnswer) -> Figure:
    """Draw the difference in every place, over all, and in a new one."""
    over = found.comparisons[BEST]
    lines = [
        (one.name, place.difference.mean, place.difference.low, place.difference.high, place.word)
        for one, place in zip(judged, over.places, strict=True)
    ]
    if over.whole is not None and over.pooled is not None:
        whole = over.whole.difference
        lines.append(("all sites", whole.mean, whole.low, whole.high, over.whole.word))
        if not np.isnan(over.pooled.new_low):
            ends = (over.pooled.new_low, over.pooled.new_high)
            lines.append((_PREDICTED, whole.mean, *ends, ""))

    return Figure(
        id="places",
        title="With clusters, minus without",
        caption="Difference in AUROC on the patients of each place, with its 95 % interval. Grey "
        f"band: negligible differences (margin {found.margin:g}). Diamonds: over all sites, "
        "and where the true difference of a new site is expected."
        if len(judged) > 1
        else "Difference in AUROC with its 95 % interval. Grey band: negligible differences "
        f"(margin {found.margin:g}).",
        section="answer",
        size=(6.2, 1.3 + 0.3 * len(lines)),
        draw=lambda canvas: _draw_places(canvas, lines, len(judged), found.margin),
        head=("place", "difference", "low", "high", "verdict"),
        data=lines,
    )


def _draw_places(
    canvas: Canvas, lines: list[tuple[str, float, float, float, str]], n: int, margin: float
) -> None:
    """Draw the differences of `n` places, and below them those over all."""
    axis = canvas.subplots()
    axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
    axis.axvline(0, color="#888888", linewidth=0.8)
    for place, (_, mean, low, high, word) in enumerate(lines):
        pooled = place >= n
        axis.errorbar(
            mean, place, xerr=[[mean - low], [high - mean]] if word != NEVER else None,
            fmt="D" if pooled else "o", markersize=6 if pooled else 4,
            color=VERDICT_COLOURS.get(word, "#1c2430"), elinewidth=1.2,
        )  # fmt: skip
    if len(lines) > n:
        axis.axhline(n - 0.5, color="#888888", linewidth=0.8)
    axis.set_yticks(range(len(lines)), [name for name, *_ in lines])
    axis.tick_params(axis="y", length=0)
    axis.set(ylim=(len(lines) - 0.4, -0.6), xlabel="difference in AUROC (right: clusters help)")
    for word, colour in VERDICT_COLOURS.items():
        if word in {line[-1] for line in lines}:
            axis.plot([], [], "o", color=colour, label=word, markersize=4)
    canvas.legend(loc="outside lower center", ncols=5)


def model_by_place(judged: list[JudgedFold]) -> Figure:
    """Draw AUROC, and observed / expected events of two classes, of the best model by place."""
    binary = not np.isnan(judged[0].model.observed)
    lines = [(one.name, *one.model[1:4], *_ratio(one)) for one in judged]
    values = np.array([line[1:] for line in lines], dtype=float)

    def draw(canvas: Canvas) -> None:
        axes = np.atleast_1d(canvas.subplots(1, 1 + binary, sharey=True))
        for axis, first, name in zip(axes, (0, 3), ("AUROC", "observed / expected"), strict=False):
            for place, (value, low, high) in enumerate(values[:, first : first + 3]):
                axis.errorbar(
                    value, place, xerr=[[value - low], [high - value]], fmt="o", markersize=4,
                    color=PALETTE[0], elinewidth=1.2,
                )  # fmt: skip
            axis.set(xlabel=name, ylim=(len(lines) - 0.4, -0.6))
        axes[0].set_yticks(range(len(lines)), [line[0] for line in lines])
        axes[0].axvline(0.5, color="#888888", linewidth=0.8)
        if binary:
            axes[1].axvline(1, color="#888888", linewidth=0.8)
            axes[1].set_xscale("log")
            axes[1].set_xticks([tick for tick in _RATIOS if _near(tick, values[:, 4:])])

    return Figure(
        id="model_by_place",
        title="The best model without clusters, by place",
        caption="With 95 % intervals. Grey line: no better than chance; as many events as "
        "expected.",
        section="places",
        size=(6.2, 1.2 + 0.3 * len(lines)),
        draw=draw,
        head=("place", "auroc", "low", "high", "observed_by_expected", "ratio_low", "ratio_high"),
        data=lines,
    )


def _near(tick: float, values: Array) -> bool:
    return bool(tick == 1 or values.min() / 1.3 <= tick <= values.max() * 1.3)


def _ratio(one: JudgedFold) -> tuple[float, float, float]:
    """Return observed / expected events with a 95 % interval on the log scale."""
    observed, rows = one.model.observed, sum(one.counts)
    ratio = observed / one.model.expected
    half = np.exp(1.96 * np.sqrt((1 - observed / rows) / observed))
    return ratio, ratio / half, ratio * half
