"""Tables from other people's hands: what has two readings is read rightly, said, or refused."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import pytest

from deepcac.errors import DataError
from deepcac.table.reading.cell_rules import CellRules
from deepcac.table.reading.labelled_table import Roles, read_labelled
from deepcac.table.risk_tables import fit_table, predict_table

N = 200


def patients(seed=0):
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"age": draw.integers(20, 90, N), "crp": draw.gamma(2, 6, N).round(2)})
    table["ward"] = draw.choice(["med", "icu"], N)
    return table.assign(died=(draw.random(N) < 0.3).astype(int))


def read(path, label="died", **roles):
    return read_labelled(path, Roles(label, **roles))


def csv(tmp_path, table, **options):
    table.to_csv(tmp_path / "t.csv", index=False, **options)
    return tmp_path / "t.csv"


def column(table, name):
    return table.features.X[:, table.features.names.index(name)]


def test_points_of_thousands_are_judged_by_the_other_columns(tmp_path):
    cells = [f"{n:,}".replace(",", ".") for n in range(900, 900 + 4 * N, 4)]
    table = patients().assign(platelets=cells, crp=[f"{n},5" for n in range(N)])
    found = read(csv(tmp_path, table, sep=";"))
    assert column(found, "platelets").tolist() == list(range(900, 900 + 4 * N, 4))
    assert any("is read as 1000, not 1.000" in line for line in found.notices)


@pytest.mark.parametrize(("unit", "bare"), [("%", ""), (" mg/L", ""), (" yrs", " years")])
def test_numbers_with_one_unit_are_numbers(tmp_path, unit, bare):
    table = patients()
    cells = [f"{n}{unit if n % 2 else bare or unit}" for n in table["age"]]
    assert column(read(csv(tmp_path, table.assign(age=cells))), "age").tolist() == list(
        table["age"]
    )


def test_several_units_are_refused(tmp_path):
    cells = [f"{n} {'mg/dL' if n % 2 else 'mmol/L'}" for n in patients()["age"]]
    with pytest.raises(DataError, match="2 units"):
        read(csv(tmp_path, patients().assign(age=cells)))


def test_a_word_for_missing_is_named_and_can_be_kept(tmp_path):
    path = csv(tmp_path, patients().assign(ward=["None", "COPD"] * (N // 2)))
    assert any("'None' in 'ward' (100 cells)" in line for line in read(path).remarks)
    kept = read(path, cells=CellRules(keep_words=("None",)))
    assert "None" in next(one for one in kept.columns if one.name == "ward").levels


def test_copies_and_patients_with_several_rows_are_said(tmp_path):
    table = patients().assign(bmi=np.random.default_rng(1).normal(26, 4, N).round(2))
    table["glucose"] = (table["bmi"] * 7).round(1)
    copies = pd.concat([table, table[:60]])
    assert any("60 of 260 rows" in line for line in read(csv(tmp_path, copies)).remarks)
    visits = table.assign(patient_id=np.arange(N) // 4 * 7 % 997)
    assert any("--group patient_id" in line for line in read(csv(tmp_path, visits)).remarks)


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
    fit_table(csv(tmp_path, patients()), Roles("died"), model, say=len, most=N, method="plain")
    new = patients(1)
    assert predict_table(model, csv(tmp_path, new), out, say=len) == N
    new["crp"] *= factor
    with pytest.raises(DataError, match="column 'crp'.*--accept-unseen"):
        predict_table(model, csv(tmp_path, new), out, say=len)
