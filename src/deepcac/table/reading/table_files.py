"""Files of rows, read block by block."""

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deepcac.errors import DataError
from deepcac.table.columns.cell_reader import CellReader
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import Dialect
from deepcac.table.limits import check_bytes, check_columns
from deepcac.table.output_files import StrPath
from deepcac.table.reading.delimited_text import GAPS, delimited_blocks, find_head
from deepcac.table.reading.packed_files import Packed
from deepcac.table.reading.spreadsheets import SPREADSHEETS, sheet_blocks
from deepcac.table.reading.statistics_files import READERS, table_blocks

BLOCK_ROWS = 1 << 15
_GAPS = "Empty rows between others are left out; the numbers of rows do not count them."


def read_blocks(path: StrPath, reader: CellReader | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table, block by block, with their cells in one form.

    Parameters
    ----------
    path : path-like
        Delimited text with a header (comma, semicolon, tab, bar or spaces; UTF-8);
        parquet, feather, a spreadsheet, Stata, SPSS or SAS, or rows of JSON; each also as gzip, or
        alone in a zip file. Text files and spreadsheets give text columns.
    reader : CellReader, optional
        Says how cells are read, and is told what was taken for missing.

    Raises
    ------
    DataError
        The file is absent, damaged, empty, ragged, not UTF-8, or of no kind that is read; two
        columns have one name; a cell may hold whole rows, or has two readings.
    """
    reader = CellReader() if reader is None else reader
    blocks = _file_blocks(Path(path), dialect_of(path, reader.rules.sheet))
    described = isinstance(path, DescribedTable)
    blocks = path.rows(blocks) if isinstance(path, DescribedTable) else blocks
    rows = 0
    for block in blocks:
        check_columns(path, block.num_columns)
        if GAPS in (block.schema.metadata or {}) and _GAPS not in reader.notices:
            reader.notices.append(_GAPS)
        read = block if described else reader.read(block)
        _check_names(path, read.schema.names)
        rows += block.num_rows
        yield read
    if not rows:
        raise DataError(f"{path}: holds no rows")


def find_dialect(path: StrPath, sheet: str | None) -> Dialect:
    """Return the delimiter and header of a text, as its first lines tell; of a book the sheet."""
    packed = Packed(Path(path), Path(path).name).unpacked()
    if packed.kind in (*SPREADSHEETS, *READERS, ".parquet", ".pq"):
        return Dialect(sheet_name=sheet)
    head = find_head(str(path), packed.open, Dialect())
    rows = tuple(range(head.first, head.lines + 1))
    return Dialect(delimiter=head.delimiter, header_rows=rows)


def dialect_of(path: StrPath, sheet: str | None) -> Dialect:
    """Return how a file is laid out: as described, or to be found from its first lines."""
    if isinstance(path, DescribedTable):
        return path.description.resource.dialect
    return Dialect(sheet_name=sheet)


def _file_blocks(file: Path, dialect: Dialect) -> Iterable[pa.RecordBatch]:
    if file.is_dir():
        if any((file / "data").rglob("*.parquet")):
            raise DataError(
                f"{file}: is a MEDS folder; make a table of it: deepcac meds "
                f"{shlex.quote(str(file))} LABELS --out table.parquet"
            )
        raise DataError(f"{file}: is a folder; name a file")
    if not file.is_file():
        raise DataError(f"{file}: no such file")
    packed = Packed(file, file.name).unpacked()
    kind = packed.kind
    if kind in SPREADSHEETS:
        return sheet_blocks(file, packed.source, dialect.sheet_name)
    if dialect.sheet_name is not None:
        raise DataError(f"{file}: is no spreadsheet, and has no sheets")
    if kind in (".parquet", ".pq"):
        return _parquet(file, packed.source)
    if kind in READERS:
        return table_blocks(file, packed.source, kind)
    return delimited_blocks(str(file), packed.open, dialect)


def _check_names(path: StrPath, names: list[str]) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if not name.strip():
            raise DataError(
                f"{path}: column {place + 1} has no name; give it one in the header, and take out "
                "lines that stand above the names"
            )
        if name in seen:
            raise DataError(f"{path}: column {name!r} stands twice; rename one, or add a header")
        seen.add(name)


def _parquet(file: Path, source: Any) -> Iterator[pa.RecordBatch]:
    try:
        table = pq.ParquetFile(source, page_checksum_verification=True)
        check_columns(file, len(table.schema_arrow))
        for number in range(table.num_row_groups):  # of which one is in memory at a time
            size = table.metadata.row_group(number).total_byte_size
            check_bytes(file, size, "write it in smaller row groups")
        yield from table.iter_batches(BLOCK_ROWS)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise DataError(f"{file}: not readable as parquet ({line})") from error
