"""From how many patients on a rule finds planted clusters, and what offering them costs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.judge.by_size import EACH, HIGHEST, ONE_ERROR, THREE_TESTS
from deepcac_study.report.declarations import declared_figure

NAMES = {
    THREE_TESTS: "three tests",
    ONE_ERROR: "one standard error",
    HIGHEST: "highest mean",
    EACH: "best of one split",
}
# Worth of what is planted, in AUROC; the third is "about .02", as the plan counts it.
NOTHING, LITTLE, ABOUT, MUCH = BANDS = ("nothing", "below 0.012", "0.012 to 0.030", "above 0.030")
_EDGES = (-np.inf, 0.0, 0.012, 0.030, np.inf)
_MARKS = ("x", "v", "o", "s")
_PANELS = (THREE_TESTS, ONE_ERROR, HIGHEST)
_COLUMNS = ("rule", "planted", "rows", "clinics", "taken", "gain")


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row a rule, worth and size: clinics, share that takes clusters, mean gain."""
    worth = table["worth"].where(table["strength"] > 0, 0.0)
    bands = pd.cut(worth, _EDGES, labels=list(BANDS)).astype(str)
    groups = table.assign(planted=bands).groupby(["rule", "planted", "rows"], sort=False)
    found = groups.agg(clinics=("draw", "size"), taken=("taken", "mean"), gain=("gain", "mean"))
    rows = found.reset_index()[list(_COLUMNS)]
    return rows.sort_values(["rule", "planted", "rows"], ignore_index=True)


def size_figure(table: pd.DataFrame) -> Figure:
    """Return the share of clinics that take clusters, and the gain, against their size."""
    points = shares(table)
    return declared_figure(
        "by_size",
        size=(9.6, 5.4),
        draw=lambda canvas: _draw(canvas, points),
        data=points.to_numpy().tolist(),
        seen=f"{points['clinics'].sum() // points['rule'].nunique():,} clinics with "
        f"{points['rows'].min():,} to {points['rows'].max():,} patients",
        columns=_COLUMNS,
    )


def _draw(canvas: Canvas, points: pd.DataFrame) -> None:
    axes = canvas.subplots(2, len(_PANELS), sharex=True, sharey="row", squeeze=False)
    for column, rule in enumerate(_PANELS):
        upper, lower = axes[:, column]
        upper.axhline(0.8, color="#888888", linewidth=0.8, linestyle=":")
        lower.axhline(0, color="#888888", linewidth=0.8)
        for colour, mark, band in zip(PALETTE, _MARKS, BANDS, strict=False):
            rows = points[(points["rule"] == rule) & (points["planted"] == band)]
            style = {"marker": mark, "color": colour, "markersize": 5, "linewidth": 1.2}
            upper.plot(rows["rows"], rows["taken"], label=band, **style)
            lower.plot(rows["rows"], rows["gain"], **style)
        upper.set(title=NAMES[rule], ylim=(-0.04, 1.04))
        lower.set(xscale="log", xlabel="patients")
        lower.set_yscale("symlog", linthresh=0.01)
    axes[0][0].set_ylabel("share that takes clusters")
    axes[1][0].set_ylabel("change of AUROC, unseen patients")
    axes[0][0].legend(title="worth", loc="upper left", fontsize="x-small", title_fontsize="x-small")
