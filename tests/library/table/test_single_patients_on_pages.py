"""No page tells of a single patient: no cell, row number, small count, end of a range, rare name."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from lone_patients import page_tables
from typer.testing import CliRunner

from deepcac.pages.tables import Table
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.model_card import write_card
from deepcac.table.commands import app
from deepcac.table.pages.page_sections import page_lines, page_text
from deepcac.table.pages.profile_page import write_profile_page


def cohort(n=240):
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": draw.normal(60, 9, n).round(1),
            "crp": draw.normal(10, 3, n).round(2).astype(str),
            "ward": np.resize(["icu", "er", "floor"], n),
            "smoker": np.resize(["yes", "no"], n),
            "death": np.where(draw.random(n) < 0.4, "dead", "alive"),
        }
    )


def page_of(X, folder, **asked):
    X.to_csv(folder / "t.csv", index=False)
    _, said = write_profile_page(folder / "t.csv", folder / "p.html", TableRun(str, "p"), **asked)
    whole = (folder / "p.html").read_text()
    body = html.unescape(re.sub(r"<[^>]+>", " ", whole.split("<main")[1].split("<script")[0]))
    return body, " ".join(said)


@pytest.mark.parametrize(
    ("place", "secrets"),
    [
        (("crp", "zz9.77x"), ["zz9.77x", "row 18"]),
        (("smoker", "Yes "), []),
        (("smoker", "YES!lone"), ["YES!lone"]),
        (("ward", "Hospice-77"), ["Hospice-77"]),
        (("age", 117.31), ["117.31", "117.3"]),
        (("crp", "7E2"), ["7E2", "700"]),
        (("death", "transferred"), ["transferred"]),
        (("death", ""), ["row 18"]),
    ],
    ids=str,
)
def test_a_value_of_one_patient_is_on_no_page(place, secrets, tmp_path):
    X = cohort()
    X.loc[17, place[0]] = place[1]
    for asked in ({}, {"label": "death"}):
        body, _ = page_of(X.astype({"age": str}), tmp_path, **asked)
        for secret in secrets:
            assert secret not in body


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("column 'age', data row 7: 12.5 is no class; use text", "column 'age': a cell is no class; use text"),
        ("column 'id', data row 9: 'P-77' occurs in row 3 already", "column 'id': a cell occurs in another row already"),
        ("column 'crp': 3 cells such as '<0.3'; write a number", "column 'crp': fewer than 8 cells such as '…'; write a number"),
        ("column 'x': 777 occurs in 2 rows, far from all others", "column 'x': a value occurs in fewer than 8 rows, far from all others"),
        ("no value is above 120; it goes from 18.5 to 97", "no value is above 120; has another range"),
        ("4,002 rows, 12 values", "4,002 rows, 12 values"),
        ("class 'other' has fewer than 8 rows", "class '…' has fewer than 8 rows"),
        ("levels 'icu' and 'Icu' differ", "levels 'icu' and '…' differ"),
        ("CAC's clusters and patients' rows", "CAC's clusters and patients' rows"),
    ],
)  # fmt: skip
def test_a_message_on_a_page_names_no_patient(message, shown):
    assert page_text(message, ["age", "id", "crp", "x", "icu"]) == shown


def test_a_clinic_of_60_and_a_ward_of_62_are_alike_on_the_page(tmp_path):
    """Their difference would be two patients, one of whom died."""
    X, row = cohort(), np.arange(240)
    X["wing"] = np.where(row < 60, "in", "out")
    X["unit"] = np.where(row < 62, "in", "out")
    X["death"] = np.where(row % 2 == 0, "dead", "alive")
    X.to_csv(tmp_path / "t.csv", index=False)
    asked = ["profile", str(tmp_path / "t.csv"), "--label", "death"]
    shown = [
        wings_of(tmp_path / "p.html", asked),
        wings_of(tmp_path / "p.html", [*asked, "--exact"]),
    ]
    (wing, unit), (own_wing, own_unit) = shown
    assert wing == unit == [["in", "60", "50 %", "50 %"], ["out", "180", "50 %", "50 %"]]
    assert own_wing[0][1:] == ["60", "50.0 %", "50.0 %"]
    assert own_unit[0][1:] == ["62", "50.0 %", "50.0 %"]


def wings_of(page, command):
    """Return what a page says of the outcome in the wings and units of a hospital."""
    page.with_name("t.yaml").unlink(missing_ok=True)
    answer = CliRunner().invoke(app, [*command, "--out", str(page)])
    assert answer.exit_code == 0, answer.output
    (rows,) = [body for head, *body in page_tables(page) if "rows" in head]
    return [
        [[row[1], row[2], *row[3:5]] for row in rows if row[0] == name] for name in ("wing", "unit")
    ]


def test_lines_that_are_equal_without_their_rows_stand_once():
    assert page_lines(["row 3 is odd", "row 4 is odd"]) == ["in another row is odd"]


def test_a_name_that_begins_like_a_table_is_plain_text_on_a_card(tmp_path):
    bad = "|<img src=x onerror=alert(1)>.csv"
    write_card(
        tmp_path / "c.md",
        {"data": [f"{bad}, SHA-256 0."], "coding": [Table.of_texts("", "", ["a"], [[bad]])]},
    )
    text = (tmp_path / "c.md").read_text()
    assert "<img" not in text
    assert "\\|&lt;img" in text
    assert "| a |\n| --- |\n| \\|&lt;img" in text


def test_a_table_of_four_patients_does_not_say_how_many_it_has(tmp_path):
    body, _ = page_of(cohort(4), tmp_path, label="death")
    assert "fewer than 8 rows; " in body
    assert "4 rows" not in body
