"""Files of rows, read block by block."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deepcac.errors import DataError
from deepcac.table.columns.cell_texts import uniform_names
from deepcac.table.columns.cells import is_bytes, is_text
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import Dialect
from deepcac.table.limits import check_bytes, check_columns
from deepcac.table.output_files import StrPath
from deepcac.table.reading.delimited_text import delimited_blocks, find_head
from deepcac.table.reading.packed_files import Packed, damage_named
from deepcac.table.reading.spreadsheets import SPREADSHEETS, sheet_blocks
from deepcac.table.reading.statistics_files import READERS, table_blocks

BLOCK_ROWS = 1 << 15


def raw_blocks(path: StrPath, dialect: Dialect) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table as its file has them; text files and spreadsheets give texts.

    It is delimited text with a header (comma, semicolon, tab, bar or spaces; UTF-8), parquet,
    feather, a spreadsheet, Stata, SPSS or SAS, or rows of JSON; each also as gzip, or alone in a
    zip file. A file that is absent or at fault is a `DataError`.
    """
    rows = 0
    for block in _file_blocks(Path(path), dialect):
        check_columns(path, block.num_columns)
        names = uniform_names(block.schema.names)
        _check_names(path, names)
        rows += block.num_rows
        check_bytes(path, sum(map(_decoded, block.columns)), "save it with plain columns")
        yield pa.record_batch(block.columns, names=names, metadata=block.schema.metadata)
    if not rows:
        raise DataError(f"{path}: holds no rows")


def read_blocks(table: DescribedTable) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table by its description; see `raw_blocks` and `DescribedTable.rows`."""
    return table.rows(raw_blocks(table, table.description.resource.dialect))


def find_dialect(path: StrPath, sheet: str | None) -> Dialect:
    """Return the delimiter and header of a text, as its first lines tell; of a book the sheet."""
    packed = _packed(Path(path))
    if packed.kind in (*SPREADSHEETS, *READERS, ".parquet", ".pq"):
        return Dialect(sheet_name=sheet)
    head = find_head(str(path), packed.open, Dialect())
    rows = tuple(range(head.first, head.lines + 1))
    return Dialect(delimiter=head.delimiter, header_rows=rows)


def _packed(file: Path) -> Packed:
    """Return a file, unpacked if need be."""
    if file.is_dir():
        raise DataError(f"{file}: is a folder; name a file")
    if not file.is_file():
        raise DataError(f"{file}: no such file")
    return Packed(file, file.name).unpacked()


def _file_blocks(file: Path, dialect: Dialect) -> Iterable[pa.RecordBatch]:
    packed = _packed(file)
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


def _decoded(column: pa.Array) -> int:
    """Return the bytes of a dictionary's texts, each as often as a row has it."""
    if not pa.types.is_dictionary(column.type):
        return 0
    if not (is_text(column.type.value_type) or is_bytes(column.type.value_type)):
        return 0
    lengths = pc.binary_length(column.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def _parquet(file: Path, source: Any) -> Iterator[pa.RecordBatch]:
    with damage_named(file, "parquet"):
        table = pq.ParquetFile(source, page_checksum_verification=True)
        check_columns(file, len(table.schema_arrow))
        for number in range(table.num_row_groups):  # of which one is in memory at a time
            size = table.metadata.row_group(number).total_byte_size
            check_bytes(file, size, "write it in smaller row groups")
        yield from table.iter_batches(BLOCK_ROWS)
