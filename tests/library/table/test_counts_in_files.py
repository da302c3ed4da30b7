"""Every file that the commands write about a small table is searched for one to four patients."""

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
from lone_patients import lone_patients, page_tables, told_by_sums
from typer.testing import CliRunner

from deepcac.table.commands import app
from deepcac.table.pages.subgroups import hidden_counts, level_parts, page_cells
from deepcac.table.reading.cells import plain
from deepcac.table.reading.labelled_table import read_labelled
from deepcac.table.reading.roles import Roles

SECRETS = ("hospice", "ic3", "east", "kind-Z", "117.3")
PROSE = ("one patient", "three times")  # of the method, not of the table


def cohort(n=200):
    """Synthetic patients; `unit` refines `ward`, and each column has a level of two to four."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(60, 9, n).round(1), "crp": rng.normal(10, 3, n)})
    frame["ward"] = np.repeat(["icu", "er", "floor", "hospice"], [80, 70, n - 153, 3])
    frame["unit"] = frame.ward.str[:2] + np.resize(["1", "2"], n)
    frame["hospital"] = rng.choice(["north", "south"], n)
    frame["phenotype"] = rng.choice(["kind-A", "kind-B"], n)
    frame.loc[[0, 1], "unit"] = "ic3"
    frame.loc[[7, 77, 177], "hospital"] = "east"
    frame.loc[[8, 78, 178, 190], "phenotype"] = "kind-Z"
    frame.loc[[3, 33, 133], "crp"] = np.nan
    frame.loc[9, "age"] = 117.3
    died = rng.random(n) < 1 / (1 + np.exp(-(frame.age - 62) / 5))
    return frame.round(2).assign(died=np.where(died, "yes", "no"))


COMMANDS = {
    "profile": "profile t.csv --label died --out page.html",
    "compare": "compare t.csv --label died --by ward,age --resamples 5 --jobs 1 --out page.html",
    "site": "compare t.csv --label died --site hospital --by ward,unit --jobs 1 --out page.html",
    "audit": "audit t.csv --label died --groups phenotype --resamples 5 --jobs 1 --out page.html",
    "fit": "fit t.csv --label died --method k-means --out page.json",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_file_of_a_command_tells_of_one_to_four_patients(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    answer = CliRunner().invoke(app, COMMANDS[name].split())
    assert answer.exit_code == 0, answer.output
    (tmp_path / "terminal.txt").write_text(answer.output)
    search(tmp_path)


def search(folder):
    """Search all files but the table itself."""
    files = [path for path in folder.iterdir() if path.name != "t.csv"]
    assert len(files) >= 2
    for path in files:
        leaks = [line for line in lone_patients(path, SECRETS) if line not in PROSE]
        assert leaks == [], path.name
        assert levels_told(path, cohort()) == []


def levels_told(path, frame):
    """Return the levels of few patients that sums and differences of a page's counts tell.

    A line whose first cells name a column and a level is a count of its rows, if the head says
    "rows".
    """
    counted = [np.ones(len(frame))]
    for head, *rows in page_tables(path):
        if "rows" not in head:
            continue
        for row in rows:
            level = " ".join(row[: head.index("rows")])
            inside = _rows_of(frame, level)
            if inside is not None and row[head.index("rows")].replace(",", "").isdigit():
                assert int(row[head.index("rows")]) <= inside.sum()
                counted.append(inside)
    small = [
        (f"{column} {level}", (frame[column] == level).to_numpy(float))
        for column in ("ward", "unit", "hospital", "phenotype")
        for level in frame[column].unique()
        if (frame[column] == level).sum() < 5
    ]
    return [name for name, rows in small if told_by_sums(counted, rows)]


def _rows_of(frame, level):
    for column in ("ward", "unit", "hospital", "phenotype"):
        for value in frame[column].unique():
            if level in (f"{column} {value}", value):
                return (frame[column] == value).to_numpy(float)
    return None


@pytest.mark.parametrize("more", [False, True], ids=["alone", "beside places"])
def test_subgroups_columns_and_places_of_a_page_give_nothing_back_together(tmp_path, more):
    """By class `er` is withheld beside `hospice`, by size `floor` is: each table tells the other."""
    frame = cohort()
    frame.loc[frame.ward == "er", "died"] = np.where(np.arange(70) < 3, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_labelled(tmp_path / "t.csv", Roles("died"))
    place = [(frame.hospital == "south").astype(int).to_numpy()] if more else []
    cells = page_cells(table, ["ward"], place)
    everyone = np.arange(len(frame))
    hidden = hidden_counts(table, everyone, ["ward"], place, cells.beside)
    tables, masks = [*place, *level_parts(table, ["ward"])], [*hidden]
    for column, by_level in zip(table.columns, cells.hidden, strict=True):
        if column.kind == "category":
            levels = [*by_level]
            cell = plain(table.rows[column.name]).to_pylist()
            tables.append(np.array([levels.index(value) for value in cell]))
            masks.append(np.array(list(by_level.values())))
    assert pc.count_distinct(table.rows["ward"]).as_py() == 4
    shown = [np.ones(len(frame))]
    shown += [
        part == j for part, mask in zip(tables, masks, strict=True) for j in np.flatnonzero(~mask)
    ]
    for part in tables:
        for level in np.unique(part):
            rows = part == level
            assert rows.sum() >= 5 or not told_by_sums(shown, rows)
    assert hidden[-1].any()


@pytest.mark.parametrize("method", ["plain", "k-means"])
def test_no_file_of_predictions_tells_of_one_to_four_patients(method, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    fitted = CliRunner().invoke(
        app, f"fit t.csv --label died --method {method} --jobs 1 --out m.json".split()
    )
    assert fitted.exit_code == 0, fitted.output
    new = cohort().drop(columns="died")
    new.loc[[5, 6], "ward"] = "hospice"
    new.loc[[11, 12, 13], "age"] = 999.0
    new.to_csv("t.csv", index=False)
    answer = CliRunner().invoke(app, ["predict", "m.json", "t.csv", "--out", "risk.csv"])
    assert answer.exit_code == 0, answer.output
    for path in ("m.json", "m.card.md"):
        (tmp_path / path).unlink(missing_ok=True)
    (tmp_path / "terminal.txt").write_text(answer.output)
    leaks = [
        line for line in lone_patients(tmp_path / "terminal.txt", SECRETS) if line not in PROSE
    ]
    assert leaks == []
    # A table of predictions has a row a patient, and nothing of the columns.
    lines = pd.read_csv("risk.csv")
    assert len(lines) == len(new)
    assert not any(secret in (tmp_path / "risk.csv").read_text() for secret in SECRETS)
