"""Delimited text as blocks of text columns: the header, the delimiter, what stands around rows."""

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from deepcac.errors import DataError
from deepcac.table.reading.cell_rules import ROW_NAMES, uniform

BLOCK_BYTES = 1 << 23
_DELIMITERS = ",;\t|"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_NOT_UTF8 = "not UTF-8 text; save it as UTF-8 (in Excel: save as, CSV UTF-8)"
_MOST_LINES = 200  # in which the header is
_QUOTED = r'"(?:[^"]|"")*"'
_WORDS = re.compile(rf"{_QUOTED}|\S+")

Open = Callable[[], IO[bytes]]


class _Head(NamedTuple):
    """The lines above the first row.

    Attributes
    ----------
    delimiter : str
        A space for columns that stand apart by spaces.
    names : list of str
    lines : int
        How many there are.
    """

    delimiter: str
    names: list[str]
    lines: int


def delimited_blocks(file: str, opened: Open) -> Iterator[pa.RecordBatch]:
    """Yield the rows of delimited text as text columns.

    Lines such as ``sep=;`` and comments (``#``) above the header are passed over. A first column
    without a name holds the names of rows.

    Parameters
    ----------
    file : str
        For messages.
    opened : callable
        Opens its bytes anew.

    Raises
    ------
    DataError
        The text is empty, ragged, not UTF-8, or a cell may hold whole rows.
    """
    head = _head(file, opened)
    if head.delimiter == " ":
        yield _spaced(file, opened, head)
        return
    rows, delimiter, names = 0, head.delimiter, head.names
    try:
        for block in arrow_csv.open_csv(
            opened(),
            # The names are those of `_head`, without spaces around them.
            read_options=arrow_csv.ReadOptions(
                block_size=BLOCK_BYTES, use_threads=False, column_names=names, skip_rows=head.lines
            ),
            # An empty line is a row of a table with one column, and none of a wider one.
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        ):
            _refuse_swallowed_rows(file, block, delimiter, rows)
            rows += block.num_rows
            yield block
    except (pa.ArrowInvalid, UnicodeError) as error:
        raise DataError(f"{file}: {_fault(str(error), len(names), head.lines)}") from error


def _refuse_swallowed_rows(file: str, block: pa.RecordBatch, delimiter: str, before: int) -> None:
    """Refuse a cell that may hold rows: two stray quotation marks take in what is between them.

    Such a cell has a line break and at least the delimiters of one row. Text with fewer of them
    may go over several lines.
    """
    fewest = block.num_columns - 1
    for name, column in zip(block.schema.names, block.columns, strict=True):
        broken = pc.match_substring_regex(column, r"[\r\n]")
        if not pc.any(broken).as_py():
            continue
        held = pc.and_(broken, pc.greater_equal(pc.count_substring(column, delimiter), fewest))
        if pc.any(held).as_py():
            row = before + pc.index(held, True).as_py() + 1
            raise DataError(
                f"{file}: column {name!r}, data row {row}: the cell goes over lines and may hold "
                "whole rows; take out the stray quotation mark, or the line breaks"
            )


def _cells(file: object, line: str, delimiter: str) -> list[str]:
    """Return the cells of one line."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(
            f"{file}: a line break or a NUL stands inside one of the first lines; take it out"
        ) from error


def _head(file: str, opened: Open) -> _Head:
    """Return the delimiter, which occurs most often in the header, and the column names."""
    try:
        with opened() as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            lines = list(itertools.islice(text, _MOST_LINES))
    except UnicodeError as error:
        raise DataError(f"{file}: {_NOT_UTF8}") from error
    place, stated = _header_line(lines)
    first, end = "".join(lines[place : place + 1]), place + 1
    while first.count('"') % 2 and end < len(lines):
        first, end = first + lines[end], end + 1
    bare = _outside_quotes(first)
    delimiter = stated or max(_DELIMITERS, key=bare.count)
    rows = list(filter(str.strip, lines[end:]))
    after = rows[:2]
    if not first.strip():
        raise DataError(f"{file}: is empty; a first line with column names is expected")
    if stated is None and not any(sign in bare for sign in _DELIMITERS):
        words, cells = _words(first), len(_words(after[0])) if after else 0
        if len(words) > 1 and cells - len(words) in (0, 1):
            if cells > len(words):
                _refuse_no_row_names(file, map(_words, rows), cells)
            return _Head(" ", [ROW_NAMES] * (cells - len(words)) + words, end)
        wide = (
            max((_outside_quotes(after[0]).count(sign) for sign in _DELIMITERS), default=0)
            if after
            else 0
        )
        if wide:
            raise DataError(
                f"{file}: the first line has 1 cell, the next one {wide + 1}; the first line must "
                "hold the column names: take out what stands above them"
            )
    names = [uniform(name) for name in _cells(file, first, delimiter)]
    if names and not names[0] and len(names) > 1:
        names[0] = ROW_NAMES
    # R writes the names of rows without a name for their column.
    widths = [len(_cells(file, line, delimiter)) for line in after]
    ends = any(line.rstrip("\r\n").endswith(delimiter) for line in after)
    if after and not ends and all(width == len(names) + 1 for width in widths):
        _refuse_no_row_names(file, (_cells(file, line, delimiter) for line in rows), widths[0])
        names = [ROW_NAMES, *names]
    return _Head(delimiter, names, end)


def _outside_quotes(line: str) -> str:
    return re.sub(_QUOTED, "", line)


def _refuse_no_row_names(file: str, rows: Iterable[list[str]], cells: int) -> None:
    """Refuse rows that have a cell more than the header, of which the first is no row's name."""
    first = [row[0] for row in rows if len(row) == cells]
    if len(set(first)) < len(first):
        raise DataError(
            f"{file}: the first line has {cells - 1} cells, the next one {cells}; name each column "
            "there, and quote cells with a decimal comma, or save the table with semicolons"
        )


def _header_line(lines: list[str]) -> tuple[int, str | None]:
    """Return the place of the header among the first lines, and a delimiter that is stated."""
    place, stated = 0, None
    if lines and (match := _SEPARATOR_LINE.fullmatch(lines[0])):
        place, stated = 1, match[1]
    while place + 1 < len(lines) and lines[place].startswith("#"):
        after = lines[place + 1]
        delimiter = stated or max(_DELIMITERS, key=after.count)
        # A line with as many cells as the next is a header whose first name begins so.
        if (
            not after.startswith("#")
            and lines[place].count(delimiter) == after.count(delimiter) > 0
        ):
            break
        place += 1
    return place, stated


def _words(line: str) -> list[str]:
    """Return the words of a line; quotation marks hold spaces."""
    return [uniform(word.strip('"')) for word in _WORDS.findall(line)]


def _spaced(file: str, opened: Open, head: _Head) -> pa.RecordBatch:
    """Return a table whose columns stand apart by spaces."""
    _refuse_ragged(file, opened, head)
    try:
        with opened() as raw:
            cells = pd.read_csv(
                raw, sep=r"\s+", names=head.names, skiprows=head.lines, dtype=str,
                keep_default_na=False, index_col=False, encoding="utf-8",
            )  # fmt: skip
    except (ValueError, UnicodeError, pd.errors.ParserError) as error:
        line = str(error).splitlines()[0][:80] if not isinstance(error, UnicodeError) else "UTF-8"
        raise DataError(f"{file}: not readable as text with spaces ({line})") from error
    arrays = [pa.array(cells[name].tolist(), pa.string(), from_pandas=True) for name in head.names]
    return pa.RecordBatch.from_arrays(arrays, names=head.names)


def _refuse_ragged(file: str, opened: Open, head: _Head) -> None:
    """Refuse a row with more or fewer words than the header: an empty cell is no word.

    Of a text whose quotation marks go over lines, the rows are not known here.
    """
    with opened() as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace") as text:
        lines = [line for line in itertools.islice(text, head.lines, None) if line.strip()]
    if any(line.count('"') % 2 for line in lines):
        return
    for row, line in enumerate(lines, start=1):
        words = len(_WORDS.findall(line))
        if words != len(head.names):
            raise DataError(
                f"{file}: data row {row} has {words} words, the header has {len(head.names)}; "
                "write NA for a missing value, or save the table as CSV"
            )


def _fault(message: str, columns: int, lines: int) -> str:
    """Say what arrow found, without the row itself: its cells are a patient's."""
    row = re.search(r"Row #(\d+)", message)
    got = re.search(r"got (\d+)", message)
    if got:
        line = f"data row {int(row[1]) - lines}" if row else "a row"
        way = "a note or a footer? take the line out"
        if got[1] != "1":
            above = "take out what stands above the column names"
            way = above if columns == 1 else "quote cells with delimiters"
        cells = "cell" if got[1] == "1" else "cells"
        return f"{line} has {got[1]} {cells}, the header has {columns}; {way}"
    if "UTF8" in message or "utf-8" in message:
        return _NOT_UTF8
    return f"not readable as delimited text ({message.splitlines()[0][:80]})"
