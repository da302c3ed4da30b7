"""Rows read strictly by a description: a cell that does not fit is refused, nothing is guessed."""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.cell_texts import as_number, uniform, uniform_names, uniform_text
from deepcac.table.columns.cells import is_numeric, is_text, same_unit
from deepcac.table.columns.column_types import as_texts, plain_type
from deepcac.table.columns.description import (
    TRUTH,
    ColumnField,
    Constraints,
    TableDescription,
)
from deepcac.table.output_files import StrPath

_MOST_COLUMNS = 12  # at fault that one message names
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_WITH_UNIT = r"^(?P<number>[^%‰°µμA-Za-z]*\d)\s*(?P<unit>[%‰°µμA-Za-z].*)$"


class _Misfit(NamedTuple):
    """The first cell of a column that does not fit."""

    row: int
    cell: str
    why: str


class DescribedTable(os.PathLike[str]):
    """A table with its description: a path that is read by it wherever a table is read.

    Parameters
    ----------
    path : path-like
    description : TableDescription
    only : collection of str, optional
        The columns that are needed; all that are described if None.
    """

    def __init__(
        self,
        path: StrPath,
        description: TableDescription,
        only: Iterable[str] | None = None,
    ) -> None:
        self.path = path
        self.description = description
        self.only = only

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def rows(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield blocks as they are described (`DescribedRows.read`)."""
        return DescribedRows(self.description, self.only).read(blocks)


class DescribedRows:
    """Reads blocks of a table by its description.

    Parameters
    ----------
    description : TableDescription
    only : collection of str, optional
        The columns that are needed; all that are described if None.
    """

    def __init__(self, description: TableDescription, only: Iterable[str] | None = None) -> None:
        self.description = description
        self.only = None if only is None else frozenset(only)
        self._first: dict[str, _Misfit] = {}
        self._count: dict[str, int] = {}

    def read(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield blocks of typed columns; null where a cell has no value.

        Raises
        ------
        DataError
            The table has another column, or lacks one; or, after the last block, the cells that do
            not fit, of all columns at once.
        """
        before = 0
        for block in blocks:
            names = uniform_names(block.schema.names)
            self._check_names(names)
            columns = [
                self._column(name, column, before)
                for name, column in zip(names, block.columns, strict=True)
            ]
            before += block.num_rows
            rows = pa.RecordBatch.from_arrays(columns, names=names)
            yield rows.replace_schema_metadata(block.schema.metadata)
        if self._first:
            raise DataError(self._message())

    def _check_names(self, names: list[str]) -> None:
        fields, where = self.description.fields, self.description.file
        # Who asks for some columns only says what their absence means.
        absent = [name for name in fields if name not in names] if self.only is None else []
        if absent:
            raise DataError(
                f"the table has no column {absent[0]!r}, which {self.description.place(absent[0])} "
                f"describes; it has {', '.join(names[:20])}"
            )
        further = [name for name in names if name not in fields]
        if further and self.only is None:
            raise DataError(
                f"column {further[0]!r} is not described; add it to the fields of {where}, or take "
                "it out of the table"
            )

    def _column(self, name: str, column: pa.Array, before: int) -> pa.Array:
        field = self.description.fields.get(name)
        if field is None or (self.only is not None and name not in self.only):
            return column
        # Who asks for a column by its name reads it though no model learns from it.
        if self.only is None and name in self.description.resource.use.leave_out:
            column = plain_type(name, column)
            return uniform_text(column) if is_text(column.type) else column
        missing = self.description.missing_values(field)
        column = plain_type(name, column)
        if is_text(column.type):
            texts = without_missing(uniform_text(column.cast(pa.string())), missing)
            read, why = typed(texts, field)
        elif is_numeric(column.type):
            texts = as_texts(pa.chunked_array([column])).combine_chunks()
            present = without_number_codes(column, missing)
            read, why = (
                (present, "")
                if field.numeric or field.type == TRUTH
                else (pc.if_else(pc.is_valid(present), texts, pa.scalar(None, pa.string())), "")
            )
        else:  # of a file with types: dates, lists
            return column
        self._look(field, read, texts, before, why)
        return read

    def _look(
        self, field: ColumnField, read: pa.Array, texts: pa.Array, before: int, why: str
    ) -> None:
        """Keep the first cell that has no reading, is no level, or lies out of the range."""
        faults = []
        if why:
            faults.append((why, pc.and_(pc.is_valid(texts), pc.is_null(read))))
        if field.categories and is_text(read.type):
            levels = pa.array([uniform(level) for level in field.categories], pa.string())
            is_level = pc.or_(pc.is_in(read, value_set=levels), pc.is_null(read))
            faults.append(
                (f"is none of its {len(field.categories)} categories", pc.invert(is_level))
            )
        if field.constraints != Constraints() and is_numeric(read.type):
            faults.append(("lies outside its range", _outside(read, field.constraints)))
        for reason, odd in faults:
            n = int(pc.sum(odd).as_py() or 0)
            if n:
                place = pc.index(odd, True).as_py()
                misfit = _Misfit(before + place + 1, str(texts[place].as_py()), reason)
                self._first.setdefault(field.name, misfit)
                self._count[field.name] = self._count.get(field.name, 0) + n

    def _message(self) -> str:
        """Return all columns at fault, each with a row, a cell and the line to change."""
        lines = []
        for name, misfit in list(self._first.items())[:_MOST_COLUMNS]:
            n = self._count[name]
            rows = f" (the first of {format_count(n)} such rows)" if n > 1 else ""
            lines.append(
                f"column {name!r}, data row {misfit.row}: {misfit.cell!r} {misfit.why}{rows}; mend "
                f"it, or change {self.description.place(name)}"
            )
        further = len(self._first) - _MOST_COLUMNS
        if further > 0:
            lines.append(f"and {further} more columns")
        return "\n  ".join(lines)


def typed(texts: pa.Array, field: ColumnField) -> tuple[pa.Array, str]:
    """Return texts in the type of a field, null where they have no reading, and what they lack."""
    if field.numeric:
        numbers = as_declared_numbers(texts, field)
        if field.type != "integer":
            return numbers, "is no number"
        whole = pc.equal(numbers, pc.floor(numbers))
        return pc.if_else(whole, numbers, pa.scalar(None, pa.float64())), "is no whole number"
    if field.type == TRUTH:
        words = [uniform(word) for word in (*field.true_values, *field.false_values)]
        place = pc.index_in(texts, value_set=pa.array(words, pa.string()))
        return pc.less(place, len(field.true_values)), "is neither true nor false"
    return texts, ""


def as_declared_numbers(texts: pa.Array, field: ColumnField) -> pa.Array:
    """Return texts as numbers with the signs and the unit of a field; null where they are none."""
    if field.unit:
        parts = pc.extract_regex(texts, _WITH_UNIT)
        numbers, units = (pc.struct_field(parts, part) for part in ("number", "unit"))
        alike = [unit for unit in pc.unique(units).drop_null().to_pylist()
               if same_unit(unit, field.unit)]  # fmt: skip
        bare = pc.is_in(units, value_set=pa.array(alike, pa.string()))
        texts = pc.if_else(pc.fill_null(bare, False), numbers, texts)
    if field.group_char:
        between = rf"^[+-]?\d{{1,3}}(\{field.group_char}\d{{3}})+(\{field.decimal_char}\d*)?$"
        grouped = pc.match_substring_regex(texts, between)
        texts = pc.if_else(grouped, pc.replace_substring(texts, field.group_char, ""), texts)
    if field.decimal_char == ",":
        pointed = pc.match_substring(texts, ".")
        texts = pc.if_else(pointed, "", pc.replace_substring(texts, ",", "."))
    number = pc.match_substring_regex(texts, _NUMBER)
    return pc.if_else(number, texts, pa.scalar(None, pa.string())).cast(pa.float64())


def without_missing(texts: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return texts with null for those that mean no value; a number means so in any spelling."""
    words = pa.array([uniform(word) for word in missing], pa.string())
    gone = pc.is_in(texts, value_set=words)
    for code in filter(lambda code: code is not None, map(as_number, missing)):
        plain = pc.match_substring_regex(texts, r"^-?(0|[1-9]\d*)(\.\d+)?$")
        values = pc.if_else(plain, texts, pa.scalar(None, pa.string())).cast(pa.float64())
        gone = pc.or_(gone, pc.fill_null(pc.equal(values, code), False))
    return pc.if_else(pc.fill_null(gone, True), pa.scalar(None, pa.string()), texts)


def without_number_codes(column: pa.Array, missing: tuple[str, ...]) -> pa.Array:
    """Return numbers with null for those that mean no value, and for NaN."""
    if pa.types.is_boolean(column.type):
        return column
    values = column.cast(pa.float64(), safe=False)
    codes = [code for code in map(as_number, missing) if code is not None]
    gone = pc.is_in(values, value_set=pa.array(codes, pa.float64()))
    gone = pc.or_(gone, pc.is_null(values, nan_is_null=True))
    return pc.if_else(gone, pa.scalar(None, column.type), column)


def _outside(values: pa.Array, limits: Constraints) -> pa.Array:
    numbers = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    low = -np.inf if limits.minimum is None else limits.minimum
    high = np.inf if limits.maximum is None else limits.maximum
    return pa.array((numbers < low) | (numbers > high))
