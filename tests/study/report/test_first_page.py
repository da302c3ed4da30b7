"""The first page's answer, the planted truth, and numbers as people read them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import write_run

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Cell, Table, text_row
from deepcac.pages.templating import view
from deepcac.pages.wording import even_decimals, minus
from deepcac_study.records.runs import load
from deepcac_study.report.data.planted_truth import Found, planted_table, read_truth
from deepcac_study.report.judge.judgement import Judgement
from deepcac_study.report.runs.effects import wins_table
from deepcac_study.report.site.firstpage import planted_sentence, provenance


@given(st.lists(st.decimals(-99, 99, places=3).map(lambda x: f"{x.normalize():f}"), min_size=1))
def test_even_decimals_keep_every_number(texts):
    shown = even_decimals(texts)
    assert [float(text) for text in shown] == [float(text) for text in texts]
    assert len({len(text.partition(".")[2]) for text in shown}) == 1


@pytest.mark.parametrize(("text", "numeric"), [("1ex5", False), ("1e-05", True)])
def test_only_a_sign_stands_before_an_exponent(text, numeric):
    shown = view(Table("t", "t", "", ["a", "b"], [text_row("x", text)]))
    assert shown.numeric == (False, numeric)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("-0.5 to -.2", "−0.5 to −.2"), ("a-1", "a-1"), ("2012-10", "2012-10"), ("1e-05", "1e-05")],
)
def test_a_minus_sign_stands_before_numbers_alone(text, shown):
    assert minus(text) == shown


def test_the_verdict_is_shown_first_and_columns_are_filtered_by_name():
    head = ("data set", "f1", "verdict")
    rows = [text_row("a", "0.5", "better"), [Cell("b"), Cell("0.25"), Cell("worse")]]
    table = Table("t", "T", "", head, rows, verdict="verdict", filters=("verdict", "data set"))
    shown = view(table)
    assert shown.head == ("verdict", "data set", "F1")
    assert shown.filters == (0, 1)
    assert [one.kind for one in shown.rows[0]] == ["verdict", "label", "number"]
    assert [row[2].text for row in shown.rows] == ["0.50", "0.25"]


def power(strength, contender, detected, question="help", rows=3000):
    keys = ("strength", "oracle_gain", "question", "contender", "reference", "cohorts", "detected")
    values = (strength, strength / 10, question, contender, "lr", 3, detected)
    return dict(zip(keys, values, strict=True)) | {"rows": rows}


def test_the_demo_says_where_clusters_were_found_to_help():
    curve = [
        *(power(1.0, "km_lr", 1 / 3), power(1.0, "cac_lr", 2 / 3), power(0.0, "km_lr", 0.0)),
        *(power(s, "hash_lr", 0.0, "negative_control") for s in (0.0, 1.0)),
    ]
    said = planted_sentence(Judgement(None, {"power": curve}))
    assert said.startswith("On 6 planted cohorts")
    assert re.search("in 2 of 3; .* in 0 of 3;", said)
    assert said.endswith("in 0 of 6.")
    larger = [*curve, power(1.0, "cac_lr", 1.0, rows=30_000)]  # other cohorts of that strength
    assert "in 5 of 6; where" in planted_sentence(Judgement(None, {"power": larger}))
    assert planted_sentence(None) == ""


def test_planted_groups_that_were_found_agree_whatever_their_numbers(tmp_path):
    (run,) = load([write_run(tmp_path / "results", "demo_cic", "km_lr", 2)], tmp_path)
    planted = np.arange(40) % 2
    same, other = (
        Found(run, np.arange(40), planted, found) for found in (1 - planted, planted // 2)
    )
    assert (same.agreement, other.agreement) == (1.0, 0.0)
    assert [row[-1].text for row in planted_table([same])[0].rows] == ["1"]
    truth = tmp_path / "subtypes.csv"
    truth.write_text("record_id,subtype\n7,septic\n", encoding="utf-8")
    assert read_truth(truth) == {7: "septic"}


def test_wins_are_counted_on_shared_data_sets(tmp_path):
    paths = [
        write_run(tmp_path / "results", dataset, method, k, strength=strength)
        for dataset, better in (("cic", 2.0), ("adult", 0.5))
        for method, k, strength in (("lr", 1, 1.0), ("km_lr", 2, better))
    ]
    table = wins_table(load(paths, tmp_path))
    assert table.head == ("method", "ahead of others", "highest on", "adult", "cic")
    assert [[cell.text for cell in row[1:3]] for row in table.rows] == [["50 %", "1"]] * 2
    for column in (3, 4):
        shown = [row[column].text for row in table.rows]
        best = max(shown, key=lambda text: float(text.split()[0]))
        assert [text for text in shown if text.endswith("▲")] == [best]
    assert wins_table(load(paths[:2], tmp_path)).rows == []


def test_the_foot_tells_commit_date_machine_and_hours(tmp_path):
    said = provenance(load([write_run(tmp_path / "results", "cic", "lr", 1)], tmp_path).items)
    assert "commit 0123456;" in said
    assert "Machine: cpu (unknown), Python" in said
    assert "less than a minute" in said
    assert "one software" not in said
    assert provenance(()) == "No record yet."


def test_a_mixture_of_library_versions_is_told(tmp_path):
    runs = load([write_run(tmp_path / "results", "cic", m, 1) for m in ("lr", "rf")], tmp_path)
    for run, version in zip(runs, ("1.8.0", "1.9.1"), strict=True):
        run.record["machine"]["versions"] = {"scikit-learn": version, "numpy": "2.4.6"}
    assert "scikit-learn 1.8.0 (1), 1.9.1 (1)" in provenance(runs.items)


def test_an_alternative_text_tells_the_numbers():
    figure = Figure("f", "T", "", "x", (1, 1), print, ("name", "value"), [("a", -0.5), ("b", 2.0)])
    assert figure.alternative == "T: 2 rows of name, value; value from −0.5 to 2."
