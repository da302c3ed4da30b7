"""Rules that are said of columns: misspelt ones, codes in other forms, and what `profile` writes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from deepcac.table.columns.cell_reader import CellReader

from deepcac.errors import DataError
from deepcac.judging.draws import draw, units
from deepcac.judging.resamples import at_most
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.column_differences import difference_lines
from deepcac.table.columns.cell_texts import CellRules
from deepcac.table.columns.roles import Roles
from deepcac.table.elsewhere.external_rows import external_rows
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page
from deepcac.table.pages.risk_section import risk_questions
from deepcac.table.reading.table_encoder import TableEncoder, learn_encoder
from deepcac.table.risk_tables import fit_table, predict_table

N = 120


def patients(n=N, seed=0):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, n), "crp": draw.gamma(2, 6, n).round(1)})
    table["ward"] = draw.choice([1, 2, 3], n)
    return table.assign(died=draw.permutation(np.arange(n) % 3 == 0).astype(int))


def read(path, table, rules=CellRules(), **options):  # noqa: B008
    table.to_csv(path / "t.csv", index=False, **options)
    return read_labelled(path / "t.csv", Roles("died", cells=rules))


def column(table, name):
    return table.features.X[:, table.encoder.places[name]]


@pytest.mark.parametrize("name", ["group", "label", "row_id"])
def test_a_column_may_have_the_name_of_a_column_of_ours(tmp_path, name):
    """`difference_lines` is part of every page of `compare` and `audit`."""
    table = read(tmp_path, patients().rename(columns={"crp": name}))
    code = np.arange(N) % 2
    lines = {line[0]: line[1] for line in difference_lines(table, code, ["a", "b"])}
    values = patients()["crp"].to_numpy()
    first, second = values[code == 0], values[code == 1]
    spread = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    assert float(lines[name]) == pytest.approx(abs(first.mean() - second.mean()) / spread, abs=0.01)


@pytest.mark.parametrize("cell", ["-9", "-9.0", "-9.00"])
@pytest.mark.parametrize("code", ["-9", "crp=-9", "crp=-9.0"])
def test_a_code_is_that_number_however_many_decimals_it_has(tmp_path, cell, code):
    table = patients().astype({"crp": object})
    table.loc[::10, "crp"] = cell
    found = read(tmp_path, table, CellRules(missing=(code,)))
    assert np.flatnonzero(np.isnan(column(found, "crp"))).tolist() == list(range(0, N, 10))
    assert not any("No cell is" in line for line in found.notices)


def test_a_code_with_a_comma_is_the_number_of_the_hint(tmp_path):
    table = patients().astype({"crp": object})
    table["crp"] = [f"{value}".replace(".", ",") for value in table["crp"]]
    table.loc[::10, "crp"] = "99,9"
    found = read(tmp_path, table, CellRules(missing=("crp=99.9",)), sep=";")
    assert np.isnan(column(found, "crp")).sum() == N // 10


def test_a_name_with_zeros_before_it_is_no_such_number(tmp_path):
    wards = ["009", "010", "011"] * (N // 3)
    found = read(
        tmp_path,
        patients().assign(ward=wards),
        CellRules(missing=("ward=9",), categories=("ward",)),
    )
    (ward,) = (entry for entry in found.columns if entry.name == "ward")
    assert ward.levels == ("009", "010", "011")
    assert "No cell is 'ward=9'." in found.notices


def test_text_with_spaces_and_an_empty_cell_is_refused_with_its_row(tmp_path):
    path = tmp_path / "t.txt"
    ages = patients()["age"].tolist()
    lines = ["died age crp", *(f"{i % 2} {age} {i % 30 / 10}" for i, age in enumerate(ages))]
    path.write_text("\n".join(lines))
    assert column(read_labelled(path, Roles("died")), "age").tolist() == ages
    for row, line in ((8, "1      3.4"), (9, "1 50 3.4 7")):
        path.write_text("\n".join([*lines[:row], line, *lines[row + 1 :]]))
        with pytest.raises(DataError, match=rf"data row {row} has {len(line.split())} words, the"):
            read_labelled(path, Roles("died"))
    path.write_text("\n".join([*lines[:8], '1 50 "3.4"', *lines[9:]]))
    assert read_labelled(path, Roles("died")).features.X.shape == (N, 2)


def test_a_blank_is_said_also_where_rare_levels_are_one():
    """Another text may be a rare level of the fit, a blank is none."""
    wards = ["icu"] * 20 + ["med"] * 20 + ["a", "b"]
    encoder = learn_encoder(pa.table({"ward": wards}), np.arange(1, 43), {})
    again = TableEncoder.from_dict(encoder.to_dict())
    X, remarks = again.encode(pa.table({"ward": ["icu", None, "a"]}), np.arange(1, 4))
    rare = again.places["ward=(other)"]
    assert X[:, rare].tolist() == [0, 1, 1]
    assert remarks == [
        "column 'ward' is empty in fewer than 8 rows, and was in none when the model was fitted; "
        "such a cell counts as a rare level"
    ]
    assert again.encode(pa.table({"ward": ["icu", "med"]}), np.arange(1, 3))[1] == []


def test_blanks_of_a_second_table_only_are_said(tmp_path):
    first, second = patients(), patients(seed=1)
    for table in (first, second):
        table["ward"] = np.array(["x", "icu", "med", "er"])[table["ward"]]
    second.loc[:9, "ward"] = None
    first.to_csv(tmp_path / "a.csv", index=False)
    second.to_csv(tmp_path / "b.csv", index=False)
    table = read_labelled(tmp_path / "a.csv", Roles("died"))
    found = external_rows(table, Roles("died"), [tmp_path / "b.csv"], rows=1000, seed=0)
    assert any("'ward' is empty in 10 rows, and in none of a." in line for line in found.remarks)


def test_too_few_patients_with_the_event_are_told_as_patients(tmp_path):
    """Thirty rows, but of three patients."""
    table = patients().assign(patient=np.arange(N) // 4, died=0)
    table.loc[:11, "died"] = 1
    table.to_csv(tmp_path / "t.csv", index=False)
    said = r"'died': fewer than 4 patients \(column 'patient'\) have a row of class '1'"
    with pytest.raises(DataError, match=said):
        read_labelled(tmp_path / "t.csv", Roles("died", group="patient"))


def test_a_free_text_does_not_tell_how_few_cells_are_empty(tmp_path):
    names = [f"name {i}" for i in range(N)]
    names[3] = names[4] = names[5] = None
    names[6] = names[7]
    found = read(tmp_path, patients().assign(name=names))
    (note,) = (entry.note for entry in found.columns if entry.name == "name")
    assert note == f"free text or an id: {N - 4} different texts"


def test_a_column_without_a_value_in_a_file_with_types_is_an_empty_one(tmp_path):
    """As a column of a CSV: a new patient without a measurement."""
    table = patients()
    table.loc[::4, "crp"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    model, risks = tmp_path / "m.json", tmp_path / "r.csv"
    fit_table(tmp_path / "t.csv", Roles("died"), model, TableRun(str, command="c"), method="plain")
    (tmp_path / "new.json").write_text('[{"age": 63, "crp": null, "ward": 2}]')
    assert predict_table(model, tmp_path / "new.json", risks, say=str) == 1


def test_names_of_options_are_read_as_those_of_columns(tmp_path):
    roles = Roles("died", time="days", horizon=1, competing=("other  cause",))
    assert roles.competing == ("other cause",)
    assert risk_questions(None, "pheno  type, e\u0301ge").by == ("pheno type", "\u00e9ge")


def test_answers_with_a_comma_among_numbers_with_points_are_said(tmp_path):
    """`1,3` may be two answers in one cell."""
    table = patients().assign(symptoms=["1", "2", "1,3", "2,4"] * (N // 4))
    found = read(tmp_path, table)
    (said,) = (line for line in found.notices if "'symptoms'" in line)
    assert "data row 3: '1,3' is read as a number with a decimal comma, though" in said
    both = read(tmp_path, patients().assign(symptoms=["900", "950", "1.300,5", "800"] * (N // 4)))
    assert any("data row 3: '1.300,5' is read" in line for line in both.notices)


def test_a_second_table_may_lack_the_competing_event(tmp_path):
    rng = np.random.default_rng(0)
    here, there = (patients(seed=seed).assign(days=rng.uniform(1, 9, N)) for seed in (0, 1))
    here["died"] = rng.permutation([0, 1, 2] * (N // 3))
    here.to_csv(tmp_path / "a.csv", index=False)
    there.to_csv(tmp_path / "b.csv", index=False)
    roles = Roles("died", time="days", horizon=6.5, competing=("2",), positive="1")
    table = read_labelled(tmp_path / "a.csv", roles)
    found = external_rows(table, roles, [tmp_path / "b.csv"], rows=1000, seed=0)
    assert found.fold.follow.other is not None
    assert not found.fold.follow.other[N:].any()


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
        found = read_labelled(tmp_path / "t.csv", Roles("died", **roles)).columns
        return next(entry.levels for entry in found if entry.name == "ward")

    assert levels(group="patient") == ("Hospice-77", "er", "icu", "med")
    table["patient"] = np.maximum(table["patient"], 1)  # now of seven
    table.to_csv(tmp_path / "t.csv", index=False)
    assert levels(group="patient") == ("er", "icu", "med", "(other)")
    assert levels(drop=("patient",)) == ("Hospice-77", "er", "icu", "med")


def test_a_column_that_is_left_out_stops_nothing(tmp_path):
    """Both signs before decimals in one column."""
    table = patients().assign(dose=["12,5", "12.5"] * (N // 2))
    with pytest.raises(DataError, match="'dose': points and commas both stand before decimals"):
        read(tmp_path, table)
    found = read_labelled(tmp_path / "t.csv", Roles("died", drop=("dose",)))
    assert found.features.names == ("age", "crp", "ward")


def test_what_is_said_to_mean_no_value_is_not_offered_as_a_word(tmp_path):
    table = patients().assign(sex=np.where(np.arange(N) % 7, "f", "u"))
    table.loc[::5, "sex"] = "m"
    assert not any("Read as no value" in line for line in read(tmp_path, table).remarks)
    found = read(tmp_path, table, CellRules(missing=("sex=u",)))
    assert not any("Read as no value" in line for line in found.remarks)
    assert not found.notices


def both_signs():
    """A column that the model does not need, with points and with commas before decimals."""
    return ["1,5", "2.5", "3,25", "4.75"] * (N // 4)


def test_a_column_of_both_signs_that_a_model_does_not_need_stops_no_prediction(tmp_path):
    patients().to_csv(tmp_path / "t.csv", index=False)
    fit_table(tmp_path / "t.csv", Roles("died"), tmp_path / "m.json", TableRun(len), method="plain")
    patients(seed=1).assign(weight=both_signs()).to_csv(tmp_path / "new.csv", index=False)
    predict_table(tmp_path / "m.json", tmp_path / "new.csv", tmp_path / "r.csv", say=len)
    assert len(pd.read_csv(tmp_path / "r.csv")) == N


def test_no_way_out_of_a_prediction_leaves_out_a_column_of_the_model(tmp_path):
    patients().to_csv(tmp_path / "t.csv", index=False)
    encoder = read_labelled(tmp_path / "t.csv", Roles("died")).encoder
    reader = CellReader(asked=["crp"])
    with pytest.raises(DataError, match="points and commas both"):
        reader.read(pa.RecordBatch.from_pydict({"crp": both_signs()}))
    for cells, way in (
        (["high", *["1"] * 9], "mend it, or list it under missingValues"),
        ([f"{n} {'mg' if n % 2 else 'ng'}" for n in range(20)], "write all in one"),
    ):
        rows = pa.table({"age": cells, "crp": cells, "ward": cells})
        with pytest.raises(DataError) as error:
            encoder.encode(rows, np.arange(1, 1 + len(cells)))
        assert str(error.value).endswith(way)


def test_a_profile_tells_of_a_column_of_both_signs_and_describes_the_others(tmp_path):
    patients().assign(weight=both_signs()).to_csv(tmp_path / "t.csv", index=False)
    encoder, faults = write_profile_page(
        tmp_path / "t.csv", tmp_path / "p.html", TableRun(len), label="died"
    )
    assert [column.name for column in encoder.used] == ["age", "crp", "ward"]
    assert any("'weight': points and commas both" in fault for fault in faults)
    with pytest.raises(DataError, match="'weight'"):
        read_labelled(tmp_path / "t.csv", Roles("died"))
    assert len(read_labelled(tmp_path / "t.csv", Roles("died", drop=["weight"])).rows) == N


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
