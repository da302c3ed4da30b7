"""CSV files that are written atomically, without cells that a spreadsheet takes for formulas."""

import csv
import os
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from deepcac.files.atomic import atomic_path

if TYPE_CHECKING:
    import pandas as pd

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with
# Digits, signs and separators of several numbers in one cell; no letter that a formula needs.
_NUMBER = re.compile(r"[\d.,eE\s%±()+to–-]+", re.ASCII)


def plain_cell(text: str) -> str:
    """Return a CSV cell; text that a spreadsheet would take for a formula gets an apostrophe."""
    return f"'{text}" if text.startswith(FORMULA) and not _NUMBER.fullmatch(text) else text


def write_csv(
    path: str | os.PathLike[str], head: Sequence[str], rows: Iterable[Iterable[object]]
) -> None:
    """Write a header and rows of cells."""
    with atomic_path(path) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [_plain(cell) for cell in row] for row in chain([head], rows)
        )


def _plain(cell: object) -> object:
    """Return a text cell in a form that no spreadsheet runs as a formula."""
    return plain_cell(cell) if isinstance(cell, str) else cell


def frame_text(table: "pd.DataFrame", digits: int | None = None) -> str:
    """Return a data frame as CSV without its index; `digits` decimals, None for all of them."""
    texts = table.rename(columns=_plain)
    for name, column in texts.items():
        if column.dtype.kind == "O":
            texts[name] = column.map(_plain, na_action="ignore")
    return str(texts.to_csv(index=False, float_format=None if digits is None else f"%.{digits}f"))


def write_frame(
    path: str | os.PathLike[str], table: "pd.DataFrame", digits: int | None = None
) -> None:
    """Write a data frame as `frame_text` formats it."""
    with atomic_path(path) as partial:
        partial.write_text(frame_text(table, digits), encoding="utf-8")
