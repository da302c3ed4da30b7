"""New rows beside those that a model was fitted on: what is told, what is refused."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from described_tables import inferred, use_of

from deepcac.errors import DataError
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.reading.table_encoder import TableEncoder, learn_encoder
from deepcac.table.reading.unfamiliar_rows import Unfamiliar, with_quantiles
from deepcac.table.risk_tables import fit_table, predict_table

N = 300


def patients(seed=0):
    draw = np.random.default_rng(seed)
    age = draw.normal(60, 10, N).round()
    table = pd.DataFrame({"patient": [f"p{i}" for i in range(N)], "age": age})
    table["crp"] = np.where(draw.random(N) < 0.3, np.nan, draw.normal(10, 3, N))
    table["sex"] = draw.choice(["female", "male"], N)
    table["ward"] = draw.choice(["icu", "er", "north"], N)
    table["race"] = draw.choice(["a", "b", "c", *"defghijklmn"], N, p=[0.3] * 3 + [0.1 / 11] * 11)
    table["unit"] = [f"u{i}" if i % 100 == 0 else "main" for i in range(N)]
    return table.assign(died=np.where(age + draw.normal(0, 10, N) > 60, "yes", "no"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    patients().to_csv(folder / "t.csv", index=False)
    roles = use_of("died", id="patient")
    fit_table(
        inferred(folder / "t.csv", roles),
        folder / "m.json",
        TableRun(len, rows=1000, jobs=1),
        method="plain",
    )
    return folder / "m.json"


def told(model, tmp_path, table, accept=False):
    said = []
    table.to_csv(tmp_path / "n.csv", index=False)
    out = tmp_path / "risk.csv"
    predict_table(model, tmp_path / "n.csv", out, say=said.append, accept=accept)
    assert len(pd.read_csv(out)) == len(table)
    return said


def test_rows_like_those_of_fit_are_not_spoken_of(model, tmp_path):
    assert told(model, tmp_path, patients(1)) == []
    assert told(model, tmp_path, patients(2)[:1].assign(crp=np.nan)) == []  # as in 30 % of fit


UNLIKE = {
    "a two-level column in another coding": ({"sex": "M"}, "'sex': unseen levels in 300 of 300"),
    "another coding": ({"ward": "ICU"}, "'ward': unseen levels in 300 of 300"),
    "where rarer levels are one": ({"race": "white"}, "'race': rare or unseen .* in fit"),
    "where all rarer levels are the only other one": (
        {"unit": "Main"},
        "'unit': rare or unseen levels in 300 of 300 rows .3 % in fit",
    ),
    "another unit": ({"age": lambda t: t["age"] * 365}, "'age': out of range in 300 of 300"),
    "a column never empty": ({"age": np.nan}, "'age': no value in 300 of 300"),
    "a column often empty": ({"crp": np.nan}, "'crp': no value in 300 of 300 rows .28 % in fit"),
    "one id": ({"patient": "p1"}, "'patient': ids that stand in an earlier row in 300 of 300"),
    "one id in half of two": (
        {"patient": [f"p{i % 100}" for i in range(N)]},
        "'patient': ids that stand in an earlier row in 200 of 300",
    ),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_most_rows_unlike_those_of_fit_are_refused_and_can_be_accepted(model, tmp_path, case):
    change, message = UNLIKE[case]
    table = patients(1).assign(**change)
    with pytest.raises(DataError, match=f"column {message}.*--accept-unseen"):
        told(model, tmp_path, table)
    assert not (tmp_path / "risk.csv").exists()
    assert told(model, tmp_path, table, accept=True)


def test_one_patient_without_a_value_has_a_risk(model, tmp_path):
    said = told(model, tmp_path, patients(1)[:1].assign(age=np.nan))
    (line,) = said
    assert line.startswith("column 'age': no value")
    said = told(model, tmp_path, patients(1)[:1].assign(sex=None, ward=None, unit=None))
    assert [re.match("column (.*) is empty in fewer than 8 rows", line)[1] for line in said] == [
        *("'sex'", "'unit'", "'ward'")
    ]
    with pytest.raises(DataError, match="column 'sex': no value in 300 of 300 rows"):
        told(model, tmp_path, patients(1).assign(sex=None))
    with pytest.raises(DataError, match="'age': .*all rows"):
        told(model, tmp_path, patients(1)[:3].assign(age=1e6))


def test_one_patient_in_another_unit_is_told_and_has_a_risk(model, tmp_path):
    said = told(model, tmp_path, patients(1)[:1].assign(age=6))
    (line,) = said
    assert re.search(r"'age': .* 6, .* 59 .*unit", line)


def test_a_small_fit_knows_its_quartiles_and_a_second_table_all_quantiles(tmp_path):
    draw = np.random.default_rng(0)
    rows = pa.table({"crp": draw.gamma(9, 10, 60), "sex": np.arange(60) % 2 + 1})
    number = np.arange(1, 61)
    encoder = learn_encoder(rows, number, {})
    X = encoder.encode(rows, number)
    assert len(encoder.columns[0].quantiles) == 3
    assert len(with_quantiles(encoder, X).columns[0].quantiles) == 3
    assert TableEncoder.from_dict(encoder.to_dict()).used[0].quantiles == encoder.used[0].quantiles
    strange = Unfamiliar.of(encoder, None)
    strange.add(X, rows)
    assert strange.tell(accept=False) == []
    for factor in (0.2, 5):
        strange = Unfamiliar.of(encoder, None)
        strange.add(X * [factor, 1], rows)
        with pytest.raises(DataError, match="'crp'.*as 25 % in fit"):
            strange.tell(accept=False)
    X[7, 1] = 9
    strange = Unfamiliar.of(encoder, None)
    strange.add(X, rows)
    (line,) = strange.tell(accept=False)
    assert line.startswith("column 'sex': 9 occurs in")


def test_all_columns_at_fault_are_named_at_once(model, tmp_path):
    with pytest.raises(DataError, match="'age': out of range.*; column 'sex': unseen levels"):
        told(model, tmp_path, patients(1).assign(age=1e6, sex="M"))


def test_some_strange_rows_are_told(model, tmp_path):
    table = patients(1)
    table.loc[::10, "age"] = 700.0
    table.loc[::12, "ward"] = "south"
    table.loc[5, "patient"] = "p4"
    said = told(model, tmp_path, table)
    assert "column 'age': out of range in 30 of 300 rows" in said
    assert any("'south'" in line for line in said)
    assert any(re.match("column 'patient': .* fewer than 8 of 300 rows", line) for line in said)
    assert len(said) == 3


def test_levels_of_all_blocks_are_told_once_with_their_rows():
    """Ten rows of a level in each of three blocks; a second table names none of few rows."""
    rows = pa.table({"ward": ["er", "icu", "north"] * 10})
    encoder = learn_encoder(rows, np.arange(1, 31), {})
    strange = Unfamiliar.of(encoder, None)
    for ward in ("south", "east", "south"):
        block = pa.table({"ward": [ward] * 10 + ["er"] * 30 + ["lone"]})
        strange.add(encoder.encode(block, np.arange(1, 42)), block)
    (line,) = strange.tell(accept=True)
    assert "'ward'" in line.exact
    assert ": 'east', 'lone', 'south' (" in line.exact
    assert "(33 rows)" in line.exact
    (line,) = strange.tell()
    assert "east, south, 1 rare" in line
    assert "lone" not in line


def test_a_table_without_the_id_column_is_told(model, tmp_path):
    said = told(model, tmp_path, patients(1).drop(columns="patient"))
    (line,) = said
    assert line.startswith("column 'patient' is missing")


def test_an_id_that_a_spreadsheet_would_run_has_an_apostrophe(model, tmp_path):
    table = patients(1)
    table.loc[0, "patient"] = "=1+1"
    assert any("apostrophe" in line for line in told(model, tmp_path, table))
    assert pd.read_csv(tmp_path / "risk.csv")["patient"][0] == "'=1+1"
