"""Descriptions: a table is read by its own as without one, and what does not fit is refused."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import yaml
from described_tables import asked, decided, inferred
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import (
    DescribedTable,
    add_questions,
    apply_answers,
    as_declared_numbers,
    description_path,
    find_description,
    read_description,
)
from deepcac.table.columns.description import (
    ColumnField,
    OpenQuestion,
    Outcome,
    Resource,
    Schema,
    TableDescription,
    Use,
)
from deepcac.table.command_line.command_options import TableOptions
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.reading.table_files import read_blocks
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
    plain = read_labelled(inferred(path))
    described = profile(path)
    found = read_labelled(DescribedTable(path, described))
    assert found.encoder.names == plain.encoder.names
    np.testing.assert_array_equal(found.features.X, plain.features.X)
    np.testing.assert_array_equal(found.features.label, plain.features.label)


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_files_with_types_and_sheets_are_read_by_their_description(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    write = cohort().to_parquet if ending == "parquet" else cohort().to_excel
    write(path, index=False)
    plain = read_labelled(inferred(path))
    described = profile(path)
    found = read_labelled(DescribedTable(path, described))
    np.testing.assert_array_equal(found.features.X, plain.features.X)


def test_a_described_table_in_german_is_the_same_table_in_english(tmp_path):
    cohort().to_csv(tmp_path / "e.csv", index=False)
    german(cohort()).to_csv(tmp_path / "g.csv", index=False, sep=";")
    there = profile(tmp_path / "g.csv")
    assert (there.fields["crp"].decimal_char, there.fields["platelets"].group_char) == (",", ".")
    english, other = (
        read_labelled(DescribedTable(tmp_path / f"{name}.csv", found))
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
        read_labelled(DescribedTable(path, described))
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
    cohort().to_csv(path, index=False)
    profile(path)
    described = change(tmp_path / "t.yaml", age={"constraints": {"maximum": 120}})
    cohort().assign(age=np.where(np.arange(N) == 9, 930, 50)).to_csv(path, index=False)
    with pytest.raises(DataError, match="'age', data row 10: '930'"):
        read_labelled(DescribedTable(path, described))


def test_other_columns_than_the_described_ones_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    described = profile(path)
    cohort().assign(bmi=1.5).to_csv(path, index=False)
    with pytest.raises(DataError, match="'bmi'"):
        read_labelled(DescribedTable(path, described))
    cohort().drop(columns="crp").to_csv(path, index=False)
    with pytest.raises(DataError, match="'crp', .*t.yaml, line"):
        read_labelled(DescribedTable(path, described))


def test_a_question_stops_every_use_until_it_is_answered(tmp_path):
    path = tmp_path / "t.csv"
    table = cohort()
    table.loc[::9, "age"] = -9
    table["ended"] = np.where(table["died"] == 1, "morgue", "home")
    table.to_csv(path, index=False)
    described = profile(path)
    with pytest.raises(ConfigError, match="questions to answer"):
        described.refuse_open()
    with pytest.raises(ConfigError, match="questions to answer"):
        read_labelled(DescribedTable(path, described))
    with pytest.raises(ConfigError, match="no outcome"):
        read_labelled(decided(path, label=None))
    file = tmp_path / "t.yaml"
    content = yaml.safe_load(file.read_text("utf-8"))
    for question in content["deepcac"]["questions"]:
        question["answer"] = "missing" if question["fields"] == ["age"] else "leave out"
    file.write_text(yaml.safe_dump(content), "utf-8")
    found = find_description(path)
    read = read_labelled(DescribedTable(path, found))
    age = read.features.X[:, read.encoder.places["age"]]
    assert np.flatnonzero(np.isnan(age)).tolist() == list(range(0, N, 9))
    assert not any(name.startswith("ended") for name in read.encoder.names)


def effect(answer, field="ward", values=("none",), event=None):
    """Return a description in which a question about a field has an answer."""
    fields = tuple(ColumnField(name=name) for name in ("ward", "visits", "died"))
    outcome = Outcome(field="died", event=event)
    question = OpenQuestion(
        fields=(field,), question="?", answers=(answer,), values=values, answer=answer
    )
    use = Use(outcome=outcome, leave_out={"visits": "an id"}, questions=(question,))
    table = Schema(fields=fields, missing_values=("", "none"))
    found = apply_answers(Resource(name="t", path="t.csv", table=table, use=use))
    return {column.name: column for column in found.table.fields}[field], found.use


def test_every_answer_has_its_effect():
    assert [effect(kind)[0].type for kind in ("number", "string")] == ["number", "string"]
    comma, point = (effect(f"decimal {sign}")[0] for sign in ",.")
    assert (comma.type, comma.decimal_char, comma.group_char) == ("number", ",", ".")
    assert (point.type, point.decimal_char, point.group_char) == ("number", ".", ",")
    assert effect("missing", values=("-9",))[0].missing_values == ("", "none", "-9")
    assert effect("a level")[0].missing_values == ("",)
    assert {"ward"} < effect("leave out")[1].leave_out.keys()
    assert effect("keep")[1].leave_out.keys() == {"visits"}
    patient = effect("patient", "visits")[1]
    assert (patient.patient, patient.leave_out) == ("visits", {})
    assert effect("event yes", "died", event="no")[1].outcome.event == "yes"
    assert effect("leave these rows out", "died")[1].outcome.rows_without == "leave out"
    assert effect("missing", "died")[1].outcome.rows_without == "leave out"
    with pytest.raises(ConfigError, match="'ward': 'maybe'"):
        effect("maybe")


def test_questions_are_added_where_a_person_wrote_other_lines(tmp_path):
    path, file = tmp_path / "t.csv", tmp_path / "t.yaml"
    cohort().to_csv(path, index=False)
    profile(path)
    text = f"# ours\n{file.read_text('utf-8')}".replace("type: table", "type: table  # of 2024")
    new = OpenQuestion(fields=("age",), check="odd value", question="a: b?", answers=("keep",))
    for written in (text, f"{text}  questions:\n", f"{text}  questions: []\n"):
        file.write_text(written, "utf-8")
        add_questions(file, [new])
        add_questions(file, [new.model_copy(update={"fields": ("crp",)})])
        lines = file.read_text("utf-8").splitlines()
        kept = [line for line in text.splitlines() if "questions" not in line]
        assert [line for line in lines if line in kept] == kept
        found = read_description(file).resource.use.questions
        assert [(*question.fields, question.question) for question in found] == [
            ("crp", "a: b?"), ("age", "a: b?")
        ]  # fmt: skip
    file.write_text(f"{text}other: 1\n", "utf-8")
    with pytest.raises(ConfigError, match="deepcac"):
        add_questions(file, [new])


def test_a_described_table_with_a_new_finding_is_refused_until_profile_asked(tmp_path):
    path, file = tmp_path / "t.csv", tmp_path / "t.yaml"
    cohort().to_csv(path, index=False)
    described = profile(path)
    table = cohort()
    table.loc[::9, "platelets"] = -9
    table.to_csv(path, index=False)
    with pytest.raises(ConfigError, match="'platelets'"):
        read_labelled(DescribedTable(path, described))
    (new,) = profile(path).resource.use.questions
    assert (new.fields, new.answer) == (("platelets",), None)
    file.write_text(file.read_text("utf-8").replace("answer: \n", "answer: missing\n"), "utf-8")
    found = find_description(path)
    columns = read_labelled(DescribedTable(path, found)).encoder.columns
    assert {column.name: column.missing for column in columns}["platelets"] == 14
    assert profile(path).resource.use.questions[0].answer == "missing"


def test_rows_without_an_outcome_are_left_out_where_it_is_decided(tmp_path):
    path = tmp_path / "t.csv"
    table = cohort().astype({"died": object})
    table.loc[::10, "died"] = None
    table.to_csv(path, index=False)
    assert asked(path) == [("label", "died")]
    read = read_labelled(decided(path))
    assert read.features.row_id.tolist() == [row + 1 for row in range(N) if row % 10]
    assert read_labelled(inferred(path, rows_without="leave out")).total == read.total


def test_what_is_certain_takes_effect_without_a_description(tmp_path):
    path = tmp_path / "t.csv"
    sites = np.resize(["a", "b", "c"], N)
    table = cohort().assign(hospital=sites, patient_id=np.arange(N) // 3, race=np.arange(N) % 4)
    table.to_csv(path, index=False)
    read = read_labelled(inferred(path))
    assert len(np.unique(read.group)) == N // 3
    assert {"race=0", "race=1"} < {*read.features.names}
    assert not {"hospital=a", "patient_id", "admitted"} & {*read.features.names}


def test_a_slip_beyond_the_sample_is_refused_with_its_row(tmp_path):
    path = tmp_path / "t.csv"
    table = pd.concat([cohort(seed) for seed in range(9)], ignore_index=True)
    place = next(
        row for row in range(len(table))
        if row + 1 not in read_sampled(path, table, 200).features.row_id
    )  # fmt: skip
    table = table.astype({"crp": object})
    table.loc[place, "crp"] = "high"
    with pytest.raises(DataError, match=f"'crp', data row {place + 1}: 'high'"):
        read_sampled(path, table, 200)
    with pytest.raises(ConfigError, match="'crp'"):
        read_sampled(path, table, 2_000)


def read_sampled(path, table, rows):
    table.to_csv(path, index=False)
    return read_labelled(inferred(path, rows=rows), rows=rows)


def test_a_model_reads_new_rows_by_the_description_that_it_keeps(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    german(cohort()).to_csv(path, index=False, sep=";")
    described = profile(path)
    table = DescribedTable(path, described)
    fit_table(table, model, TableRun(len, rows=N, jobs=1), method="plain")
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


def test_a_description_without_a_horizon_takes_that_of_the_model(tmp_path):
    follow = {"time": "days", "horizon": 180.0, "competing": ("2",)}
    fitted = TableDescription(
        Resource(
            name="t", path="t.csv",
            table=Schema(fields=(ColumnField(name="died"), ColumnField(name="days"))),
            use=Use(outcome=Outcome(field="died", event="1", **follow)),
        ), "", {},
    )  # fmt: skip
    path = tmp_path / "new.csv"
    cohort().to_csv(path, index=False)
    for lines, expected in (
        ({"field": "died", "event": "yes"}, Outcome(field="died", event="yes", **follow)),
        ({"field": "age", "above": 60}, Outcome(field="age", above=60)),
    ):
        profile(path, label=None)
        file = description_path(path)
        content = yaml.safe_load(file.read_text("utf-8"))
        content["deepcac"]["outcome"] = lines
        content["deepcac"].pop("questions", None)
        file.write_text(yaml.safe_dump(content), "utf-8")
        read = TableOptions().read(path, like=fitted, fitted=False)
        assert read.description.outcome == expected


def test_the_description_of_a_new_table_goes_before_that_of_the_model(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.json"
    german(cohort()).to_csv(path, index=False, sep=";")
    described = profile(path)
    fit_table(
        DescribedTable(path, described), model,
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


def test_a_column_that_a_description_leaves_out_is_read_for_a_model_that_needs_it(tmp_path):
    path, model, new = tmp_path / "t.csv", tmp_path / "m.json", tmp_path / "n.csv"
    cohort().to_csv(path, index=False)
    fit_table(inferred(path), model, TableRun(len, jobs=1), method="plain")
    cohort(1).assign(age=50).to_csv(new, index=False)
    risks = []
    for _ in range(2):
        predict_table(model, new, tmp_path / "r.csv", say=len, accept=True)
        risks.append(pd.read_csv(tmp_path / "r.csv")["risk"])
        assert "age" in profile(new).resource.use.leave_out
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


FIELD = "{fields: [{name: a}]}"
CHAIN = "a: &a [1]\n" + "".join(
    f"{key}: &{key} {'[' * 90}*{last}{']' * 90}\n" for last, key in pairwise("abcdefg")
)
BOMB = "a: &a [1]\n" + "".join(
    f"{key}: &{key} [{', '.join([f'*{last}'] * 10)}]\n" for last, key in pairwise("abcdefg")
)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a: [", "is no YAML"),
        ("a: 1", "describes no table"),
        (BOMB, "aliases"),
        (CHAIN, "aliases"),
        ("a: &a [*a]", "aliases"),
        (f"name: t\npath: t.csv\nschema: {FIELD}\ndeepcac: {{fields: }}", "no such key"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}, {name: a}]}", "occurs twice"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a, type: nmber}]}", "type"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}]}\ndeepcac: {sit: a}", "site"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a}]}\ndeepcac: {site: b}", "'b'"),
        (
            "name: t\npath: t.csv\nschema: {fields: [{name: a, categories: [{v: 1}]}]}",
            r"fields\.0\.categories\.0: one text",
        ),
        (
            "name: t\npath: t.csv\nschema: {fields: [{name: a, decimalChar: ',', groupChar: ','}]}",
            "one sign",
        ),
        (f"name: t\npath: t.csv\nschema: {FIELD}\nname: u", "line 4: 'name' occurs twice"),
        (f"name: t\npath: t.csv\ndialect: {{delimiter: é}}\nschema: {FIELD}", "delimiter"),
        (f"name: t\npath: t.csv\ndialect: {{headerRows: [0]}}\nschema: {FIELD}", "headerRows"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a, groupChar: x}]}", "groupChar"),
        ("name: t\npath: t.csv\nschema: {fields: [{name: a, categories: [{}]}]}", "categories"),
        (
            "name: t\npath: t.csv\nschema: {fields: [{name: a, constraints: {minimum: nan}}]}",
            "finite",
        ),
    ],
)
def test_an_impossible_description_is_refused_with_its_place(tmp_path, text, part):
    (tmp_path / "t.yaml").write_text(text)
    with pytest.raises(ConfigError, match=part):
        read_description(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    ("lines", "wanted", "found"),
    [
        ("outcome: {field: [a, b]}", "outcome.field: one text", "the list"),
        ("outcome: a", "outcome: a block", "'a'"),
        ("outcome: {field: a, above: [1]}", "outcome.above: a number", "the list"),
        ("outcome: {field: a, time: b, horizon: 1, competing: 2}", "competing: a list", "'2'"),
        ("site: {a: b}", "site: one text", "the block"),
        ("leave_out: [b]", "leave_out: a block", "the list"),
        ("questions: [b]", "questions.0: a block", "'b'"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_its_key(tmp_path, lines, wanted, found):
    head = "name: t\npath: t.csv\nschema: {fields: [{name: a}, {name: b}]}\ndeepcac:\n  "
    (tmp_path / "t.yaml").write_text(head + lines)
    with pytest.raises(ConfigError, match=f"{wanted}.* is wanted, not {found}"):
        read_description(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    "slip", ["missingvalues", "Missing-Values", "misingValues", "misisngValues"]
)
def test_a_misspelt_key_of_the_standard_is_refused_and_other_properties_are_not(tmp_path, slip):
    head = "name: t\npath: t.csv\nlicenses: [a]\nschema: {primaryKey: a, fields: [{name: a, "
    (tmp_path / "t.yaml").write_text(head + "rdfType: b, categoriesOrdered: true}]}")
    assert [*read_description(tmp_path / "t.yaml").fields] == ["a"]
    (tmp_path / "t.yaml").write_text(head + f"{slip}: ['?']}}]}}")
    with pytest.raises(ConfigError, match=rf"fields\.0: .*{slip}.*missingValues"):
        read_description(tmp_path / "t.yaml")


def test_letters_that_changed_places_in_a_short_key_are_refused(tmp_path):
    (tmp_path / "t.yaml").write_text(
        "name: t\npath: t.csv\nschema: {fields: [{name: a, tpye: number}]}"
    )
    with pytest.raises(ConfigError, match="tpye.*type"):
        read_description(tmp_path / "t.yaml")


def test_a_key_with_nothing_behind_it_is_not_there(tmp_path):
    (tmp_path / "t.yaml").write_text(
        "name: t\npath: t.csv\nschema: {fields: [{name: a}]}\n"
        "deepcac:\n  outcome:\n  site: null\n  leave_out:\n  questions:\n"
    )
    assert read_description(tmp_path / "t.yaml").use == Use()


def test_a_header_that_ends_elsewhere_than_described_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    text = f"name: t\npath: t.csv\ndialect: {{headerRows: [1, 2]}}\nschema: {FIELD}"
    (tmp_path / "t.yaml").write_text(text)
    described = DescribedTable(tmp_path / "t.csv", find_description(tmp_path / "t.csv"))
    with pytest.raises(DataError, match="end in line 1, .* end in line 2"):
        list(read_blocks(described))


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
    asked = found.outcome
    assert (asked.field, asked.event, asked.horizon, found.use.id) == ("1", "yes", 365, None)


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


def test_questions_are_added_to_a_list_that_an_editor_indented_otherwise(tmp_path):
    cohort().assign(sodium=np.arange(N) % 60 + 90).to_csv(tmp_path / "t.csv", index=False)
    file = description_path(tmp_path / "t.csv")
    profile(tmp_path / "t.csv")
    question = OpenQuestion(
        fields=("age",), check="odd value", question="a: -9?", answers=("keep",)
    )
    add_questions(file, [question])
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text("utf-8"))), "utf-8")
    add_questions(file, [question])
    assert len(read_description(file).resource.use.questions) == 2


@pytest.mark.parametrize("odd", ["dates", "label", "codes"])
def test_a_table_whose_questions_are_open_can_be_profiled_again(tmp_path, odd):
    table = cohort()
    if odd == "dates":
        table["admitted"] = [f"{1 + i % 12:02}/{1 + i % 11:02}/2024" for i in range(N)]
    elif odd == "label":
        table = table.assign(died=np.arange(N) % 3)
    else:
        table.loc[::9, "platelets"] = 99_999
    table.to_csv(tmp_path / "t.csv", index=False)
    file, page = tmp_path / "t.yaml", tmp_path / "p.html"
    made = []
    for _ in range(2):
        page.unlink(missing_ok=True)
        _, faults = write_profile_page(
            tmp_path / "t.csv", page, TableRun(), label="died", description=file
        )
        made.append((faults, file.read_text()))
        assert page.exists()
    assert made[0][0]
    assert made[0] == made[1]
