"""Files of rows, and what makes rows of several files, read block by block."""

import csv
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from deepcac.errors import ConfigError, DataError
from deepcac.table.output_files import StrPath
from deepcac.table.reading.cells import is_text, with_points

BLOCK_BYTES, BLOCK_ROWS = 1 << 23, 1 << 15
_DELIMITERS = ",;\t|"
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")


class RowSource(os.PathLike[str]):
    """What a command reads like a table; its path is the folder it is made from.

    Attributes
    ----------
    remarks : tuple of str
        What a reader must know of how the rows are made.
    arguments : tuple of str
        What names it on the command line.
    roles : dict
        Columns that are no features, and why.
    """

    remarks: tuple[str, ...]
    arguments: tuple[str, ...]
    roles: dict[str, str]

    @abstractmethod
    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, block by block."""

    @abstractmethod
    def files(self) -> list[str]:
        """Return every file that is read."""

    @abstractmethod
    def with_features(self, names: Sequence[str]) -> "RowSource":
        """Return the same rows with the features of these names, those of a fitted model."""


def read_blocks(path: StrPath, decimal: str | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table, block by block, as they stand in the file.

    Parameters
    ----------
    path : path-like
        A `RowSource`, parquet (``.parquet``), a spreadsheet that pandas reads, or delimited text
        with a header (comma, semicolon, tab or bar; UTF-8). Text files and spreadsheets give text
        columns.
    decimal : {".", ","}, optional
        Sign before the decimals of numbers that are text; the other one stands between thousands.

    Raises
    ------
    ConfigError
        `decimal` is something else.
    DataError
        The file is absent, damaged, empty, ragged, not UTF-8, two columns have one name, or a
        cell of text may hold whole rows.
    """
    if decimal not in (None, ".", ","):
        raise ConfigError(f"--decimal {decimal!r}; use . or ,")
    if isinstance(path, RowSource):
        blocks: Iterable[pa.RecordBatch] = path.blocks()
    else:
        blocks = _file_blocks(Path(path))
    rows = 0
    for block in blocks:
        _check_names(path, block.schema.names)
        rows += block.num_rows
        yield block if decimal is None else _with_points(block, decimal)
    if not rows:
        raise DataError(f"{path}: holds no rows")


def _file_blocks(file: Path) -> Iterable[pa.RecordBatch]:
    if file.is_dir():
        raise DataError(f"{file}: is a folder; name a file")
    if not file.is_file():
        raise DataError(f"{file}: no such file")
    ending = file.suffix.lower()
    if ending in (".parquet", ".pq"):
        return _parquet(file)
    return _spreadsheet(file) if ending in _SPREADSHEETS else _delimited(file)


def _with_points(block: pa.RecordBatch, decimal: str) -> pa.RecordBatch:
    columns = [with_points(c, decimal) if is_text(c.type) else c for c in block.columns]
    return pa.RecordBatch.from_arrays(columns, names=block.schema.names)


def _check_names(path: StrPath, names: list[str]) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name.strip():
            raise DataError(f"{path}: column {place + 1} has no name; give it one in the header")
        if name in seen:
            raise DataError(f"{path}: column {name!r} stands twice; rename one, or add a header")
        seen.add(name)


def _parquet(file: Path) -> Iterator[pa.RecordBatch]:
    try:
        for block in pq.ParquetFile(file, page_checksum_verification=True).iter_batches(BLOCK_ROWS):
            # Arrow has no functions for views of text.
            views = [pa.types.is_string_view(one.type) for one in block.schema]
            yield block.cast(
                pa.schema(
                    one.with_type(pa.string()) if view else one
                    for one, view in zip(block.schema, views, strict=True)
                )
            )
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{file}: not readable as parquet ({_first_line(error)})") from error


def _spreadsheet(file: Path) -> Iterator[pa.RecordBatch]:
    import pandas as pd

    try:
        # Of a header pandas would rename what stands twice.
        cells = pd.read_excel(file, header=None, dtype=str, keep_default_na=False)
    except ImportError as error:
        raise DataError(
            f"{file}: pandas needs another package for it ({error}); install that, or save the "
            "sheet as CSV"
        ) from error
    except Exception as error:  # readers raise whatever a damaged part leads them to
        raise DataError(f"{file}: not readable as a spreadsheet ({_first_line(error)})") from error
    texts = [pa.array(own, pa.string()) for own in cells[1:].T.to_numpy()]
    if texts:
        yield pa.RecordBatch.from_arrays(texts, names=cells.iloc[0].tolist())


def _delimited(file: Path) -> Iterator[pa.RecordBatch]:
    delimiter, names = _header(file)
    _check_names(file, names)
    rows = 0
    try:
        for block in arrow_csv.open_csv(
            file,
            # The names are those of `_header`, without spaces around them.
            read_options=arrow_csv.ReadOptions(
                block_size=BLOCK_BYTES, use_threads=False, column_names=names, skip_rows=1
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
        raise DataError(f"{file}: {_fault(str(error), len(names))}") from error


def _refuse_swallowed_rows(file: Path, block: pa.RecordBatch, delimiter: str, before: int) -> None:
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


def _header(file: Path) -> tuple[str, list[str]]:
    """Return the delimiter, which occurs most often in the first line, and the column names."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            first = text.readline()
            delimiter = max(_DELIMITERS, key=first.count)
            names = next(csv.reader([first], delimiter=delimiter), [])
    except UnicodeError as error:
        raise DataError(f"{file}: not UTF-8 text; save it as UTF-8") from error
    if not first.strip():
        raise DataError(f"{file}: is empty; a first line with column names is expected")
    return delimiter, [name.strip() for name in names]


def _fault(message: str, columns: int) -> str:
    """Say what arrow found, without the row itself: its cells are a patient's."""
    row = re.search(r"Row #(\d+)", message)
    got = re.search(r"got (\d+)", message)
    if got:
        line = f"data row {int(row[1]) - 1}" if row else "a row"
        return f"{line} has {got[1]} cells, the header has {columns}; quote cells with delimiters"
    if "UTF8" in message or "utf-8" in message:
        return "not UTF-8 text; save it as UTF-8"
    return f"not readable as delimited text ({message.splitlines()[0][:80]})"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
