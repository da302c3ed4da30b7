"""Dates: the format that a description says, what cannot be known, and cells that do not fit."""

import datetime as dt
import functools
import re

import numpy as np
import pandas as pd
import pytest
import yaml
from described_tables import describe
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import ConfigError, DataError
from deepcac.table.columns.cell_texts import (
    ANY,
    DEFAULT,
    check_format,
    date_patterns,
    date_type,
    fits_format,
)
from deepcac.table.columns.described_rows import DescribedTable, as_yaml, read_description
from deepcac.table.columns.description import LEAVE_OUT, TableDescription
from deepcac.table.inference.labelled_table import read_labelled

N = 120
PATTERNS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%d-%b-%Y", "%Y/%m/%d",
    "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%H:%M",
)  # fmt: skip


def days(pattern, first=dt.datetime(2023, 12, 20, 10, 5, 33)):
    return [(first + dt.timedelta(days=i % 40, hours=i % 11)).strftime(pattern) for i in range(N)]


def write(path, admitted):
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"age": draw.integers(20, 90, N), "crp": draw.gamma(2, 6, N).round(1)})
    table["admitted"] = admitted
    table.assign(died=draw.permutation(np.arange(N) % 3 == 0).astype(int)).to_csv(path, index=False)
    return path


def strptime(text, pattern):
    return dt.datetime.strptime(text, pattern)


def field_of(path):
    """Return what the file of a description says of the column, as another program reads it."""
    content = yaml.safe_load(as_yaml(describe(path).resource))
    return next(field for field in content["schema"]["fields"] if field["name"] == "admitted")


@given(
    st.lists(st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2060, 1, 1)), min_size=1),
    st.sampled_from(PATTERNS),
)
def test_one_of_the_readings_is_the_pattern_that_was_written(moments, pattern):
    texts = list(dict.fromkeys(moment.strftime(pattern) for moment in moments))
    readings = date_patterns(texts)
    days = [[strptime(text, reading) for text in texts] for reading in readings]
    assert [strptime(text, pattern) for text in texts] in days
    for found in readings:
        assert fits_format(texts, *date_type(found)).all()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_format_reads_every_cell_in_another_program(tmp_path, pattern):
    cells = days(pattern)
    field = field_of(write(tmp_path / "t.csv", cells))
    assert field["type"] in ("date", "datetime", "time")
    read = dt.datetime.fromisoformat
    if "format" in field:
        read = functools.partial(strptime, pattern=field["format"])
    assert [read(cell) for cell in cells] == [strptime(cell, pattern) for cell in cells]


def test_dates_of_several_forms_have_no_one_pattern(tmp_path):
    cells = [*days("%Y-%m-%d")[:-2], "31.01.2024", "3-Mai-2024"]
    assert field_of(write(tmp_path / "t.csv", cells)) == {
        "name": "admitted", "type": "date", "format": ANY,
    }  # fmt: skip


def test_a_day_that_may_be_a_month_is_a_question_whose_answer_is_the_format(tmp_path):
    cells = [f"{1 + i % 12:02}/{1 + i % 7:02}/2024" for i in range(N)]
    path = write(tmp_path / "t.csv", cells)
    description = describe(path)
    (question,) = description.resource.use.questions
    assert question.fields == ("admitted",)
    assert question.answers == ("dates as %d/%m/%Y", "dates as %m/%d/%Y", LEAVE_OUT)
    with pytest.raises(ConfigError, match="day first"):
        description.refuse_open()
    for answer in question.answers[:2]:
        text = re.sub("answer: *$", f"answer: {answer}", as_yaml(description.resource), flags=re.M)
        (tmp_path / "t.yaml").write_text(text)
        decided = read_description(tmp_path / "t.yaml")
        field = decided.fields["admitted"]
        assert (field.type, field.format) == ("date", answer.removeprefix("dates as "))
        assert "admitted" not in read_labelled(DescribedTable(path, decided)).encoder.places
    cells[0] = "13/01/2024"
    assert describe(write(path, cells)).fields["admitted"].format == "%d/%m/%Y"


def test_a_cell_that_is_no_such_date_is_refused_with_its_line(tmp_path):
    path = write(tmp_path / "t.csv", days("%d.%m.%Y"))
    text = as_yaml(describe(path).resource)
    (tmp_path / "t.yaml").write_text(re.sub("    admitted: .*\n", "", text))
    cells = days("%d.%m.%Y")
    cells[3], cells[7] = "2024-01-01", ""
    write(path, cells)
    described = read_description(tmp_path / "t.yaml")
    with pytest.raises(DataError, match=r"row 4: '2024-01-01' .* %d\.%m\.%Y") as refused:
        read_labelled(DescribedTable(path, described))
    line = int(re.search(r"line (\d+)$", str(refused.value))[1])
    assert "name: admitted" in (tmp_path / "t.yaml").read_text().splitlines()[line - 1]


def test_a_format_is_kept_where_a_description_is_kept(tmp_path):
    described = describe(write(tmp_path / "t.csv", days("%d.%m.%Y")))
    kept = TableDescription.from_dict(described.reduced(["admitted"]).to_dict())
    assert kept.fields["admitted"].format == "%d.%m.%Y"


@pytest.mark.parametrize(
    ("kind", "cell", "fits"),
    [
        ("date", "2024-02-29", True), ("date", "2023-02-29", False), ("date", "20240229", False),
        ("datetime", "2024-02-29T10:30:00Z", True), ("datetime", "2024-02-29", False),
        ("time", "10:30:00", True), ("time", "25:00:00", False),
    ],
)  # fmt: skip
def test_without_a_format_dates_are_iso_8601(kind, cell, fits):
    assert fits_format([cell], kind, DEFAULT).tolist() == [fits]


@pytest.mark.parametrize("format", ["%Q", "dd.mm.yyyy"])
def test_what_is_no_pattern_is_refused(tmp_path, format):
    field = f"{{name: a, type: date, format: '{format}'}}"
    (tmp_path / "t.yaml").write_text(f"name: t\npath: t.csv\nschema: {{fields: [{field}]}}")
    with pytest.raises(ConfigError, match="pattern"):
        read_description(tmp_path / "t.yaml")


@pytest.mark.parametrize(
    "cell",
    ["2024-02-29", "29.02.2024", "29 Feb 2024", "2024-02-29 10:30:00+0100", "10:30 PM",
     "2024-02-29T10:30:00.5+0000"],
)  # fmt: skip
def test_every_pattern_that_a_profile_writes_can_be_read_again(cell):
    patterns = date_patterns([cell])
    assert patterns
    for pattern in patterns:
        check_format("a", pattern)
