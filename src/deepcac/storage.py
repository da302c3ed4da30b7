"""Files that are whole or absent, and the same bytes each time they are written."""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deepcac.errors import DataError

_SHAPE = b"deepcac.shape"
# What a damaged file can make of the reader: wrong lengths ask for memory, names are no text.
_UNREADABLE = (OSError, pa.ArrowException, ValueError, TypeError, KeyError, MemoryError)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary sibling of `path` that takes its name only if the block succeeds.

    The bytes are on the disk before the name is, so that a power cut leaves no empty file. What a
    killed writer of the same file left behind is removed first.

    Parameters
    ----------
    path : path-like
        Final name. Missing parent folders are made.

    Yields
    ------
    Path
        Name to write to, in the same folder (so that the rename is atomic).
    """
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(final)
    partial = final.with_name(f".{final.name}.{os.getpid()}.partial")
    try:
        yield partial
        _flush(partial)
        os.replace(partial, final)
        _flush(final.parent)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(final: Path) -> None:
    """Remove partial files of `final` whose writer no longer runs on this machine."""
    name = re.compile(rf"\.{re.escape(final.name)}\.(\d+)\.partial")
    for sibling in final.parent.iterdir():
        found = name.fullmatch(sibling.name)
        if found and not _runs(int(found[1])):
            sibling.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_table(path: str | os.PathLike[str], table: pa.Table) -> None:
    """Write a parquet file whose bytes depend on the table and the library version only.

    Every page carries a checksum, and the file a digest of its columns and its number of rows,
    which no page holds.
    """
    kept = dict(table.schema.metadata or {}) | {_SHAPE: _shape(table.schema, table.num_rows)}
    with atomic_path(path) as partial:
        pq.write_table(
            table.replace_schema_metadata(kept),
            partial,
            compression="zstd",
            compression_level=6,
            row_group_size=1 << 20,
            store_schema=True,
            write_page_checksum=True,
        )


def read_table(path: str | os.PathLike[str], columns: list[str] | None = None) -> pa.Table:
    """Read a parquet file; a damaged or missing one is a `DataError` that names it."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            kept = dict(schema.metadata or {})
            expected = kept.pop(_SHAPE, None)
            if expected not in (None, _shape(schema, file.metadata.num_rows)):
                raise ValueError("the names of its columns or its number of rows have changed")
            for name in columns or ():
                schema.field(name)  # a KeyError if it is missing
            table = file.read(columns).replace_schema_metadata(kept or None)
            table.validate()
            return table
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{path}: not a readable parquet file ({reason}); delete it and build it again"
        ) from error


def _shape(schema: pa.Schema, rows: int) -> bytes:
    """Digest what a reader takes from the end of the file: columns, types, levels, rows."""
    # Parquet has its own name for what a list holds.
    types = [str(each.type).replace("list<item:", "list<element:") for each in schema]
    lines = [
        f"{each.name} {kind} {sorted((each.metadata or {}).items())}"
        for each, kind in zip(schema, types, strict=True)
    ]
    return hashlib.sha256("\n".join([str(rows), *lines]).encode()).hexdigest().encode()


def write_json(path: str | os.PathLike[str], value: Mapping[str, Any]) -> None:
    """Write sorted, indented JSON; NaN and infinity are refused."""
    with atomic_path(path) as partial:
        text = json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
        partial.write_text(text + "\n", encoding="utf-8")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object; anything else is a `DataError` that names the file."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: holds {type(value).__name__}, an object was expected")
    return value
