"""WiDS Datathon 2020: from training_v2.csv to a typed table, checked against its 186 columns."""

import csv
import os
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from deepcac.errors import DataError
from deepcac.storage import write_table

RECORD, LABEL = "encounter_id", "hospital_death"


@dataclass(frozen=True)
class Column:
    """One line of ``wids_columns.csv``.

    Attributes
    ----------
    name, group : str
        Column name and its category in the data dictionary.
    kind : {"id", "label", "number", "category"}
        How it is read.
    levels : tuple of str
        Values of a category.
    may_be_missing : bool
        Whether a category has missing values in the training file.
    """

    name: str
    group: str
    kind: str
    levels: tuple[str, ...]
    may_be_missing: bool


@cache
def columns() -> tuple[Column, ...]:
    """Return the 186 columns of training_v2.csv in file order."""
    text = (resources.files(__package__) / "wids_columns.csv").read_text(encoding="utf-8")
    return tuple(
        Column(
            row["column"],
            row["group"],
            row["kind"],
            tuple(row["levels"].split("|")) if row["levels"] else (),
            row["may_be_missing"] == "yes",
        )
        for row in csv.DictReader(text.splitlines())
    )


def extract(raw: str | os.PathLike[str], tidy: str | os.PathLike[str]) -> None:
    """Read training_v2.csv into a typed parquet table, rows in file order.

    Parameters
    ----------
    raw : path-like
        The CSV file; ``NA`` and blank are missing.
    tidy : path-like
        Gets all 186 columns: ids as int64, numbers and the label as float64, categories as text.

    Raises
    ------
    DataError
        The file is unreadable, empty or truncated; a column is missing or stands twice; an
        encounter id is missing or stands twice; a number is text; a category has an unknown
        level; a label is not 0 or 1.
    """
    texts = _read_texts(raw)
    table = pa.table({column.name: _typed(raw, texts, column) for column in columns()})
    ids, counts = np.unique(table[RECORD].to_numpy(), return_counts=True)
    if (counts > 1).any():
        raise DataError(
            f"{raw}: {RECORD} {ids[counts > 1][0]} stands twice; every row needs its own"
        )
    write_table(tidy, table)


def _read_texts(raw: str | os.PathLike[str]) -> pa.Table:
    try:
        table = arrow_csv.read_csv(
            raw,
            read_options=arrow_csv.ReadOptions(use_threads=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types={column.name: pa.string() for column in columns()},
                null_values=["", "NA"],
                strings_can_be_null=True,
            ),
        )
        names = table.column_names
    except (OSError, ValueError, pa.ArrowKeyError) as error:
        # Arrow's message ends with the row itself, which must not reach a log.
        fault = re.sub(r"(got \d+).*", r"\1", str(error).splitlines()[0])
        raise DataError(f"{raw}: not a readable training_v2.csv ({fault})") from error
    for column in columns():
        if names.count(column.name) != 1:
            found = "is missing" if column.name not in names else "stands twice"
            raise DataError(
                f"{raw}: column {column.name!r} {found}; "
                f"the {len(columns())} columns of training_v2.csv were expected"
            )
    if not table.num_rows:
        raise DataError(f"{raw}: holds a header and no row; fetch the file again")
    return table


def _typed(raw: str | os.PathLike[str], texts: pa.Table, column: Column) -> pa.ChunkedArray:
    values = texts[column.name]
    if column.kind == "category":
        known = pc.is_in(values, pa.array([*column.levels, None], pa.string()))
        _require(raw, column, known, f"none of {', '.join(column.levels)}")
        return values
    kind = pa.int64() if column.kind == "id" else pa.float64()
    numbers = _parsed(values, kind)
    _require(raw, column, pc.equal(pc.is_null(values), pc.is_null(numbers)), "not a number")
    if column.kind == "id":
        _require(raw, column, pc.is_valid(numbers), "missing")
    if column.kind == "label":
        allowed = pa.array([0.0, 1.0, None], pa.float64())
        _require(raw, column, pc.is_in(numbers, allowed), "not 0 or 1")
    return numbers


def _parsed(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Cast text to numbers; what is no finite number becomes missing."""
    pattern = (
        r"^[+-]?\d+$"
        if pa.types.is_integer(kind)
        else (r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$")
    )
    clean = pc.utf8_trim_whitespace(values)
    numeric = pc.match_substring_regex(clean, pattern)
    return pc.if_else(numeric, clean, pa.scalar(None, pa.string())).cast(kind)


def _require(
    raw: str | os.PathLike[str], column: Column, sound: pa.ChunkedArray, fault: str
) -> None:
    """Raise an error for the first row that is not sound; rows are counted from 1."""
    wrong = np.flatnonzero(~sound.to_numpy())
    if len(wrong):
        raise DataError(
            f"{raw}: row {wrong[0] + 1}, column {column.name!r} is {fault}; "
            "correct the row or fetch the file again"
        )
