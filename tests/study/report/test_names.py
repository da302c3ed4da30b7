"""Names from a data set's table are text in every form of the report, whatever they hold."""

import csv

import pytest

from deepcac.files.csv_files import plain_cell
from deepcac.pages import figures, tables
from deepcac.pages.figures import Figure
from deepcac.pages.tables import Cell, Table, markdown

ODD = (
    r"$\frac{$",
    "$x^$",
    "<script>alert(1)</script>",
    "=1+cmd|' /C calc'!A0",
    "a|b",
    "a\nb",
    "é\\",
)


@pytest.mark.parametrize("name", ODD)
def test_a_figure_takes_any_name(tmp_path, name):
    def draw(canvas):
        axes = canvas.subplots()
        axes.plot([0, 1], [0, 1], label=name)
        axes.set_title(name)
        axes.legend()

    figure = Figure("odd", name, "", (2, 2), draw, "x", (name, "value"), [(name, 0.5), ("-0.5", 1)])
    figures.write(figure, tmp_path)
    rows = list(csv.reader((tmp_path / "odd.csv").open(newline="", encoding="utf-8")))
    assert rows[0][0] == rows[1][0] == ("'" + name if name.startswith("=") else name)
    assert rows[2] == ["-0.5", "1"]


@pytest.mark.parametrize("name", ODD)
def test_a_markdown_table_keeps_its_shape_and_holds_no_html(name):
    table = Table("odd", name, name, (name, "b"), [[Cell(name), Cell("1")]])
    *_, head, rule, row, _ = markdown(table).split("\n")
    assert "<" not in markdown(table)
    assert [each.replace(r"\|", "").count("|") for each in (head, rule, row)] == [3, 3, 3]


@pytest.mark.parametrize(
    "text", ["=SUM(A1)", "+cmd", "-2+cmd|' /C calc'!A0", "@x", "\tx", "-2 %+A1"]
)
def test_no_csv_cell_is_a_formula(tmp_path, text):
    assert plain_cell(text) == f"'{text}"
    tables.write(Table("t", "t", "", (text, "b"), [[Cell(text), Cell("1")]]), tmp_path)
    rows = list(csv.reader((tmp_path / "t.csv").open(newline="", encoding="utf-8")))
    assert [row[0] for row in rows] == [f"'{text}"] * 2


@pytest.mark.parametrize("text", ["-0.5", "+1e-3", "-0.01 (0.02)", "-1 to +2", "-3 %", "", "KM+LR"])
def test_numbers_and_names_stay(text):
    assert plain_cell(text) == text
