"""When do clusters help logistic regression? A point a table, against the lead of boosted trees."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.judge.tables.helping import PLANTED, TABLE
from deepcac_study.report.declarations import declared_figure

_NEW = "uci_"  # at the beginning of the names of the twenty sets of class decomposition
_NAMED = 0.01  # gains of this size have their names beside them
_COLUMNS = ("dataset", "kind", "advantage", "gain")


def helping_figure(points: pd.DataFrame, margin: float, threshold: float) -> Figure:
    """Return the gain of CAC's clusters for logistic regression against the trees' advantage.

    `points` are those of `table_points` and `planted_points`. Gains up to `margin` are negligible;
    above `threshold` the rule says that clusters help, never if it is infinite.
    """
    ordered = points.sort_values(["kind", "dataset"])
    tables = ordered[ordered["kind"] == TABLE]
    rule = f"above {threshold:.3f}" if np.isfinite(threshold) else "never"
    return declared_figure(
        "judge_helping",
        size=(7.2, 4.6),
        draw=lambda canvas: _draw(canvas, ordered, margin, threshold),
        data=ordered[list(_COLUMNS)].to_numpy().tolist(),
        seen=f"{len(tables)} tables with gains from {tables['gain'].min():+.3f} to "
        f"{tables['gain'].max():+.3f}, {(tables['gain'] >= margin).sum()} of them {margin:g} or "
        f"more; the rule says that clusters help: {rule}",
        columns=_COLUMNS,
        rule=rule,
    )


def _draw(canvas: Canvas, points: pd.DataFrame, margin: float, threshold: float) -> None:
    axis = canvas.subplots()
    axis.axhspan(-margin, margin, color="#e3e6ea", linewidth=0)
    new = points["dataset"].str.startswith(_NEW)
    table = points["kind"] == TABLE
    _scatter(axis, points[table & ~new], "o", PALETTE[0], "nine data sets and summaries")
    _scatter(axis, points[table & new], "s", PALETTE[1], "sets of class decomposition")
    _scatter(axis, points[points["kind"] == PLANTED], "D", PALETTE[2], "planted cohorts")
    if np.isfinite(threshold):
        axis.axvline(threshold, color="#555555", linestyle="--", label="threshold of the rule")
    for row in points[points["gain"] >= _NAMED].to_dict("records"):
        name = str(row["dataset"]).removeprefix(_NEW)
        place = float(row["advantage"]), float(row["gain"])
        axis.annotate(name, place, xytext=(4, 3), textcoords="offset points", fontsize="x-small")
    axis.set(
        xlabel="AUROC of LightGBM less that of logistic regression, both tuned",
        ylabel="AUROC that CAC's clusters add to it",
    )
    axis.legend(loc="upper left")


def _scatter(axis: Axes, rows: pd.DataFrame, mark: str, colour: str, label: str) -> None:
    if len(rows):
        axis.scatter(rows["advantage"], rows["gain"], marker=mark, color=colour, s=22, label=label)
