"""Raw files of PhysioNet Challenge 2012 to tidy tables."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac.files.storage import read_table
from deepcac_study.sources.physionet2012 import extract, read_outcomes
from deepcac_study.sources.physionet2012_events import HEADER, PARAMETERS, parse_set, read_set

STAY = """\
Time,Parameter,Value
00:00,RecordID,132539
00:00,Age,54
00:00,Gender,0
00:00,Height,-1
00:00,ICUType,4
00:00,Weight,-1
00:07,HR,73
00:07,NIMAP,92.33
22:08,AST,1.067e+04
30:05,,1.9
48:00,HR,86
"""
OUTCOMES = """\
RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death
132540,16,8,-1,-1,0
132539,6,1,5,3,1
"""


def stay(record_id: int, *lines: str) -> bytes:
    """Return a small valid file, with some lines added."""
    body = [f"00:00,RecordID,{record_id}", "00:00,Age,70", *lines]
    return HEADER + "".join(f"{line}\n" for line in body).encode()


def parse(*contents: bytes, first: int = 1) -> pa.Table:
    """Parse files named 1.txt, 2.txt, ... of a set called a."""
    return parse_set("set-a", [(f"set-a/{first + i}.txt", c) for i, c in enumerate(contents)])


def pack(path: Path, files: dict[str, bytes]) -> Path:
    """Write a tar.gz."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_events_of_a_real_looking_file() -> None:
    table = parse_set("set-a", [("set-a/132539.txt", STAY.encode())])
    assert table["record_id"].to_pylist() == [132539] * 10
    assert table["minute"].to_pylist() == [0, 0, 0, 0, 0, 7, 7, 1328, 1805, 2880]
    assert table["parameter"].to_pylist() == [
        *("Age", "Gender", "Height", "ICUType", "Weight", "HR", "NIMAP", "AST", None, "HR")
    ]
    assert table["value"].to_pylist() == [54, 0, -1, 4, -1, 73, 92.33, 10670, 1.9, 86]
    assert table.schema.types == [
        pa.int32(),
        pa.int16(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.float64(),
    ]


def test_records_ascend_whatever_the_order_in_the_archive() -> None:
    table = parse_set("x", [("s/20.txt", stay(20)), ("s/3.txt", stay(3, "01:00,HR,60"))])
    assert table["record_id"].to_pylist() == [3, 3, 20]


@pytest.mark.parametrize(
    ("lines", "place", "problem"),
    [
        (["00:10,HR,abc"], "line 4 ('00:10,HR,abc')", "the value is not a number"),
        (["00:10,HR,"], "line 4", "the value is not a number"),
        (["00:10,HR,nan"], "line 4", "the value is not a number"),
        (["00:10,HR,inf"], "line 4", "the value is not a number"),
        (["00:10,HR,60", "00:11,HR,1e999"], "line 5", "the value is not a number"),
        (["00:10,Hr,60"], "line 4 ('00:10,Hr,60')", "unknown parameter name"),
        (["00:10,HR"], "line 4", "2 fields"),
        (["00:10,HR,1,2"], "line 4", "4 fields"),
        (["00:10,HR,60", ""], "line 5", "1 fields"),
        (["0:10,HR,60"], "line 4", "not HH:MM between 00:00 and 48:00"),
        (["00:60,HR,60"], "line 4", "not HH:MM"),
        (["48:01,HR,60"], "line 4", "not HH:MM"),
        (["02:00,HR,60", "01:00,HR,60"], "line 5", "the time goes back"),
        (["00:00,RecordID,2"], "line 4", "RecordID"),
        (["01:00,Age,70"], "line 4", "a descriptor after 00:00"),
        (["01:00,HR,60\r"], "line 4", "has a carriage return"),
    ],
)
def test_a_faulty_line_is_named(lines: list[str], place: str, problem: str) -> None:
    with pytest.raises(DataError) as error:
        parse(stay(1), stay(2, *lines))
    text = str(error.value)
    assert "\n" not in text
    assert f"set-a/2.txt {place}" in text
    assert problem in text


def test_a_wrong_record_id_line_is_named() -> None:
    with pytest.raises(DataError, match=r"set-a/2.txt line 2 .*file's name"):
        parse(stay(1), stay(7))
    with pytest.raises(DataError, match=r"set-a/1.txt line 2 .*RecordID"):
        parse(HEADER + b"00:00,Age,70\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"Time;Parameter;Value\n", "line 1 is .* 'Time,Parameter,Value' was expected"),
        (b"", "line 1 is"),
        (HEADER, ".*its header"),
        (stay(1)[:-1], "ends inside"),
    ],
)
def test_a_wrong_header_or_end_is_named(content: bytes, problem: str) -> None:
    with pytest.raises(DataError, match=f"set-a/1.txt {problem}"):
        parse(content)


def test_names_and_numbers_of_files() -> None:
    with pytest.raises(DataError, match=r"'set-a/README' is not RECORD\.txt"):
        parse_set("set-a", [("set-a/README", b"")])
    with pytest.raises(DataError, match="record 5 occurs twice"):
        parse_set("set-a", [("set-a/5.txt", stay(5)), ("other/5.txt", stay(5))])
    with pytest.raises(DataError, match="holds no file"):
        parse_set("set-a", [])


def test_a_truncated_archive_is_one_clear_line(tmp_path: Path) -> None:
    files = {
        f"set-a/{i}.txt": stay(i, *[f"{h:02d}:00,HR,{60 + h}" for h in range(48)])
        for i in range(1, 60)
    }
    path = pack(tmp_path / "set-a.archive", files)
    assert read_set(path).num_rows == 59 * 49
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=r"set-a\.archive") as error:
        read_set(path)
    assert "\n" not in str(error.value)


def test_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "Outcomes-b.txt"
    path.write_text(OUTCOMES)
    table = read_outcomes(path, "b")
    assert table["record_id"].to_pylist() == [132539, 132540]
    assert table["set"].to_pylist() == ["b", "b"]
    assert table["Length_of_stay"].to_pylist() == [5, -1]
    assert table["In-hospital_death"].to_pylist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("RecordID,SOFA\n", "line 1 is"),
        ("", ".*a header"),
        (OUTCOMES.replace("16,8", "16,x"), r"line 2 \('132540,16,x,-1,-1,0'\): not six whole"),
        (OUTCOMES.replace("5,3,1", "5,3"), "line 3 .*six"),
        (OUTCOMES.replace("5,3,1", "5,3,2"), "line 3: In-hospital_death is 2, not 0 or 1"),
        (OUTCOMES.replace("132540", "132539"), "record 132539 occurs twice"),
    ],
)
def test_faulty_outcomes_are_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "Outcomes-a.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"Outcomes-a\.txt:? {problem}"):
        read_outcomes(path, "a")
    with pytest.raises(DataError, match=r"absent\.txt"):
        read_outcomes(tmp_path / "absent.txt", "a")


def write_sets(folder: Path, events: dict[str, list[int]], outcomes: dict[str, list[int]]) -> dict:
    """Write archives and outcome files with the given records; return the arguments of extract."""
    for letter, ids in events.items():
        pack(folder / f"set-{letter}", {f"set-{letter}/{i}.txt": stay(i) for i in ids})
    for letter, ids in outcomes.items():
        rows = [f"{i},1,1,5,-1,0\n" for i in ids]
        (folder / f"Outcomes-{letter}").write_text(OUTCOMES.split("\n")[0] + "\n" + "".join(rows))
    return {
        "archives": {letter: folder / f"set-{letter}" for letter in events},
        "outcomes": {letter: folder / f"Outcomes-{letter}" for letter in events},
        "events_path": folder / "events.parquet",
        "outcomes_path": folder / "outcomes.parquet",
    }


def test_extract_writes_both_tables_and_the_same_bytes_again(tmp_path: Path) -> None:
    arguments = write_sets(tmp_path, {"a": [2, 1], "b": [3]}, {"a": [1, 2], "b": [3]})
    extract(**arguments)
    assert read_table(arguments["events_path"])["record_id"].to_pylist() == [1, 2, 3]
    assert read_table(arguments["outcomes_path"])["set"].to_pylist() == ["a", "a", "b"]
    before = arguments["events_path"].read_bytes(), arguments["outcomes_path"].read_bytes()
    extract(**arguments)
    after = arguments["events_path"].read_bytes(), arguments["outcomes_path"].read_bytes()
    assert before == after


@pytest.mark.parametrize(
    ("events", "outcomes", "problem"),
    [
        ({"a": [1, 2]}, {"a": [1]}, "Outcomes-a: .*record 2"),
        ({"a": [1]}, {"a": [1, 2]}, "set-a: .*record 2"),
        (
            {"a": [1], "b": [1]},
            {"a": [1], "b": [1]},
            "record 1 .*a, b",
        ),
    ],
)
def test_sets_and_outcomes_must_fit(
    tmp_path: Path, events: dict, outcomes: dict, problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        extract(**write_sets(tmp_path, events, outcomes))


FIELD = st.text(st.sampled_from("0159:,.-+eE \t\r\"'HRanifxé\x00"), max_size=8)
LINE = st.one_of(
    FIELD,
    st.builds("{},{},{}".format, FIELD, st.sampled_from(["HR", "", "Age", "?"]), FIELD),
    st.builds(
        "{:02d}:{:02d},{},{}".format,
        st.integers(0, 60),
        st.integers(0, 70),
        st.sampled_from([*PARAMETERS, "RecordID", ""]),
        st.floats(),
    ),
)


def refused(files: list[tuple[str, bytes]]) -> str | None:
    """Return the message of the DataError that parsing raises, or None."""
    try:
        parse_set("set-a", files)
    except DataError as error:
        return str(error)
    return None


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(LINE, max_size=6), min_size=1, max_size=3))
def test_nothing_but_data_errors_escapes_from_lines(files: list[list[str]]) -> None:
    contents = [stay(i + 1) + "".join(f"{x}\n" for x in f).encode() for i, f in enumerate(files)]
    message = refused([(f"a/{i + 1}.txt", content) for i, content in enumerate(contents)])
    if message is None:
        table = parse(*contents)
        assert np.isfinite(table["value"].to_numpy()).all()
        lines = sum(content.count(b"\n") for content in contents)
        assert table.num_rows == lines - 2 * len(contents)
    else:
        assert "\n" not in message


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=12), st.binary(max_size=60), st.booleans())
def test_nothing_but_data_errors_escapes_from_bytes(name: str, content: bytes, head: bool) -> None:
    for member in (name, "1.txt"):
        message = refused([(member, stay(1) + content if head else content)])
        assert message is None or "\n" not in message


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2880),
            st.sampled_from(PARAMETERS[4:]),
            st.floats(-1e6, 1e6).map(lambda x: f"{x:.4g}"),
        ),
        max_size=20,
    )
)
def test_parsing_agrees_with_a_plain_reader(events: list[tuple[int, str, str]]) -> None:
    events = sorted(events, key=lambda event: event[0])
    lines = [f"{m // 60:02d}:{m % 60:02d},{name},{digits}" for m, name, digits in events]
    table = parse(stay(1, *lines))
    assert table["minute"].to_pylist()[1:] == [minute for minute, _, _ in events]
    assert table["parameter"].to_pylist()[1:] == [name for _, name, _ in events]
    assert table["value"].to_pylist()[1:] == [float(digits) for _, _, digits in events]


@settings(max_examples=300, deadline=None)
@given(st.from_regex(r"[+-]?[0-9]{0,18}\.?[0-9]{0,9}(e[+-]?[0-9]{1,2})?", fullmatch=True))
def test_a_value_is_the_nearest_double_or_refused(digits: str) -> None:
    message = refused([("a/1.txt", stay(1, f"00:10,HR,{digits}"))])
    try:
        number = float(digits)
    except ValueError:
        assert message is not None
    else:
        assert message is None
        assert parse(stay(1, f"00:10,HR,{digits}"))["value"].to_pylist()[1] == number


def test_every_parameter_name_is_found_and_near_names_are_not() -> None:
    for name in PARAMETERS[4:]:
        assert parse(stay(1, f"00:10,{name},1"))["parameter"].to_pylist()[1] == name
        for near in (name + "x", name[:-1] + "#", name.swapcase()):
            assert "unknown parameter name" in str(
                refused([("a/1.txt", stay(1, f"00:10,{near},1"))])
            )
