"""Rows read strictly by a description: a cell that does not fit is refused, nothing is guessed."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.scoring.small_cells import Count
from deepcac.table.columns.cell_texts import as_number, uniform, uniform_names
from deepcac.table.columns.cells import as_texts, is_numeric, is_text, plain_type, unit_key
from deepcac.table.columns.column_texts import uniform_text
from deepcac.table.columns.dates import DEFAULT, fits_format
from deepcac.table.columns.description import DATES, TRUTH, ColumnField, TableDescription
from deepcac.table.output_files import StrPath

_MOST_COLUMNS = 12  # at fault that one message names
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
WITH_UNIT = r"^(?P<number>[^%‰°µμA-Za-z]*\d)\s*(?P<unit>[%‰°µμA-Za-z].*)$"


@dataclass
class _Misfit:
    """The first cell of a column that does not fit, and how many rows have such cells."""

    row: int
    cell: str
    why: str
    rows: int = 0


class DescribedTable(os.PathLike[str]):
    """A table with its description: a path that is read by it wherever a table is read.

    It has the columns `only`, or all that are described if that is None.
    """

    def __init__(
        self, path: StrPath, description: TableDescription, only: Iterable[str] | None = None
    ) -> None:
        self.path = path
        self.description = description
        self.only = None if only is None else frozenset(only)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def rows(self, blocks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield blocks of typed columns; null where a cell has no value.

        Another column, or one that is absent, is refused; after the last block so are the cells
        that do not fit, of all columns at once.
        """
        before, misfits = 0, dict[str, _Misfit]()
        for block in blocks:
            names = uniform_names(block.schema.names)
            self._check_names(names)
            columns = [
                self._column(name, column, before, misfits)
                for name, column in zip(names, block.columns, strict=True)
            ]
            before += block.num_rows
            yield pa.record_batch(columns, names=names, metadata=block.schema.metadata)
        if misfits:
            raise DataError(self._message(misfits))

    def _check_names(self, names: list[str]) -> None:
        # Who asks for some columns only says what their absence means.
        if self.only is not None:
            return
        fields = self.description.fields
        absent = [name for name in fields if name not in names]
        if absent:
            raise DataError(
                f"the table has no column {absent[0]!r}, which {self.description.place(absent[0])} "
                f"describes; it has {', '.join(names[:20])}"
            )
        further = [name for name in names if name not in fields]
        if further:
            raise DataError(
                f"column {further[0]!r} is not described; add it to the fields of "
                f"{self.description.file}, or take it out of the table"
            )

    def _column(
        self, name: str, column: pa.Array, before: int, misfits: dict[str, _Misfit]
    ) -> pa.Array:
        field = self.description.fields.get(name)
        if field is None or (self.only is not None and name not in self.only):
            return column
        column = plain_type(name, column)
        # Who asks for a column by its name reads it though no model learns from it.
        if self.only is None and name in self.description.resource.use.leave_out:
            return uniform_text(column) if is_text(column.type) else column
        missing = self.description.missing_values(field)
        why = ""
        if is_text(column.type):
            texts = without_missing(uniform_text(column.cast(pa.string())), missing)
            read, why = typed(texts, field)
        elif is_numeric(column.type):
            texts = as_texts(pa.chunked_array([column])).combine_chunks()
            read = without_number_codes(column, missing)
            if not (field.numeric or field.type == TRUTH):
                read = pc.if_else(pc.is_valid(read), texts, pa.scalar(None, pa.string()))
        else:  # of a file with types: dates, lists
            return column
        for reason, odd in _faults(field, read, texts, why):
            n = int(pc.sum(odd).as_py() or 0)
            if n:
                place = pc.index(odd, True).as_py()
                first = _Misfit(before + place + 1, str(texts[place].as_py()), reason)
                misfits.setdefault(name, first).rows += n
        return read

    def _message(self, misfits: dict[str, _Misfit]) -> str:
        """Return all columns at fault, each with a row, a cell and the line to change."""
        lines = []
        for name, first in list(misfits.items())[:_MOST_COLUMNS]:
            rows = f" (the first of {Count(first.rows)} such rows)" * (first.rows > 1)
            lines.append(
                f"column {name!r}, data row {first.row}: {first.cell!r} {first.why}{rows}; mend "
                f"it, or change {self.description.place(name)}"
            )
        further = len(misfits) - _MOST_COLUMNS
        return "\n  ".join(lines + [f"and {further} more columns"] * (further > 0))


def _faults(
    field: ColumnField, read: pa.Array, texts: pa.Array, why: str
) -> Iterator[tuple[str, pa.Array]]:
    """Yield which cells have no reading, are no level, or lie out of the range, and why."""
    if why:
        yield why, pc.and_(pc.is_valid(texts), pc.is_null(read))
    if field.categories and is_text(read.type):
        levels = pa.array([uniform(level) for level in field.categories], pa.string())
        right = pc.or_(pc.is_in(read, value_set=levels), pc.is_null(read))
        yield f"is none of its {len(field.categories)} categories", pc.invert(right)
    limits = field.constraints
    if is_numeric(read.type) and not pa.types.is_boolean(read.type):
        for limit, outside in ((limits.minimum, pc.less), (limits.maximum, pc.greater)):
            if limit is not None:
                yield "lies outside its range", outside(read, limit)


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
    if field.type in DATES:
        distinct = pc.unique(texts).drop_null()
        fits = fits_format(distinct.to_pylist(), field.type, field.format)
        written = pc.is_in(texts, value_set=distinct.filter(pa.array(fits)))
        how = "ISO 8601" if field.format == DEFAULT else field.format
        return pc.if_else(written, texts, None), f"is no {field.type} that is written as {how}"
    return texts, ""


def as_declared_numbers(texts: pa.Array, field: ColumnField) -> pa.Array:
    """Return texts as numbers with the signs and the unit of a field; null where they are none."""
    if field.unit:
        parts = pc.extract_regex(texts, WITH_UNIT)
        numbers, units = (pc.struct_field(parts, part) for part in ("number", "unit"))
        spellings = pc.unique(units).drop_null().to_pylist()
        alike = [unit for unit in spellings if unit_key(unit) == unit_key(field.unit)]
        bare = pc.is_in(units, value_set=pa.array(alike, pa.string()))
        texts = pc.if_else(pc.fill_null(bare, False), numbers, texts)
    if field.group_char:
        group, point = re.escape(field.group_char), re.escape(field.decimal_char)
        between = rf"^[+-]?[1-9]\d{{0,2}}({group}\d{{3}})+({point}\d*)?$"
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
