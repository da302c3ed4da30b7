"""Pictures of places: a forest plot of differences, and how the best model does in each."""

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, VERDICT_COLOURS, Figure
from deepcac.scoring.equivalence import NEVER
from deepcac.scoring.resampled_scores import AUROC, RATIO, SLOPE
from deepcac.table.elsewhere.fold_trials import BEST, JudgedFold
from deepcac.table.elsewhere.place_answer import PlaceAnswer
from deepcac.table.elsewhere.place_risks import place_risks
from deepcac.table.pages.place_pictures import over_sites
from deepcac.types import Array

_OVER, _PREDICTED = "all sites", "in a new site"
_AXES = {AUROC: "AUROC", RATIO: "observed / expected", SLOPE: "calibration slope"}
_RATIOS = (0.1, 0.2, 0.5, 0.7, 1, 1.4, 2, 5, 10)


def places_forest(judged: list[JudgedFold], answer: PlaceAnswer) -> Figure:
    """Draw the difference in every place, over all, and in a new one."""
    over = answer.comparisons[BEST]
    lines = [
        (fold.name, place.difference.mean, place.difference.low, place.difference.high, place.word)
        for fold, place in zip(judged, over.places, strict=True)
    ]
    if over.whole is not None and over.pooled is not None:
        whole = over.whole.difference
        lines.append((_OVER, whole.mean, whole.low, whole.high, over.whole.word))
        if not np.isnan(over.pooled.new_low):
            ends = (over.pooled.new_low, over.pooled.new_high)
            lines.append((_PREDICTED, whole.mean, *ends, ""))

    return Figure(
        id="places",
        title="With clusters, minus without",
        caption="Difference in AUROC on the patients of each place, with its 95 % interval. Grey "
        f"band: negligible differences (margin {answer.margin:g}). Diamonds: over all sites, "
        "and where the true difference of a new site is expected."
        if len(judged) > 1
        else "Difference in AUROC with its 95 % interval. Grey band: negligible differences "
        f"(margin {answer.margin:g}).",
        section="answer",
        size=(6.2, 1.3 + 0.3 * len(lines)),
        draw=lambda canvas: _draw_places(canvas, lines, len(judged), answer.margin),
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
    """Draw AUROC, and of two classes observed / expected events and slope, by place and over all.

    Those over all, and of a new place, are of `over_sites`.
    """
    names = [AUROC, RATIO, SLOPE] if judged[0].model.scores else [AUROC]
    values = [_by_place(judged, name) for name in names]
    rows = list(values[0])
    for more in values[1:]:
        rows += [row for row in more if row not in rows]

    def draw(canvas: Canvas) -> None:
        axes = np.atleast_1d(canvas.subplots(1, len(names), sharey=True))
        for axis, name, points in zip(axes, names, values, strict=True):
            for row, (value, low, high) in points.items():
                place, pooled = rows.index(row), row in (_OVER, _PREDICTED)
                axis.errorbar(
                    value, place, xerr=[[max(value - low, 0)], [max(high - value, 0)]],
                    fmt="D" if pooled else "o", markersize=5 if pooled else 4,
                    color="#1c2430" if pooled else PALETTE[0], elinewidth=1.2,
                )  # fmt: skip
            axis.set(xlabel=_AXES[name], ylim=(len(rows) - 0.4, -0.6))
            axis.axvline(0.5 if name == AUROC else 1, color="#888888", linewidth=0.8)
            if name == RATIO:
                every = np.array(list(points.values()))
                axis.set_xscale("log")
                axis.set_xticks([tick for tick in _RATIOS if _near(tick, every)])
        axes[0].set_yticks(range(len(rows)), rows)

    pooled = ", with the mean over sites and where a new site is expected (diamonds)"
    return Figure(
        id="model_by_place",
        title="The best model without clusters, by place",
        caption=f"With 95 % intervals{pooled * (len(rows) > len(judged))}. Grey lines: no better "
        "than chance; as many events as expected; risks as spread as they should be.",
        section="places",
        size=(8.2 if len(names) > 1 else 6.2, 1.2 + 0.3 * len(rows)),
        draw=draw,
        head=("place", "score", "value", "low", "high"),
        data=[
            (row, name, *map(float, ends))
            for name, points in zip(names, values, strict=True)
            for row, ends in points.items()
        ],
    )


def _by_place(judged: list[JudgedFold], name: str) -> dict[str, tuple[float, float, float]]:
    lines = {
        fold.name: fold.model.scores[name][:3] if fold.model.scores else fold.model[1:4]
        for fold in judged
    }
    whole = over_sites(place_risks(judged), name)
    if whole is not None:
        lines[_OVER] = (whole.mean, whole.low, whole.high)
        if not np.isnan(whole.new_low):
            lines[_PREDICTED] = (whole.mean, whole.new_low, whole.new_high)
    return lines


def _near(tick: float, values: Array) -> bool:
    return bool(tick == 1 or values.min() / 1.3 <= tick <= values.max() * 1.3)
