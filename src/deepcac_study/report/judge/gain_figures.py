"""Figures of gains from clusters: by table, by cohort size, and by clinic size."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import HELP
from deepcac.judging.random_partitions import MEAN
from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.judge.by_size import EACH, HIGHEST, ONE_ERROR, THREE_TESTS
from deepcac_study.judge.clinical_tasks import PARTITION
from deepcac_study.judge.tables.helping import PLANTED, TABLE
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.judge.judge_figures import contender_label

_NEW = "uci_"  # prefix of the twenty data sets of class decomposition
_NAMED = 0.01  # points with gains from this size on are labelled
_HELPING = ["dataset", "kind", "advantage", "gain"]
# What is offered: mark and name.
OFFERS = {CAC: ("o", "CAC"), KM: ("s", "k-means"), MEAN: ("x", "random groups, on average")}
SMALL = 2500  # rows; a smaller task has 30 resamples in the plan
_PRICES = ["learner", "offer", "cohort", "rows", "mean"]
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
_SHARES = ["rule", "planted", "rows", "clinics", "taken", "gain"]


def helping_figure(points: pd.DataFrame, margin: float, threshold: float) -> Figure:
    """Return the gain of CAC's clusters for logistic regression against the trees' advantage.

    `points` are those of `table_points` and `planted_points`. Gains up to `margin` are negligible;
    the rule predicts help above `threshold`, or never if it is infinite.
    """
    ordered = points.sort_values(["kind", "dataset"])
    tables = ordered[ordered["kind"] == TABLE]
    rule = f"above {threshold:.3f}" if np.isfinite(threshold) else "never"
    return declared_figure(
        "judge_helping",
        size=(7.2, 4.6),
        draw=lambda canvas: _draw_helping(canvas, ordered, margin, threshold),
        data=ordered[_HELPING].to_numpy().tolist(),
        seen=f"{len(tables)} tables with gains from {tables['gain'].min():+.3f} to "
        f"{tables['gain'].max():+.3f}, {(tables['gain'] >= margin).sum()} of them {margin:g} or "
        f"more; the rule says that clusters help: {rule}",
        columns=_HELPING,
        rule=rule,
    )


def _draw_helping(canvas: Canvas, points: pd.DataFrame, margin: float, threshold: float) -> None:
    """Draw gain over advantage of LightGBM; name the points of large gain."""
    axis = canvas.subplots()
    axis.axhspan(-margin, margin, color="#e3e6ea", linewidth=0)
    new = points["dataset"].str.startswith(_NEW)
    table = points["kind"] == TABLE
    groups = {
        "nine data sets and summaries": ("o", table & ~new),
        "sets of class decomposition": ("s", table & new),
        "planted cohorts": ("D", points["kind"] == PLANTED),
    }
    for colour, (name, (mark, chosen)) in zip(PALETTE, groups.items(), strict=False):
        if chosen.any():
            rows = points[chosen]
            look: Any = {"marker": mark, "color": colour, "s": 22, "label": name}
            axis.scatter(rows["advantage"], rows["gain"], **look)
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


def mean_auroc_changes(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the mean change of AUROC from offering groups, a row per learner, offer and cohort.

    Tables that share patients are one cohort, with the rows of its largest task. Columns are
    ``learner``, ``offer``, ``cohort``, ``rows`` and ``mean``.
    """
    counted = tasks[~tasks["apart"].astype(bool)].set_index("dataset")
    asked = verdicts["question"].isin([HELP.id, PARTITION.id]) & (verdicts["metric"] == MAIN)
    plain = verdicts["alpha"].fillna("").eq("") & verdicts["dataset"].isin(counted.index)
    rows = verdicts[asked & plain]
    offer = rows["contender"].str.rpartition("_")[0]
    rows = rows.assign(offer=offer, learner=rows["reference"])[offer.isin(OFFERS)]
    rows = rows.join(counted[["cohort", "rows"]], on="dataset")
    groups = rows.groupby(["learner", "offer", "cohort"], as_index=False, sort=False)
    return groups.agg(rows=("rows", "max"), mean=("mean", "mean"))[_PRICES]


def price_figure(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> Figure | None:
    """Return `mean_auroc_changes` against cohort size, a panel per learner; None without any."""
    points = mean_auroc_changes(verdicts, tasks)
    if points.empty:
        return None
    learners = list(dict.fromkeys(points["learner"]))
    ends = [f"{points['mean'].min():+.3f}", f"{points['mean'].max():+.3f}"]
    return declared_figure(
        "clinical_price",
        size=(1.2 + 3.4 * len(learners), 4.0),
        draw=lambda canvas: _draw_prices(canvas, points, learners),
        data=points.to_numpy().tolist(),
        seen=f"{points['cohort'].nunique()} cohorts with {points['rows'].min():,} to "
        f"{points['rows'].max():,} rows; changes from {ends[0]} to {ends[1]}",
        columns=_PRICES,
    )


def _draw_prices(canvas: Canvas, points: pd.DataFrame, learners: list[str]) -> None:
    """Draw the mean change of AUROC over cohort size, a panel per learner."""
    axes = canvas.subplots(1, len(learners), sharey=True, squeeze=False)[0]
    for axis, learner in zip(axes, learners, strict=True):
        axis.axhline(0, color="#888888", linewidth=0.8)
        for colour, (offer, (mark, label)) in zip(PALETTE, OFFERS.items(), strict=False):
            rows = points[(points["learner"] == learner) & (points["offer"] == offer)]
            axis.scatter(rows["rows"], rows["mean"], marker=mark, color=colour, s=22, label=label)
        axis.set_xscale("log")
        axis.set(title=contender_label(learner), xlabel="rows of the cohort")
    axes[0].set_ylabel("change of AUROC by offering groups")
    axes[0].legend(loc="lower right", fontsize="small")


def adoption_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often clinics adopt clusters, a row per rule, worth of the subgroup and size.

    Columns are ``rule``, ``planted``, ``rows``, ``clinics``, ``taken`` (share) and ``gain`` (mean).
    """
    worth = table["worth"].where(table["strength"] > 0, 0.0)
    bands = pd.cut(worth, _EDGES, labels=list(BANDS)).astype(str)
    groups = table.assign(planted=bands).groupby(["rule", "planted", "rows"], sort=False)
    summary = groups.agg(clinics=("draw", "size"), taken=("taken", "mean"), gain=("gain", "mean"))
    rows = summary.reset_index()[_SHARES]
    return rows.sort_values(["rule", "planted", "rows"], ignore_index=True)


def size_figure(table: pd.DataFrame) -> Figure:
    """Return the share of clinics that adopt clusters, and the gain, against their size."""
    points = adoption_rates(table)
    return declared_figure(
        "by_size",
        size=(9.6, 5.4),
        draw=lambda canvas: _draw_shares(canvas, points),
        data=points.to_numpy().tolist(),
        seen=f"{points['clinics'].sum() // points['rule'].nunique():,} clinics with "
        f"{points['rows'].min():,} to {points['rows'].max():,} patients",
        columns=_SHARES,
    )


def _draw_shares(canvas: Canvas, points: pd.DataFrame) -> None:
    """Draw adoption rates above, mean changes of AUROC below, a column per rule."""
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
