"""What offering clusters, and random groups, costs a tuned model, by the size of a cohort."""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from deepcac.judging.contenders import CAC, KM
from deepcac.judging.questions import HELP
from deepcac.judging.random_partitions import MEAN
from deepcac.pages.figures import PALETTE, Figure
from deepcac_study.judge.clinical_tasks import PARTITION
from deepcac_study.judge.tables.over_tables import MAIN
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.judge.judge_figures import contender_label

# What is offered: mark and name.
OFFERS = {CAC: ("o", "CAC"), KM: ("s", "k-means"), MEAN: ("x", "random groups, on average")}
SMALL = 2500  # rows; a smaller task has 30 resamples in the plan
_COLUMNS = ("learner", "offer", "cohort", "rows", "mean")


def prices(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the mean change of AUROC by offering groups, a row a learner, offer and cohort.

    Tables that share patients are one cohort, as large as the largest of its tasks.
    """
    counted = tasks[~tasks["apart"].astype(bool)].set_index("dataset")
    asked = verdicts["question"].isin([HELP.id, PARTITION.id]) & (verdicts["metric"] == MAIN)
    plain = verdicts["alpha"].fillna("").eq("") & verdicts["dataset"].isin(counted.index)
    rows = verdicts[asked & plain]
    offer = rows["contender"].str.rpartition("_")[0]
    rows = rows.assign(offer=offer, learner=rows["reference"])[offer.isin(OFFERS)]
    rows = rows.join(counted[["cohort", "rows"]], on="dataset")
    groups = rows.groupby(["learner", "offer", "cohort"], as_index=False, sort=False)
    return groups.agg(rows=("rows", "max"), mean=("mean", "mean"))[list(_COLUMNS)]


def price_figure(verdicts: pd.DataFrame, tasks: pd.DataFrame) -> Figure | None:
    """Return the prices against the size of the cohort, a panel a learner; None without any."""
    points = prices(verdicts, tasks)
    if points.empty:
        return None
    learners = list(dict.fromkeys(points["learner"]))
    ends = [f"{points['mean'].min():+.3f}", f"{points['mean'].max():+.3f}"]
    return declared_figure(
        "clinical_price",
        size=(1.2 + 3.4 * len(learners), 4.0),
        draw=lambda canvas: _draw(canvas, points, learners),
        data=points.to_numpy().tolist(),
        seen=f"{points['cohort'].nunique()} cohorts with {points['rows'].min():,} to "
        f"{points['rows'].max():,} rows; changes from {ends[0]} to {ends[1]}",
        columns=_COLUMNS,
    )


def _draw(canvas: Canvas, points: pd.DataFrame, learners: list[str]) -> None:
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
