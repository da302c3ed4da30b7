"""How much of a table is used if nobody says, and how much is read at all."""

from typing import Any

from deepcac.errors import DataError

MOST_ROWS = 20_000  # of more rows a sample is used
MOST_COLUMNS = 30_000  # of a table that is read
MOST_CELLS = 20_000_000  # of a table that is read as a whole: a sheet, or rows of JSON
MOST_BYTES = 1 << 31  # of a table that is read, unpacked


def check_columns(path: Any, columns: int) -> None:
    """Refuse a table of more than `MOST_COLUMNS`."""
    if columns > MOST_COLUMNS:
        raise DataError(
            f"{path}: has {columns:,} columns; at most {MOST_COLUMNS:,} are read: "
            "take those out that vary least, without a look at the label"
        )


def check_cells(what: str, rows: int, columns: int, way_out: str) -> None:
    """Refuse rows and columns that span more than `MOST_CELLS`."""
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{what} ({rows:,} rows x {columns:,} columns); at most {MOST_CELLS:,} cells are "
            f"read: {way_out}"
        )


def check_bytes(path: Any, size: int, way_out: str) -> None:
    """Refuse what has more than `MOST_BYTES` once it is unpacked."""
    if size > MOST_BYTES:
        raise DataError(f"{path}: holds more than {MOST_BYTES >> 30} GiB; {way_out}")
