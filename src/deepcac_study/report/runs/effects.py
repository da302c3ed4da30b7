"""Tables and figures of effects of clustering and switches, and of the best methods."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac.pages.forest import ENDS, Forest, Mark
from deepcac.pages.tables import Table, text_row
from deepcac.pages.wording import four, interval_text, p_text, people
from deepcac_study.catalogue.methods import ARM_COLOURS, CENTROID_RULE, classifiers
from deepcac_study.catalogue.methods import label as method_label
from deepcac_study.catalogue.protocol import switches
from deepcac_study.papers.bibliography import PAPERS
from deepcac_study.papers.entry import Entry
from deepcac_study.papers.names import usual_k
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure, declared_forest, declared_table
from deepcac_study.report.runs.comparisons import METRICS
from deepcac_study.report.runs.runtables import alphas, at_smallest_k, protocol_label

_CAC_LABELS = ("CAC − KM", "CAC − plain", "KM − plain")
_SAME_SCORE = 0.005
_FORESTED = ("f1", "auroc")
_EFFECT = ["dataset", "reference", "k", "comparison", "metric", *ENDS]
_MARKS = {
    f"{arm.upper()} − plain": Mark(shape, f"{arm.upper()} − plain", ARM_COLOURS[arm])
    for arm, shape in (("km", "o"), ("cac", "s"))
}
_MARKERS = ("o", "s", "^")
_FEWEST = 2  # data sets that a method needs
METRIC = "auroc"


def effects_table(
    effects: pd.DataFrame, metric: str, name: str = "clustering", kind: str = "clustering"
) -> Table:
    """Return a table of the comparisons by one metric."""
    rows = [
        text_row(
            *(row.dataset, method_label(row.reference), row.k, row.comparison),
            *_effect(row),
            *(interval_text(row.boot_low, row.boot_high), _reading(row)),
        )
        for row in _each(effects[effects["metric"] == metric])
    ]
    return declared_table(kind, rows, name=name, metric=metric, upper=metric.upper())


def answer_table(effects: pd.DataFrame) -> Table:
    """Count the results of `clustering_effects`, by comparison and metric."""
    first = {label: place for place, label in enumerate(_CAC_LABELS)}  # then by name
    groups = dict(list(effects.groupby(["comparison", "metric"])))
    labels = sorted(set(effects["comparison"]), key=lambda label: (first.get(label, 9), label))
    rows = [
        text_row(label, *(_counted(groups.get((label, metric))) for metric in METRICS))
        for label in labels
    ]
    return declared_table("clustering_answer", rows, metrics=METRICS)


def _counted(rows: pd.DataFrame | None) -> str:
    """Return in words how many rows show a difference."""
    if rows is None:
        return ""
    readings = [_reading(row) for row in rows.itertuples()]
    better, worse = readings.count("better"), readings.count("worse")
    mean = four(rows["mean"].mean(), signed=True)
    return f"{better} better, {worse} worse of {len(rows)}; mean {mean}"


def switches_table(effects: pd.DataFrame) -> Table:
    """Return the effect of each single switch; those without runs have a row with a note."""
    rows = []
    for label, switch in switches().items():
        compared = effects[effects["protocol"] == label]
        lead = (label, switch.published, switch.touches)
        if compared.empty:
            rows.append(text_row(*lead, "", "", "", "not run", *[""] * 6))
        for row in _each(compared):
            run = (row.dataset, method_label(row.method), row.k)
            rows.append(text_row(*lead, *run, row.metric, *_effect(row)))
    return declared_table("switches", rows, join=", ".join(METRICS))


def _each(effects: pd.DataFrame) -> Iterable[Any]:
    return effects.itertuples()


def _effect(row: Any) -> tuple[str, ...]:
    return (
        four(row.first_mean),
        four(row.second_mean),
        four(row.mean, signed=True),
        interval_text(row.low, row.high),
        p_text(row.p),
        p_text(row.p_holm),
    )


def _reading(row: Any) -> str:
    """Return the corrected test in words."""
    if np.isnan(row.p_holm):
        return "nothing varies: no test"
    if row.p_holm >= 0.05:
        return "no evidence of a difference"
    return "better" if row.mean > 0 else "worse"


def effect_forest(effects: pd.DataFrame) -> Figure | None:
    """Return a forest plot of the differences in AUROC and F1, one row per comparison."""
    shown = effects[effects["metric"].isin(_FORESTED) & effects["comparison"].isin(_MARKS)]
    if shown.empty:
        return None
    learners = shown["reference"].map(lambda x: method_label(x) if x in classifiers() else x)
    names = shown["dataset"] + " · " + learners + " · k = " + shown["k"].astype(str)
    points = shown.assign(panel=shown["metric"], row=names, mark=shown["comparison"])
    panels = {metric: people(metric) for metric in _FORESTED if metric in set(points["panel"])}
    columns = ["panel", "row", "mark", *ENDS]
    labels = {name: name for name in names}
    forest = Forest(points[columns], _MARKS, panels, labels, unit="difference")
    return declared_forest(
        "clustering_effect",
        forest,
        across=len(panels),
        data=shown[_EFFECT].to_numpy(dtype=object).tolist(),
        seen="; ".join(_seen(shown[shown["metric"] == metric], metric) for metric in panels),
    )


def _seen(shown: pd.DataFrame, metric: str) -> str:
    """Return a text on the range of differences, and how many intervals exclude 0."""
    clear = ((shown["low"] > 0) | (shown["high"] < 0)).sum()
    return (
        f"{people(metric)}: {len(shown)} differences from {shown['mean'].min():+.3f} to "
        f"{shown['mean'].max():+.3f}, the intervals of {clear} leave out 0"
    )


def printed_against_ours(ledger: Sequence[Entry]) -> Figure | None:
    """Return a scatter plot of printed scores and ours, or None before the first run."""
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


def wins_table(runs: Runs) -> Table:
    """Return the mean AUROC of every method on every data set, ordered by wins over others."""
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
    """Return a score, with a triangle if it is the best."""
    return "" if pd.isna(value) else f"{value:.3f}{' ▲' * bool(best)}"


def _ahead(scores: pd.DataFrame, name: str) -> float:
    """Return the share of other methods' scores, on common data sets, below those of `name`."""
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


def collapse_table(runs: Runs) -> Table:
    """Compare every CAC+X with the nearest class centroid, which needs no clusters.

    Where the clusters have become the classes, CAC equals that rule and the base classifier has no
    effect (each cluster has one class, except for the row that the update keeps in place).
    """
    rows = []
    for run in runs.where(status="ok"):
        if not run.method.startswith("cac_") or run.k < 2 or not run.splits:
            continue
        centroid = runs.find(run.protocol, run.dataset, CENTROID_RULE, 1)
        f1, centred = run.score("f1"), centroid.score("f1") if centroid else None
        clusters = [split["clusters"] for split in run.splits]
        collapsed = sum(bool(entry["collapsed"]) for entry in clusters)
        same = f1 and centred and abs(f1[0] - centred[0]) <= _SAME_SCORE
        rows.append(
            text_row(
                run.dataset,
                method_label(run.method),
                run.k,
                protocol_label(run.protocol),
                alphas(run),
                four(float(np.mean([entry["polarisation"] for entry in clusters]))),
                f"{collapsed} of {len(clusters)}",
                four(f1[0]) if f1 else "",
                four(centred[0]) if centred else "",
                four(f1[0] - centred[0], signed=True) if f1 and centred else "",
                "same score" if same else "",
            )
        )
    return declared_table("collapse", rows, same_score=_SAME_SCORE)


def choice_table(runs: Runs) -> Table:
    """Return, for each data set and method with several k, the k with each split's best F1.

    k is chosen by the five folds inside a split's training part only, and tested on the test rows.
    """
    rows = []
    for candidates in _searched(runs):
        scores = np.array([run.fold_scores for run in candidates.values()])  # (k, split)
        test = np.array([run.per_split("f1") for run in candidates.values()])
        best = scores.argmax(axis=0)  # the smallest k of equals
        ks = list(candidates)
        first = candidates[ks[0]]
        printed = usual_k("cac_v1", first.dataset, first.method)
        rows.append(
            text_row(
                first.dataset,
                method_label(first.method),
                _by_k(ks, scores),
                ", ".join(str(ks[i]) for i in best),
                four(float(np.take_along_axis(test, best[None], axis=0).mean())),
                printed,
                four(float(test[ks.index(printed)].mean())) if printed in ks else "",
                _by_k(ks, test),
            )
        )
    return declared_table("k_choice", rows)


def _searched(runs: Runs) -> Iterator[dict[int, Run]]:
    """Yield the runs of each data set and method by k, if there are several."""
    by_method: dict[tuple[str, str], dict[int, Run]] = {}
    for run in runs.where(protocol="sound", status="ok"):
        if run.fold_scores:
            by_method.setdefault((run.dataset, run.method), {})[run.k] = run
    for candidates in by_method.values():
        if len(candidates) > 2:
            yield dict(sorted(candidates.items()))


def _by_k(ks: Sequence[int], scores: np.ndarray) -> str:
    return ", ".join(f"{k}: {four(x)}" for k, x in zip(ks, scores.mean(axis=1), strict=True))
