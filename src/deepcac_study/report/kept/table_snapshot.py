"""What the judge found on tables of one job each, as small tables that may be kept."""

from pathlib import Path

import numpy as np
import pandas as pd

from deepcac.pages.figures import as_svg
from deepcac_study.judge.study_files import FOLDER
from deepcac_study.judge.tables.helping import planted_points, read_shapes, rules, table_points
from deepcac_study.judge.tables.over_tables import (
    MAIN,
    MARGINS,
    over_tables,
    read_tables,
    table_means,
    table_risks,
    table_scores,
    table_verdicts,
)
from deepcac_study.report.judge.helping_figure import helping_figure

TABLES, VERDICTS, RISKS = "judge_tables", "judge_table_verdicts", "judge_table_risks"
OVER, POINTS, RULES = "judge_over_tables", "judge_helping", "judge_rules"
KEPT = (TABLES, VERDICTS, RISKS, OVER, POINTS, RULES)


def kept_tables(
    results: Path, resamples: pd.DataFrame, verdicts: pd.DataFrame, power: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of `KEPT`, all empty where no table has run.

    Parameters
    ----------
    results : path-like
        Folder ``results`` of a run.
    resamples, verdicts : DataFrame
        Scores and comparisons of the data sets that are judged with full effort.
    power : DataFrame
        Of `power_curve`, of the planted cohorts.
    """
    study = results / Path(FOLDER).name
    records = read_tables(study)
    if not records:
        return {name: pd.DataFrame() for name in KEPT}
    scores = table_scores(records)
    compared = table_verdicts(scores)
    # A data set that is judged both ways counts once, as the table where all contenders meet.
    older = resamples[~resamples["dataset"].isin(scores["dataset"])]
    points = table_points(pd.concat([older, scores], ignore_index=True), read_shapes(study))
    return {
        TABLES: table_means(records, scores),
        VERDICTS: compared,
        RISKS: table_risks(records),
        OVER: over_tables(verdicts, compared),
        POINTS: pd.concat([points, planted_points(power)], ignore_index=True),
        RULES: rules(points).replace(np.inf, np.nan),  # no threshold: never
    }


def draw_helping(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    """Draw the gain of clusters against the trees' advantage, with the rule of all tables."""
    if tables[RULES].empty:
        return
    own = tables[RULES].set_index(["way", "statistic"])["threshold"]
    threshold = float(own.get(("tables", "advantage"), np.inf))
    figure = helping_figure(tables[POINTS], MARGINS[MAIN], threshold)
    (folder / f"{figure.id}.svg").write_text(as_svg(figure), encoding="utf-8")
