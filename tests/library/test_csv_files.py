"""The one writer of CSV: cells that are no formulas, frames with so many decimals, whole files."""

import csv

import pandas as pd
import pytest

from deepcac.files.csv_files import frame_text, write_csv, write_frame


def test_cells_and_heads_that_a_spreadsheet_would_run_get_an_apostrophe(tmp_path):
    path = tmp_path / "t.csv"
    write_csv(path, ["=1+1", "n"], [["@sum", 3], ["-0.5 (-0.7 to -0.3)", None], ["a\nb", 1.5]])
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["'=1+1", "n"], ["'@sum", "3"], ["-0.5 (-0.7 to -0.3)", ""], ["a\nb", "1.5"]
    ]  # fmt: skip
    assert b"\r" not in path.read_bytes()


def test_frames_are_written_likewise(tmp_path):
    table = pd.DataFrame({"=x": ["=1", None], "y": [0.123456789, -2.0]})
    assert frame_text(table, 3) == "'=x,y\n'=1,0.123\n,-2.000\n"
    assert frame_text(table) == "'=x,y\n'=1,0.123456789\n,-2.0\n"
    assert table.columns[0] == "=x"
    write_frame(tmp_path / "t.csv", table, 3)
    assert (tmp_path / "t.csv").read_text() == frame_text(table, 3)


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path):
    def rows():
        yield ["a"]
        raise RuntimeError("half")

    with pytest.raises(RuntimeError):
        write_csv(tmp_path / "t.csv", ["x"], rows())
    assert not list(tmp_path.iterdir())
