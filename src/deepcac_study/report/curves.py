"""ROC and precision-recall curves from the per-row scores."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure as Canvas
from sklearn.metrics import precision_recall_curve, roc_curve

from deepcac.pages.figures import LINES, Figure
from deepcac.scoring.bootstrap import SplitScores
from deepcac_study.catalogue.methods import WELL_KNOWN, parse_method
from deepcac_study.experiments.finished import Run, Runs
from deepcac_study.report.calibration import calibration_figure
from deepcac_study.report.comparisons import split_scores
from deepcac_study.report.runtables import run_label

Array = npt.NDArray[np.float64]
_GRID = np.linspace(0, 1, 101)


def curve_figures(runs: Runs) -> list[Figure]:
    """Return ROC and PR curves and a calibration plot for each sound two-class data set."""
    figures = []
    for dataset, group in groupby(runs.where(protocol="sound", status="ok"), lambda r: r.dataset):
        shown = [(run, scores) for run in chosen(list(group)) if (scores := split_scores(run))]
        if shown:
            section = "synthetic" if shown[0][0].synthetic else "figures"
            figures += [draw(dataset, shown, section) for draw in (_roc_pr, calibration_figure)]
    return [figure for figure in figures if figure.data]


def chosen(runs: Sequence[Run], most: int = 6) -> list[Run]:
    """Return at most `most` runs of one data set: well known methods first, smallest k above 1."""
    best: dict[str, Run] = {}
    for run in runs:
        present = best.get(run.method)
        if run.method in WELL_KNOWN and (present is None or (present.k == 1 and run.k > 1)):
            best[run.method] = run
    return [best[method] for method in WELL_KNOWN if method in best][:most]


def roc(scores: SplitScores) -> Array:
    """Return the true positive rate of shape (101,) at false positive rates 0, 0.01 ... 1."""
    false, true, _ = roc_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, false, true)


def precision_recall(scores: SplitScores) -> Array:
    """Return the precision of shape (101,) at recalls 0, 0.01 ... 1."""
    precision, recall, _ = precision_recall_curve(scores.label == 1, scores.score)
    return np.interp(_GRID, recall[::-1], precision[::-1])


def _roc_pr(dataset: str, shown: list[tuple[Run, list[SplitScores]]], section: str) -> Figure:
    lines = [
        (kind, run, index, curve(split))
        for kind, curve in (("ROC", roc), ("PR", precision_recall))
        for run, splits in shown
        for index, split in enumerate(splits)
        if 0 < (split.label == 1).mean() < 1
    ]

    data = [
        (kind, run.method, run.k, index, float(x), float(y))
        for kind, run, index, values in lines
        for x, y in zip(_GRID, values, strict=True)
    ]
    return Figure(
        id=f"curves_{dataset}",
        title=f"{dataset}: ROC and precision-recall",
        caption="Thin lines: the splits. Thick lines: their mean. Positive class, sound protocol.",
        section=section,
        size=(8.4, 3.8),
        draw=lambda canvas: _draw_roc_pr(canvas, shown, lines),
        head=("curve", "method", "k", "split", "x", "y"),
        data=data,
    )


def _draw_roc_pr(
    canvas: Canvas,
    shown: Sequence[tuple[Run, list[SplitScores]]],
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
