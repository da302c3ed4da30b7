"""All results at once: printed against ours, effects of clustering, which method wins where."""

from collections.abc import Sequence
from operator import attrgetter

import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.forest import ENDS, Forest, Mark
from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import people
from deepcac_study.catalogue.methods import ARM_COLOURS, classifiers
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.records.runs import Runs
from deepcac_study.report.declarations import declared_figure, declared_forest, declared_table
from deepcac_study.report.runs.comparisons import Difference
from deepcac_study.report.runs.runtables import at_smallest_k

_EFFECT = attrgetter(
    *("first.dataset", "second.method", "first.k", "label", "metric"),
    *("test.mean", "test.low", "test.high"),
)
_FORESTED = ("f1", "auroc")
_MARKS = {
    f"{arm.upper()} − plain": Mark(shape, f"{arm.upper()} − plain", ARM_COLOURS[arm])
    for arm, shape in (("km", "o"), ("cac", "s"))
}
_MARKERS = ("o", "s", "^")
_FEWEST = 2  # data sets that a method needs
METRIC = "auroc"


def printed_against_ours(ledger: Sequence[Entry]) -> Figure | None:
    """Return the scatter of printed scores and ours, or None before the first run."""
    data: list[tuple[object, ...]] = [
        (e.paper, e.table, e.dataset, e.method, e.k, e.item, name, e.printed_value, ours)
        for e in ledger
        if e.kind == "score" and e.printed_value is not None and e.item in ("f1", "auroc", "auprc")
        for name, ours in (("as published", e.as_published), ("corrected", e.sound))
        if ours is not None
    ]
    if not data:
        return None
    return declared_figure(
        "printed_against_ours",
        size=(8.6, 4.2),
        draw=lambda canvas: _draw_scores(canvas, data),
        data=data,
    )


def _draw_scores(canvas: Canvas, data: Sequence[tuple[object, ...]]) -> None:
    papers = list(dict.fromkeys(str(row[0]) for row in data))
    for axis, protocol in zip(
        canvas.subplots(1, 2, sharex=True, sharey=True), ("as published", "corrected"), strict=True
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
    shown = [row for row in effects if row.metric in _FORESTED and row.label in _MARKS]
    if not shown:
        return None
    points = pd.DataFrame(
        [
            (row.metric, _name(row), row.label, row.test.mean, row.test.low, row.test.high)
            for row in shown
        ],
        columns=["panel", "row", "mark", *ENDS],
    )
    panels = {metric: people(metric) for metric in _FORESTED if metric in set(points["panel"])}
    labels = {name: name for name in points["row"]}
    forest = Forest(points, _MARKS, panels, labels, unit="difference")
    return declared_forest(
        "clustering_effect",
        forest,
        across=len(panels),
        data=[_EFFECT(row) for row in shown],
        seen=_effects_seen(shown),
    )


def _effects_seen(shown: Sequence[Difference]) -> str:
    """Say between what the differences lie, and how many intervals leave out 0."""
    parts = []
    for metric in _FORESTED:
        tests = [row.test for row in shown if row.metric == metric]
        if tests:
            clear = sum(test.low > 0 or test.high < 0 for test in tests)
            low, high = min(test.mean for test in tests), max(test.mean for test in tests)
            parts.append(
                f"{people(metric)}: {len(tests)} differences from {low:+.3f} to {high:+.3f}, the "
                f"intervals of {clear} leave out 0"
            )
    return "; ".join(parts)


def _name(row: Difference) -> str:
    learner = row.second.method
    label = method_label(learner) if learner in classifiers() else learner
    return f"{row.first.dataset} · {label} · k = {row.first.k}"


def wins_table(runs: Runs) -> Table:
    """Return the mean AUROC of every method on every data set, the most often ahead first."""
    scores = pd.DataFrame(_mean_scores(runs)).rename_axis(index="dataset").T.sort_index(axis=1)
    scores = scores[scores.notna().sum(axis=1) >= _FEWEST]
    scores = scores.loc[:, scores.notna().any()]
    ahead = pd.Series({name: _ahead(scores, name) for name in scores.index}, dtype=float)
    best = scores == scores.max()
    rows = [
        text_row(
            method_label(name),
            "" if pd.isna(ahead[name]) else f"{100 * ahead[name]:.0f} %",
            int(best.loc[name].sum()),
            *map(_score, scores.loc[name], best.loc[name]),
        )
        for name in ahead.sort_values(ascending=False, kind="stable").index
    ]
    return declared_table("wins", rows, datasets=scores.columns)


def _score(value: float, best: bool) -> str:
    return "" if pd.isna(value) else f"{value:.3f}{' ▲' * bool(best)}"


def _ahead(scores: pd.DataFrame, name: str) -> float:
    """Return the share of scores of other methods, on shared data sets, that lie below its own."""
    others = scores.drop(index=name)
    shared = others.notna() & scores.loc[name].notna()
    n = int(shared.to_numpy().sum())
    return float((others < scores.loc[name]).to_numpy().sum() / n) if n else float("nan")


def _mean_scores(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the mean AUROC by method and data set, at the smallest k above 1."""
    means: dict[str, dict[str, float]] = {}
    for (method, dataset), run in at_smallest_k(runs.where(protocol="sound", status="ok")).items():
        if score := run.score(run.reported(METRIC, "")):
            means.setdefault(method, {})[dataset] = score[0]
    return means
