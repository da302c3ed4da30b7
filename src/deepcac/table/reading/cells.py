"""Cells of a column: which are missing, which are numbers, and what is wrong with one."""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.task import Array, Ids

MISSING = ("", "na", "n/a", "nan", "null", "none", "<na>", "?", ".", "-")
EXACT = 2.0**53  # whole numbers beyond it are not told apart
LARGEST = 1e100  # the squares of larger numbers, summed, leave the range of a double

_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?")
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+$"
# A number as people write it, by the sign that is its decimal point.
_WRITTEN = {".": r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$", ",": r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$"}
_MOSTLY = 0.5  # of the distinct texts of a column of numbers with slips


class Numbers(NamedTuple):
    """A text column as numbers.

    Attributes
    ----------
    values : ndarray of shape (n,)
        NaN where missing or no number.
    slips : ndarray of bool, shape (n,)
        Cells that are neither missing nor a number.
    share : float
        Part of the cells that are not missing which are numbers.
    """

    values: Array
    slips: npt.NDArray[np.bool_]
    share: float

    @property
    def numeric(self) -> bool:
        """Whether the column is one of numbers, with or without slips."""
        return self.share > _MOSTLY


def is_text(kind: pa.DataType) -> bool:
    """Tell whether an arrow type holds text."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(each(kind) for each in kinds)


def refuse_missing(cells: pa.ChunkedArray, name: str, why: str, number: Ids | None = None) -> None:
    """Refuse a cell without a value; rows are numbered from 1 without `number`."""
    place = pc.index(pc.is_null(cells, nan_is_null=True), True).as_py()
    if place >= 0:
        row = place + 1 if number is None else number[place]
        raise DataError(f"column {name!r}, data row {row}: {why}")


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionaries; its text without outer spaces, null where missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    absent = pc.is_in(pc.utf8_lower(column), value_set=pa.array(MISSING, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), column)


def with_points(column: pa.Array, decimal: str) -> pa.Array:
    """Return text in which numbers have a decimal point and nothing between thousands.

    Parameters
    ----------
    column : pyarrow.Array of text
    decimal : {".", ","}
        Sign of the decimals; the other one stands between thousands.
    """
    written = pc.match_substring_regex(pc.utf8_trim_whitespace(column), _WRITTEN[decimal])
    between = "," if decimal == "." else "."
    bare = pc.replace_substring(pc.replace_substring(column, between, ""), ",", ".")
    return pc.if_else(written, bare, column)


def as_numbers(column: pa.ChunkedArray) -> Numbers:
    """Read plain text as numbers; a comma is a decimal point if no cell has a point."""
    values = column
    commas = pc.match_substring_regex(column, _DECIMAL_COMMA)
    points = pc.match_substring(column, ".")
    if pc.any(commas).as_py() and not pc.any(points).as_py():
        values = pc.if_else(commas, pc.replace_substring(column, ",", "."), column)
    found = pd.to_numeric(values.to_pandas(), errors="coerce").to_numpy(np.float64, na_value=np.nan)
    present = np.asarray(pc.is_valid(column).to_numpy())
    slips = present & np.isnan(found)
    return Numbers(found, slips, 1 - slips.sum() / max(present.sum(), 1))


def are_dates(texts: list[str]) -> bool:
    """Tell whether distinct texts are dates, in any common order of day, month and year."""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)


def numbers(cells: pa.ChunkedArray, name: str, number: Ids | None = None) -> Array:
    """Return a column as numbers, NaN where missing; anything else is refused with its row.

    Cells are of `plain`; `number` is that of each row in its file, from 1 if None.
    """
    if number is None:
        number = np.arange(1, len(cells) + 1)
    if is_text(cells.type):
        refuse_two_readings(cells, name, number)
        found = as_numbers(cells)
        if found.slips.any():
            at = int(found.slips.argmax())
            others = f", though {100 * found.share:.0f} % of the column are" if found.share else ""
            raise DataError(
                f"column {name!r}, data row {number[at]}: {cells[at].as_py()!r} is no number"
                f"{others}; mend it, leave it empty, or leave the column out (--drop)"
            )
        values = found.values
    elif is_numeric(cells.type):
        # Whole numbers beyond 2**53 are refused below; the cast would change their last digits.
        values = np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    else:
        raise DataError(f"column {name!r} is of type {cells.type}; numbers were expected")
    whole = pa.types.is_integer(cells.type)
    beyond = np.abs(values) >= EXACT if whole else np.abs(values) > LARGEST
    if beyond.any():
        at = int(beyond.argmax())
        raise DataError(
            f"column {name!r}, data row {number[at]}: {values[at]:g} is no measurement; leave it "
            "empty where the value is missing"
        )
    return values


def refuse_two_readings(cells: pa.ChunkedArray, name: str, number: Ids | None = None) -> None:
    """Refuse text in which a comma may stand before decimals or between thousands.

    A cell of the column may tell which: one with a point, or with other than three digits behind
    its comma. Cells are of `plain`; rows are numbered from 1 without `number`.
    """
    commas = pc.match_substring_regex(cells, _DECIMAL_COMMA)
    thousands = pc.match_substring_regex(cells, _THOUSANDS)
    points = pc.match_substring(cells, ".")
    told = pc.and_(commas, pc.invert(thousands))
    if pc.any(points).as_py() or pc.any(told).as_py() or not pc.any(thousands).as_py():
        return
    place = pc.index(thousands, True).as_py()
    text, row = cells[place].as_py(), place + 1 if number is None else number[place]
    raise DataError(
        f"column {name!r}, data row {row}: {text!r} is {text.replace(',', '')} or "
        f"{text.replace(',', '.')}; say --decimal . or --decimal , (the sign before decimals)"
    )


def is_numeric(kind: pa.DataType) -> bool:
    """Tell whether an arrow type holds numbers, or yes and no."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(each(kind) for each in kinds)
