"""Clinical tasks in the report: the sentence, the tables and the forest; all numbers are made up."""

import pandas as pd
import pytest

from deepcac.pages.tables import grid
from deepcac_study.catalogue.judge_plan import POOLINGS
from deepcac_study.report.judge.clinical_forest import (
    clinical_answer,
    clinical_forests,
    load_clinical,
)
from deepcac_study.report.judge.clinical_pages import clinical_gains, clinical_tables
from deepcac_study.report.judge.gain_figures import mean_auroc_changes

REFERENCES = {"help": "lr", "random": "mean_of_cells_lr", "bent": "spline_lr"}


def verdict(question, dataset, contender, mean, word, alpha="", **changed):
    return {
        "question": question, "metric": "auroc", "dataset": dataset, "contender": contender,
        "alpha": alpha, "reference": REFERENCES.get(question, "lr"), "verdict": word,
        "mean": mean, "low": mean - 0.01, "high": mean + 0.01, "margin": 0.01, "excluded": "yes",
        "excluded_strict": "no", "excluded_together": "no", "resamples": 10,
    } | changed  # fmt: skip


TASKS = pd.DataFrame(
    {
        "dataset": ["rhc", "nhefs", "stroke"],
        "cohort": ["rhc", "nhefs", "stroke"],
        "apart": [False, False, True],
        "status": ["finished", "finished", "moe"],
        "rows": [5735, 1629, None],
        "resamples": [10, 30, None],
        "minutes": [9.5, 4.0, None],
    }
)
VERDICTS = pd.DataFrame(
    [
        *(verdict(q, "rhc", "km_lr", 0.02, "better") for q in REFERENCES),
        *(verdict(q, "rhc", "cac_lr", 0.005, "undecided", "above 0") for q in REFERENCES),
        *(verdict(q, "nhefs", "km_lr", -0.03, "worse") for q in REFERENCES),
        verdict("bend", "rhc", "spline_lr", 0.015, "better"),
        verdict("bend_offered", "rhc", "offered_spline_lr", 0.004, "undecided"),
        verdict("partition", "rhc", "mean_of_cells_lr", -0.004, "equivalent"),
        verdict("help", "nhefs", "dist_lr", 0.0, "never chosen", low=float("nan"), high=float("nan"),
                excluded=None, excluded_strict=None, excluded_together=None),
    ]
)  # fmt: skip
DECISIONS = pd.DataFrame(
    {
        "dataset": ["rhc", "nhefs"],
        "contender": ["km_lr", "km_lr"],
        "alpha": [None, None],  # as an empty text is read
        "helps": [True, False],
    }
)
POOLED = pd.DataFrame(
    [
        {"question": question, "metric": "auroc", "contender": "km_lr", "alpha": "",
         "reference": REFERENCES[question], "tasks": 2, "cohorts": 2, "pooling": pooling,
         "floor": floor, "mean": 0.001 + place + 9 * (not floor), "low": -0.01, "high": 0.012, "tau": 0.0}
        for question in REFERENCES for place, pooling in enumerate(POOLINGS)
        for floor in ((True, False) if pooling == "cohort" else (True,))
    ]
)  # fmt: skip


@pytest.fixture
def paths(tmp_path):
    tables = {"tasks": TASKS, "verdicts": VERDICTS, "decisions": DECISIONS, "pooled": POOLED}
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return [tmp_path / f"{name}.csv" for name in tables]


def test_the_answer_names_where_clusters_help_and_what_has_not_finished(paths):
    judged = load_clinical(paths)
    said = clinical_answer(judged.decisions, judged.tasks)
    assert said.startswith("Clusters beat all three")
    assert "on 1 of 2 clinical tasks: rhc (LR in k-means clusters)" in said
    assert said.endswith("Not finished: stroke.")
    nowhere = judged.decisions.assign(helps="false")
    assert "no clinical task, of 2" in clinical_answer(nowhere, judged.tasks)


def test_a_row_of_cac_above_0_does_not_decide(paths):
    judged = load_clinical(paths)
    above = judged.decisions.assign(alpha="above 0")
    assert "no clinical task" in clinical_answer(above, judged.tasks)


def test_what_was_not_judged_is_not_shown(paths):
    assert load_clinical(paths[:3]) is None
    assert clinical_tables(None) == clinical_forests(None) == []


def test_the_forest_has_every_kind_less_each_reference_and_the_pooled_estimates(paths):
    figure, price = clinical_forests(load_clinical(paths))  # nothing of LightGBM has run
    assert price.id == "clinical_price"
    assert figure.id == "clinical_forest_lr"
    drawn = [(row[0], row[1], row[2], row[3]) for row in figure.data]
    assert len(drawn) == len(set(drawn)) == 9 + 3
    assert ("bent", "rhc", "cac_lr", "above 0") in drawn
    assert ("random", "pooled", "km_lr", "") in drawn
    assert "in each k-means cluster minus splines: +0.0010" in figure.seen


def test_a_cell_has_three_gains_and_beside_them_what_bends_a_line(paths):
    text = grid(clinical_gains(load_clinical(paths).verdicts, "lr"))
    (rhc,) = [line for line in text.splitlines() if line.startswith("| rhc")]
    assert "**+0.0200** / **+0.0200** / **+0.0200**" in rhc
    assert "| -0.0040 |" in rhc
    assert rhc.endswith("**+0.0150** / *+0.0040* |")  # must be used, may be declined
    (nhefs,) = [line for line in text.splitlines() if line.startswith("| nhefs")]
    assert "| – |" in nhefs


def test_the_report_has_a_table_of_each_kind_and_tells_what_is_excluded(paths):
    tables = {table.id: table for table in clinical_tables(load_clinical(paths))}
    assert list(tables) == [  # nothing of LightGBM has run
        "clinical_tasks", "clinical_gains_lr", "clinical_pooled_lr", "clinical_verdicts",
    ]  # fmt: skip
    lacking = {row[0].text: row[5].text for row in tables["clinical_tasks"].rows}
    assert lacking == {"rhc": "", "nhefs": "", "stroke": "moe"}
    pooled = [[cell.text for cell in row] for row in tables["clinical_pooled_lr"].rows]
    assert pooled[0][2:] == ["2", *(f"+{place}.0010 (-0.0100 to +0.0120)" for place in range(5))]
    shown = [[cell.text for cell in row][-3:] for row in tables["clinical_verdicts"].rows]
    assert shown[0] == ["yes", "no", "no"]
    assert ["", "", ""] in shown


def test_prices_are_means_over_the_tasks_of_a_cohort():
    tasks = TASKS.assign(cohort=["one", "one", "stroke"])
    rows = [
        verdict("help", "rhc", "cac_lr", -0.01, "worse"),
        verdict("help", "nhefs", "cac_lr", -0.03, "worse"),
        verdict("help", "stroke", "cac_lr", -0.9, "worse"),
        verdict("help", "rhc", "cac_lr", -0.9, "worse", "above 0"),
        verdict("help", "rhc", "dist_lr", -0.9, "worse"),
        verdict("partition", "rhc", "mean_of_cells_lr", -0.04, "worse"),
    ]
    found = mean_auroc_changes(pd.DataFrame(rows), tasks)
    assert found[["offer", "rows", "mean"]].to_numpy().tolist() == [
        ["cac", 5735, pytest.approx(-0.02)],
        ["mean_of_cells", 5735, pytest.approx(-0.04)],
    ]


def test_what_was_added_after_the_plan_has_a_row_per_task_and_model(paths, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    gain = {"metric": "auroc", "low": -0.001, "high": 0.012}
    cohorts = [
        {"question": "help", "dataset": "gusto", "contender": "km_lr", "verdict": "better", "mean": 0.006, **gain},
        {"question": "random", "dataset": "gusto", "contender": "km_lr", "verdict": "undecided", "mean": 0.004, **gain},
        {"question": "help", "dataset": "gusto", "contender": "dist_lr", "verdict": "never chosen", "mean": 0.0, **gain},
    ]  # fmt: skip
    pd.DataFrame(cohorts).to_csv(kept / "added_cohorts.csv", index=False)
    tables = {table.id: table for table in clinical_tables(load_clinical(paths, kept))}
    assert "clinical_on_splines" not in tables  # its table does not ship
    rows = [[cell.text for cell in row] for row in tables["clinical_cohorts"].rows]
    assert rows == [
        ["gusto", rows[0][1], "+0.0060 (-0.0010 to +0.0120)", "+0.0040 (-0.0010 to +0.0120)", "–"],
        ["gusto", rows[1][1], "never chosen", "–", "–"],
    ]  # fmt: skip
    assert rows[0][1] != rows[1][1]

    own = tmp_path / "cohorts.csv"  # of a run here: it comes before the one that ships
    pd.DataFrame(cohorts[:1]).to_csv(own, index=False)
    for archive in (None, kept):
        tables = {
            table.id: table for table in clinical_tables(load_clinical([*paths, own], archive))
        }
        assert len(tables["clinical_cohorts"].rows) == 1
