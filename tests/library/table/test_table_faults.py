"""What `deepcac profile` lists, all at once, and the command that it writes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deepcac.scoring.small_cells import round_share
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.cell_texts import CellRules
from deepcac.table.columns.description_file import read_description
from deepcac.table.columns.roles import Roles
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.pages.profile_page import write_profile_page


def patients(n=200):
    rng = np.random.default_rng(0)
    died = np.where(rng.random(n) < 0.3, "yes", "no")
    return pd.DataFrame(
        {"age": rng.integers(20, 90, n), "sex": rng.choice(["f", "m"], n), "died": died}
    )


def faults(tmp_path, table, label="died", **options):
    table.to_csv(tmp_path / "t.csv", index=False, **options)
    written = tmp_path / "t.yaml"
    _, told = write_profile_page(
        tmp_path / "t.csv", tmp_path / "p.html", TableRun(str, command="c"), label=label,
        description=written,
    )  # fmt: skip
    page = (tmp_path / "p.html").read_text()
    assert ("Look at these first" in page) == bool(told)
    questions = read_description(written).resource.use.questions
    return told, {name: asked for asked in questions for name in asked.fields}


def test_a_sound_table_has_none(tmp_path):
    assert faults(tmp_path, patients())[0] == []


def test_all_faults_are_listed_at_once_as_questions(tmp_path):
    table = patients()
    n = len(table)
    table["ticket"] = [f"{i}" if i % 9 else "LINE" for i in range(n)]
    table["boat"] = [f"{i % 7}" if i % 11 else "C D" for i in range(n)]
    table["patient"] = np.arange(n) // 2
    table["body"] = np.where(table["died"] == "yes", np.arange(n), np.nan)
    table["lactate"] = np.where(np.arange(n) < 3, -999, table["age"] / 10)
    table["crp"] = [f"{i / 10}" if i % 20 else "<0.3" for i in range(n)]
    table["ward"] = np.where(np.arange(n) % 2, "ICU", "icu ")
    table["weight"] = ["unknown" if i % 25 == 0 else f"{50 + i % 40}" for i in range(n)]
    told, asked = faults(tmp_path, table)
    for part in ("'ticket'", "'boat'", "'patient'", "'body'", "'lactate'", "'crp'", "'ward'"):
        assert any(part in line for line in told), part
    assert all("leave out" in asked[name].answers for name in ("ticket", "boat", "body"))
    assert "patient" in asked["patient"].answers
    assert ("missing" in asked["weight"].answers, asked["weight"].values) == (True, ("unknown",))
    rules = CellRules(missing=("weight=unknown",))
    drop = ("ticket", "boat", "body", "crp")
    dropped = Roles("died", group="patient", drop=drop, cells=rules)
    assert read_labelled(tmp_path / "t.csv", dropped).features.X.shape[0] == n


def test_a_cell_of_two_readings_is_told_beside_other_faults(tmp_path):
    cells = ["1,250" if n % 3 else "800" for n in range(200)]
    weight = ["unknown" if n % 25 == 0 else f"{50 + n % 40}" for n in range(200)]
    told, asked = faults(tmp_path, patients().assign(platelets=cells, weight=weight))
    assert any("'1,250' is 1250 or 1.250" in line for line in told)
    assert any("'weight'" in line for line in told)
    assert {"decimal .", "decimal ,", "leave out"} <= {*asked["platelets"].answers}


def test_a_number_is_a_code_only_far_from_every_other(tmp_path):
    hours = np.resize(np.r_[38:46, 98], 200)
    told, _ = faults(tmp_path, patients().assign(hours=np.where(np.arange(200) < 3, 99, hours)))
    assert told == []
    worse_same_better = np.r_[np.repeat(-1, 140), np.repeat(0, 50), np.repeat(1, 10)]
    assert faults(tmp_path, patients().assign(change=worse_same_better))[0] == []
    for no, yes in ((-1, 0), (-1, 1)):  # as databases and contrasts write them
        answers = np.where(np.arange(200) % 3, no, yes)
        assert faults(tmp_path, patients().assign(smokes=answers))[0] == []
    answers = np.where(np.arange(200) % 9, 1, -9)
    _, asked = faults(tmp_path, patients().assign(smokes=answers))
    assert asked["smokes"].values == ("-9",)
    gain = np.where(np.arange(200) < 3, 99999, hours)
    (line,), asked = faults(tmp_path, patients().assign(gain=gain))
    assert "99999 stands in fewer than 8 rows" in line
    assert asked["gain"].values == ("99999",)


def test_the_page_says_how_many_and_what_faulty_columns_miss(tmp_path):
    table = patients().assign(boat=[f"{i}" if i % 9 else "C D" for i in range(200)])
    table.loc[table.index % 2 == 1, "boat"] = ""
    faults(tmp_path, table)
    page = (tmp_path / "p.html").read_text()
    events = (table.died == "yes").sum()
    assert f"200 rows; {100 * round_share(events, 200):.0f} % died = yes; 2 of 4" in page
    assert "100 (50 %)" in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"died": lambda t: t["died"].where(t.index % 9 > 0, "Yes")},
            "are different levels, as they stand",
        ),
        ({"died": lambda t: t["died"].where(t.index % 9 > 0, None)}, "data row 1: no label"),
        ({"died": lambda t: "yes"}, "holds 'yes' in every row"),
    ],
)
def test_a_faulty_label_is_told_and_stops_nothing(tmp_path, change, words):
    told, _ = faults(tmp_path, patients().assign(**change))
    assert any(words in line for line in told)


def test_filled_rows_of_the_usual_class_alone_are_no_sign_where_the_other_is_rare(tmp_path):
    table = patients()
    i = np.arange(len(table))
    table["died"] = np.where(i < 6, "yes", "no")
    table["lactate"] = np.where((i >= 6) & (i < 36), table["age"] / 7, np.nan)
    few = ["class 'yes' has fewer than 8 rows: too few for training, validation and test"]
    assert faults(tmp_path, table)[0][-1:] == few
    table["lactate"] = np.where(i >= 6, np.nan, table["age"] / 7)  # of six rows nothing is said
    assert faults(tmp_path, table)[0][-1:] == few


def test_a_column_of_lists_stops_no_profile(tmp_path):
    table = patients()
    columns = {name: pa.array(table[name]) for name in table}
    columns["patient_id"] = pa.array([[i % 50] for i in range(len(table))])
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    encoder, told = write_profile_page(
        tmp_path / "t.parquet", tmp_path / "p.html", TableRun(str, command="c"), label="died"
    )
    assert (len(encoder.used), told) == (2, [])


@pytest.mark.parametrize("table", [patients(), patients()[["age"]] / 7])
def test_a_table_without_a_header_is_noticed(tmp_path, table):
    assert not any("header" in line for line in faults(tmp_path, table, label=None)[0])
    told, _ = faults(tmp_path, table, label=None, header=False)
    assert "the first line looks like a row" in told[0]


def test_columns_named_by_years_are_no_row(tmp_path):
    table = patients().assign(**{"2019": 1.5, "2020": 2.5, "site": "x"})
    assert faults(tmp_path, table)[0] == []


def test_a_table_without_features_or_with_few_rows_is_told_and_stops_nothing(tmp_path):
    told, _ = faults(tmp_path, patients()[["died"]])
    assert told == ["no column is left to predict from"]
    told, _ = faults(tmp_path, patients(39))
    assert told == ["39 rows; at least 40 are needed to say anything"]
