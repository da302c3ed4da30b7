"""Comma-separated raw files to checked arrow tables: types, ranges, levels, unique ids."""

import codecs
import itertools
import math
import os
import re
from collections.abc import Sequence
from csv import reader
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from deepcac.errors import DataError
from deepcac_study.catalogue.variables import Variable

StrPath = str | os.PathLike[str]

# What a finite double is written like; longer exponents overflow.
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$"
_LARGEST_WHOLE = 1e15  # all whole numbers up to here are doubles


def read_delimited(
    path: StrPath,
    variables: Sequence[Variable],
    *,
    header: bool,
    content: bytes | None = None,
    comment: str = "",
    missing: Sequence[str] = ("",),
    strip: str = "",
    quote: bool = True,
) -> pa.Table:
    """Read a comma-separated UTF-8 file and check every value against its variable.

    Quoted fields and empty lines are allowed, spaces around values are removed. Variables are in
    file order without a header, found by name with one. `content` is the text if it comes from an
    archive; errors then call it `path`. Lines at the start that begin with `comment` are skipped;
    `strip` characters are removed at the end of a category. With `quote` false, values of
    restricted data do not appear in errors, and so in logs.

    A `DataError`: the file is missing, empty, ragged or not UTF-8; a column is missing or repeated;
    a value is not a number, out of range, an unknown category or missing where it may not be; an id
    is repeated.
    """
    raw = _read_strings(path, [variable.name for variable in variables], header, content, comment)
    columns = []
    for variable in variables:
        column = pc.utf8_trim_whitespace(raw[variable.name].combine_chunks())
        absent = pc.is_in(column, value_set=pa.array(missing, pa.string()))
        column = pc.if_else(absent, pa.scalar(None, pa.string()), column)
        if strip and variable.kind == "category":
            column = pc.utf8_rtrim(column, strip)
        columns.append(_checked(column, variable, _Place(path, quote)))
    return pa.table(columns, schema=pa.schema([variable.field() for variable in variables]))


def infer_variables(path: StrPath) -> tuple[Variable, ...]:
    """Infer the columns of a file with a header: numbers if all values are, else categories.

    An empty field is a missing value; levels are sorted. A file that is missing, empty or ragged,
    or repeats a name, is a `DataError`.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            names = next(reader(file), [])
    except (OSError, UnicodeError) as error:
        raise DataError(f"{path}: not a readable text file ({error})") from error
    raw = _read_strings(path, names, True, None, "")
    return tuple(_inferred(name, raw[name].combine_chunks()) for name in names)


def _inferred(name: str, column: pa.Array) -> Variable:
    """Return a number column if every value is one, else categories that occur."""
    column = pc.utf8_trim_whitespace(column)
    values = column.filter(pc.not_equal(column, ""))
    missing = len(values) < len(column)
    if len(values) and pc.all(pc.match_substring_regex(values, _NUMBER)).as_py():
        return Variable(name, "number", missing=missing)
    levels = tuple(sorted(pc.unique(values).to_pylist()))
    return Variable(name, "category", levels=levels, missing=missing)


def _read_strings(
    path: StrPath, names: list[str], header: bool, content: bytes | None, comment: str
) -> pa.Table:
    """Return all columns as text; DataError unless each name occurs once and rows exist."""
    if content is None:
        if not Path(path).is_file():
            raise DataError(f"{path}: no such file; fetch it first")
        content = Path(path).read_bytes()
    skip = _comment_lines(content, comment.encode()) if comment else 0
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=csv.ReadOptions(
                column_names=None if header else names, skip_rows=skip, use_threads=False
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
        column_names = table.column_names
    except ValueError as error:  # also ArrowInvalid, and a header that is not UTF-8
        # Arrow's message ends with the row itself, which must not reach a log.
        reason = re.sub(r"(got \d+).*", r"\1", str(error).splitlines()[0])
        raise DataError(f"{path}: not {len(names)} comma-separated columns ({reason})") from error
    for name in names:
        if column_names.count(name) != 1:
            fault = "occurs twice" if name in column_names else "is missing"
            raise DataError(
                f"{path}: column {name!r} {fault}; {len(names)} comma-separated columns are "
                f"expected: {', '.join(names)[:100]}..."
            )
    if table.num_rows == 0:
        raise DataError(f"{path}: holds no rows; fetch it again")
    return table


def _comment_lines(content: bytes, mark: bytes) -> int:
    """Return the number of comment lines at the start."""
    lines = content[:10_000].removeprefix(codecs.BOM_UTF8).splitlines()
    return len(list(itertools.takewhile(lambda line: line.startswith(mark), lines)))


@dataclass(frozen=True)
class _Place:
    """Name of the file for errors, and whether they may show its values."""

    path: StrPath
    quote: bool


def _checked(column: pa.Array, variable: Variable, place: _Place) -> pa.Array:
    """Return the column, numbers converted; DataError for a value the variable excludes."""
    if not variable.missing and variable.kind != "text":
        _refuse(pc.is_null(column), column, variable, place, "is missing")
    if variable.kind == "category":
        valid = pc.is_in(column, value_set=pa.array(variable.levels, pa.string()))
        fault = f"is not a known category ({', '.join(variable.levels)[:100]})"
        _refuse(pc.invert(valid), column, variable, place, fault)
    if variable.kind in ("category", "text"):
        return column
    return _checked_numbers(column, variable, place)


def _checked_numbers(column: pa.Array, variable: Variable, place: _Place) -> pa.Array:
    """Return the column as numbers; DataError if one is no number or out of range."""
    numeric = pc.match_substring_regex(column, _NUMBER)
    _refuse(pc.invert(numeric), column, variable, place, "is not a number")
    numbers = pc.cast(column, pa.float64())
    low = -math.inf if variable.low is None else variable.low
    high = math.inf if variable.high is None else variable.high
    inside = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
    bounds = f"{low} to {high} {variable.unit}".strip()
    _refuse(pc.invert(inside), column, variable, place, f"is outside {bounds}")
    if variable.kind in ("integer", "id"):
        whole = pc.equal(numbers, pc.floor(numbers))
        small = pc.less_equal(pc.abs(numbers), _LARGEST_WHOLE)
        _refuse(pc.invert(pc.and_(whole, small)), column, variable, place, "is not a whole number")
    if variable.kind == "id":
        twice = pa.array(numbers.to_pandas().duplicated())
        _refuse(twice, column, variable, place, "occurs twice")
    return pc.cast(numbers, variable.field().type)


def _refuse(bad: pa.Array, column: pa.Array, variable: Variable, place: _Place, fault: str) -> None:
    """Raise `DataError` for the first row where `bad` is true; null counts as false."""
    at_fault = pc.fill_null(bad, False)
    if fault != "is missing":
        at_fault = pc.and_(at_fault, pc.is_valid(column))
    row = pc.index(at_fault, True).as_py()
    if row >= 0:
        shown = place.quote and fault != "is missing"
        value = repr(column[row].as_py()[:60]) if shown else "value"
        raise DataError(f"{place.path}: data row {row + 1}, {variable.name}: {value} {fault}")
