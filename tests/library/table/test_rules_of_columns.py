"""Rules that are said of columns: misspelt ones, codes in other forms, and what `profile` writes."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from described_tables import decided, inferred, use_of

from deepcac.errors import ConfigError, DataError
from deepcac.judging.draws import draw, units
from deepcac.judging.resamples import at_most
from deepcac.preprocess import TableScaler
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import without_missing
from deepcac.table.elsewhere.folds import external_rows
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.column_tables import difference_lines
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.pages.risk_section import risk_questions
from deepcac.table.reading.table_encoder import TableEncoder, learn_encoder
from deepcac.table.reading.unfamiliar_rows import Unfamiliar
from deepcac.table.risk_tables import fit_table, predict_table

N = 120


def patients(n=N, seed=0):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, n), "crp": draw.gamma(2, 6, n).round(1)})
    table["ward"] = draw.choice([1, 2, 3], n)
    return table.assign(died=draw.permutation(np.arange(n) % 3 == 0).astype(int))


def read(path, table, **options):
    table.to_csv(path / "t.csv", index=False, **options)
    return read_labelled(inferred(path / "t.csv"))


def column(table, name):
    return table.features.X[:, table.encoder.places[name]]


@pytest.mark.parametrize("name", ["group", "label", "row_id"])
def test_a_column_may_have_the_name_of_a_column_of_ours(tmp_path, name):
    """`difference_lines` is part of every page of `compare` and `audit`."""
    patients().rename(columns={"crp": name}).to_csv(tmp_path / "t.csv", index=False)
    table = read_labelled(decided(tmp_path / "t.csv"))
    code = np.arange(N) % 2
    lines = {line[0]: line[1] for line in difference_lines(table, code, ["a", "b"])}
    values = patients()["crp"].to_numpy()
    first, second = values[code == 0], values[code == 1]
    spread = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    assert float(lines[name]) == pytest.approx(abs(first.mean() - second.mean()) / spread, abs=0.01)


@pytest.mark.parametrize("code", ["-9", "-9.0"])
def test_a_code_is_that_number_however_many_decimals_it_has(code):
    texts = pa.array(["-9", "-9.0", "-9.00", "-90", "x-9", "-09"])
    gone = [True, True, True, False, False, False]
    assert without_missing(texts, (code,)).is_null().to_pylist() == gone


def test_a_column_that_is_left_out_stops_nothing(tmp_path):
    table = patients().assign(weight=["1,5", "2.5", "3,25", "4.75"] * (N // 4))
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ConfigError, match="'weight'"):
        read_labelled(inferred(tmp_path / "t.csv"))
    found = read_labelled(inferred(tmp_path / "t.csv", leave_out=("weight",)))
    assert found.features.names == ("age", "crp", "ward=1", "ward=2", "ward=3")
    encoder, faults = write_profile_page(
        tmp_path / "t.csv", tmp_path / "p.html", TableRun(len), label="died"
    )
    assert [column.name for column in encoder.used] == ["age", "crp", "ward"]
    assert "'weight'" in " ".join(faults)
    fit_table(
        inferred(tmp_path / "t.csv", leave_out=("weight",)), tmp_path / "m.json", TableRun(len),
        method="plain",
    )  # fmt: skip
    assert predict_table(tmp_path / "m.json", tmp_path / "t.csv", tmp_path / "r", say=len) == N


def test_text_with_spaces_and_an_empty_cell_is_refused_with_its_row(tmp_path):
    path = tmp_path / "t.txt"
    ages = patients()["age"].tolist()
    lines = ["died age crp", *(f"{i % 2} {age} {i % 30 / 10}" for i, age in enumerate(ages))]
    path.write_text("\n".join(lines))
    assert column(read_labelled(inferred(path)), "age").tolist() == ages
    for row, line in ((8, "1      3.4"), (9, "1 50 3.4 7")):
        path.write_text("\n".join([*lines[:row], line, *lines[row + 1 :]]))
        with pytest.raises(DataError, match=rf"data row {row} has {len(line.split())} words, the"):
            read_labelled(inferred(path))
    path.write_text("\n".join([*lines[:8], '1 50 "3.4"', *lines[9:]]))
    assert read_labelled(inferred(path)).features.X.shape == (N, 2)


def test_a_blank_is_said_also_where_rare_levels_are_one():
    """Another text may be a rare level of the fit, a blank is none."""
    wards = ["icu"] * 20 + ["med"] * 20 + ["a", "b"]
    whole, number = pa.table({"ward": wards}), np.arange(1, 43)
    again = TableEncoder.from_dict(learn_encoder(whole, number, {}).to_dict())
    scaler = TableScaler().fit(again.encode(whole, number))

    def told(*wards):
        rows = pa.table({"ward": [*wards]})
        X = again.encode(rows, np.arange(len(wards)))
        strange = Unfamiliar.of(again, scaler)
        strange.add(X, rows)
        return X, strange.tell(accept=True)

    X, (remark,) = told("icu", None, "a")
    rare = again.places["ward=(other)"]
    assert X[:, rare].tolist() == [0, 1, 1]
    assert remark.startswith("column 'ward' ")
    assert "fewer than 8 rows" in remark
    assert told("icu", "med")[1] == []


def test_blanks_of_a_second_table_only_are_said(tmp_path):
    first, second = patients(), patients(seed=1)
    for table in (first, second):
        table["ward"] = np.array(["x", "icu", "med", "er"])[table["ward"]]
    second.loc[:9, "ward"] = None
    first.to_csv(tmp_path / "a.csv", index=False)
    second.to_csv(tmp_path / "b.csv", index=False)
    table = read_labelled(inferred(tmp_path / "a.csv"))
    _, judged = external_rows(table, [tmp_path / "b.csv"], rows=1000, seed=0)
    assert any(re.search(r"'ward' .* 10 rows", line) for line in judged.remarks)


def test_too_few_patients_with_the_event_are_told_as_patients(tmp_path):
    """Thirty rows, but of three patients."""
    table = patients().assign(patient=np.arange(N) // 4, died=0)
    table.loc[:11, "died"] = 1
    table.to_csv(tmp_path / "t.csv", index=False)
    said = r"'died': fewer than 4 patients \(column 'patient'\) have a row of class '1'"
    with pytest.raises(DataError, match=said):
        read_labelled(inferred(tmp_path / "t.csv", patient="patient"))


def test_a_column_without_a_value_in_a_file_with_types_is_an_empty_one(tmp_path):
    """As a column of a CSV: a new patient without a measurement."""
    table = patients()
    table.loc[::4, "crp"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    model, risks = tmp_path / "m.json", tmp_path / "r.csv"
    fit_table(inferred(tmp_path / "t.csv"), model, TableRun(str, command="c"), method="plain")
    (tmp_path / "new.json").write_text('[{"age": 63, "crp": null, "ward": 2}]')
    assert predict_table(model, tmp_path / "new.json", risks, say=str) == 1


def test_names_of_options_are_read_as_those_of_columns(tmp_path):
    use = use_of("died", time="days", horizon=1, competing=("other  cause",))
    assert use.outcome.competing == ("other cause",)
    assert risk_questions(None, "pheno  type, e\u0301ge").by == ("pheno type", "\u00e9ge")


def test_a_second_table_may_lack_the_competing_event(tmp_path):
    rng = np.random.default_rng(0)
    here, there = (patients(seed=seed).assign(days=rng.uniform(1, 9, N)) for seed in (0, 1))
    here["died"] = rng.permutation([0, 1, 2] * (N // 3))
    here.to_csv(tmp_path / "a.csv", index=False)
    there.to_csv(tmp_path / "b.csv", index=False)
    roles = use_of("died", time="days", horizon=6.5, competing=("2",), event="1")
    table = read_labelled(inferred(tmp_path / "a.csv", roles))
    fold, _ = external_rows(table, [tmp_path / "b.csv"], rows=1000, seed=0)
    assert fold.follow.other is not None
    assert not fold.follow.other[N:].any()


def test_a_value_of_few_rows_is_not_on_the_page(tmp_path):
    table = patients().assign(days=np.arange(N) % 30 + 1)
    table.loc[[5, 50], "days"] = 888
    table.to_csv(tmp_path / "t.csv", index=False)
    _, told = write_profile_page(
        tmp_path / "t.csv", tmp_path / "p.html", TableRun(str, command="c"), label="died"
    )
    assert any("888" in line for line in told)
    assert "888" not in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize("n", [10_001, 10_002, 10_003])
def test_a_stratified_part_is_drawn_where_one_or_two_rows_are_too_many(n):
    label = np.arange(n) % 2
    part = at_most(10_000, np.arange(n), label, 0)
    assert len(part) == (10_000 if n > 10_001 else 9_998)
    assert len(np.unique(part)) == len(part)


def test_patients_are_drawn_by_their_rarest_class():
    """Three classes, of which the second has more rows, in fewer patients."""
    unit = np.r_[np.repeat(np.arange(40), 3), np.repeat(np.arange(40, 48), 8), np.arange(48, 78)]
    label = np.r_[np.zeros(120, int), np.full(64, 1), np.full(30, 2)]
    marks, place = units(label, unit)
    assert np.bincount(marks).tolist() == [40, 8, 30]
    for seed in range(30):
        part = draw(marks, seed, stratified=True)[place]
        assert all(len(np.unique(label[part == p])) == 3 for p in (0, 1, 2))


def test_few_patients_without_the_event_are_no_stratum_of_their_own():
    """Of 60 patients with eight visits two have none with the event, as in a planted cohort."""
    unit = np.repeat(np.arange(60), 8)
    label = (np.arange(480) % 2).astype(int)
    label[:16] = 0
    marks, place = units(label, unit)
    assert len(marks) == 60
    part = draw(marks, 0, stratified=True)[place]
    assert np.bincount(part).tolist() == [33 * 8, 12 * 8, 15 * 8]
    assert all(len(np.unique(part[unit == patient])) == 1 for patient in range(60))


def test_a_level_of_one_patient_with_many_rows_is_not_named(tmp_path):
    table = patients(240).assign(patient=np.arange(240) // 4)
    wards = np.array(["er", "icu", "med", "er"])[table["ward"]].astype(object)
    wards[:32] = "Hospice-77"  # of the first eight patients
    table["ward"] = wards
    table.to_csv(tmp_path / "t.csv", index=False)

    def levels(**roles):
        found = read_labelled(inferred(tmp_path / "t.csv", **roles)).columns
        return next(entry.levels for entry in found if entry.name == "ward")

    assert levels(patient="patient") == ("Hospice-77", "er", "icu", "med")
    table["patient"] = np.maximum(table["patient"], 1)  # now of seven
    table.to_csv(tmp_path / "t.csv", index=False)
    assert levels(patient="patient") == ("er", "icu", "med", "(other)")


def test_numbers_of_few_patients_are_in_no_model_however_many_rows_they_have():
    rows = 30
    patient = np.repeat(np.arange(40), rows)
    table = pa.table({
        "grade": np.where(patient == 0, 4, patient % 3).astype(float),  # 4 is one patient's
        "stage": (patient % 3).astype(float),
        "crp": np.random.default_rng(0).gamma(2, 6, len(patient)).round(2),
    })  # fmt: skip
    number = np.arange(1, len(patient) + 1)
    alone = {c.name: c for c in learn_encoder(table, number, {}).columns}
    assert alone["grade"].values == (0, 1, 2, 4)
    assert alone["crp"].quantiles
    of_patients = {c.name: c for c in learn_encoder(table, number, {}, patients=patient).columns}
    assert of_patients["grade"].values == ()
    assert of_patients["stage"].values == (0, 1, 2)
    assert len(of_patients["crp"].quantiles) == 3  # of 40 patients a tenth are four
    few = {c.name: c for c in learn_encoder(table, number, {}, patients=patient // 3).columns}
    assert few["crp"].quantiles == ()
