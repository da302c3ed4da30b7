"""Comma-separated raw files to checked arrow tables: types, ranges, levels, unique ids."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from deepcac.errors import DataError
from deepcac.sources.variables import Variable

StrPath = str | os.PathLike[str]


def read_delimited(
    path: StrPath,
    variables: Sequence[Variable],
    *,
    header: bool,
    comment: str = "",
    missing: str = "",
    strip: str = "",
) -> pa.Table:
    """Read a comma-separated file and check every value against its variable.

    Parameters
    ----------
    path : path-like
        UTF-8 text; quoted fields and empty lines are fine, spaces around values are dropped.
    variables : sequence of Variable
        One a column, in file order.
    header : bool
        Whether the first line names the columns; the names must then agree.
    comment : str
        Lines at the start that begin with it are passed over.
    missing : str
        How the file writes a missing value.
    strip : str
        Characters dropped at the end of a category.

    Returns
    -------
    pyarrow.Table
        Columns of `variables`; numbers as float64, ids as int64, the rest as strings.

    Raises
    ------
    DataError
        The file is empty, ragged or not UTF-8; a column is missing or misplaced; a value is not a
        number, outside its range, an unknown category or missing where none may be; an id stands
        twice.
    """
    raw = _read_strings(path, variables, header=header, comment=comment)
    columns = []
    for variable, chunks in zip(variables, raw.columns, strict=True):
        column = pc.utf8_trim_whitespace(chunks.combine_chunks())
        column = pc.if_else(pc.equal(column, missing), pa.scalar(None, pa.string()), column)
        if strip and variable.kind == "category":
            column = pc.utf8_rtrim(column, strip)
        columns.append(_checked(column, variable, path))
    return pa.table(columns, schema=pa.schema([variable.field() for variable in variables]))


def _read_strings(
    path: StrPath, variables: Sequence[Variable], *, header: bool, comment: str
) -> pa.Table:
    names = [variable.name for variable in variables]
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file; fetch it first")
    lines = _first_lines(path)
    skip = 0
    while comment and skip < len(lines) and lines[skip].startswith(comment):
        skip += 1
    if header:
        _check_header(path, names, lines[skip] if skip < len(lines) else "")
    try:
        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(
                column_names=names, skip_rows=skip + header, use_threads=False
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: not {len(names)} comma-separated columns ({reason})") from error
    if table.num_rows == 0:
        raise DataError(f"{path}: holds no rows; fetch it again")
    return table


def _first_lines(path: StrPath) -> list[str]:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        return list(itertools.islice(file, 10))


def _check_header(path: StrPath, names: list[str], line: str) -> None:
    seen = [name.strip().strip('"') for name in line.rstrip("\r\n").split(",")]
    if seen != names:
        wrong = next((name for name in names if name not in seen), None)
        detail = f"column {wrong!r} is missing" if wrong else "the columns are in another order"
        raise DataError(f"{path}: wrong header, {detail}; expected {','.join(names)[:300]}")


def _checked(column: pa.Array, variable: Variable, path: StrPath) -> pa.Array:
    if not variable.missing and variable.kind != "text":
        _refuse(pc.is_null(column), column, variable, path, "is missing")
    if variable.kind == "category":
        known = pc.is_in(column, value_set=pa.array(variable.levels, pa.string()))
        _refuse(pc.invert(known), column, variable, path, "is not a known category")
    if variable.kind in ("category", "text"):
        return column
    return _checked_numbers(column, variable, path)


def _checked_numbers(column: pa.Array, variable: Variable, path: StrPath) -> pa.Array:
    parsed = pd.to_numeric(column.to_pandas(), errors="coerce").astype(float)
    _refuse(pa.array(parsed.isna()), column, variable, path, "is not a number")
    numbers = pa.array(parsed, pa.float64(), from_pandas=True)
    inside = pc.is_finite(numbers)
    if variable.low is not None:
        inside = pc.and_(inside, pc.greater_equal(numbers, variable.low))
    if variable.high is not None:
        inside = pc.and_(inside, pc.less_equal(numbers, variable.high))
    bounds = f"{variable.low} to {variable.high} {variable.unit}".strip()
    _refuse(pc.invert(inside), column, variable, path, f"is outside {bounds}")
    if variable.kind in ("integer", "id"):
        broken = pc.not_equal(numbers, pc.floor(numbers))
        _refuse(broken, column, variable, path, "is not a whole number")
    if variable.kind == "id":
        twice = pa.array(numbers.to_pandas().duplicated())
        _refuse(twice, column, variable, path, "stands twice")
        return pc.cast(numbers, pa.int64())
    return numbers


def _refuse(bad: pa.Array, column: pa.Array, variable: Variable, path: StrPath, fault: str) -> None:
    """Raise for the first row where `bad` holds; missing values are judged on their own."""
    at_fault = pc.fill_null(bad, False)
    if fault != "is missing":
        at_fault = pc.and_(at_fault, pc.is_valid(column))
    row = pc.index(at_fault, True).as_py()
    if row >= 0:
        value = "value" if fault == "is missing" else repr(column[row].as_py()[:60])
        raise DataError(f"{path}: data row {row + 1}, {variable.name}: {value} {fault}")
