"""Calibration curves from the per-row scores, with class weights taken out again."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas

from deepcac.linear.base_classifiers import takes_weights
from deepcac.pages.figures import LINES, Figure
from deepcac.scoring.bootstrap import SplitScores
from deepcac.scoring.metrics import unweighted
from deepcac.scoring.statistics import reliability, wilson
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.experiments.finished import Run
from deepcac_study.report.runtables import run_label

Array = npt.NDArray[np.float64]


def unweighted_risk(run: Run, split: Mapping[str, Any], risk: Array) -> Array:
    """Return risks as the calibration scores of a record take them, without class weights.

    A model that was fitted with the classes made to count alike answers for a population in which
    they do; its probabilities are moved to the shares of the training rows.

    Parameters
    ----------
    run : Run
    split : mapping
        Its entry in the record.
    risk : ndarray of shape (n,)
        Predicted for class 1 of two.

    Returns
    -------
    ndarray of shape (n,)
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


def calibration_figure(
    dataset: str, shown: Sequence[tuple[Run, list[SplitScores]]], section: str
) -> Figure:
    """Return the calibration curves of one data set's runs."""
    points = []
    for run, splits in shown:
        score = np.concatenate([split.score for split in splits])
        if score.min() < 0 or score.max() > 1:
            continue
        records = sorted(run.splits, key=lambda record: int(record["seed"]))
        pairs = zip(splits, records, strict=True)
        score = np.concatenate([unweighted_risk(run, one, own.score) for own, one in pairs])
        label = np.concatenate([split.label for split in splits])
        predicted, observed, count = reliability(label, score)
        points.append((run, predicted, observed, *wilson(observed, count), count))

    data = [
        (run.method, run.k, *map(float, line[:-1]), int(line[-1]))
        for run, *columns in points
        for line in zip(*columns, strict=True)
    ]
    return Figure(
        id=f"calibration_{dataset}",
        title=f"{dataset}: calibration",
        caption="Ten bins of equal width, test rows of all splits, with 95 % intervals (Wilson; a "
        "row in several splits counts each time). Class weights are taken out of the "
        "probabilities of weighted classifiers. Below: how many rows a bin holds. Methods that "
        "give decision values instead of probabilities are left out.",
        section=section,
        size=(5.2, 5.0),
        draw=lambda canvas: _draw_calibration(canvas, points),
        head=("method", "k", "predicted", "observed", "low", "high", "rows"),
        data=data,
        seen="; ".join(
            f"{run_label(run)}: mean distance from the diagonal {_distance(columns):.3f}"
            for run, *columns in points
        ),
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
