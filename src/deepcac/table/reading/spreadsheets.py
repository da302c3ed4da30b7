"""A sheet of a spreadsheet as text columns."""

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.table.output_files import StrPath
from deepcac.table.reading.cell_rules import uniform
from deepcac.table.reading.delimited_text import filled

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".xlsb")


def sheet_blocks(path: StrPath, source: Any, wanted: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a sheet.

    Parameters
    ----------
    path : path-like
        For messages.
    source : path-like or file
    wanted : str or None
        The sheet; None if only one can be seen that holds rows.

    Raises
    ------
    DataError
        It is damaged, a package is missing that reads it, there is no such sheet, or there are
        several.
    """
    import pandas as pd

    try:
        with pd.ExcelFile(source) as book:
            name = _chosen(path, book, wanted)
            # Of a header pandas would rename what stands twice.
            cells = pd.read_excel(
                book, sheet_name=name, header=None, dtype=object, keep_default_na=False
            )
    except ImportError as error:
        raise DataError(
            f"{path}: pandas needs another package for it ({error}); install that, or save the "
            "sheet as CSV"
        ) from error
    except DataError:
        raise
    except Exception as error:  # readers raise whatever a damaged part leads them to
        line = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise DataError(f"{path}: not readable as a spreadsheet ({line})") from error
    if not len(cells):
        raise DataError(f"{path}: sheet {name!r} is empty")
    head = [uniform(_text(value)) for value in cells.iloc[0]]
    # Cells that were once formatted make columns and rows without a value.
    values = cells[1:].T.to_numpy()
    texts = [[_text(value) for value in column] for column in values]
    if not texts:
        texts = [[] for _ in head]
    yield filled(
        pa.RecordBatch.from_arrays([pa.array(column, pa.string()) for column in texts], names=head)
    )


def _chosen(path: StrPath, book: Any, wanted: str | None) -> str:
    names = [str(name) for name in book.sheet_names]
    if wanted is not None:
        if wanted not in names:
            shown = ", ".join(map(repr, names))
            raise DataError(f"{path}: no sheet {wanted!r}; there are {shown}: --sheet names one")
        return wanted
    hidden = [name for name in names if not _seen(book, name)]
    rows = {name: _rows(book, name) for name in names if name not in hidden}
    full = [name for name, n in rows.items() if n]
    for name in hidden if len(full) == 1 else ():
        if _rows(book, name) > rows[full[0]]:
            raise DataError(
                f"{path}: the hidden sheet {name!r} has more rows than {full[0]!r}; name one: "
                f"--sheet {full[0]!r} or --sheet {name!r}"
            )
    if len(full) == 1:
        return full[0]
    if not full:
        shown = f"; hidden: {', '.join(map(repr, hidden))}" if hidden else ""
        raise DataError(f"{path}: no sheet that can be seen holds rows{shown} (--sheet names one)")
    shown = ", ".join(map(repr, full))
    raise DataError(
        f"{path}: has {len(full)} sheets ({shown}); name one: --sheet "
        f"{max(full, key=lambda name: rows[name])!r}"
    )


def _seen(book: Any, name: str) -> bool:
    try:
        return str(book.book[name].sheet_state) == "visible"
    except (AttributeError, KeyError, TypeError):  # of other readers than openpyxl
        return True


def _rows(book: Any, name: str) -> int:
    """Return how many rows a sheet has, up to a thousand."""
    import pandas as pd

    return len(pd.read_excel(book, sheet_name=name, header=None, nrows=1000, dtype=object))


def _text(value: Any) -> str:
    """Return a cell as text; whole numbers without a decimal point."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isnan(value):  # of a formula that failed
        return "#N/A"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return f"{value:.0f}"
    return str(value)
