"""Descriptions: a table is read by its own as without one, and what does not fit is refused."""

import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import DescribedTable, as_declared_numbers
from deepcac.table.columns.description import (
    ColumnField,
    apply_answers,
    description_path,
    find_description,
    read_description,
)
from deepcac.table.columns.roles import Roles
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.risk_tables import fit_table, predict_table

N = 120


def cohort(seed=0):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, N), "crp": draw.gamma(2, 6, N).round(1)})
    table["platelets"] = draw.integers(90, 2_000, N)
    table["ward"] = draw.choice(["er", "icu", "med"], N)
    table["smoker"] = draw.choice([True, False], N)
    table["admitted"] = [f"{1 + i % 28:02}.03.2024" for i in range(N)]
    return table.assign(died=draw.permutation(np.arange(N) % 3 == 0).astype(int))


def german(table):
    """Return a table as a German spreadsheet writes it."""
    written = table.copy()
    written["crp"] = table["crp"].map(lambda value: f"{value:.1f}".replace(".", ","))
    written["platelets"] = table["platelets"].map(lambda value: f"{value:,}".replace(",", "."))
    return written


def profile(path, label="died", **options):
    """Write and read the description of a table."""
    file = description_path(path)
    run = TableRun(len, command="c")
    write_profile_page(
        path, path.with_name("p.html"), run, label=label, description=file, **options
    )
    return read_description(file)


def change(file, **fields):
    """Change fields of a description that was written."""
    content = yaml.safe_load(file.read_text("utf-8"))
    for column in content["schema"]["fields"]:
        column |= fields.get(column["name"], {})
    file.write_text(yaml.safe_dump(content, allow_unicode=True), "utf-8")
    return read_description(file)


WRITERS = {
    "comma": lambda table, path: table.to_csv(path, index=False),
    "tab": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "german": lambda table, path: german(table).to_csv(path, index=False, sep=";"),
    "comment": lambda table, path: path.write_text("# of 2024\n" + table.to_csv(index=False)),
    "row names": lambda table, path: table.to_csv(path),
    "NA": lambda table, path: table.assign(crp=table["crp"].where(table.index % 7 > 0)).to_csv(
        path, index=False, na_rep="NA"
    ),
    "a break in a name": lambda table, path: table.rename(columns={"crp": "crp\n(mg/L)"}).to_csv(
        path, index=False
    ),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_table_is_read_by_its_description_as_it_is_without(tmp_path, kind):
    path = tmp_path / "t.csv"
    WRITERS[kind](cohort(), path)
    plain = read_labelled(path, Roles("died"))
    described = profile(path)
    found = read_labelled(DescribedTable(path, described), described.roles())
    assert found.encoder.names == plain.encoder.names
    np.testing.assert_array_equal(found.features.X, plain.features.X)
    np.testing.assert_array_equal(found.features.label, plain.features.label)


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_files_with_types_and_sheets_are_read_by_their_description(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write = cohort().to_parquet if ending == "parquet" else cohort().to_excel
    write(path, index=False)
    plain = read_labelled(path, Roles("died"))
    described = profile(path)
    found = read_labelled(DescribedTable(path, described), described.roles())
    np.testing.assert_array_equal(found.features.X, plain.features.X)


def test_a_described_table_in_german_is_the_same_table_in_english(tmp_path):
    cohort().to_csv(tmp_path / "e.csv", index=False)
    german(cohort()).to_csv(tmp_path / "g.csv", index=False, sep=";")
    there = profile(tmp_path / "g.csv")
    assert (there.fields["crp"].decimal_char, there.fields["platelets"].group_char) == (",", ".")
    english, other = (
        read_labelled(DescribedTable(tmp_path / f"{name}.csv", found), found.roles())
        for name, found in (("e", profile(tmp_path / "e.csv")), ("g", there))
    )
    np.testing.assert_array_equal(english.features.X, other.features.X)


def test_cells_that_do_not_fit_are_refused_together_with_their_lines(tmp_path):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    described = profile(path)
    table = cohort().astype({"crp": object})
    table.loc[3, "crp"] = "<0.3"
    table.loc[5:7, "ward"] = "hospice"
    table.to_csv(path, index=False)
    with pytest.raises(DataError) as refused:
        read_labelled(DescribedTable(path, described), described.roles())
    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    text = (tmp_path / "t.yaml").read_text("utf-8").splitlines()
    for line, (name, row, cell) in zip(
        lines, [("crp", 4, "<0.3"), ("ward", 6, "hospice")], strict=True
    ):
        assert f"{name!r}, data row {row}: {cell!r}" in line
        assert f"name: {name}," in text[int(re.search(r"line (\d+)$", line)[1]) - 1]


def test_a_number_outside_its_range_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    cohort().assign(age=np.where(np.arange(N) == 9, 930, 50)).to_csv(path, index=False)
    profile(path)
    described = change(tmp_path / "t.yaml", age={"constraints": {"maximum": 120}})
    with pytest.raises(DataError, match="'age', data row 10: '930' lies outside its range"):
        read_labelled(DescribedTable(path, described), described.roles())


def test_other_columns_than_the_described_ones_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    described = profile(path)
    cohort().assign(bmi=1.5).to_csv(path, index=False)
    with pytest.raises(DataError, match="'bmi' is not described"):
        read_labelled(DescribedTable(path, described), described.roles())
    cohort().drop(columns="crp").to_csv(path, index=False)
    with pytest.raises(DataError, match="no column 'crp', which .*t.yaml, line"):
        read_labelled(DescribedTable(path, described), described.roles())


def test_a_question_stops_every_use_until_it_is_answered(tmp_path):
    path = tmp_path / "t.csv"
    table = cohort()
    table.loc[::9, "age"] = -9
    table["ended"] = np.where(table["died"] == 1, "morgue", "home")
    table.to_csv(path, index=False)
    described = profile(path)
    with pytest.raises(ConfigError, match="2 questions to answer"):
        described.roles()
    file = tmp_path / "t.yaml"
    content = yaml.safe_load(file.read_text("utf-8"))
    for asked in content["deepcac"]["questions"]:
        asked["answer"] = "missing" if asked["fields"] == ["age"] else "leave out"
    file.write_text(yaml.safe_dump(content), "utf-8")
    found = find_description(path)
    read = read_labelled(DescribedTable(path, found), found.roles())
    age = read.features.X[:, read.encoder.places["age"]]
    assert np.flatnonzero(np.isnan(age)).tolist() == list(range(0, N, 9))
    assert not any(name.startswith("ended") for name in read.encoder.names)


@pytest.mark.parametrize(
    ("answer", "field", "value"),
    [
        ("number", "type", "number"),
        ("string", "type", "string"),
        ("decimal ,", "decimal_char", ","),
        ("missing", "missing_values", ("", "none")),
    ],
)
def test_an_answer_changes_its_field(tmp_path, answer, field, value):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    file = profile(path).file
    content = yaml.safe_load((tmp_path / "t.yaml").read_text("utf-8"))
    asked = {"fields": ["ward"], "question": "?", "answers": [answer], "values": ["none"]}
    content["deepcac"]["questions"] = [asked | {"answer": answer}]
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(content))
    assert getattr(read_description(file).fields["ward"], field) == value
    assert apply_answers(read_description(file).resource).use.questions[0].answer == answer


def test_a_model_reads_new_rows_by_the_description_that_it_keeps(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    german(cohort()).to_csv(path, index=False, sep=";")
    described = profile(path)
    table = DescribedTable(path, described)
    fit_table(table, described.roles(), model, TableRun(len, rows=N, jobs=1), method="plain")
    new = german(cohort(1)[["crp", "age", "ward", "platelets", "smoker"]])
    new.loc[0, "crp"] = "1.250"  # a point between thousands, where none was declared
    new.to_csv(tmp_path / "new.csv", index=False, sep=";")
    with pytest.raises(DataError, match="'crp', data row 1: '1.250' is no number"):
        predict_table(model, tmp_path / "new.csv", tmp_path / "r.csv", say=len)
    new.loc[0, "crp"] = "1,25"
    new.to_csv(tmp_path / "new.csv", index=False, sep=";")
    assert predict_table(model, tmp_path / "new.csv", tmp_path / "r.csv", say=len) == N
    kept = json.loads(model.read_text("utf-8"))
    assert "icu" not in json.dumps(kept["encoder"]["description"])  # levels of few would be there


def test_the_description_of_a_new_table_goes_before_that_of_the_model(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    german(cohort()).to_csv(path, index=False, sep=";")
    described = profile(path)
    fit_table(
        DescribedTable(path, described), described.roles(), model,
        TableRun(len, rows=N, jobs=1), method="plain",
    )  # fmt: skip
    german(cohort(1)).to_csv(tmp_path / "g.csv", index=False, sep=";")
    cohort(1).to_csv(tmp_path / "e.csv", index=False)
    profile(tmp_path / "e.csv")
    risks = []
    for name in ("g", "e"):
        predict_table(model, tmp_path / f"{name}.csv", tmp_path / "r.csv", say=len)
        risks.append(pd.read_csv(tmp_path / "r.csv")["risk"])
    np.testing.assert_array_equal(*risks)


@settings(max_examples=200, deadline=None)
@given(
    value=st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 3)),
    sign=st.sampled_from([(".", ""), (".", ","), (",", ""), (",", ".")]),
)
def test_a_number_is_read_as_it_was_written(value, sign):
    decimal, group = sign
    text = f"{value:{',' if group else ''}.3f}"
    text = text.translate(str.maketrans({".": decimal, ",": group or ","}))
    field = ColumnField(name="x", type="number", decimal_char=decimal, group_char=group)
    other = ColumnField(
        name="x", type="number", decimal_char="," if decimal == "." else ".", group_char=""
    )
    assert as_declared_numbers(arrow([text]), field).to_pylist() == [value]
    assert as_declared_numbers(arrow([text]), other).to_pylist() == [None]


def arrow(texts):
    import pyarrow as pa

    return pa.array(texts, pa.string())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a: [", "is no YAML"),
        ("a: 1", "describes no table"),
        ("a: &a [1]\nschema: *a", "alias"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}, {name: a}]}", "stands twice"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a, type: nmber}]}", "type"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}]}\ndeepcac: {sit: a}", "site"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}]}\ndeepcac: {site: b}", "'b'"),
        (
            "name: t\npath: t.csv\nschema: {fields: [{name: a, decimalChar: ',', groupChar: ','}]}",
            "one sign",
        ),
    ],
)
def test_an_impossible_description_is_refused_with_its_place(tmp_path, text, part):
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(ConfigError, match=part):
        read_description(tmp_path / "t.yaml")


def test_the_description_of_a_file_of_the_same_name_is_not_taken_for_another(tmp_path):
    cohort().to_csv(tmp_path / "t.csv", index=False)
    cohort().to_parquet(tmp_path / "t.parquet")
    profile(tmp_path / "t.csv")
    assert find_description(tmp_path / "t.csv") is not None
    with pytest.raises(ConfigError, match="describes 't.csv'"):
        find_description(tmp_path / "t.parquet")
    assert find_description(tmp_path / "t.parquet", tmp_path / "t.yaml") is not None


def test_what_a_person_writes_without_quotation_marks_is_text(tmp_path):
    (tmp_path / "t.yaml").write_text(
        "name: t\npath: t.csv\nschema:\n  missingValues: [-9, 007]\n"
        "  fields: [{name: 1, categories: [no, yes, 2024-01-01]}, {name: days, type: number}]\n"
        "deepcac:\n  outcome: {field: 1, event: yes, time: days, horizon: 365}\n  id:\n"
    )
    found = read_description(tmp_path / "t.yaml")
    assert found.fields["1"].categories == ("no", "yes", "2024-01-01")
    assert found.resource.table.missing_values == ("-9", "007")
    roles = found.roles()
    assert (roles.label, roles.positive, roles.horizon, roles.id) == ("1", "yes", 365, None)


def test_profile_leaves_a_description_as_a_person_wrote_it(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from deepcac.table.commands import app

    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    assert CliRunner().invoke(app, ["profile", "t.csv", "--label", "died"]).exit_code == 0
    change(tmp_path / "t.yaml", age={"missingValues": ["", "-9"]})
    before = (tmp_path / "t.yaml").read_bytes()
    assert CliRunner().invoke(app, ["profile", "t.csv"]).exit_code == 0
    assert (tmp_path / "t.yaml").read_bytes() == before
