"""Files of rows, read block by block, and a sample of the rows of a large one."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deepcac.errors import DataError
from deepcac.files.limits import MOST_ROWS, check_bytes, check_columns
from deepcac.files.output_files import StrPath
from deepcac.table.columns.cell_texts import uniform_names
from deepcac.table.columns.cells import is_bytes, is_text, plain, refuse_type
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import Dialect
from deepcac.table.reading.delimited_text import GAPS, delimited_blocks, find_head
from deepcac.table.reading.packed_files import Packed, damage_as_data_error
from deepcac.table.reading.spreadsheets import SPREADSHEETS, sheet_blocks
from deepcac.table.reading.statistics_files import READERS, table_blocks
from deepcac.types import Ids

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
            raise DataError(f"{path}: column {name!r} occurs twice; rename one, or add a header")
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
    with damage_as_data_error(file, "parquet"):
        table = pq.ParquetFile(source, page_checksum_verification=True)
        check_columns(file, len(table.schema_arrow))
        for number in range(table.num_row_groups):  # of which one is in memory at a time
            size = table.metadata.row_group(number).total_byte_size
            check_bytes(file, size, "write it in smaller row groups")
        yield from table.iter_batches(BLOCK_ROWS)


@dataclass(frozen=True)
class SampledTable:
    """What is kept of a table."""

    rows: pa.Table  # the rows that were drawn, in the order of the file; all rows of a small table
    number: Ids  # (n,) Number of each of them in the file, from 1, without the header
    keys: pa.Table  # the columns that were asked for by name, of every row
    total: int  # rows of the file
    place: Ids  # (n,) Place of each of them in `keys`
    gaps: bool = False  # whether empty rows stood between others, which `number` does not count

    def labelled(self, key: str) -> "SampledTable":
        """Return the rows that have a value in a key column."""
        present = np.asarray(pc.is_valid(plain(self.keys[key])).to_numpy())
        here = present[self.place]
        return SampledTable(
            self.rows.filter(pa.array(here)), self.number[here],
            self.keys.filter(pa.array(present)), int(present.sum()),
            (np.cumsum(present) - 1)[self.place[here]], self.gaps,
        )  # fmt: skip

    @property
    def complete(self) -> bool:
        """Whether every row was kept."""
        return len(self.number) == self.total


class _Kept(NamedTuple):
    """Rows, with the random number of each and its number in the file."""

    rows: pa.Table
    chance: npt.NDArray[np.uint64]
    number: Ids


def sample_rows(
    blocks: Iterable[pa.RecordBatch],
    keys: list[str],
    *,
    group: str | None = None,
    most: int = MOST_ROWS,
    seed: int = 0,
) -> SampledTable:
    """Read all blocks and keep the key columns of every row, and all columns of some rows.

    Each row gets a random number from its place, or from its `group`; the rows with the smallest
    numbers are kept. So at most twice as many rows as asked for are in memory at a time, rows of a
    group are kept or left together, and the same file and seed give the same rows.
    """
    parts: list[_Kept] = []
    watched: list[pa.RecordBatch] = []
    total, limit, gaps = 0, np.uint64(2**64 - 1), False
    for block in blocks:
        gaps = gaps or GAPS in (block.schema.metadata or {})
        refuse_absent(block.schema.names, keys)
        if group is not None:
            refuse_type(block.schema.field(group).type, group, "a group")
        number = np.arange(total + 1, total + 1 + block.num_rows, dtype=np.int64)
        total += block.num_rows
        watched.append(block.select(keys))
        chance = _chances(number if group is None else block.column(group), seed)
        wanted = np.flatnonzero(chance <= limit)
        rows = pa.table(block.take(pa.array(wanted)))
        parts.append(_Kept(rows, chance[wanted], number[wanted]))
        if sum(len(part.number) for part in parts) > 2 * most:
            parts, limit = _smallest(parts, most)
    if total > most:
        parts, _ = _smallest(parts, most)
    rows, _, number = _together(parts)
    return SampledTable(rows, number, pa.Table.from_batches(watched), total, number - 1, gaps)


def refuse_absent(names: Collection[str], keys: Iterable[str]) -> None:
    """Refuse columns that are needed and are not among those of a table."""
    for key in keys:
        if key not in names:
            listed = ", ".join([*names][:20]) + (", ..." if len(names) > 20 else "")
            raise DataError(f"no column {key!r}; there are {listed}")


def _chances(values: Any, seed: int) -> npt.NDArray[np.uint64]:
    """Return a random number for each value, equal for equal values."""
    plain = values if isinstance(values, np.ndarray) else values.to_pandas().astype(str).to_numpy()
    mixed = pd.util.hash_array(plain, hash_key=f"{seed:016d}"[-16:])
    if plain.dtype.kind in "iu":  # pandas hashes whole numbers without the key
        mixed = mixed ^ np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return mixed


def _together(parts: list[_Kept]) -> _Kept:
    rows, chance, number = zip(*parts, strict=True)
    return _Kept(pa.concat_tables(rows), np.concatenate(chance), np.concatenate(number))


def _smallest(parts: list[_Kept], most: int) -> tuple[list[_Kept], np.uint64]:
    """Keep at most `most` rows, those with the smallest random numbers, and whole groups."""
    rows, chance, number = whole = _together(parts)
    if len(chance) <= most:
        return [whole], np.uint64(2**64 - 1)
    limit = np.partition(chance, most)[most] - np.uint64(1)
    wanted = np.flatnonzero(chance <= limit)
    if not len(wanted):
        raise DataError(f"one group has more than {most:,} rows; is it the right column?")
    return [_Kept(rows.take(pa.array(wanted)), chance[wanted], number[wanted])], limit
