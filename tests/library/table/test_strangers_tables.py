"""Tables from other people's hands: what has two readings is read rightly, said, or refused."""

import gzip
import unicodedata
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from described_tables import decided, inferred, use_of

import deepcac
from deepcac.errors import ConfigError, DataError
from deepcac.table.budgeted_trials import TableRun, refuse_budget
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import Use
from deepcac.table.elsewhere.folds import external_rows, site_folds
from deepcac.table.inference.described_table import describe_table
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.reading.table_files import find_dialect, raw_blocks
from deepcac.table.risk_tables import fit_table, predict_table

N = 200


def patients(seed=0):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, N), "crp": draw.gamma(2, 6, N).round(2)})
    table["ward"] = draw.choice(["med", "icu"], N)
    return table.assign(died=(draw.random(N) < 0.3).astype(int))


def read(path, label="died", **roles):
    return read_labelled(inferred(path, label, **roles))


def csv(tmp_path, table, **options):
    table.to_csv(tmp_path / "t.csv", index=False, **options)
    return tmp_path / "t.csv"


def blocks(path):
    return list(raw_blocks(path, find_dialect(path, None)))


def column(table, name):
    return table.features.X[:, table.features.names.index(name)]


def test_points_of_thousands_are_judged_by_the_other_columns(tmp_path):
    counts = np.random.default_rng(1).permutation(np.arange(900, 900 + 4 * N, 4)).tolist()
    table = patients().assign(crp=[f"{n % 30},5" for n in counts])
    table["platelets"] = [f"{n:,}".replace(",", ".") for n in counts]
    found = read(csv(tmp_path, table, sep=";"))
    assert column(found, "platelets").tolist() == counts


@pytest.mark.parametrize(("unit", "bare"), [("%", ""), (" mg/L", ""), (" yrs", " years")])
def test_numbers_with_one_unit_are_numbers(tmp_path, unit, bare):
    table = patients()
    cells = [f"{n}{unit if n % 2 else bare or unit}" for n in table["age"]]
    assert column(read(csv(tmp_path, table.assign(age=cells))), "age").tolist() == list(
        table["age"]
    )


def test_the_unit_of_a_model_is_read_in_the_cells_of_one_patient(tmp_path):
    table = patients().assign(age=[f"{n} yrs" for n in patients()["age"]])
    encoder = read(csv(tmp_path, table)).encoder
    rows = pa.Table.from_pandas(table[:1].assign(age="60 years"), preserve_index=False)
    (read_row,) = DescribedTable("", encoder.description, ["age"]).rows(rows.to_batches())
    assert read_row["age"].to_pylist() == [60]
    rows = pa.Table.from_pandas(table[:2].assign(age=["60", "61 yrs"]).astype(str))
    (read_rows,) = DescribedTable("", encoder.description, ["age"]).rows(rows.to_batches())
    assert read_rows["age"].to_pylist() == [60, 61]


@pytest.mark.parametrize(
    ("word", "level"),
    [("None", True), ("-", True), ("NA", False), ("unknown", False), ("nk", False)],
)
def test_a_word_is_a_level_unless_it_says_that_nothing_is_known(tmp_path, word, level):
    path = csv(tmp_path, patients().assign(ward=[word, "COPD"] * (N // 2)))
    levels = next(one for one in read(path).columns if one.name == "ward").levels
    assert (word in levels) == level
    assert ("(missing)" in levels) != level
    numbers = csv(tmp_path, patients().assign(age=[word, "63", "71", "80"] * (N // 4)))
    assert np.isnan(column(read(numbers), "age")).sum() == N // 4


def test_packed_tables_are_read_as_they_are(tmp_path):
    path = csv(tmp_path, patients())
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(path, "t.csv")
    patients().to_stata(tmp_path / "t.dta", write_index=False)
    patients().to_feather(tmp_path / "t.feather")
    for name in ("t.csv.gz", "t.zip", "t.dta", "t.feather"):
        assert (read(tmp_path / name).features.X == read(path).features.X).all()


@pytest.mark.parametrize("factor", [88.4, 1 / 88.4])
def test_a_column_in_another_unit_is_refused_in_both_directions(tmp_path, factor):
    model, out = tmp_path / "m.json", tmp_path / "risk.csv"
    fit_table(
        inferred(csv(tmp_path, patients())),
        model,
        TableRun(len, rows=N, jobs=1),
        method="plain",
    )
    new = patients(1)
    assert predict_table(model, csv(tmp_path, new), out, say=len) == N
    new["crp"] *= factor
    with pytest.raises(DataError, match="column 'crp'.*--accept-unseen"):
        predict_table(model, csv(tmp_path, new), out, say=len)


def workbook(path, sheets, hidden=()):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    book.save(path)
    return path


def cells_of(table):
    return [list(table.columns), *table.astype(object).to_numpy().tolist()]


@pytest.mark.parametrize(
    "error", ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#BEZUG!", "#N/D"]
)
def test_error_cells_of_a_sheet_are_missing(tmp_path, error):
    rows = cells_of(patients())
    for row in rows[5:9]:
        row[1] = error
    found = column(read(workbook(tmp_path / "t.xlsx", {"a": rows})), "crp")
    assert np.flatnonzero(np.isnan(found)).tolist() == [4, 5, 6, 7]


def test_the_sheet_is_named_where_several_hold_rows(tmp_path):
    good, notes = cells_of(patients()), [["Study of 2019"], ["do not share"]]
    book = workbook(tmp_path / "t.xlsx", {"notes": notes, "data": good, "old": good}, ["old"])
    with pytest.raises(DataError, match="2 sheets .*'notes', 'data'"):
        read(book)
    with pytest.raises(DataError, match="no sheet 'dta'"):
        describe_table(book, Use(), sheet="dta")
    for name in ("data", "old"):
        assert describe_table(book, Use(), sheet=name).total == N
    assert read(workbook(tmp_path / "u.xlsx", {"old": notes, "data": good}, ["old"])).total == N
    with pytest.raises(DataError, match="hidden: 'data'"):
        read(workbook(tmp_path / "v.xlsx", {"data": good, "empty": []}, ["data"]))


def followed(seed=0):
    draw = np.random.default_rng(seed)
    table = patients(seed).drop(columns="died")
    table["days"] = draw.uniform(10, 2000, N).round()
    return table.assign(status=draw.random(N) < 0.6)


@pytest.mark.parametrize(
    ("event", "censored"), [("Dead", "Alive"), ("deceased", "living"), ("Relapse", "censored")]
)
def test_the_event_is_known_by_its_word_and_not_by_how_rare_it_is(tmp_path, event, censored):
    table = followed()
    status = np.where(table["status"], event, censored)
    path = csv(tmp_path, table.assign(status=status))
    assert read(path, "status", time="days", horizon=1000).words == (censored, event)


def test_a_status_of_unknown_words_needs_the_event_named(tmp_path):
    table = followed()
    path = csv(tmp_path, table.assign(status=np.where(table["status"], "rot", "blau")))
    with pytest.raises(DataError, match="the event"):
        read(path, "status", time="days", horizon=1000)
    assert read(path, "status", time="days", horizon=1000, event="rot").words[1] == "rot"


def test_sites_that_differ_in_case_are_refused_and_na_can_be_a_site(tmp_path):
    def site(values):
        path = csv(tmp_path, patients().assign(site=values * (N // len(values))))
        return site_folds(read(path, site="site"))

    with pytest.raises(DataError, match="'A', 'a'"):
        site(["A", "a", "B", "B"])
    with pytest.raises(ConfigError, match="'NA'"):
        site(["NA", "EU"])
    table = read_labelled(decided(tmp_path / "t.csv", answer="a level", site="site"))
    folds, _ = site_folds(table)
    assert sorted(fold.name for fold in folds) == ["EU", "NA"]


def test_names_in_two_normal_forms_are_one(tmp_path):
    written = [
        "Zo\u00eb",
        unicodedata.normalize("NFD", "Zo\u00eb"),
        "Zo\u00eb\u200b",
        "Zo\u00eb\u00a0",
    ]
    table = patients().assign(
        ward=[*written, *["Ann"] * 4] * (N // 8),
        person=[f"{written[n % 4]} {n // 4}" for n in range(N)],
    )
    path = csv(tmp_path, table)
    found = read(path, patient="person")
    levels = next(one for one in found.columns if one.name == "ward").levels
    assert sorted(levels) == ["Ann", "Zo\u00eb"]
    assert len(np.unique(found.group)) == N // 4
    table["person"] = [str(n // 2) + "\u200b" * (n % 2) for n in range(N)]
    with pytest.raises(DataError, match="occurs in row"):
        read(csv(tmp_path, table), id="person")


def test_ids_with_and_without_zeros_are_one_patient_in_two_tables(tmp_path):
    table = patients().assign(pid=[f"{n // 2 + 1:05d}" for n in range(N)])
    other = patients(1).assign(pid=[n // 2 + 60 for n in range(N)])
    first, second = csv(tmp_path, table), tmp_path / "there.csv"
    other.to_csv(second, index=False)
    roles = use_of("died", patient="pid")
    fold, judged = external_rows(read_labelled(inferred(first, roles)), [second], rows=N, seed=0)
    assert len(fold.fit) == 2 * 59
    assert any("both tables" in line for line in judged.remarks)


def test_another_unit_in_a_second_table_or_at_a_site_is_refused(tmp_path):
    path, second = csv(tmp_path, patients()), tmp_path / "there.csv"
    other = patients(1).assign(crp=lambda t: t["crp"] * 88.4)
    other.to_csv(second, index=False)
    with pytest.raises(DataError, match="column 'crp'"):
        external_rows(read(path), [second], rows=N, seed=0)
    both = pd.concat([patients().assign(site="here"), other.assign(site="there")])
    table = read(csv(tmp_path, both), site="site")
    with pytest.raises(DataError, match="column 'crp', site"):
        site_folds(table)


@pytest.mark.parametrize("factor", [88.4, 1 / 88.4, 12.0])
def test_a_loaded_model_refuses_a_column_in_another_unit(tmp_path, factor):
    fit_table(
        inferred(csv(tmp_path, patients())),
        tmp_path / "m.json",
        TableRun(len, rows=N, jobs=1),
        method="plain",
    )
    model, new = deepcac.load(tmp_path / "m.json"), patients(1).drop(columns="died")
    assert model.predict_proba(new).shape == (N, 2)
    moved = new.assign(crp=new["crp"] * factor)
    with pytest.raises(DataError, match="column 'crp'"):
        model.predict_proba(moved)
    assert model.predict_proba(moved, accept_unseen=True).shape == (N, 2)


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
def test_truth_values_are_one_thing_in_text_and_parquet(tmp_path, words):
    table, model = patients(), tmp_path / "m.json"
    table["smoker"] = table["age"] % 2 == 0
    table.to_parquet(tmp_path / "t.parquet")
    text = csv(tmp_path, table.assign(smoker=np.where(table["smoker"], *words)))
    risks = []
    for learnt in (text, tmp_path / "t.parquet"):
        fit_table(inferred(learnt), model, TableRun(len, rows=N, jobs=1), method="plain")
        for new in (text, tmp_path / "t.parquet"):
            predict_table(model, new, tmp_path / "r.csv", say=len)
            risks.append(pd.read_csv(tmp_path / "r.csv")["risk"].to_numpy())
    assert all(np.allclose(risks[0], other) for other in risks[1:])


def test_a_budget_that_would_be_overrun_is_refused_with_what_it_takes():
    refuse_budget(90.0, 1.0)
    with pytest.raises(ConfigError, match="about 5 minutes.*--budget 5"):
        refuse_budget(300.0, 1.0)


def test_labels_and_dates_of_stata_and_sas_are_those_of_the_file(tmp_path):
    stat = pytest.importorskip("pyreadstat")
    table = patients().assign(grade=np.arange(N) % 3 + 1, sex=np.arange(N) % 2 + 1)
    labels = {"grade": {1: "low", 2: "low", 3: "high"}, "sex": {1: "male", 2: "female"}}
    stat.write_dta(table, str(tmp_path / "t.dta"), variable_value_labels=labels)
    stat.write_dta(table, str(tmp_path / "p.dta"), variable_value_labels=labels)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(tmp_path / "p.dta", "p.dta")
    for name in ("t.dta", "t.zip"):
        names = read(tmp_path / name).encoder.names
        assert {"grade=low", "sex=male"} <= {*names}
    table["seen"] = pd.to_datetime(np.arange(N), unit="D", origin="2020-01-01").date
    stat.write_xport(table.drop(columns="ward"), str(tmp_path / "t.xpt"), file_format_version=5)
    columns = {column.name.lower(): column for column in read_labelled(
        inferred(tmp_path / "t.xpt")).columns}  # fmt: skip
    assert columns["seen"].note.startswith("a date")


def test_lines_of_json_may_be_one_and_hold_any_separator(tmp_path):
    line = '{"id": 1, "note": "a\u2028b\x85c"}\n'
    for n in (1, 2):
        (tmp_path / "t.jsonl").write_text(n * line, encoding="utf-8")
        (block,) = blocks(tmp_path / "t.jsonl")
        assert block.to_pylist() == n * [{"id": 1, "note": "a\u2028b\x85c"}]


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("t.xls", b"<HTML><table>", "web page"),
        ("t.csv", b"<!doctype html>", "web page"),
        ("t.xls", b'\xef\xbb\xbf<?xml version="1.0"?>', "is XML"),
        (
            "t.xlsx",
            b"\xd0\xcf\x11\xe0" + bytes(60),
            "a password",
        ),
    ],
)
def test_a_file_is_called_what_it_is_whatever_its_ending(tmp_path, name, content, line):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=line):
        blocks(tmp_path / name)


def test_text_that_is_called_a_spreadsheet_is_read(tmp_path):
    (tmp_path / "t.xls").write_text("age\tdied\n63\t1\n")
    (block,) = blocks(tmp_path / "t.xls")
    assert block.to_pylist() == [{"age": "63", "died": "1"}]


def test_a_code_for_no_value_of_a_column_empties_no_id(tmp_path):
    table = patients().assign(patient=np.arange(N))
    table.loc[::12, "age"] = 99
    path = csv(tmp_path, table)
    fit_table(decided(path, answer="missing", id="patient"), tmp_path / "m.json",
              TableRun(len, rows=N, jobs=1), method="plain")  # fmt: skip
    predict_table(tmp_path / "m.json", path, tmp_path / "r.csv", say=len)
    assert pd.read_csv(tmp_path / "r.csv")["patient"].tolist() == [*range(N)]


def test_ids_in_two_spellings_are_one_patient_of_a_table(tmp_path):
    table = patients().assign(pid=[f"{n // 2:0{3 + n % 2}d}" for n in range(N)])
    assert len(set(read(csv(tmp_path, table), patient="pid").group)) == N / 2
    with pytest.raises(DataError, match="'0000' occurs in row 1 already as '000'"):
        read(csv(tmp_path, table), id="pid")


def test_ids_that_are_no_feature_tell_of_patients_in_both_tables(tmp_path):
    numbers = np.random.default_rng(0).permutation(90_000)[: 2 * N]
    here = patients().assign(mrn=[f"{n:05d}" for n in numbers[:N]])
    there = patients(1).assign(mrn=numbers[N // 2 : 3 * N // 2])
    table = read(csv(tmp_path, here))
    there.to_csv(tmp_path / "b.csv", index=False)
    _, judged = external_rows(table, [tmp_path / "b.csv"], rows=N, seed=0)
    assert any("100 values of column 'mrn'" in line for line in judged.remarks)


def test_files_of_spss_and_sas_are_read_as_they_are(tmp_path):
    stat = pytest.importorskip("pyreadstat")
    stat.write_sav(patients(), str(tmp_path / "t.sav"))
    stat.write_xport(patients(), str(tmp_path / "t.xpt"), file_format_version=8)
    expected = read(csv(tmp_path, patients())).features.X
    for name in ("t.sav", "t.xpt"):
        assert np.allclose(read(tmp_path / name).features.X, expected)
