"""Delimited text as blocks of text columns: header, delimiter, and lines around the rows."""

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from deepcac.errors import DataError
from deepcac.files.limits import check_columns
from deepcac.table.columns.cell_texts import (
    AMONG_NUMBERS,
    NAMES_A_ROW,
    NO_VALUE,
    ROW_NAMES,
    uniform,
)
from deepcac.table.columns.description import Dialect

BLOCK_BYTES = 1 << 23
_DELIMITERS = ";\t|,"  # of two that fit alike the first: a comma may be that of decimals
_ABOVE = "take out the lines above the column names"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_NOT_UTF8 = "not UTF-8 text; save it as UTF-8 (in Excel: save as, CSV UTF-8)"
_NO_NAMES = {word.lower() for word in (*NO_VALUE, *AMONG_NUMBERS)}
_MOST_LINES = 200  # in which the header is
_QUOTED = r'"(?:[^"]|"")*"'
_WORDS = re.compile(rf"{_QUOTED}|\S+")
_R_NUMBER = re.compile(r'"\d+",')  # R quotes the names of rows, also where they are numbers

GAPS = b"deepcac gaps"  # in the metadata of rows

Open = Callable[[], IO[bytes]]


class Head(NamedTuple):
    """The lines above the first row."""

    delimiter: str  # a space for columns separated by spaces
    names: list[str]
    lines: int  # how many there are
    first: int = 1  # which of them, from 1, begins the names: a name may hold line breaks


def delimited_blocks(
    file: str, opened: Open, dialect: Dialect | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of delimited text as text columns; what is not declared is found.

    Lines such as ``sep=;``, comments (``#``) and empty lines above the header are passed over. A
    first column without a name holds the names of rows. Other columns without a name and a value
    are left out (`filled`), as are rows without a cell. Text that is empty, ragged or not UTF-8,
    and a cell that may hold whole rows, are a `DataError`.
    """
    head = find_head(file, opened, dialect or Dialect())
    check_columns(file, len(head.names))
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
            block = filled(block)
            rows += block.num_rows
            if block.num_rows:
                yield block
    except (pa.ArrowInvalid, UnicodeError) as error:
        raise DataError(f"{file}: {_fault(str(error), len(names), head.lines)}") from error


def filled(block: pa.RecordBatch) -> pa.RecordBatch:
    """Return text columns without rows that have no cell, and without columns of no name and cell.

    Of one column, an empty cell is a row. The metadata has `GAPS` if rows stand below an empty one.
    """
    names = block.schema.names
    used = [
        j for j, name in enumerate(names) if name or not pc.all(_blank(block.column(j))).as_py()
    ]
    block = block.select(used)
    if block.num_columns < 2:
        return block
    empty = pa.array(np.ones(block.num_rows, np.bool_))
    for column in block.columns:
        empty = pc.and_(empty, _blank(column))
        if not pc.any(empty).as_py():
            return block
    rows = block.filter(pc.invert(empty))
    gaps = pc.index(empty, True).as_py() < rows.num_rows
    return rows.replace_schema_metadata({GAPS: ""}) if gaps else rows


def _blank(column: pa.Array) -> pa.Array:
    return pc.equal(pc.utf8_trim_whitespace(column), "")


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
            f"{file}: a line break or a NUL is inside one of the first lines; take it out"
        ) from error


def find_head(file: str, opened: Open, dialect: Dialect) -> Head:
    """Return the delimiter and the column names: as declared, else as the first lines tell."""
    lines = _first_lines(file, opened)
    place, stated = _header_line(lines)
    if dialect.header_rows:
        place = min(min(dialect.header_rows) - 1, len(lines))
    stated = dialect.delimiter or stated
    first, end = "".join(lines[place : place + 1]), place + 1
    while first.count('"') % 2 and end < len(lines):
        first, end = first + lines[end], end + 1
    if dialect.header_rows and max(dialect.header_rows) != end:
        raise DataError(
            f"{file}: the names of columns end in line {end}, and the description says that they "
            f"end in line {max(dialect.header_rows)} (headerRows)"
        )
    bare = _outside_quotes(first)
    rows = list(filter(str.strip, lines[end:]))
    after = rows[:2]
    delimiter = stated or _delimiter(bare, after)
    if not first.strip():
        raise DataError(f"{file}: is empty; a first line with column names is expected")
    if stated in (None, " ") and not any(sign in bare for sign in _DELIMITERS):
        words, cells = _words(first), len(_words(after[0])) if after else 0
        if len(words) > 1 and cells - len(words) in (0, 1):
            if cells > len(words):
                _refuse_no_row_names(file, map(_words, rows), cells)
            return Head(" ", [ROW_NAMES] * (cells - len(words)) + words, end, place + 1)
        if wide := max(map(_outside_quotes("".join(after[:1])).count, _DELIMITERS)):
            raise DataError(
                f"{file}: the first line has 1 cell, the next one {wide + 1}; the first line must "
                f"hold the column names: {_ABOVE}"
            )
    names = [uniform(name) for name in _cells(file, first, delimiter)]
    if names and not names[0] and len(names) > 1:
        names[0] = ROW_NAMES
    # R writes the names of rows without a name for their column.
    widths = [len(_cells(file, line, delimiter)) for line in after]
    if after and all(width == len(names) + 1 for width in widths):
        ends = [line.rstrip("\r\n").endswith(delimiter) for line in rows]
        if all(ends):  # each row, and not the header
            return Head(delimiter, [*names, ""], end, place + 1)
        if not any(ends[:2]):
            named = delimiter == "," and NAMES_A_ROW.fullmatch(names[0]) is not None
            named = named and not all(map(_R_NUMBER.match, after))
            split = (_cells(file, line, delimiter) for line in rows)
            _refuse_no_row_names(file, split, widths[0], named=named)
            names = [ROW_NAMES, *names]
    return Head(delimiter, names, end, place + 1)


def _first_lines(file: str, opened: Open) -> list[str]:
    """Return the first lines of a file; one that is longer than a block is refused."""
    try:
        with opened() as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            lines = [text.readline(BLOCK_BYTES) for _ in range(_MOST_LINES)]
    except UnicodeError as error:
        raise DataError(f"{file}: {_NOT_UTF8}") from error
    long = [len(line) >= BLOCK_BYTES for line in lines]
    if any(long):
        raise DataError(
            f"{file}: line {long.index(True) + 1} has {BLOCK_BYTES:,} signs or more; a line "
            "break ends each row of a table"
        )
    return list(filter(None, lines))


def _delimiter(header: str, after: list[str]) -> str:
    """Return the sign that occurs as often in the next lines as in the header, or else most often.

    A line may have one more, as of a row with a name. Commas that fit may be those of decimals,
    of which each cell has one at most.
    """
    bare = [_outside_quotes(line) for line in after]

    def fit(sign: str) -> tuple[bool, int]:
        n = header.count(sign)
        fits = bool(n) and all(line.count(sign) in (n, n + 1) for line in bare)
        return fits, n - (fits and sign == ",")

    return max(_DELIMITERS, key=fit)


def _outside_quotes(line: str) -> str:
    return re.sub(_QUOTED, "", line)


def _refuse_no_row_names(
    file: str, rows: Iterable[list[str]], cells: int, *, named: bool = False
) -> None:
    """Refuse rows that have a cell more than the header, of which the first is no row's name.

    It is none if it occurs twice, or if the header has a name for it (`named`); nor is there one
    if the next line has the names of columns.
    """
    wide = [row for row in rows if len(row) == cells]
    first = [row[0] for row in wide]
    lower = len(wide) > 1 and all(map(_is_name, wide[0])) and any(map(_is_number, wide[1]))
    if lower or named or len(set(first)) < len(first):
        raise DataError(
            f"{file}: the first line has {cells - 1} cells, the next one {cells}; name each column "
            "there, and quote cells with a decimal comma, or save the table with semicolons; or "
            f"{_ABOVE}"
        )


def _is_name(cell: str) -> bool:
    """Return whether a cell may be the name of a column: no number, and no word for no value."""
    return re.search(r"[^\W\d]", cell) is not None and cell.strip().lower() not in _NO_NAMES


def _is_number(cell: str) -> bool:
    return re.search(r"\d", cell) is not None and re.search(r"[^\W\d]", cell) is None


def _header_line(lines: list[str]) -> tuple[int, str | None]:
    """Return the place of the header among the first lines, and a delimiter that is stated."""
    place, stated = _filled_line(lines, 0), None
    if place < len(lines) and (match := _SEPARATOR_LINE.fullmatch(lines[place])):
        place, stated = _filled_line(lines, place + 1), match[1]
    while place + 1 < len(lines) and lines[place].startswith("#"):
        after = lines[place + 1]
        delimiter = stated or max(_DELIMITERS, key=after.count)
        # A line of names with as many cells as the next is a header whose first name begins so.
        alike = lines[place].count(delimiter) == after.count(delimiter) > 0
        named = all(map(_is_name, lines[place].split(delimiter)))
        if alike and named and not after.startswith("#"):
            break
        place = _filled_line(lines, place + 1)
    return place, stated


def _filled_line(lines: list[str], place: int) -> int:
    """Return the place of the first line from `place` on that is not empty."""
    return next((j for j in range(place, len(lines)) if lines[j].strip()), len(lines))


def _words(line: str) -> list[str]:
    """Return the words of a line; quotation marks hold spaces."""
    return [uniform(word.strip('"').replace('""', '"')) for word in _WORDS.findall(line)]


def _spaced(file: str, opened: Open, head: Head) -> pa.RecordBatch:
    """Return a table whose columns are separated by spaces; it can have no empty cells."""
    rows: list[list[str]] = []
    try:
        with opened() as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as text:
            lines = itertools.islice(text, head.lines, None)
            for line in lines:
                while line.count('"') % 2 and (further := next(lines, "")):
                    line += further
                if line.strip():
                    rows.append(_words(line))
    except UnicodeError as error:
        raise DataError(f"{file}: {_NOT_UTF8}") from error
    for number, words in enumerate(rows, start=1):
        if len(words) != len(head.names):
            raise DataError(
                f"{file}: data row {number} has {len(words)} words, the header has "
                f"{len(head.names)}; write NA for a missing value, or save the table as CSV"
            )
    columns = [pa.array([row[j] for row in rows], pa.string()) for j in range(len(head.names))]
    return pa.RecordBatch.from_arrays(columns, names=head.names)


def _fault(message: str, columns: int, lines: int) -> str:
    """Describe what arrow found, without the row itself: its cells are a patient's."""
    row = re.search(r"Row #(\d+)", message)
    got = re.search(r"got (\d+)", message)
    if got:
        line = f"data row {int(row[1]) - lines}" if row else "a row"
        if got[1] == "1":
            has, way = "1 cell", "a note or a footer? take the line out"
        else:
            has = f"{got[1]} cells"
            way = f"quote cells with delimiters, take out one at the end of a row, or {_ABOVE}"
        return f"{line} has {has}, the header has {columns}; {way}"
    if "UTF8" in message or "utf-8" in message:
        return _NOT_UTF8
    return f"not readable as delimited text ({message.splitlines()[0][:80]})"
