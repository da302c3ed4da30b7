"""The answer as a picture: what clusters add to each learner, data set by data set."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from deepcac.judging.contenders import CAC, DISTANCES, KM, parse_contender
from deepcac.pages.figures import VERDICT_COLOURS, Figure
from deepcac.scoring.equivalence import NEVER
from deepcac_study.report.contender_names import contender_label

VERDICTS = tuple(VERDICT_COLOURS)
_ARMS = {
    CAC: ("o", "a model in each CAC cluster"),
    KM: ("s", "in each k-means cluster"),
    DISTANCES: ("D", "distances to k-means centres"),
}
_LATENT = ("^", "clusters of latents")
_APART = 0.22  # rows between two arms of one data set


def verdict_forest(rows: pd.DataFrame, margin: float) -> Figure:
    """Return differences with their intervals, a panel for each learner without clusters.

    Parameters
    ----------
    rows : DataFrame
        Comparisons of one question and metric (`deepcac.judging.verdicts.verdicts`).
    margin : float
        Differences up to this are of no account.
    """
    ordered = rows.sort_values(["dataset", "reference", "contender"])
    columns = ("dataset", "contender", "reference", "verdict", "mean", "low", "high")
    n_datasets, n_panels = ordered["dataset"].nunique(), ordered["reference"].nunique()
    return Figure(
        id="judge_forest",
        title="Do clusters help a tuned learner?",
        caption="AUROC with clusters less AUROC without, mean over the resamples with its 95 % "
        "interval; in the grey band a difference is of no account. Hollow: clusters were offered "
        "and chosen in no resample, so both sides are one model.",
        section="judge",
        size=(max(7.6, 2.6 + 2.9 * n_panels), 1.5 + 0.42 * n_datasets),  # both legends fit
        draw=lambda canvas: _draw(canvas, ordered, margin),
        head=columns,
        data=ordered[list(columns)].to_numpy().tolist(),
        seen=f"{len(ordered)} differences from {ordered['mean'].min():+.3f} to "
        f"{ordered['mean'].max():+.3f}; "
        + ", ".join(f"{(ordered['verdict'] == name).sum()} {name}" for name in VERDICT_COLOURS),
    )


def _draw(canvas: Canvas, rows: pd.DataFrame, margin: float) -> None:
    datasets = sorted(rows["dataset"].unique())
    references = _references(rows)
    panels = canvas.subplots(1, len(references), sharex=True, sharey=True, squeeze=False)[0]
    for axis, reference in zip(panels, references, strict=True):
        axis.axvspan(-margin, margin, color="#e3e6ea", linewidth=0)
        axis.axvline(0, color="#888888", linewidth=0.8)
        _panel(axis, rows[rows["reference"] == reference], datasets)
        axis.set_title(f"{contender_label(str(reference))}, tuned", fontsize="medium")
        axis.xaxis.set_major_locator(MaxNLocator(4))
        axis.set(ylim=(len(datasets) - 0.5, -0.5))
    panels[0].set_yticks(range(len(datasets)), datasets)
    canvas.supxlabel("AUROC with clusters less AUROC without", fontsize="medium")
    marks, colours = _keys(rows)
    canvas.legend(handles=marks, loc="outside upper left", ncols=2, fontsize="small")
    canvas.legend(handles=colours, loc="outside upper right", ncols=2, fontsize="small")


def _references(rows: pd.DataFrame) -> list[str]:
    """Return the learners without clusters, those with the most comparisons first."""
    count = rows["reference"].value_counts()
    return sorted(count.index, key=lambda name: (-count[name], contender_label(name)))


def _panel(axis: Axes, rows: pd.DataFrame, datasets: list[str]) -> None:
    arms = [*_ARMS, ""]
    for row in rows.to_dict("records"):
        arm = parse_contender(str(row["contender"])).arm
        colour = VERDICT_COLOURS[str(row["verdict"])]
        mean, low, high = (float(row[name]) for name in ("mean", "low", "high"))
        compared = row["verdict"] != NEVER
        axis.errorbar(
            mean,
            datasets.index(str(row["dataset"])) + _APART * (arms.index(arm) - 1),
            xerr=np.array([[mean - low], [high - mean]]) if compared else None,
            fmt=_ARMS.get(arm, _LATENT)[0],
            color=colour,
            markerfacecolor=colour if compared else "none",
            markersize=4,
            elinewidth=1.2,
        )


def _keys(rows: pd.DataFrame) -> tuple[list[Line2D], list[Line2D]]:
    """Return the marks of the arms that are there, and the colours of the verdicts."""
    present = {parse_contender(str(name)).arm for name in rows["contender"]}
    marks = [shown for arm, shown in [*_ARMS.items(), ("", _LATENT)] if arm in present]
    shapes = [
        Line2D([], [], marker=mark, color="#555555", linestyle="", label=label)
        for mark, label in marks
    ]
    counts = rows["verdict"].value_counts()
    colours = [
        Line2D([], [], color=colour, linewidth=3, label=f"{name} ({counts.get(name, 0)})")
        for name, colour in VERDICT_COLOURS.items()
    ]
    return shapes, colours
