"""What the judge found on tables of one job each, as small tables that may be kept and a figure."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from deepcac.files.atomic import atomic_path
from deepcac.files.storage import read_json
from deepcac.pages.figures import PALETTE, Figure, as_svg
from deepcac.scoring.margins import MARGIN
from deepcac_study.judge import study_files
from deepcac_study.judge.power_curve import on_cohorts
from deepcac_study.judge.tables.helping import (
    PLANTED,
    TABLE,
    planted_points,
    rules,
    table_points,
)
from deepcac_study.judge.tables.over_tables import (
    over_tables,
    read_tables,
    table_means,
    table_risks,
    table_scores,
    table_verdicts,
)
from deepcac_study.report.declarations import declared_figure
from deepcac_study.report.kept.run_snapshot import open_records

TABLES, VERDICTS, RISKS = "judge_tables", "judge_table_verdicts", "judge_table_risks"
OVER, POINTS, RULES = "judge_over_tables", "judge_helping", "judge_rules"
KEPT = (TABLES, VERDICTS, RISKS, OVER, POINTS, RULES)
_NEW = "uci_"  # at the beginning of the names of the twenty sets of class decomposition
_NAMED = 0.01  # gains of this size have their names beside them
_COLUMNS = ("dataset", "kind", "advantage", "gain")


def kept_tables(
    results: Path, resamples: pd.DataFrame, verdicts: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of `KEPT`, all empty where no table has run in a folder ``results``.

    `resamples` and `verdicts` are of the data sets that are judged with full effort.
    """
    study = results / Path(study_files.FOLDER).name
    table_paths, planted = (
        open_records(results, f"{study.name}/{part}/*.json")
        for part in (study_files.TABLES, study_files.PLANTED)
    )
    records = read_tables(table_paths)
    if not records:
        return {name: pd.DataFrame() for name in KEPT}
    scores = table_scores(records)
    compared = table_verdicts(scores)
    # A data set that is judged both ways counts once, as the table where all contenders meet.
    older = resamples[~resamples["dataset"].isin(scores["dataset"])]
    points = table_points(pd.concat([older, scores], ignore_index=True))
    generated = planted_points(on_cohorts([read_json(path) for path in planted]))
    return {
        TABLES: table_means(records, scores),
        VERDICTS: compared,
        RISKS: table_risks(records),
        OVER: over_tables(verdicts, compared),
        POINTS: pd.concat([points, generated], ignore_index=True),
        RULES: rules(points).replace(np.inf, np.nan),  # no threshold: never
    }


def draw_helping(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    """Draw the gain of clusters against the trees' advantage, with the rule of all tables."""
    if tables[RULES].empty:
        return
    thresholds = tables[RULES].set_index(["way", "statistic"])["threshold"]
    threshold = float(thresholds.get(("tables", "advantage"), np.inf))
    figure = helping_figure(tables[POINTS], MARGIN, threshold)
    write_picture(figure, folder)


def write_picture(figure: Figure, folder: Path) -> None:
    """Write a figure as ``folder/id.svg``."""
    with atomic_path(folder / f"{figure.id}.svg") as partial:
        partial.write_text(as_svg(figure), encoding="utf-8")


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
