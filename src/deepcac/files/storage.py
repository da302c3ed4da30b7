"""Tables and JSON that are written with the same bytes each time, and whose damage is detected."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepcac.errors import DataError
from deepcac.files.atomic import atomic_path

# The workflow reads JSON where there is only Snakemake: arrow is imported where a table is.
if TYPE_CHECKING:
    import pyarrow as pa

_SHAPE = b"deepcac.shape"
# What a damaged file can make the reader raise, besides its own errors: wrong lengths ask for
# memory, names are not valid text.
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, MemoryError)


def write_table(path: str | os.PathLike[str], table: "pa.Table") -> None:
    """Write a parquet file whose bytes depend on the table and the library version only.

    Every page carries a checksum, and the file a digest of its columns and its number of rows,
    which no page holds.
    """
    import pyarrow.parquet as pq

    metadata = dict(table.schema.metadata or {}) | {_SHAPE: _shape(table.schema, table.num_rows)}
    with atomic_path(path) as partial:
        pq.write_table(
            table.replace_schema_metadata(metadata),
            partial,
            compression="zstd",
            compression_level=6,
            row_group_size=1 << 20,
            store_schema=True,
            write_page_checksum=True,
        )


def read_table(path: str | os.PathLike[str], columns: list[str] | None = None) -> "pa.Table":
    """Read a parquet file; a damaged or missing one is a `DataError` that names it.

    Parameters
    ----------
    path : path-like
    columns : list of str, optional
        All columns if None.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            metadata = dict(schema.metadata or {})
            expected = metadata.pop(_SHAPE, None)
            if expected not in (None, _shape(schema, file.metadata.num_rows)):
                raise ValueError("the names of its columns or its number of rows have changed")
            for name in columns or ():
                schema.field(name)  # a KeyError if it is missing
            table = file.read(columns).replace_schema_metadata(metadata or None)
            table.validate()
            return table
    except (*_UNREADABLE, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(
            f"{path}: not a readable parquet file ({reason}); delete it and build it again"
        ) from error


def _shape(schema: "pa.Schema", rows: int) -> bytes:
    """Return a digest of the file's footer: columns, types, levels and number of rows."""
    # Parquet has its own name for what a list holds.
    types = [str(field.type).replace("list<item:", "list<element:") for field in schema]
    lines = [
        f"{field.name} {kind} {sorted((field.metadata or {}).items())}"
        for field, kind in zip(schema, types, strict=True)
    ]
    return hashlib.sha256("\n".join([str(rows), *lines]).encode()).hexdigest().encode()


def content_digest(value: Mapping[str, Any]) -> str:
    """Return the sha256 over a JSON object without its ``machine`` and ``digest`` entries."""
    content = {key: entry for key, entry in value.items() if key not in ("machine", "digest")}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def machine_digest(value: Mapping[str, Any]) -> str:
    """Return the sha256 over the ``machine`` entry of a JSON object and its `content_digest`.

    It differs between repeats, and is therefore stored inside ``machine``, as ``digest``.
    """
    made = {key: entry for key, entry in value["machine"].items() if key != "digest"}
    text = json.dumps([content_digest(value), made], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digests_hold(value: Mapping[str, Any]) -> bool:
    """Return whether the digests of a JSON object match its content.

    Older ones have no `machine_digest`.
    """
    made = value.get("machine")
    if isinstance(made, dict) and made.get("digest") not in (None, machine_digest(value)):
        return False
    return bool(value.get("digest") == content_digest(value))


def write_json(path: str | os.PathLike[str], value: Mapping[str, Any]) -> None:
    """Write sorted, indented JSON with its digests; NaN and infinity are refused.

    They are `content_digest` and, where there is an entry ``machine``, `machine_digest`.
    """
    plain = json.loads(json.dumps(value, allow_nan=False))  # keys are text, as a reader gets them
    whole = plain | {"digest": content_digest(plain)}
    if isinstance(whole.get("machine"), dict):
        whole["machine"] = whole["machine"] | {"digest": machine_digest(whole)}
    with atomic_path(path) as partial:
        text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
        partial.write_text(text + "\n", encoding="utf-8")


def _no_number(name: str) -> None:
    """Raise ValueError for NaN and infinities, which JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object whose digests hold; anything else is a `DataError` that names the file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        value = json.loads(text, parse_constant=_no_number)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: holds {type(value).__name__}, an object was expected")
    if not digests_hold(value):
        raise DataError(f"{path}: edited or damaged (its digest does not hold); build it again")
    return value
