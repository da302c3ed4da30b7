"""No page tells of a single patient: no cell, row number, small count, end of a range, rare name."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from lone_patients import told_by_sums

from deepcac.scoring.small_cells import few_parts, few_rows
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.cards.model_card import table_lines, write_card
from deepcac.table.page_text import page_lines, page_text
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
    _, said, _ = write_profile_page(
        folder / "t.csv", folder / "p.html", TableRun(str, "p"), **asked
    )
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


def test_a_refined_column_gives_no_withheld_share_back(tmp_path):
    X = cohort()
    X["unit"] = X["ward"] + np.resize(["1", "2"], len(X))
    X.loc[X.index[X["unit"] == "icu1"][:2], "unit"] = "icu3"
    body, _ = page_of(X, tmp_path, label="death")
    units = re.findall(r"unit\s+(\S+)\s+(withheld|\d+)\s", body)
    shown = {name: int(size) for name, size in units if size != "withheld"}
    icu = int((X["ward"] == "icu").sum())
    assert "icu3" not in body
    assert icu - sum(size for name, size in shown.items() if name.startswith("icu")) not in (
        1,
        2,
        3,
        4,
    )


def revealed(tables, hidden, few=5):
    """Tell by elimination, over all sums, whether a set of few rows is known; small tables only."""
    n = len(tables[0])
    shown = [np.ones(n)]
    secret = []
    for part, mask in zip(tables, hidden, strict=True):
        for j, own in enumerate(mask):
            inside = (part == j).astype(float)
            (shown.append(inside) if not own else None)
            if 0 < inside.sum() < few:
                secret.append(inside)
    return any(told_by_sums(shown, rows) for rows in secret)


@pytest.mark.parametrize("seed", range(25))
def test_no_sum_or_difference_of_parts_is_a_withheld_part(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(30, 120))
    coarse = draw.integers(0, draw.integers(2, 5), n)
    fine = coarse * 3 + draw.choice(3, n, p=[0.7, 0.25, 0.05])
    fine = np.unique(fine, return_inverse=True)[1]
    other = draw.integers(0, 3, n)
    tables = [coarse, fine, other]
    hidden = few_parts(tables, np.zeros(n, dtype=np.int64))
    assert not revealed(tables, hidden)
    for part, mask in zip(tables, hidden, strict=True):
        assert (mask >= few_rows(np.bincount(part)[:, None])).all()


def test_tables_without_a_small_part_are_shown_whole():
    draw = np.random.default_rng(1)
    tables = [draw.integers(0, 4, 400) for _ in range(6)]
    assert not any(mask.any() for mask in few_parts(tables, draw.integers(0, 2, 400)))


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("column 'age', data row 7: 12.5 is no class; use text", "column 'age': a cell is no class; use text"),
        ("column 'id', data row 9: 'P-77' stands in row 3 already", "column 'id': a cell stands in another row already"),
        ("column 'crp': 3 cells such as '<0.3'; write a number", "column 'crp': fewer than 5 cells such as '…'; write a number"),
        ("column 'x': 777 stands in 2 rows, far from all others", "column 'x': a value stands in fewer than 5 rows, far from all others"),
        ("column 'y': it goes from 0.31 to 97.3", "column 'y': has another range"),
        ("297 of 300 rows are lived", "nearly all of 300 rows are lived"),
        ("4,002 rows, 12 values", "4,002 rows, 12 values"),
        ("class 'other' has fewer than 8 rows", "class '…' has fewer than 8 rows"),
        ("levels 'icu' and 'Icu' differ", "levels 'icu' and '…' differ"),
        ("CAC's clusters and patients' rows", "CAC's clusters and patients' rows"),
    ],
)  # fmt: skip
def test_a_message_on_a_page_names_no_patient(message, shown):
    assert page_text(message, ["age", "id", "crp", "x", "y", "icu"]) == shown


def test_lines_that_are_equal_without_their_rows_stand_once():
    assert page_lines(["row 3 is odd", "row 4 is odd"]) == ["in another row is odd"]


def test_a_name_that_begins_like_a_table_is_plain_text_on_a_card(tmp_path):
    bad = "|<img src=x onerror=alert(1)>.csv"
    write_card(
        tmp_path / "c.md", {"data": [f"{bad}, SHA-256 0."], "coding": table_lines(["a"], [[bad]])}
    )
    text = (tmp_path / "c.md").read_text()
    assert "<img" not in text
    assert "\\|&lt;img" in text
    assert "| a |\n| --- |\n| \\|&lt;img" in text


def test_a_table_of_four_patients_does_not_say_how_many_it_has(tmp_path):
    body, _ = page_of(cohort(4), tmp_path, label="death")
    assert "fewer than 5 rows; " in body
    assert "4 rows" not in body
