"""Seeded mutants of tables in other files: packed, of statistics programs, sheets with more."""

import datetime
import gzip
import io
import random
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
from openpyxl.cell.cell import MergedCell
from own_tables import ANY, Kind, as_csv, as_sheet, plain_text, text_mutant
from parsers import mutant
from pyarrow import feather

SHEET_CELLS = (
    *(
        "#N/A",
        "#DIV/0!",
        "=1/0",
        "=A2",
        True,
        False,
        None,
        "",
        " ",
        "60 yrs",
        "97%",
        "1.250",
        "12,5",
    ),
    *(1e300, -9, 777, float("1e-320"), "NA", "0x1", datetime.datetime(2020, 1, 2)),
    *(datetime.date(1899, 12, 31), datetime.time(3, 4), datetime.timedelta(days=2), "٣", "a\nb"),
)


def _gz(frame: pd.DataFrame) -> bytes:
    return gzip.compress(as_csv(frame), mtime=0)


def _zip(frame: pd.DataFrame) -> bytes:
    return _zipped({"table.csv": as_csv(frame)})


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()


def _gz_mutant(start: bytes, draw: random.Random) -> bytes:
    """Change the bytes, or the text inside."""
    if draw.random() < 0.5:
        return mutant(start, draw)
    return gzip.compress(text_mutant(gzip.decompress(start), draw), mtime=0)


def _plain_gz(content: bytes) -> list[dict[str, Any]] | None:
    try:
        return plain_text(gzip.decompress(content))
    except (OSError, EOFError, zlib.error):
        return None


def _zip_mutant(start: bytes, draw: random.Random) -> bytes:
    """Change the bytes, cut the end, or put other members beside the table."""
    with zipfile.ZipFile(io.BytesIO(start)) as archive:
        text = archive.read("table.csv")
    names = (
        "../table.csv",
        "table",
        "a.parquet",
        "b.xlsx",
        "x.zip",
        "y.gz",
        "größe.csv",
        "__MACOSX/t",
    )
    match draw.randrange(4):
        case 0:
            return start[: draw.randrange(len(start))]
        case 1:
            return _zipped({draw.choice(names): text_mutant(text, draw)})
        case 2:
            other = draw.choice(names)
            return _zipped({"table.csv": text, other: draw.choice((b"", text, start))})
    return mutant(start, draw)


def _file_of(
    ending: str, write: Callable[[pd.DataFrame, str], Any]
) -> Callable[[pd.DataFrame], bytes]:
    """Return what gives the bytes of a file that a writer makes by its path."""

    def written(frame: pd.DataFrame) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"t.{ending}"
            write(frame, str(path))
            return path.read_bytes()

    return written


def _feather(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    feather.write_feather(table, buffer, compression="uncompressed")
    return buffer.getvalue()


def _stata(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_stata(buffer, write_index=False)
    return buffer.getvalue()


def _write_spss(frame: pd.DataFrame, path: str) -> None:
    import pyreadstat

    pyreadstat.write_sav(frame, path)


def _write_sas(frame: pd.DataFrame, path: str) -> None:
    import pyreadstat

    pyreadstat.write_xport(frame, path, file_format_version=5)


def _cells_mutant(start: bytes, draw: random.Random) -> bytes:
    """Change cells, heads, rows or sheets as people do."""
    book = openpyxl.load_workbook(io.BytesIO(start))
    sheet = book.active
    for _ in range(draw.choice((1, 1, 2, 4))):
        row, column = draw.randrange(1, sheet.max_row + 2), draw.randrange(1, sheet.max_column + 2)
        match draw.randrange(8):
            case 0:
                sheet.delete_rows(row, draw.choice((1, 1, 70)))
            case 1:
                sheet.insert_rows(row, draw.choice((1, 3)))
            case 2:
                sheet.delete_cols(column)
            case 3:
                other = book.create_sheet(draw.choice(("notes", "data", "Sheet1 ")))
                other.sheet_state = draw.choice(("visible", "hidden", "veryHidden"))
                for _ in range(draw.choice((0, 1, 50))):
                    other.append([draw.choice(("age", 7, None))] * 3)
            case 4:
                sheet.merge_cells(start_row=row, end_row=row + 1, start_column=1, end_column=column)
            case way:
                for i in range(2, sheet.max_row + 1) if way == 5 else (row,):
                    cell = sheet.cell(i, column)
                    if not isinstance(cell, MergedCell):
                        cell.value = draw.choice(SHEET_CELLS)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


PACKED = {
    "gzip": Kind("csv.gz", _gz, _gz_mutant, _plain_gz, "bytes, and the text inside"),
    "zip": Kind("zip", _zip, _zip_mutant, lambda content: ANY, "bytes, cuts, names and further members"),
    "feather": Kind("feather", _feather, mutant, lambda content: ANY, "bytes"),
    "Stata": Kind("dta", _stata, mutant, lambda content: ANY, "bytes"),
    "SPSS": Kind("sav", _file_of("sav", _write_spss), mutant, lambda content: ANY, "bytes"),
    "SAS transport": Kind("xpt", _file_of("xpt", _write_sas), mutant, lambda content: ANY, "bytes"),
    "cells of sheets": Kind(
        "xlsx", as_sheet, _cells_mutant, lambda content: ANY,
        "error cells, formulas, dates, merged cells, moved rows, further and hidden sheets",
    ),
}  # fmt: skip
