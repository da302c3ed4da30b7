"""Tables and sentences of pages are those that the tables of docs/results make."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from checkouts import PAGES

from deepcac.pages.tables import Table, grid
from deepcac.pages.wording import four, three
from deepcac_study.report.page_tables import BLOCKS, one_cluster, planted, prediction, renewed

PROJECT = Path(__file__).parents[3]
RESULTS = PROJECT / "docs" / "results"
QUOTING = [*PAGES, PROJECT / "paper" / "paper.md"]


@pytest.mark.parametrize("page", QUOTING, ids=lambda page: page.name)
def test_no_number_of_a_page_is_older_than_its_table(page):
    text = page.read_text(encoding="utf-8")
    assert renewed(text, RESULTS) == text


def test_every_block_is_on_a_page():
    text = "".join(page.read_text("utf-8") for page in QUOTING)
    assert set(re.findall("<!-- made of docs/results: ([^>]+) -->", text)) == set(BLOCKS)


@pytest.fixture
def changed(tmp_path):
    """Return what makes a block of tables in which some cells are others."""
    shutil.copytree(RESULTS, tmp_path, dirs_exist_ok=True, ignore=lambda *_: ["records"])

    def block(asked, name, column, value, **where):
        table = pd.read_csv(tmp_path / f"{name}.csv")
        rows = pd.Series(True, table.index)
        for key, wanted in where.items():
            rows &= table[key] == wanted
        assert rows.any()
        table.loc[rows, column] = value
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        return renewed(
            f"a\n<!-- made of docs/results: {asked} -->\nold\n<!-- end -->\nb\n", tmp_path
        )

    return block


def test_a_block_is_made_anew_and_nothing_else(changed):
    text = changed("headline", "headline", "sentence", "No.")
    assert text == "a\n<!-- made of docs/results: headline -->\nNo.\n<!-- end -->\nb\n"


def test_gains_that_are_excluded_are_counted_with_and_without_correction(changed):
    row = {"question": "forced", "metric": "auroc", "reference": "lgbm", "dataset": "cic"}
    text = changed("excluded", "judge_verdicts", "better", 0.9, **row)
    assert "| LightGBM | 27 | 23 | 18 | 25 | 9 | 12 of 27 |" in text


def test_a_pooled_gain_is_bold_where_it_excludes_0_however_cohorts_are_counted(changed):
    row = {"question": "bent", "metric": "auroc", "contender": "cac_lr", "floor": True}
    asked = "clinical pooled", "clinical_pooled", "high"
    assert "| **-0.0034 (-0.0056 to -0.0011)** |" in changed(*asked, 9.0, **row, pooling="county")
    for pooling in ("smaller", "larger"):
        text = changed(*asked, 0.001, **row, pooling=pooling)
        assert "| -0.0034 (-0.0056 to -0.0011) |" in text


def test_a_model_without_clusters_is_given_where_it_must_be_used_and_where_it_is_offered(changed):
    row = {"metric": "auroc", "pooling": "family", "floor": True}
    name = {"question": "bend_offered", "contender": "offered_products_lr"}
    text = changed("clinical curves", "clinical_pooled", "mean", 0.5, **row, **name)
    assert "| Products in LR | LR | -0.0074 (" in text
    assert "| +0.5000 (-0.0017 to +0.0032) |" in text


def test_scores_and_printed_cells_are_those_of_their_rows(changed):
    row = {"method": "xgb", "dataset": "cic", "protocol": "sound"}
    assert "| XGBoost | 0.123 | 0.918 |" in changed("runs of lines", "runs", "auroc", 0.123, **row)
    row = {"paper": "deepcac", "table": "2", "dataset": "CIC", "item": "auprc", "method": "KM-Z"}
    text = changed("printed", "ledger", "as_published", 0.5, **row, k=4)
    assert "| KM-Z | 0.568 0.527 0.540 | 0.593 0.575 0.500 |" in text


def test_a_planted_subtype_is_found_by_the_rule_and_by_a_test_of_its_own():
    found = pd.read_csv(RESULTS / "judge_planted.csv")
    cells = [cell.text for cell in planted(found, "lr", [(3000, 0.3)]).rows[0]]
    assert cells == ["3,000", "0.033", "+0.034, 7 of 12 (12)", "+0.028, 2 of 12 (12)",
                     "+0.029, 3 of 12 (12)"]  # fmt: skip


def test_several_clusters_are_compared_with_one_run_by_run():
    rows = [("deepcac", "as_published", dataset, k, score) for dataset, k, score in
            (("a", 1, 0.5), ("a", 2, 0.4), ("a", 3, 0.6), ("b", 1, 0.5), ("b", 2, 0.45))]  # fmt: skip
    columns = ["method", "protocol", "dataset", "k", "auprc_macro"]
    text = one_cluster(pd.DataFrame(rows, columns=columns), "deepcac")
    assert "in 2 of 3 runs" in text
    assert "-0.100 to +0.100" in text


def test_claims_on_prediction_are_counted_in_a_sentence():
    quantities = {"claims": 3, "holds": 0, "partly": 0, "fails": 1, "cannot_hold": 1}
    quantities |= {"undecided": 1, "not_decidable": 0, "not_run": 0}
    rows = [
        ("claims", paper, "prediction", name, float(n))
        for paper in ("all", "cac_v1")
        for name, n in quantities.items()
    ]
    rows.append(("claims", "cac_v1", "prediction_as_published", "holds", 2.0))
    text = prediction(pd.DataFrame(rows, columns=["part", "paper", "group", "quantity", "value"]))
    assert "none of the 3 claims" in text
    assert "1 fails, 1 cannot hold and 1 is not decided" in text
    assert text.split(". ")[1].startswith("Run as published, 2 ")


def test_numbers_are_written_with_a_zero_before_the_point():
    numbers = three(0.8604), three(-0.0004, signed=True), three(10.25)
    assert numbers == ("0.860", "0.000", "10.250")
    assert (four(0.05, "**{}**", signed=True), four(-0.00512)) == ("**+0.0500**", "-0.0051")
    table = Table.of([("x", "0.5")], {"a": lambda row: row[0], "b": lambda row: row[1]})
    assert grid(table) == "| a | b |\n| --- | ---: |\n| x | 0.5 |\n"
