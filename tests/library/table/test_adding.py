"""`deepcac add`: what each option does to the data set of the workflow, and what is refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from deepcac.errors import DeepCACError
from deepcac.feature_matrix import read_features
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import TableDescription
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac_study.adding import app
from deepcac_study.catalogue.registry import load_registry


@pytest.fixture
def project(tmp_path, monkeypatch):
    registry = tmp_path / "config" / "registry"
    registry.mkdir(parents=True)
    entry = {
        "title": "t", "licence": "l", "citation": "c", "homepage": "http://localhost/",
        "restricted": False,
        "datasets": {"taken": {"title": "t", "label": "l", "positive": "p", "task": "binary"}},
    }  # fmt: skip
    (registry / "open.yaml").write_text(json.dumps(entry))
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    return tmp_path


def cohort(n=120):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 9, n).round(1), "crp": rng.integers(1, 9, n)})
    frame.loc[:19, "crp"] = -9
    frame["code"] = np.resize(["1E2", "2E2", "3E2"], n)
    frame["race"] = np.resize(["None", "White"], n)
    frame["patient"] = [f"p{i // 2}" for i in range(n)]
    frame["visit"] = np.arange(1000, 1000 + n)
    frame["death"] = np.where(rng.random(n) < 0.4, "dead", "alive")
    return frame.assign(sodium=rng.normal(140, 4, n).round(1))


def add(*words, table="t.csv"):
    name = [] if "--name" in words else ["--name", "mine"]
    return CliRunner().invoke(app, [table, *name, *words], catch_exceptions=True)


def added(*words, table="t.csv"):
    answer = add(*words, table=table)
    assert answer.exit_code == 0, (answer.output, answer.exception)
    return read_features("data/features/mine.parquet")


def describe(table="t.csv", fields=(), label="death", sheet=None, **use):
    """Write the description of a table as `profile` does, with changes."""
    path = f"{table.split('.')[0]}.yaml"
    run = TableRun(len, command="c")
    write_profile_page(table, "p.html", run, label=label, sheet=sheet, description=path)
    with open(path, encoding="utf-8") as file:
        content = yaml.safe_load(file)
    for column in content["schema"]["fields"]:
        column |= dict(fields).get(column["name"], {})
    content["deepcac"] = {"leave_out": {}} | content["deepcac"] | {"questions": []} | use
    with open(path, "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file)


CODE = {"code": {"type": "string"}}


def dataset():
    return load_registry("config/registry").dataset("mine")


def test_a_described_table_is_read_whole_and_the_next_call_is_said(project):
    describe(fields=CODE)
    answer = add()
    assert answer.stdout.splitlines()[-1] == "snakemake --cores 2 results/mine/cac_lr_k2.json"
    features = read_features("data/features/mine.parquet")
    assert len(features.label) == 120
    assert features.label.tolist() == (cohort().death == "dead").astype(int).tolist()
    assert dataset().positive == "dead"


def test_the_positive_class_is_the_one_that_is_named(project):
    describe(fields=CODE, outcome={"field": "death", "event": "alive"})
    features = added()
    assert features.label.tolist() == (cohort().death == "alive").astype(int).tolist()
    assert dataset().positive == "alive"


def test_a_number_above_a_limit_is_the_event(project):
    left = {"death": "known later", "visit": "counts rows"}
    describe(fields=CODE, outcome={"field": "sodium", "above": 140}, leave_out=left)
    features = added()
    assert features.label.tolist() == (cohort().sodium > 140).astype(int).tolist()
    assert "sodium" not in features.names


def test_ids_groups_and_columns_that_are_left_out_are_no_features(project):
    describe(fields=CODE, id="visit", leave_out={"race": "asked", "age": "asked"})
    answer = add()
    features = read_features("data/features/mine.parquet")
    assert not {"visit", "age"} & set(features.names)
    assert not any(name.startswith(("race", "patient")) for name in features.names)
    assert features.group.tolist() == [str(i // 2) for i in range(120)]
    assert "'patient'" in answer.output
    assert dataset().grouped


def test_a_code_for_missing_is_missing_where_it_is_declared(project):
    describe(fields=CODE)
    plain = added()
    describe(fields=CODE | {"crp": {"missingValues": ["", "-9"]}})
    named = added()
    column = plain.names.index("crp")
    assert not np.isnan(plain.X[:, column]).any()
    assert np.isnan(named.X[:, column]).sum() == 20


def test_a_word_is_kept_where_it_is_a_value(project):
    describe(fields=CODE)
    assert "race=None" not in added().names
    describe(fields=CODE | {"race": {"missingValues": [""], "categories": ["None", "White"]}})
    assert any(name.startswith("race") for name in added().names)


def test_a_column_is_of_names_or_numbers_as_is_declared(project):
    describe(fields=CODE)
    assert "code" not in added().names
    describe(fields={"code": {"type": "number"}})
    number = added()
    assert set(number.X[:, number.names.index("code")]) == {100.0, 200.0, 300.0}


def test_the_decimal_sign_and_the_sheet_are_those_that_are_described(project):
    frame = cohort().drop(columns="code")
    frame["age"] = frame.age.astype(str).str.replace(".", ",")
    frame.to_csv("comma.csv", index=False, sep=";")
    describe("comma.csv", {"age": {"decimalChar": ",", "type": "number"}})
    features = added(table="comma.csv")
    assert features.X[:, features.names.index("age")].tolist() == cohort().age.tolist()
    with pd.ExcelWriter("book.xlsx") as book:
        pd.DataFrame({"note": ["x"]}).to_excel(book, sheet_name="notes", index=False)
        cohort().drop(columns="code").to_excel(book, sheet_name="rows", index=False)
    describe("book.xlsx", sheet="rows")
    features = added(table="book.xlsx")
    assert len(features.label) == 120


def test_a_data_set_that_was_added_before_is_replaced_and_that_is_said(project):
    describe(fields=CODE)
    added()
    cohort().head(80).to_csv("t.csv", index=False)
    answer = add()
    assert re.search(r"replaced: t \(120 rows\), .*'mine'", answer.output)
    assert len(read_features("data/features/mine.parquet").label) == 80


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--name", "taken"], "data set 'taken' already"),
        (["--name", "Mine"], "use lower-case letters"),
        (["--label", "dead"], "'dead'"),
        (["--project", "config"], "no config/registry here"),
    ],
)
def test_a_wrong_use_is_one_line_and_writes_nothing(project, words, line):
    describe(fields=CODE)
    answer = add(*words)
    assert isinstance(answer.exception, DeepCACError)
    assert line in str(answer.exception)
    assert not (project / "data").exists()


def test_the_entry_holds_the_description_by_which_the_table_is_read(project):
    describe(fields=CODE | {"crp": {"missingValues": ["", "-9"]}}, id="visit")
    features = added()
    entry = dataset()
    assert (entry.label, entry.positive, entry.task) == ("death", "dead", "binary")
    described = TableDescription(entry.description, "mine.yaml", {})
    again = read_labelled(DescribedTable("t.csv", described))
    assert again.features.names == features.names
    np.testing.assert_array_equal(again.features.X, features.X)
    np.testing.assert_array_equal(again.features.label, features.label)


def test_a_table_without_a_description_has_an_entry_with_what_was_found(project):
    frame = cohort().drop(columns=["code", "patient", "visit", "crp", "death"])
    frame.assign(grade=np.resize(["a", "b", "c"], len(frame))).to_csv("u.csv", index=False)
    added("--label", "grade", table="u.csv")
    entry = dataset()
    assert (entry.label, entry.positive, entry.task) == ("grade", None, "multiclass")
    assert [field.name for field in entry.description.table.fields] == [
        "age", "race", "sodium", "grade",
    ]  # fmt: skip


def test_patients_whose_outcome_is_not_known_at_the_horizon_are_no_rows(project):
    frame = cohort().drop(columns=["code", "patient", "visit", "crp"])
    frame["days"] = np.resize(np.arange(1, 60), len(frame))
    frame.to_csv("t.csv", index=False)
    outcome = {"field": "death", "event": "dead", "time": "days", "horizon": 30}
    describe(outcome=outcome)
    features = added()
    known = (frame.death == "dead") | (frame.days >= 30)
    event = (frame.death == "dead") & (frame.days <= 30)
    assert features.label.tolist() == event[known].astype(int).tolist()
    assert f"({known.sum()} rows)" in dataset().title
