"""Find, check and open the raw tables, whatever their ending and the case of their names."""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from deepcac.errors import DataError
from deepcac_study.raw.archive import members

ENDINGS = (".csv", ".csv.gz", ".parquet")
MEMORY_LIMIT = "1GiB"
# The prefix that DuckDB puts before its messages, and before ours raised inside a query.
_PREFIX = re.compile(r"^[A-Za-z -]*Error: ")


@dataclass(frozen=True)
class RawTable:
    """One .csv, .csv.gz or .parquet table, with all column names in file order, in lower case."""

    path: Path
    columns: tuple[str, ...]

    @property
    def sql(self) -> str:
        """A table expression whose columns are all text, named in lower case."""
        name = quoted(str(self.path))
        if self.path.suffix == ".parquet":
            texts = ", ".join(
                f'CAST("{column}" AS VARCHAR) AS "{column}"' for column in self.columns
            )
            return f"(SELECT {texts} FROM read_parquet({name}))"
        # The dialect is fixed: DuckDB's detection splits quoted commas in CHARTEVENTS.
        types = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in self.columns)
        return (
            f"read_csv({name}, columns={{{types}}}, header=true, auto_detect=false, delim=',', "
            "quote='\"', escape='\"', nullstr='')"
        )

    @property
    def csv_bytes(self) -> int:
        """Size of the table as plain CSV, roughly (compressed files hold about a tenth)."""
        return self.path.stat().st_size * (1 if self.path.suffix == ".csv" else 10)


def quoted(text: str) -> str:
    """Return an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def find(folder: str | os.PathLike[str], name: str, columns: tuple[str, ...]) -> RawTable:
    """Find a table in a folder, ignoring case, and check its header for lower-case `columns`.

    A table that is missing, present twice or empty, or lacks a column, is a `DataError`.
    """
    wanted = {name.lower() + ending for ending in ENDINGS}
    try:
        files = sorted(path for path in Path(folder).iterdir() if path.name.lower() in wanted)
    except OSError as error:
        raise DataError(f"{folder}: not a folder of MIMIC-III tables ({error.strerror})") from error
    if not files:
        raise DataError(
            f"{folder}: no table {name.upper()}.csv, .csv.gz or .parquet; "
            "name the folder that holds the MIMIC-III tables"
        )
    if len(files) > 1:
        raise DataError(f"{folder}: {name} is there twice ({files[0].name}, {files[1].name})")
    header = _header(files[0])
    missing = [column for column in columns if column not in header]
    if missing:
        seen = ", ".join(header)[:120]
        raise DataError(
            f"{files[0]}: column {missing[0]!r} is missing; the header is {seen!r}, "
            "comma-separated columns of MIMIC-III v1.4 were expected"
        )
    return RawTable(files[0], header)


def _header(path: Path) -> tuple[str, ...]:
    """Return column names in lower case; DataError for an empty file."""
    with reading(path):
        if path.suffix == ".parquet":
            rows = duckdb.execute(f"DESCRIBE SELECT * FROM read_parquet({quoted(str(path))})")
            return tuple(str(row[0]).lower() for row in rows.fetchall())
        opener: Any = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    if not names:
        raise DataError(f"{path}: the file is empty; a header line was expected")
    return tuple(column.strip().lower() for column in names)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a failure to read `path` into a one-line `DataError` that names it."""
    try:
        yield
    except (duckdb.Error, OSError, EOFError, UnicodeError, csv.Error, zlib.error) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path}: {_PREFIX.sub('', first)}") from error


@contextmanager
def database(scratch: Path, *, threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB database with bounded memory, which spills to disk in `scratch`."""
    connection = duckdb.connect(str(scratch / "mimic3.duckdb"))
    try:
        connection.execute(f"SET memory_limit = {quoted(MEMORY_LIMIT)}")
        connection.execute(f"SET temp_directory = {quoted(str(scratch / 'spilled'))}")
        connection.execute(f"SET threads = {int(threads)}")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


def unpack(archive: Path, folder: Path) -> Path:
    """Write the CSV tables of an archive into `folder` and return it."""
    for name, content in members(archive):
        if name.lower().endswith(ENDINGS):
            (folder / Path(name).name).write_bytes(content)
    return folder
