"""Numbers that may be no numbers: codes, two units in one column, dates; and rows nearly alike."""

import numpy as np
import pandas as pd
import pytest
from described_tables import asked, describe, inferred

from deepcac.errors import DataError
from deepcac.table.elsewhere.folds import site_folds
from deepcac.table.findings.column_faults import are_days
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.reading import table_encoder
from deepcac.table.reading.odd_numbers import codes_among, missing_codes, two_units
from deepcac.table.reading.outcomes import alike_spellings
from deepcac.table.reading.table_encoder import EncodedColumn, TableEncoder

N = 240


@pytest.fixture
def draw():
    return np.random.default_rng(0)


def patients(draw, n=N):
    table = pd.DataFrame({"age": draw.integers(20, 90, n), "crp": draw.gamma(2, 6, n).round(2)})
    table["bmi"], table["creatinine"] = draw.normal(27, 4, n).round(1), draw.gamma(9, 0.1, n)
    table["sex"] = draw.choice(["m", "f"], n)
    return table.assign(died=(draw.random(n) < 0.3).astype(int))


def read(tmp_path, table, label="died", **roles):
    table.to_csv(tmp_path / "t.csv", index=False)
    return read_labelled(inferred(tmp_path / "t.csv", label, **roles))


@pytest.mark.parametrize("sign", ["\u202f", "\u00a0", "'", "\u2019"])
def test_any_sign_between_thousands_is_passed_over(sign, tmp_path, draw):
    platelets = draw.integers(1000, 400_000, N)
    cells = [f"{n:,}".replace(",", sign) for n in platelets]
    table = read(tmp_path, patients(draw).assign(platelets=cells))
    assert table.features.X[:, table.encoder.names.index("platelets")].tolist() == list(platelets)


def test_lakhs_and_texts_of_a_spreadsheet_are_read(tmp_path, draw):
    lakhs = [f"1,{n:02d},000" for n in range(10, 90)] * 3
    table = read(tmp_path, patients(draw).assign(titre=lakhs, ward=['="01"', '="02"'] * 120))
    assert table.features.X[0, table.encoder.names.index("titre")] == 110_000
    assert set(table.features.X[:, table.encoder.names.index("ward")]) == {1, 2}


@pytest.mark.parametrize(
    ("small", "factor"),
    [((0.95, 0.02), 100), ((1.7, 0.1), 100), ((1.0, 0.2), 88.4), ((50, 12), 12), ((13, 2), 10)],
)
def test_two_units_in_a_column_are_said(small, factor, draw):
    values = np.clip(draw.normal(*small, 400), small[0] / 2, None)
    other = np.where(draw.random(400) < 0.2, values * factor, values)
    assert "two units?" in two_units("x", other)
    assert two_units("x", values) == ""
    assert two_units("x", values * factor) == ""


def test_degrees_of_both_kinds_are_said(draw):
    values = draw.normal(37, 0.7, 400)
    mixed = np.where(draw.random(400) < 0.5, values * 1.8 + 32, values)
    assert "Fahrenheit" in two_units("temperature", mixed)


@pytest.mark.parametrize(
    "values",
    [
        lambda draw: np.exp(draw.normal(3, 1.5, 400)),
        lambda draw: np.where(draw.random(400) < 0.1, np.exp(draw.normal(6, 1, 400)),
                              draw.gamma(1, 0.02, 400)),
        lambda draw: draw.choice([5.0, 10, 20, 40, 500, 1000], 400),
        lambda draw: draw.poisson(0.4, 400).astype(float),
        lambda draw: draw.normal(0, 1, 400),
        lambda draw: draw.integers(0, 5, 400).astype(float),
        lambda draw: np.where(draw.random(400) < 0.6, 0, draw.gamma(1, 20, 400)),
    ],
)  # fmt: skip
def test_usual_numbers_are_no_codes_and_no_units(values, draw):
    column = values(draw)
    assert missing_codes("x", column) == []
    assert two_units("x", column) == ""
    assert not are_days("visit date", column)


@pytest.mark.parametrize(("code", "values"), [
    (9, lambda draw: draw.integers(1, 5, 400).astype(float)),
    (0, lambda draw: draw.normal(27, 3, 400)),
    (99.9, lambda draw: draw.normal(37, 0.5, 400)),
    (-99.9, lambda draw: draw.normal(37, 0.5, 400)),
])  # fmt: skip
def test_codes_for_no_value_are_found(code, values, draw):
    column = np.where(draw.random(400) < 0.06, code, values(draw))
    assert [found for _, found in missing_codes("x", column)] == [f"{code}"]


@pytest.mark.parametrize(("codes", "values"), [
    ((777, 999), lambda draw: draw.integers(20, 90, 400)),
    ((-9, -8), lambda draw: draw.integers(0, 90, 400)),
    ((8, 9), lambda draw: draw.integers(1, 6, 400)),
    ((98, 99), lambda draw: draw.integers(1, 6, 400)),
    ((998, 999), lambda draw: draw.integers(20, 90, 400)),
    ((-9, 999), lambda draw: draw.integers(0, 90, 400)),
])  # fmt: skip
def test_codes_of_one_column_do_not_hide_each_other(codes, values, draw):
    column = values(draw).astype(float)
    column[:20], column[20:32] = codes
    lines = missing_codes("x", column)
    assert [found for _, found in lines] == [f"{code}" for code in codes]
    assert not any("the only" in text for text, _ in lines) or max(codes) > 0
    assert missing_codes("x", column[32:]) == []


def test_a_new_value_of_a_count_is_no_code():
    assert codes_among(np.array([1.0, 2, 9, 99]), (1, 2)) == [9, 99]
    assert codes_among(np.array([7.0, 8, -9]), (0, 1, 2, 3, 4, 5, 6)) == [-9]


def test_a_time_and_a_label_that_is_divided_are_asked_about_and_cannot_be_left_out(tmp_path, draw):
    path = tmp_path / "t.csv"
    table = patients(draw).assign(days=draw.exponential(400, N).round() + 1)
    table.loc[:11, "days"] = 9999
    table.to_csv(path, index=False)
    (question,) = describe(path, time="days", horizon=365.0).resource.use.questions
    assert (question.fields, question.answers) == (("days",), ("keep",))
    table = patients(draw).assign(crp=draw.normal(50, 12, N))
    table.loc[::5, "crp"] *= 10
    table.to_csv(path, index=False)
    left = {"died": "known later"}
    (question,) = describe(path, "crp", above=60.0, leave_out=left).resource.use.questions
    assert (question.fields, question.answers) == (("crp",), ("keep",))


@pytest.mark.parametrize("last", [(365, 366), (700, 1100)])
def test_the_end_of_a_study_long_after_the_events_is_no_code_or_unit(last, tmp_path, draw):
    table = patients(draw)
    table["days"] = np.where(table.died == 1, draw.integers(1, 30, N), draw.integers(*last, N))
    table.to_csv(tmp_path / "t.csv", index=False)
    assert asked(tmp_path / "t.csv", time="days", horizon=60.0) == []


@pytest.mark.parametrize("name", ["Geburtsdatum", "DateOfBirth", "gebdat", "admission_date"])
def test_days_since_1899_are_dates_by_the_name_of_their_column(name):
    assert are_days(name, np.arange(43_000.0, 43_100))
    assert not are_days("platelets", np.arange(43_000.0, 43_100))


def test_dates_with_names_of_months_and_hours_are_dates(tmp_path, draw):
    days = pd.to_datetime(draw.integers(18_000, 18_040, N), unit="D")
    hours = [f"{h:02d}:30" for h in draw.integers(0, 24, N)]
    found = read(tmp_path, patients(draw).assign(a=days.strftime("%d-%b-%Y"), b=hours))
    assert {c.kind for c in found.columns if c.name in ("a", "b")} == {"left out"}


@pytest.mark.parametrize(
    ("event", "other"), [("ja", "nein"), ("oui", "non"), ("malignant", "benign")]
)
def test_an_event_that_is_common_is_known_by_its_word(event, other, tmp_path, draw):
    table = patients(draw).assign(died=np.where(draw.random(N) < 0.7, event, other))
    assert read(tmp_path, table).classes == (other, event)


def test_ids_that_a_spreadsheet_cut_are_refused(tmp_path, draw):
    table = patients(draw).assign(patient=[f"{1.2e10 + i // 3:.4E}" for i in range(N)])
    with pytest.raises(DataError, match="digits"):
        read(tmp_path, table, patient="patient")


def test_sites_are_spelled_and_coded_alike(tmp_path, draw):
    assert alike_spellings(["01", "1", "2"]) == [["01", "1"]]
    assert alike_spellings(["A1", "a1"]) == []
    sites = np.repeat(["A", "B", "C"], N // 3)
    table = patients(draw).assign(site=sites)
    coded = table.assign(
        sex=table["sex"].where(sites != "B", table["sex"].map({"m": "1", "f": "2"}))
    )
    for rows, told in ((coded, 1), (table, 0)):
        _, lines = site_folds(read(tmp_path, rows, site="site"))
        assert sum("'sex', site 'B'" in line for line in lines) == told


def test_a_wide_table_asks_for_its_names_once(monkeypatch):
    calls = []
    original = table_encoder.feature_names
    monkeypatch.setattr(table_encoder, "feature_names", lambda c: calls.append(c) or original(c))
    encoder = TableEncoder(tuple(EncodedColumn(f"x{j}", "number") for j in range(50)))
    for name in encoder.names:
        assert encoder.names[encoder.places[name]] == name
    assert len(calls) == 50
