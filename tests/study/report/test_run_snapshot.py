"""The papers' runs in the snapshot, and the tables that pages make of them."""

import json

import pandas as pd
import pytest
from tests.support.report_runs import write_run

from deepcac.errors import ConfigError
from deepcac_study.report.kept.markdown_tables import renew
from deepcac_study.report.kept.run_snapshot import (
    LEDGER,
    RUNS,
    SUMMARY,
    report_table,
    run_table,
    split_table,
)


def lines(asked, table, found):
    made = renew(f"<!-- from the snapshot: {asked} -->\n<!-- end -->\n", {table: found})
    return made.splitlines()[1:-1]


@pytest.fixture
def found(tmp_path):
    """Runs of three protocols; and one each of generated, restricted and own data."""
    results = tmp_path / "results"
    write_run(results, "cic", "km_lr", 2)
    write_run(results, "cic", "deepcac", 3, protocol="D6", seeds=(4,), strength=2.0)
    write_run(results, "cic", "lr", 1, protocol="as_published_cv5", status="timeout")
    write_run(results, "demo_cic", "km_lr", 2, synthetic=True)
    write_run(results, "ards", "km_lr", 2)
    write_run(results, "our_ward", "km_lr", 2)
    other = results / "theory" / "cic_k2.json"
    other.parent.mkdir()
    other.write_text("{}")
    return run_table(split_table(results))


def test_a_table_of_the_report_is_kept_without_rows_of_other_data(tmp_path):
    place = tmp_path / "report" / "tables" / "switches.csv"
    place.parent.mkdir(parents=True)
    rows = ['A1,"all, at once",', "A1,mine,cic", "A1,mine,ards", "A1,mine,our_ward"]
    place.write_text("\n".join(["switch,what,data set", *rows, ""]))
    assert report_table(tmp_path, "switches").splitlines() == [
        "switch,what,data set",
        *rows[:2],
    ]


def test_open_runs_of_the_papers_data_have_a_row(found, tmp_path):
    keys = [tuple(row) for row in found[["protocol", "dataset", "method", "k"]].to_numpy()]
    assert keys == [
        ("sound", "cic", "km_lr", 2),
        ("D6", "cic", "deepcac", 3),
        ("as_published_cv5", "cic", "lr", 1),
    ]
    record = json.loads((tmp_path / "results/cic/km_lr_k2.json").read_text())
    scores = pd.Series([split["metrics"]["auroc"] for split in record["splits"]])
    row = found.iloc[0]
    assert (row["auroc"], row["auroc_sd"]) == pytest.approx((scores.mean(), scores.std()))
    assert row["splits"] == 3
    assert pd.isna(found.iloc[2]["f1"])


def test_runs_without_scores_alone_are_a_table_too(tmp_path):
    results = tmp_path / "results"
    assert run_table(split_table(results)).empty
    write_run(results, "cic", "lr", 1, status="timeout")
    (row,) = run_table(split_table(results)).to_dict("records")
    assert (row["method"], row["status"], row["splits"]) == ("lr", "timeout", 3)
    assert pd.isna(row["auroc"])


def test_a_table_of_runs_shows_deviations_where_there_are_several_splits(found):
    text = "runs auroc+-/f1 cic,adult km_lr:2 deepcac:3@D6 lr:1@as_published_cv5 fnn:1"
    known = found.assign(auroc=0.8126, auroc_sd=0.0043, f1=0.25)
    assert lines(text, RUNS, known) == [
        "|  | cic | adult |",
        "| --- | ---: | ---: |",
        "| KM+LR, k = 2 | 0.813 +- 0.004 / 0.250 |  |",
        "| DeepCAC, k = 3, switch D6 | 0.813 / 0.250 |  |",
        "| LR, as published, 5-fold | 0.813 +- 0.004 / 0.250 |  |",
        "| FNN |  |  |",
    ]
    with pytest.raises(ConfigError, match="no run 'fnn'; write method:k"):
        lines("runs f1 cic fnn", RUNS, known)


def test_printed_cells_stand_beside_ours_in_the_order_of_k():
    columns = ("paper", "table", "dataset", "method", "item", "k", "printed", "as_published")
    rows = [
        ("deepcac", "2", "CIC", "KM-Z", "auprc", 3, 0.527, 0.575),
        ("deepcac", "2", "CIC", "KM-Z", "auprc", 2, 0.568, 0.593),
        ("deepcac", "2", "CIC", "AC-TPC", "auprc", 2, None, 0.695),
        ("deepcac", "2", "CIC", "KM-Z", "auc", 2, 0.1, 0.1),
        ("deepcac", "3", "CIC", "KM-Z", "auprc", 2, 0.2, 0.2),
        ("deepcac", "2", "Sepsis", "KM-Z", "auprc", 2, 0.3, 0.3),
    ]
    ledger = pd.DataFrame(rows, columns=columns)
    assert lines("printed deepcac 2 CIC auprc", LEDGER, ledger) == [
        "| k = 2 3 | printed | as published |",
        "| --- | ---: | ---: |",
        "| KM-Z | 0.568 0.527 | 0.593 0.575 |",
        "| AC-TPC | - | 0.695 |",
    ]


def test_counts_of_cells_are_those_of_the_summary():
    papers = ("cac_v1", "cac_v2", "skmeans", "deepcac", "classdecomp", "all")
    rows = [
        ("cells", paper, group, quantity, place)
        for group, names in (
            ("independent", ("printed", "open", "agree", "differ", "not_run")),
            ("derived", ("printed",)),
        )
        for paper in papers
        for place, quantity in enumerate(names)
    ]
    rows += [("cells", paper, "independent", "null_rate", 0.1664) for paper in papers[:-1]]
    rows.append(("cells", "all", "independent", "null_rate", None))
    counts = pd.DataFrame(rows, columns=["part", "paper", "group", "quantity", "value"])
    made = lines("cells", SUMMARY, counts)
    assert "| CAC v1 | 0 | 1 | 2 | 3 | 4 | 0.166 | - | - | - |" in made
    assert made[-1] == "| all five | 0 | 1 | 2 | 3 | 4 | - | - | - | - |"


def test_tables_of_the_report_are_taken_as_they_are(tmp_path):
    (tmp_path / "report" / "tables").mkdir(parents=True)
    (tmp_path / "report" / "ledger.csv").write_text("paper\ncac_v1\n")
    (tmp_path / "report" / "tables" / "switches.csv").write_text("switch\nA1\n")
    assert report_table(tmp_path, LEDGER) == "paper\ncac_v1\n"
    assert report_table(tmp_path, "switches") == "switch\nA1\n"
    assert report_table(tmp_path, "k_choice") == ""
