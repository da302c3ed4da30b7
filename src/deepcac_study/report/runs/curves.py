"""ROC, precision-recall and calibration curves, from per-row scores or from shipped tables."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import cycle, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import precision_recall_curve, roc_curve

from deepcac.linear.base_classifiers import takes_weights
from deepcac.pages.drawing import calibration_above
from deepcac.pages.figures import LINES, Figure
from deepcac.scoring.bootstrap import SplitScores
from deepcac.scoring.calibration import CalibrationCurve
from deepcac.scoring.metrics import unweighted
from deepcac.scoring.statistics import reliability, wilson
from deepcac.types import Array
from deepcac_study.catalogue.methods import WELL_KNOWN, parse_method
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.comparisons import split_scores
from deepcac_study.report.runs.runtables import at_smallest_k, run_label

CURVES, CALIBRATION, BOOTSTRAPS = "curves", "calibration", "bootstraps"
_RUN = ["dataset", "method", "k"]
_COLUMNS = {
    CURVES: [*_RUN, "curve", "x", "y"],
    CALIBRATION: [*_RUN, "predicted", "observed", "low", "high", "rows"],
}
_INTERVAL = ["first", "second", "metric", "low", "high"]
_GRID = np.linspace(0, 1, 101)
StrPath = str | os.PathLike[str]


def unweighted_risk(run: Run, split: Mapping[str, Any], risk: Array) -> Array:
    """Return risks with class weights undone, as for the calibration scores of a record.

    A model with balanced class weights predicts for a population of equally frequent classes; its
    probabilities (of class 1 of two) are converted to the shares of the training rows.
    """
    shares = _shares(split) if _can_be_weighted(run.method) else None
    return unweighted(np.column_stack([1 - risk, risk]), shares)[:, 1]


def _shares(split: Mapping[str, Any]) -> Array | None:
    """Return the class shares of a split's training rows if they were balanced, else None."""
    sizes = (split.get("clusters") or {}).get("sizes_train")
    if split["hyperparameters"].get("class_weight") != "balanced" or not sizes:
        return None
    counts = np.sum(sizes, axis=0)
    return np.asarray(counts / counts.sum(), dtype=np.float64)


@cache
def _can_be_weighted(name: str) -> bool:
    """Return whether a method's classifier accepts class weights, unlike LDA and k-NN."""
    method = parse_method(name)
    return method.family != "deep" and bool(takes_weights(method.learner.load()(0)))


class Curves(NamedTuple):
    """Curves of one run for the figures."""

    # ``"ROC"`` or ``"PR"``, the place of the split, and values of shape (101,).
    lines: list[tuple[str, int, Array]]
    # Predicted and observed shares, interval, rows; None where the scores are no risks.
    reliability: tuple[Any, ...] | None


Shown = Sequence[tuple[Run, Curves]]


def calibration_figure(dataset: str, shown: Shown, section: str) -> Figure:
    """Return the calibration curves of one data set's runs."""
    points: list[tuple[Any, ...]] = [
        (run, *curves.reliability) for run, curves in shown if curves.reliability is not None
    ]
    data = [
        (run.method, run.k, *map(float, line[:-1]), int(line[-1]))
        for run, *columns in points
        for line in zip(*columns, strict=True)
    ]
    return declared_figure(
        "calibration",
        size=(5.2, 5.2),
        draw=lambda canvas: _draw_calibration(canvas, points),
        data=data,
        seen="; ".join(
            f"{run_label(run)}: mean distance from the diagonal {_distance(columns):.3f}"
            for run, *columns in points
        ),
        dataset=dataset,
        section=section,
    )


def _distance(columns: Sequence[Any]) -> float:
    """Return the mean distance of observed from predicted shares, weighted by rows."""
    predicted, observed, *_, count = columns
    return float(np.average(np.abs(predicted - observed), weights=count))


def _draw_calibration(canvas: Canvas, points: Sequence[tuple[Any, ...]]) -> None:
    curves = {run_label(run): CalibrationCurve(*columns) for run, *columns, _ in points}
    colours = [parse_method(run.method).colour for run, *_ in points]
    looks = list(zip(colours, cycle(LINES), strict=False))
    above, below = calibration_above(canvas, curves, looks)
    for (colour, dash), (_, predicted, *_, count) in zip(looks, points, strict=True):
        below.plot(predicted, count, color=colour, linestyle=dash, marker="o", markersize=2.5)
    above.set(xlim=(0, 1))
    below.set(ylabel="rows", ylim=(0, None))
    canvas.legend(*above.get_legend_handles_labels(), loc="outside upper center", ncols=3)


def from_scores(run: Run) -> Curves | None:
    """Return the curves of a run from its per-row scores; None without them."""
    splits = split_scores(run)
    if not splits:
        return None
    lines = [
        (kind, index, curve(split))
        for kind, curve in (("ROC", roc), ("PR", precision_recall))
        for index, split in enumerate(splits)
        if 0 < (split.label == 1).mean() < 1
    ]
    return Curves(lines, _reliability(run, splits))


def _reliability(run: Run, splits: Sequence[SplitScores]) -> tuple[Any, ...] | None:
    """Return predicted, observed, both ends and count per bin; None unless risks."""
    score = np.concatenate([split.score for split in splits])
    if score.min() < 0 or score.max() > 1:
        return None
    records = sorted(run.splits, key=lambda record: int(record["seed"]))
    pairs = zip(splits, records, strict=True)
    score = np.concatenate([unweighted_risk(run, record, split.score) for split, record in pairs])
    label = np.concatenate([split.label for split in splits])
    predicted, observed, count = reliability(label, score)
    return predicted, observed, *wilson(observed, count), count


def curve_figures(runs: Runs, curves: Callable[[Run], Curves | None] = from_scores) -> list[Figure]:
    """Return figures of ROC and PR curves, and of calibration, for each two-class data set."""
    figures = []
    for dataset, group in groupby(runs.where(protocol="sound", status="ok"), lambda r: r.dataset):
        shown = [(run, run_curves) for run in _chosen(list(group)) if (run_curves := curves(run))]
        if shown:
            section = "synthetic" if shown[0][0].synthetic else "figures"
            figures += [draw(dataset, shown, section) for draw in (_roc_pr, calibration_figure)]
    return [figure for figure in figures if figure.data]


def _chosen(runs: Sequence[Run]) -> list[Run]:
    """Return at most six runs of a data set, well-known methods first, at the smallest k > 1."""
    best = {run.method: run for run in at_smallest_k(runs).values()}
    return [best[method] for method in WELL_KNOWN if method in best][:6]


def roc(scores: SplitScores) -> Array:
    """Return the true positive rate of shape (101,) at false positive rates 0, 0.01 ... 1."""
    false, true, _ = roc_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, false, true)


def precision_recall(scores: SplitScores) -> Array:
    """Return the precision of shape (101,) at recalls 0, 0.01 ... 1."""
    precision, recall, _ = precision_recall_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, recall[::-1], precision[::-1])


def _roc_pr(dataset: str, shown: Shown, section: str) -> Figure:
    lines = [(kind, run, index, v) for run, curves in shown for kind, index, v in curves.lines]
    lines.sort(key=lambda line: line[0], reverse=True)  # ROC first
    data = [
        (kind, run.method, run.k, index, float(x), float(y))
        for kind, run, index, values in lines
        for x, y in zip(_GRID, values, strict=True)
    ]
    return declared_figure(
        "curves",
        size=(8.4, 3.8),
        draw=lambda canvas: _draw_roc_pr(canvas, shown, lines),
        data=data,
        dataset=dataset,
        section=section,
    )


def _draw_roc_pr(
    canvas: Canvas, shown: Shown, lines: Sequence[tuple[str, Run, int, Array]]
) -> None:
    """Draw the curves: thin lines per split, a thick one for the mean of a run."""
    axes = dict(zip(("ROC", "PR"), canvas.subplots(1, 2), strict=True))
    colours = {run.path: parse_method(run.method).colour for run, _ in shown}
    dashes = {run.path: LINES[i % len(LINES)] for i, (run, _) in enumerate(shown)}
    for kind, run, _, values in lines:
        axes[kind].plot(_GRID, values, color=colours[run.path], linewidth=0.5, alpha=0.35)
    for run, _ in shown:
        for kind, axis in axes.items():
            per_split = [values for k, r, _, values in lines if k == kind and r is run]
            if per_split:
                mean = np.mean(per_split, axis=0)
                look = {"color": colours[run.path], "linestyle": dashes[run.path]}
                axis.plot(_GRID, mean, label=run_label(run), **look)
    axes["ROC"].plot([0, 1], [0, 1], color="#888888", linewidth=0.8, linestyle=":")
    axes["ROC"].set(title="ROC", xlabel="false positive rate", ylabel="true positive rate")
    axes["PR"].set(title="Precision and recall", xlabel="recall", ylabel="precision")
    axes["ROC"].legend(loc="lower right")


def shipped_table(folder: StrPath, name: str, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read ``folder/name.csv``; if it is missing, return an empty table with `columns`."""
    path = Path(folder) / f"{name}.csv"
    there = path.exists() and path.stat().st_size
    return pd.read_csv(path) if there else pd.DataFrame(columns=list(columns))


def curve_table(figures: Path, name: str, datasets: Iterable[str]) -> pd.DataFrame:
    """Read the data behind one kind of figure in a folder, for some data sets.

    Curves of several splits are averaged.
    """
    tables = {dataset: shipped_table(figures, f"{name}_{dataset}") for dataset in sorted(datasets)}
    parts = [table.assign(dataset=dataset) for dataset, table in tables.items() if len(table)]
    if not parts:
        return pd.DataFrame(columns=_COLUMNS[name])
    table = pd.concat(parts, ignore_index=True)
    if name == CURVES:
        groups = table.groupby([*_RUN, "curve", "x"], sort=False)
        table = groups["y"].mean().round(4).reset_index()
    return table[_COLUMNS[name]]


def bootstrap_table(effects: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the bootstrap intervals of comparisons, with the paths of both runs."""
    rows = effects.assign(low=effects["boot_low"], high=effects["boot_high"])
    return rows[_INTERVAL].dropna().round(6).reset_index(drop=True)


def shipped_bootstraps(folder: StrPath) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Read the intervals in ``bootstraps.csv`` of a folder, by runs and metric."""
    rows = shipped_table(folder, BOOTSTRAPS, _INTERVAL)[_INTERVAL].to_numpy()
    return {(first, second, metric): (low, high) for first, second, metric, low, high in rows}


def shipped_curves(folder: StrPath) -> Callable[[Run], Curves | None]:
    """Return a function that gives a sound run's curves, from its scores or shipped tables."""
    tables = {
        name: dict(list(shipped_table(folder, name, columns).groupby(_RUN)))
        for name, columns in _COLUMNS.items()
    }

    def find(run: Run) -> Curves | None:
        if curves := from_scores(run):
            return curves
        place = (run.dataset, run.method, run.k)
        drawn, binned = (tables[name].get(place) for name in (CURVES, CALIBRATION))
        if drawn is None:
            return None
        lines = [
            (str(kind), 0, points["y"].to_numpy())
            for kind, points in drawn.groupby("curve", sort=False)
        ]
        columns = _COLUMNS[CALIBRATION][len(_RUN) :]
        reliability = (
            None if binned is None else tuple(binned[column].to_numpy() for column in columns)
        )
        return Curves(lines, reliability)

    return find
