"""Figures over all results: printed against ours, and the effect of clustering."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.wording import people
from deepcac_study.catalogue.methods import ARM_COLOURS, classifiers
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.ledger import Entry
from deepcac_study.report.comparisons import Difference

_MARKERS = ("o", "s", "^")


def printed_against_ours(ledger: Sequence[Entry]) -> Figure | None:
    """Return the scatter of printed scores and ours, or None before the first run."""
    data: list[tuple[object, ...]] = [
        (e.paper, e.table, e.dataset, e.method, e.k, e.item, name, float(e.printed), float(ours))
        for e in ledger
        if e.kind == "score" and e.printed and e.item in ("f1", "auroc", "auprc")
        for name, ours in (("as published", e.as_published), ("sound", e.sound))
        if ours
    ]
    if not data:
        return None
    return Figure(
        id="printed_against_ours",
        title="Printed scores and ours",
        caption="A point for each printed score that a run decides. The grey band is ±0.02.",
        section="summary",
        size=(8.6, 4.2),
        draw=lambda canvas: _draw_scores(canvas, data),
        head=("paper", "table", "dataset", "method", "k", "metric", "protocol", "printed", "ours"),
        data=data,
    )


def _draw_scores(canvas: Canvas, data: Sequence[tuple[object, ...]]) -> None:
    papers = list(dict.fromkeys(str(row[0]) for row in data))
    for axis, protocol in zip(
        canvas.subplots(1, 2, sharex=True, sharey=True), ("as published", "sound"), strict=True
    ):
        axis.fill_between([0, 1], [-0.02, 0.98], [0.02, 1.02], color="#e3e6ea", linewidth=0)
        for index, paper in enumerate(papers):
            rows = [row for row in data if row[0] == paper and row[6] == protocol]
            axis.scatter(
                [float(str(row[7])) for row in rows],
                [float(str(row[8])) for row in rows],
                s=14,
                alpha=0.75,
                linewidth=0,
                color=PALETTE[index],
                marker=_MARKERS[index % len(_MARKERS)],
                label=PAPERS[paper].citation,
            )
        axis.set(title=f"ours, {protocol}", xlabel="printed", ylabel="ours")
        axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.legend(loc="lower right")


def effect_forest(effects: Sequence[Difference]) -> Figure | None:
    """Return differences in AUROC and F1 with their intervals, a row for each comparison."""
    shown = [
        row
        for row in effects
        if row.metric in ("f1", "auroc") and row.label in ("CAC − plain", "KM − plain")
    ]
    if not shown:
        return None
    names = list(dict.fromkeys(_name(row) for row in shown))

    return Figure(
        id="clustering_effect",
        title="Does clustering help?",
        caption="Mean difference to the same classifier without clusters, equal features, "
        "weights and splits, with the 95 % interval of the corrected resampled t-test.",
        section="clustering",
        size=(8.6, 1.2 + 0.24 * len(names)),
        draw=lambda canvas: _draw_effects(canvas, shown, names),
        head=("dataset", "learner", "k", "comparison", "metric", "difference", "low", "high"),
        data=[
            (
                row.first.dataset,
                row.second.method,
                row.first.k,
                row.label,
                row.metric,
                row.test.mean,
                row.test.low,
                row.test.high,
            )
            for row in shown
        ],
        seen=_effects_seen(shown),
    )


def _effects_seen(shown: Sequence[Difference]) -> str:
    """Say between what the differences lie, and how many intervals leave out 0."""
    parts = []
    for metric in ("f1", "auroc"):
        own = [row.test for row in shown if row.metric == metric]
        if own:
            clear = sum(not test.low <= 0 <= test.high for test in own)
            low, high = min(test.mean for test in own), max(test.mean for test in own)
            parts.append(
                f"{people(metric)}: {len(own)} differences from {low:+.3f} to {high:+.3f}, the "
                f"intervals of {clear} leave out 0"
            )
    return "; ".join(parts)


def _draw_effects(canvas: Canvas, shown: Sequence[Difference], names: list[str]) -> None:
    axes = canvas.subplots(1, 2, sharey=True)
    for axis, metric in zip(axes, ("f1", "auroc"), strict=True):
        axis.axvline(0, color="#888888", linewidth=0.8)
        for index, (arm, label) in enumerate((("km", "KM − plain"), ("cac", "CAC − plain"))):
            rows = [row for row in shown if row.metric == metric and row.label == label]
            places = np.array([names.index(_name(row)) for row in rows]) + 0.3 * index - 0.15
            means = np.array([row.test.mean for row in rows])
            half = np.array([row.test.high - row.test.mean for row in rows])
            axis.errorbar(
                means,
                places,
                xerr=np.nan_to_num(half),
                fmt=_MARKERS[index],
                color=ARM_COLOURS[arm],
                markersize=3.5,
                elinewidth=1,
                label=label,
            )
        axis.set(title=f"difference in {people(metric)}", ylim=(len(names) - 0.5, -0.5))
    axes[0].set_yticks(range(len(names)), names)
    canvas.legend(*axes[1].get_legend_handles_labels(), loc="outside upper right", ncols=2)


def _name(row: Difference) -> str:
    learner = row.second.method
    label = method_label(learner) if learner in classifiers() else learner
    return f"{row.first.dataset} · {label} · k = {row.first.k}"
