"""Figures over all results: printed against ours, effects of clustering, who is ahead of whom."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.wording import people
from deepcac_study.catalogue.methods import ARM_COLOURS, WELL_KNOWN, classifiers, parse_method
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.papers.agreement import AGREE, DIFFER
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.ledger import Entry
from deepcac_study.records.runs import Runs
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.comparisons import Difference
from deepcac_study.report.runs.runtables import at_smallest_k

_EFFECT = attrgetter(
    *("first.dataset", "second.method", "first.k", "label", "metric"),
    *("test.mean", "test.low", "test.high"),
)
_MARKERS = ("o", "s", "^")
_FEWEST = 2  # data sets that a method needs
METRIC = "auroc"


def agreement_figure(ledger: Sequence[Entry]) -> Figure | None:
    """Return the share of decided cells that agree, by paper and table; None before the first."""
    data = [row for paper in PAPERS for row in _cells_by_table(paper, ledger)]
    if not any(row[3] for row in data):
        return None
    return declared_figure(
        "agreement",
        size=(9.2, 0.9 + 0.62 * len(PAPERS)),
        draw=lambda canvas: _draw_agreement(canvas, data),
        data=data,
        seen="; ".join(_agreed(paper, data) for paper in PAPERS),
    )


def _cells_by_table(paper: str, ledger: Sequence[Entry]) -> list[tuple[str, str, int, int, int]]:
    own = [entry for entry in ledger if entry.paper == paper and entry.kind != "log"]
    rows = []
    for table in dict.fromkeys(entry.table for entry in own):
        verdicts = [entry.verdict for entry in own if entry.table == table]
        agree, differ = verdicts.count(AGREE), verdicts.count(DIFFER)
        rows.append((paper, table, agree, agree + differ, len(verdicts)))
    return sorted(rows, key=lambda row: (len(row[1]), row[1]))


def _agreed(paper: str, data: Sequence[tuple[str, str, int, int, int]]) -> str:
    agree = sum(row[2] for row in data if row[0] == paper)
    decided = sum(row[3] for row in data if row[0] == paper)
    return f"{PAPERS[paper].label}: {agree} of {decided} decided cells agree"


def _draw_agreement(canvas: Canvas, data: Sequence[tuple[str, str, int, int, int]]) -> None:
    papers = list(PAPERS)
    widest = max(sum(row[0] == paper for row in data) for paper in papers)
    shares, notes = np.full((len(papers), widest), np.nan), []
    for place, paper in enumerate(papers):
        for column, (_, table, agree, decided, _) in enumerate(r for r in data if r[0] == paper):
            said = f"{agree}/{decided}" if decided else "–"
            shares[place, column] = agree / decided if decided else np.nan
            notes.append((column, place, f"{_short(table)}\n{said}"))
    axis = canvas.subplots()
    image = axis.imshow(shares, vmin=0, vmax=1, cmap="RdYlBu", aspect="auto")
    for column, row, text in notes:
        extreme = abs(np.nan_to_num(shares[row, column], nan=0.5) - 0.5) > 0.4
        colour = "white" if extreme else "black"
        axis.text(column, row, text, ha="center", va="center", size=7.5, color=colour)
    axis.set_yticks(range(len(papers)), [PAPERS[paper].label for paper in papers])
    axis.set_xticks([])
    axis.grid(visible=False)
    canvas.colorbar(image, ax=axis, label="share that agrees", shrink=0.9)


def _short(table: str) -> str:
    return f"Table {table}" if table.isdigit() else table


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
    return declared_figure(
        "printed_against_ours",
        size=(8.6, 4.2),
        draw=lambda canvas: _draw_scores(canvas, data),
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

    return declared_figure(
        "clustering_effect",
        size=(8.6, 1.2 + 0.24 * len(names)),
        draw=lambda canvas: _draw_effects(canvas, shown, names),
        data=[_EFFECT(row) for row in shown],
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


def win_matrix(runs: Runs) -> Figure | None:
    """Return the matrix of the well known methods; None for fewer than two of them."""
    scores = _mean_scores(runs)
    methods = [name for name in WELL_KNOWN if len(scores.get(name, {})) >= _FEWEST]
    if len(methods) < 2:
        return None
    labels = [parse_method(name).label for name in methods]
    data = [(a, b, *_wins(scores[a], scores[b])) for a in methods for b in methods if a != b]
    best = max(methods, key=lambda name: sum(row[2] for row in data if row[0] == name))
    return declared_figure(
        "win_matrix",
        size=(1.9 + 0.75 * len(methods), 1.3 + 0.5 * len(methods)),
        draw=lambda canvas: _draw_wins(canvas, methods, labels, data),
        data=data,
        seen=f"{len(methods)} methods; most often ahead: {parse_method(best).label}",
    )


def _mean_scores(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the mean AUROC by method and data set, at the smallest k above 1."""
    found: dict[str, dict[str, float]] = {}
    for (method, dataset), run in at_smallest_k(runs.where(protocol="sound", status="ok")).items():
        if score := run.score(run.reported(METRIC, "")):
            found.setdefault(method, {})[dataset] = score[0]
    return found


def _wins(one: dict[str, float], other: dict[str, float]) -> tuple[int, int]:
    shared = one.keys() & other.keys()
    return sum(one[name] > other[name] for name in shared), len(shared)


def _draw_wins(
    canvas: Canvas,
    methods: Sequence[str],
    labels: Sequence[str],
    data: Sequence[tuple[str, str, int, int]],
) -> None:
    axis = canvas.subplots()
    shares = np.full((len(methods), len(methods)), np.nan)
    for one, other, wins, shared in data:
        row, column = methods.index(one), methods.index(other)
        shares[row, column] = wins / shared if shared else np.nan
        axis.text(column, row, f"{wins}/{shared}", ha="center", va="center", size=8)
    axis.imshow(shares, vmin=-0.3, vmax=1.3, cmap="PuOr", aspect="auto")
    axis.set_xticks(range(len(labels)), labels, rotation=40, ha="right")
    axis.set_yticks(range(len(labels)), labels)
    axis.grid(visible=False)
