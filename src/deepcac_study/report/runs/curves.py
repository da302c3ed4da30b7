"""ROC, precision-recall and calibration curves from the per-row scores."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import precision_recall_curve, roc_curve

from deepcac.linear.base_classifiers import takes_weights
from deepcac.pages.figures import LINES, Figure
from deepcac.scoring.bootstrap import SplitScores
from deepcac.scoring.metrics import unweighted
from deepcac.scoring.statistics import reliability, wilson
from deepcac_study.catalogue.methods import WELL_KNOWN, parse_method
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.runs.comparisons import split_scores
from deepcac_study.report.runs.runtables import at_smallest_k, run_label

Array = npt.NDArray[np.float64]
_GRID = np.linspace(0, 1, 101)


def unweighted_risk(run: Run, split: Mapping[str, Any], risk: Array) -> Array:
    """Return risks as the calibration scores of a record take them, without class weights.

    A model that was fitted with the classes made to count alike answers for a population in which
    they do; its probabilities (of class 1 of two) are moved to the shares of the training rows.
    """
    shares = _shares(split) if _can_be_weighted(run.method) else None
    return unweighted(np.column_stack([1 - risk, risk]), shares)[:, 1]


def _shares(split: Mapping[str, Any]) -> Array | None:
    """Return the classes' shares of a split's training rows, if they were made to count alike."""
    sizes = (split.get("clusters") or {}).get("sizes_train")
    if split["hyperparameters"].get("class_weight") != "balanced" or not sizes:
        return None
    counts = np.sum(sizes, axis=0)
    return np.asarray(counts / counts.sum(), dtype=np.float64)


@cache
def _can_be_weighted(name: str) -> bool:
    """Whether a method's classifier takes class weights: those of LDA and k-NN change nothing."""
    method = parse_method(name)
    return method.family != "deep" and bool(takes_weights(method.learner.load()(0)))


class Curves(NamedTuple):
    """What the figures show of a run."""

    # ``"ROC"`` or ``"PR"``, the place of the split, and values of shape (101,).
    lines: list[tuple[str, int, Array]]
    # Predicted and observed shares, interval, rows; None where the scores are no risks.
    reliability: tuple[Any, ...] | None


Shown = Sequence[tuple[Run, Curves]]


def calibration_figure(dataset: str, shown: Shown, section: str) -> Figure:
    """Return the calibration curves of one data set's runs."""
    points: list[tuple[Any, ...]] = [
        (run, *own.reliability) for run, own in shown if own.reliability is not None
    ]
    data = [
        (run.method, run.k, *map(float, line[:-1]), int(line[-1]))
        for run, *columns in points
        for line in zip(*columns, strict=True)
    ]
    return declared_figure(
        "calibration",
        size=(5.2, 5.0),
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
    """Return the mean distance of observed shares from predicted ones, by rows."""
    predicted, observed, *_, count = columns
    return float(np.average(np.abs(predicted - observed), weights=count))


def _draw_calibration(canvas: Canvas, points: Sequence[tuple[Any, ...]]) -> None:
    upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    upper.plot([0, 1], [0, 1], color="#888888", linewidth=0.8, linestyle=":")
    for index, (run, predicted, observed, low, high, count) in enumerate(points):
        colour, dash = parse_method(run.method).colour, LINES[index % len(LINES)]
        # Set beside each other, so that intervals do not hide each other.
        x = predicted + 0.004 * (index - (len(points) - 1) / 2)
        bars = [observed - low, high - observed]
        look = {"color": colour, "linestyle": dash, "markersize": 3, "elinewidth": 0.7}
        upper.errorbar(x, observed, yerr=bars, fmt="o", label=run_label(run), **look)
        lower.plot(x, count, color=colour, linestyle=dash, marker="o", markersize=2.5)
    upper.set(ylabel="share of positives", ylim=(-0.03, 1.03))
    lower.set(xlabel="predicted probability", ylabel="rows", ylim=(0, None))
    upper.legend(loc="upper left")


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
    score = np.concatenate([split.score for split in splits])
    if score.min() < 0 or score.max() > 1:
        return None
    records = sorted(run.splits, key=lambda record: int(record["seed"]))
    pairs = zip(splits, records, strict=True)
    score = np.concatenate([unweighted_risk(run, one, own.score) for own, one in pairs])
    label = np.concatenate([split.label for split in splits])
    predicted, observed, count = reliability(label, score)
    return predicted, observed, *wilson(observed, count), count


def curve_figures(runs: Runs, curves: Callable[[Run], Curves | None] = from_scores) -> list[Figure]:
    """Return ROC and PR curves and a calibration plot for each sound two-class data set."""
    figures = []
    for dataset, group in groupby(runs.where(protocol="sound", status="ok"), lambda r: r.dataset):
        shown = [(run, own) for run in chosen(list(group)) if (own := curves(run))]
        if shown:
            section = "synthetic" if shown[0][0].synthetic else "figures"
            figures += [draw(dataset, shown, section) for draw in (_roc_pr, calibration_figure)]
    return [figure for figure in figures if figure.data]


def chosen(runs: Sequence[Run], most: int = 6) -> list[Run]:
    """Return at most `most` runs of one data set: well known methods first, smallest k above 1."""
    best = {run.method: run for run in at_smallest_k(runs).values()}
    return [best[method] for method in WELL_KNOWN if method in best][:most]


def roc(scores: SplitScores) -> Array:
    """Return the true positive rate of shape (101,) at false positive rates 0, 0.01 ... 1."""
    false, true, _ = roc_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, false, true)


def precision_recall(scores: SplitScores) -> Array:
    """Return the precision of shape (101,) at recalls 0, 0.01 ... 1."""
    precision, recall, _ = precision_recall_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, recall[::-1], precision[::-1])


def _roc_pr(dataset: str, shown: Shown, section: str) -> Figure:
    lines = [(kind, run, index, v) for run, own in shown for kind, index, v in own.lines]
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
    canvas: Canvas,
    shown: Shown,
    lines: Sequence[tuple[str, Run, int, Array]],
) -> None:
    axes = dict(zip(("ROC", "PR"), canvas.subplots(1, 2), strict=True))
    colours = {run.path: parse_method(run.method).colour for run, _ in shown}
    dashes = {run.path: LINES[i % len(LINES)] for i, (run, _) in enumerate(shown)}
    for kind, run, _, values in lines:
        axes[kind].plot(_GRID, values, color=colours[run.path], linewidth=0.5, alpha=0.35)
    for run, _ in shown:
        for kind, axis in axes.items():
            own = [values for k, r, _, values in lines if k == kind and r is run]
            if own:
                mean = np.mean(own, axis=0)
                look = {"color": colours[run.path], "linestyle": dashes[run.path]}
                axis.plot(_GRID, mean, label=run_label(run), **look)
    axes["ROC"].plot([0, 1], [0, 1], color="#888888", linewidth=0.8, linestyle=":")
    axes["ROC"].set(title="ROC", xlabel="false positive rate", ylabel="true positive rate")
    axes["PR"].set(title="Precision and recall", xlabel="recall", ylabel="precision")
    axes["ROC"].legend(loc="lower right")
