"""Supervised k-means in the report: losses, training times, K before and after learning."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure as Canvas

from deepcac.pages.drawing import draw_heat
from deepcac.pages.figures import MARKERS, PALETTE, Figure
from deepcac.pages.tables import Table, text_row
from deepcac_study.records.clusterings import ClusteringRun, Clusterings, Measured
from deepcac_study.report.declarations import declared_figure, declared_table

_METHODS = {"iterative": "Iterative", "spectral": "Spectral", "pair": "Pair", "none": "None"}
_AXES = {
    "clusterings": "example clusterings n",
    "clusters": "clusters k",
    "features": "features N",
    "points": "points in a cluster m / k",
}


def learning_tables(clusterings: Clusterings) -> list[Table]:
    """Return tables of losses on all data sets, and of training; [] without a run."""
    if not clusterings.runs:
        return []
    names = {run.dataset: run.names for run in reversed(clusterings.runs)}
    rows = [
        text_row(name, test, *(_loss(clusterings.find(name, method), place) for method in _METHODS))
        for name in clusterings.datasets()
        for place, test in enumerate(names[name])
    ]
    losses = declared_table("skmeans_losses", rows, columns=_METHODS.values())
    return [losses, _effort(clusterings.runs)]


def _loss(run: ClusteringRun | None, place: int) -> str:
    """Return the loss on a fold, mean ± sd over repeats, with the C and predictor chosen."""
    if run is None:
        return "–"
    losses = run.losses[:, place]
    spread = f" ± {losses.std(ddof=1):.1f}" if len(losses) > 1 else ""
    if run.method == "none":
        return f"{losses.mean():.1f}{spread}"
    fold = run.record["repeats"][0]["folds"][place]
    return f"{losses.mean():.1f}{spread} ({fold['C']:g}, {fold['predictor'][0].upper()})"


def _effort(runs: Sequence[ClusteringRun]) -> Table:
    rows = []
    for run in runs:
        folds = [fold for repeat in run.record["repeats"] for fold in repeat["folds"]]
        seconds = run.record["machine"]["seconds"]
        means = [np.mean([fold[key] for fold in folds]) for key in ("n_iter", "n_oracle_calls")]
        rows.append(
            text_row(
                run.dataset,
                _METHODS[run.method],
                sum(repeat["n_fits"] for repeat in run.record["repeats"]),
                sum(repeat["n_unfinished"] for repeat in run.record["repeats"]),
                *(f"{mean:.1f}" for mean in means),
                *(f"{seconds[key]:.1f}" for key in ("longest_training", "total")),
            )
        )
    return declared_table("skmeans_effort", rows)


def learning_figures(clusterings: Clusterings) -> list[Figure]:
    """Return the figures of training times and similarities, if they were measured."""
    figures = [_times(clusterings.times)] if clusterings.times else []
    return [*figures, _similarity(clusterings.checks)] if clusterings.checks else figures


def _times(times: Measured) -> Figure:
    keys = ("axis", "value", "oracle", "set", "seconds", "n_iter", "n_oracle_calls", "converged")

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(2, len(_AXES))
        for column, (axis, label) in zip(axes.T, _AXES.items(), strict=True):
            for panel, key in zip(column, ("seconds", "n_iter"), strict=True):
                for place, oracle in enumerate(("iterative", "spectral")):
                    colour, mark = PALETTE[place], MARKERS[place]
                    rows = times.rows("rows", axis=axis, oracle=oracle)
                    x = sorted({row["value"] for row in rows})
                    by_value = [[row[key] for row in rows if row["value"] == value] for value in x]
                    for value, points in zip(x, by_value, strict=True):
                        panel.plot([value] * len(points), points, ".", ms=3, color=colour)
                    mean = [np.mean(points) for points in by_value]
                    panel.plot(x, mean, marker=mark, ms=4, color=colour, label=_METHODS[oracle])
            column[1].set(xlabel=label)
        axes[0, 0].set(ylabel="CPU seconds")
        axes[1, 0].set(ylabel="passes")
        axes[0, 0].legend()

    record = times.record
    return declared_figure(
        "skmeans_times",
        size=(12, 5),
        draw=draw,
        data=[[row[key] for key in keys] for row in record["rows"]],
        keys=keys,
        **{key: record[key] for key in ("C", "n_sets", "epsilon", "max_iter")},
    )


def _similarity(checks: Measured) -> Figure:
    parts = checks.record["similarity"]
    panels = {"equal weights": parts["before"], "learnt weights": parts["after"]}

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots(1, 2)
        for axis, (title, values) in zip(axes, panels.items(), strict=True):
            K = np.array(values)
            limit = float(np.abs(K).max())
            image = draw_heat(axis, K, (), (), ends=(-limit, limit))
            axis.set(title=title, xlabel="item", ylabel="item", aspect="equal")
            canvas.colorbar(image, ax=axis)

    return declared_figure(
        "skmeans_similarity",
        size=(8, 3.6),
        draw=draw,
        data=[
            [i, j, *(values[i][j] for values in panels.values())]
            for i in range(len(parts["label"]))
            for j in range(len(parts["label"]))
        ],
        panels=panels,
    )
