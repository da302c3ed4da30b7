"""A sheet of a spreadsheet as text columns."""

import math
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import iterparse

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.limits import check_cells
from deepcac.files.output_files import StrPath
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.reading.delimited_text import filled
from deepcac.table.reading.packed_files import damage_as_data_error

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_OPEN = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"  # names in .ods


def sheet_blocks(path: StrPath, source: Any, wanted: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the sheet that is `wanted`, or else of the only one with rows to be seen.

    It is a `DataError` if it is damaged, or if there is no such sheet, or several.
    """
    import pandas as pd

    with damage_as_data_error(path, "a spreadsheet"), pd.ExcelFile(source) as book:
        name = _chosen(path, book, wanted)
        rows = _texts(book, name)
    if not rows:
        raise DataError(f"{path}: sheet {name!r} is empty")
    head, *below = rows
    columns = [
        pa.array([row[j] if j < len(row) else "" for row in below], pa.string())
        for j in range(max(map(len, rows)))
    ]
    names = [uniform(name) for name in (*head, *[""] * (len(columns) - len(head)))]
    # Cells that were once formatted make columns and rows without a value.
    yield filled(pa.RecordBatch.from_arrays(columns, names=names))


def _texts(book: Any, name: str, most: int | None = None) -> list[list[str]]:
    """Return the rows of a sheet up to the last one, or to `most`, each up to its last cell.

    A stray cell far from the table makes no rows and columns without end: what a sheet spans is
    known at every row that is read.
    """
    from openpyxl.utils import get_column_letter

    rows: list[list[str]] = []
    width = end = 0
    for number, row in enumerate(_rows(book, name, most), start=1):
        texts = [_text(value) for value in row]
        while texts and not texts[-1]:
            texts.pop()
        rows.append(texts)
        if texts:
            width, end = max(width, len(texts)), number
            reaches = f"sheet {name!r} reaches to cell {get_column_letter(width)}{number}"
            check_cells(reaches, number, width, "delete what lies beyond the table")
    return rows[:end]


def _rows(book: Any, name: str, most: int | None) -> Iterator[Sequence[Any]]:
    """Yield the values of each row; of other formats than that of openpyxl as pandas has them."""
    if book.engine != "openpyxl":
        import pandas as pd

        _check_open(book)
        # Of a header pandas would rename what occurs twice.
        cells = pd.read_excel(
            book, sheet_name=name, header=None, nrows=most, dtype=object, keep_default_na=False
        )
        yield from cells.to_numpy().tolist()
        return
    sheet = book.book[name]
    sheet.reset_dimensions()  # those that the file states
    for row in sheet.iter_rows(max_row=most):
        yield [math.nan if cell.data_type == "e" else cell.value for cell in row]


def _check_open(book: Any) -> None:
    """Refuse an .ods of which one sheet spans too much: a cell or row may stand for many."""
    from openpyxl.utils import get_column_letter

    if not zipfile.is_zipfile(book._io):
        return
    with zipfile.ZipFile(book._io) as archive, archive.open("content.xml") as content:
        width = end = row = column = 0
        for event, node in iterparse(content, ("start", "end")):
            if event == "start" and node.tag == f"{_OPEN}table":
                width = end = row = 0
            elif event == "start" and node.tag == f"{_OPEN}table-row":
                column, row = 0, row + int(node.get(f"{_OPEN}number-rows-repeated", "1"))
            elif event == "end" and node.tag == f"{_OPEN}table-cell":
                column += int(node.get(f"{_OPEN}number-columns-repeated", "1"))
                if len(node):
                    width, end = max(width, column), row
                    reaches = f"a sheet reaches to cell {get_column_letter(width)}{end}"
                    check_cells(reaches, end, width, "delete what lies beyond the table")
                node.clear()


def _chosen(path: StrPath, book: Any, wanted: str | None) -> str:
    names = [str(name) for name in book.sheet_names]
    if wanted is not None:
        if wanted not in names:
            shown = ", ".join(map(repr, names))
            raise DataError(f"{path}: no sheet {wanted!r}; there are {shown}")
        return wanted
    ours = book.engine == "openpyxl"  # of other readers nobody knows what is hidden
    hidden = [name for name in names if ours and book.book[name].sheet_state != "visible"]
    rows = {name: len(_texts(book, name, 1000)) for name in names if name not in hidden}
    full = [name for name, n in rows.items() if n]
    for name in hidden if len(full) == 1 else ():
        if len(_texts(book, name, 1000)) > rows[full[0]]:
            raise DataError(
                f"{path}: the hidden sheet {name!r} has more rows than {full[0]!r}; name one: "
                f"deepcac profile {path} --sheet {full[0]!r}"
            )
    if len(full) == 1:
        return full[0]
    if not full:
        shown = f"; hidden: {', '.join(map(repr, hidden))}" if hidden else ""
        raise DataError(f"{path}: no sheet that can be seen holds rows{shown}")
    shown = ", ".join(map(repr, full))
    raise DataError(
        f"{path}: has {len(full)} sheets ({shown}); name one: deepcac profile {path} --sheet "
        f"{max(full, key=lambda name: rows[name])!r}"
    )


def _text(value: Any) -> str:
    """Return a cell as text; whole numbers without a decimal point."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isnan(value):  # of a formula that failed
        return "#N/A"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return f"{value:.0f}"
    return str(value)
