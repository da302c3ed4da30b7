"""ARFF files to tidy tables and features: levels, missing values, class ids, bad input."""

import json

import numpy as np
import pytest
from catalogued import made
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.sources import weka_uci

HEAD = """\
% a comment
@RELATION 'small set'
@attribute 'Train or Test' {Train,Test}
@ATTRIBUTE 'skin colour' { pale, dark, none}
@attribute dose REAL
@attribute grade integer [1,10]
@attribute packing {'?','1', '2'}
@attribute constant {only}
@attribute outcome {lost, won, drawn}
@data
"""
ROWS = """\
Train,pale,0.5,1,'?',only,won
Test,?,?,2,'1',only,drawn

% a comment
Train,dark,1e2,?,'2',only,won
Train,dark,-1,4,'1',only,drawn
"""
MORE = "Train,pale,0,1,'1',only,won\n" * 3 + "Train,pale,0,1,'1',only,drawn\n" * 3


def extract(folder, text, name="small"):
    raw = folder / f"{name}.arff"
    raw.write_bytes(text if isinstance(text, bytes) else text.replace("\n", "\r\n").encode())
    weka_uci.extract(raw, folder / "t.parquet", folder / "c.json")
    return read_table(folder / "t.parquet"), json.loads((folder / "c.json").read_text())["flow"]


def test_small_file(tmp_path):
    table, steps = extract(tmp_path, HEAD + ROWS + MORE)
    assert steps == [{"step": "rows of the ARFF file", "rows": 10}]
    assert table["skin colour"].to_pylist()[:4] == ["pale", None, "dark", "dark"]
    assert table["dose"].to_pylist()[:4] == [0.5, None, 100, -1]
    assert table["packing"].to_pylist()[:3] == ["?", "1", "2"]  # a declared level, not missing
    matrix = made("uci_anneal", table)
    column = {name: matrix.X[:4, j] for j, name in enumerate(matrix.names)}
    # No row is lost, so the classes are won and drawn, in the order of the header.
    assert matrix.label[:4].tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(column["dose"], [0.5, np.nan, 100, -1])
    assert column["skin colour=missing"].tolist() == [0, 1, 0, 0]
    assert column["packing=?"].tolist() == [1, 0, 0, 0]
    assert column["Train or Test=Test"].tolist() == [0, 1, 0, 0]
    assert "constant=only" not in column


def test_the_sources_own_split_is_a_group_and_no_feature(tmp_path):
    table, _ = extract(tmp_path, HEAD + ROWS + MORE, name="vowel")
    matrix = made("uci_anneal", table)
    assert matrix.group.tolist()[:3] == ["Train", "Test", "Train"]
    assert not [name for name in matrix.names if name.startswith("Train")]


def test_classes_too_small_to_split_are_counted_out(tmp_path):
    lost = "Train,pale,0,1,'1',only,lost\n" * 3
    table, steps = extract(tmp_path, HEAD + ROWS + lost + MORE)
    assert steps[1] == {"step": "without class lost: 3 rows, too few to split", "rows": 10}
    assert table["row_id"].to_pylist() == [1, 2, 3, 4, 8, 9, 10, 11, 12, 13]
    assert made("uci_anneal", table).label.tolist()[:4] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a readable ARFF file|needs rows"),
        (HEAD, "needs rows"),
        (ROWS, "not a readable ARFF file|needs rows"),
        (HEAD + ROWS[:-20], "not a readable ARFF file"),
        (HEAD + ROWS.replace("pale", "green"), "green"),
        (HEAD + ROWS.replace("0.5", "much"), "much"),
        (HEAD + ROWS.replace("0.5", "1e999"), "'dose' "),
        (HEAD + ROWS.replace(",", ";"), "not a readable ARFF file"),
        (HEAD + ROWS.replace("only,won", "only,?"), "data row 1 has no class"),
        (HEAD.replace("REAL", "string") + ROWS, "not a readable ARFF file"),
        (HEAD.replace("REAL", "date 'yyyy'") + ROWS.replace("0.5", "1999"), "ARFF|date"),
        (HEAD.replace("{lost, won, drawn}", "real"), "not a readable|needs rows"),
        (HEAD.replace("dose", "grade") + ROWS, "not a readable ARFF file"),
        (b"\xff\xfe\x00", "not a readable ARFF file|needs rows"),
    ],
)
def test_bad_files_are_one_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        extract(tmp_path, text)
    assert "small.arff" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "t.parquet").exists()


def test_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.arff: not readable"):
        weka_uci.read_arff(tmp_path / "none.arff")


line = st.sampled_from((HEAD + ROWS).splitlines())
edit = st.tuples(st.integers(0, len(HEAD + ROWS)), st.sampled_from("{},'\"?@%\n\r\t 1aé\0"))


@given(
    st.one_of(
        st.lists(line, max_size=15).map("\n".join),
        st.lists(edit, min_size=1, max_size=4).map(
            lambda edits: "".join(
                dict(edits).get(i, character) for i, character in enumerate(HEAD + ROWS)
            )
        ),
        st.text(max_size=60),
    )
)
def test_any_text_is_a_table_or_a_data_error(tmp_path_factory, text):
    raw = tmp_path_factory.mktemp("fuzz") / "f.arff"
    raw.write_bytes(text.encode("utf-8", "replace"))
    try:
        table = weka_uci.read_arff(raw)
    except DataError:
        return
    assert table.num_rows > 0
    assert table["class"].null_count == 0
