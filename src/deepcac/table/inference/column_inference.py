"""How a column of text is read: its type, signs, unit and words for no value, from its cells."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.table.columns.cell_texts import (
    AMONG_NUMBERS,
    ANY,
    ERROR_CELLS,
    NO_VALUE,
    UNKNOWN,
    are_dates,
    date_patterns,
    date_type,
)
from deepcac.table.columns.cells import is_numeric, is_text, is_unit, truth_like, unit_key
from deepcac.table.columns.described_rows import WITH_UNIT, as_declared_numbers, without_missing
from deepcac.table.columns.description import (
    A_LEVEL,
    DATE,
    LEAVE_OUT,
    MISSING_VALUES,
    NUMBER,
    TEXT,
    TRUTH,
    WRITTEN,
    ColumnField,
    ColumnType,
)
from deepcac.table.findings.examination import Finding
from deepcac.types import Flags, Ids

_UNIT = r"(\s*[%°µμA-Za-z][^,.;]*)?$"
_THOUSANDS = {
    ",": r"^[+-]?[1-9]\d{0,2}(,\d{3})+" + _UNIT,
    ".": r"^[+-]?[1-9]\d{0,2}(\.\d{3})+" + _UNIT,
}
_SIGNED = {",": r"^[+-]?\d*,\d+" + _UNIT, ".": r"^[+-]?(\d+\.\d*|\.\d+)(e[+-]?\d+)?" + _UNIT}
# Both signs in one number: the second is that of the decimals.
_BOTH = {
    ",": r"^[+-]?\d{1,3}(\.\d{3})+,\d+" + _UNIT,
    ".": r"^[+-]?\d{1,3}(,\d{3})+\.\d+" + _UNIT,
}
_WHOLE, _LONG = r"^[+-]?\d+" + _UNIT, r"^[+-]?\d{4,}" + _UNIT
_TELLING = 0.05  # of a column's cells with a sign: fewer do not decide for the others


class _Seen(NamedTuple):
    """Cells of a column by what they look like."""

    numbers: float  # share of cells that are numbers, in any reading
    votes: frozenset[str]  # signs that can only be those of decimals
    # Sign to the place of the first cell whose sign may stand before decimals or thousands
    unclear: dict[str, int]


class DecimalSigns(NamedTuple):
    """The sign before the decimals of each column of numbers."""

    by_column: dict[str, str]  # column to its sign; columns that are not in it have no such sign
    # Columns in which both signs stand before decimals, or a cell has two readings and no column of
    # the table decides, with the reason
    mixed: dict[str, str]


def decimal_signs(columns: Mapping[str, pa.Array], number: Ids) -> DecimalSigns:
    """Find the sign before decimals in text columns, null where missing: a file has one."""
    commas = _any_like(columns, f"({_SIGNED[',']}|{_THOUSANDS[',']}|{_BOTH['.']}|{_BOTH[',']})")
    if not commas and not _any_like(columns, _THOUSANDS["."]):
        return DecimalSigns({}, {})
    seen = {name: _count_signs(c, _TELLING if commas else 0.0) for name, c in columns.items()}
    numeric = {name: column for name, column in seen.items() if column.numbers > 0.5}
    votes = frozenset().union(*(column.votes for column in numeric.values()))
    usual = next(iter(votes)) if len(votes) == 1 else None
    by_column, mixed = {}, {}
    for name, column in numeric.items():
        sign = next(iter(column.votes), usual)
        if len(column.votes) > 1:
            mixed[name] = f"Column {name!r}: points and commas both stand before decimals."
        elif column.unclear and sign is None:
            place, unclear = min((place, sign) for sign, place in column.unclear.items())
            text = columns[name][place].as_py()
            mixed[name] = (
                f"Column {name!r}, data row {number[place]}: {text!r} may be "
                f"{text.replace(unclear, '')!r} or {text.replace(unclear, '.')!r}."
            )
        elif sign is not None:
            by_column[name] = sign
    return DecimalSigns(by_column, mixed)


def _any_like(columns: Mapping[str, pa.Array], pattern: str) -> bool:
    masks = (pc.match_substring_regex(column, pattern) for column in columns.values())
    return any(pc.any(mask).as_py() for mask in masks)


def _count_signs(column: pa.Array, least: float) -> _Seen:
    """Count the signs of a column; of `least` its cells decide for the others."""
    texts, counts = pc.value_counts(column.drop_null()).flatten()
    rows = counts.to_numpy()

    def like(pattern: str) -> Flags:
        matches = pc.match_substring_regex(texts, pattern, ignore_case=True)
        return np.asarray(matches.to_numpy(zero_copy_only=False), dtype=np.bool_)

    whole = like(_WHOLE)
    total, votes, unclear = rows[whole].sum(), set(), {}
    for sign in (",", "."):
        thousands = like(_THOUSANDS[sign])
        clear = rows[(like(_SIGNED[sign]) & ~thousands) | like(_BOTH[sign])].sum()
        either = rows[thousands].sum()
        total += clear + either
        if clear and clear >= least * (clear + either):
            votes.add(sign)
        # A point before three digits is that of thousands only among whole numbers below 1,000.
        small = sign == "," or (whole.any() and not like(_LONG).any())
        if either and small and sign not in votes:
            unclear[sign] = pc.index(column, texts[int(thousands.argmax())]).as_py()
    return _Seen(total / max(rows.sum(), 1), frozenset(votes), unclear)


_NO_VALUE = frozenset(word.lower() for word in (*NO_VALUE, *ERROR_CELLS))
_MOST_WORDS = 5  # among numbers that one answer can make missing
_FEWEST_NUMBERS = 5  # different ones that are spoken of
_FEWEST_WITH_UNIT = 0.05  # of the cells; fewer are slips
_BEYOND = r"^[<>]=?\s*\d"  # below or above what a device measures
_PAIR, _MOSTLY = r"^\d{2,3} ?/ ?\d{2,3}$", 0.5  # a blood pressure; share of the rows
_CODE = r"^\d+[eE]\d+$"  # a ward, or a number as few programs write it
_PADDED = r"^0\d+$"  # a name, if others of the column are no numbers
_AREA = r"^[A-Z]{2}$"  # a code of two letters, of which NA is one


class InferredColumn(NamedTuple):
    """How a column is read."""

    field: ColumnField
    words: tuple[str, ...] = ()  # its cells that mean no value
    questions: tuple[Finding, ...] = ()  # what its cells do not decide


def infer_column(
    name: str, cells: pa.Array, number: Ids, *, sign: str | None = None, is_name: bool = False
) -> InferredColumn:
    """Return how a column of cells in one form (`uniform_text`) is read.

    `number` is that of each row in its file, `sign` comes before decimals; cells that are a name,
    of classes, patients or sites, are never numbers.
    """
    if not is_text(cells.type):
        return InferredColumn(ColumnField(name=name, type=TEXT if is_name else _type(cells.type)))
    every = pc.unique(cells).drop_null().to_pylist()
    words = tuple(w for w in every if w.lower() in _NO_VALUE)
    if not is_name:
        words += tuple(filter(UNKNOWN.fullmatch, every))
    present = without_missing(cells, words)
    texts = pc.unique(present).drop_null().to_pylist()
    if is_name or not texts:
        return InferredColumn(ColumnField(name=name), words, _area(name, texts, words))
    if are_dates(texts):
        return _dates(name, texts, words)
    if truth_like(texts):
        return InferredColumn(ColumnField(name=name, type=TRUTH), words)
    return _number_or_text(name, present, number, sign, words)


def _dates(name: str, texts: list[str], words: tuple[str, ...]) -> InferredColumn:
    """Return the format of dates; of two that read every cell a person says which."""
    patterns = date_patterns(texts)
    kind, format = date_type(patterns[0]) if patterns else (DATE, ANY)
    field = ColumnField.model_validate({"name": name, "type": kind, "format": format})
    if len(patterns) < 2:
        return InferredColumn(field, words)
    answers = (*(f"{WRITTEN} {pattern}" for pattern in patterns), LEAVE_OUT)
    why = f"Column {name!r}: does {texts[0]!r} have the day first, or the month?"
    return InferredColumn(ColumnField(name=name), words, (Finding(why, (name,), answers),))


def _type(kind: pa.DataType) -> ColumnType:
    if pa.types.is_boolean(kind):
        return TRUTH
    if pa.types.is_temporal(kind):
        return "datetime" if pa.types.is_timestamp(kind) else DATE
    return NUMBER if is_numeric(kind) else "any"


def _number_or_text(
    name: str, cells: pa.Array, number: Ids, sign: str | None, words: tuple[str, ...]
) -> InferredColumn:
    """Read texts that are no dates and not all of them true or false."""
    nothing = tuple(w for w in pc.unique(cells).to_pylist() if w and w.lower() in AMONG_NUMBERS)
    present = without_missing(cells, nothing)
    text, read = ColumnField(name=name), _as_numbers(name, present, sign or ".")
    if len(read.units) > 1:
        shown = ", ".join(map(repr, read.units[:3]))
        why = (
            f"Column {name!r}: its numbers have {len(read.units)} units ({shown}). Write all in "
            "one in the file, or:"
        )
        return InferredColumn(text, words, (Finding(why, (name,), (TEXT, LEAVE_OUT)),))
    if not read.numeric:
        questions = (
            _pairs(name, present)
            or _beyond(name, present)
            or _area(name, pc.unique(cells).to_pylist(), words)
        )
        return InferredColumn(text, words, questions)
    slips = pc.and_(pc.is_valid(present), pc.is_null(read.values))
    if pc.any(slips).as_py():
        if pc.any(pc.match_substring_regex(present, _PADDED)).as_py():
            return InferredColumn(text, words)
        return InferredColumn(read.field, (*words, *nothing), _slips(name, present, slips, number))
    place = pc.index(pc.match_substring_regex(present, _CODE), True).as_py()
    if place >= 0:
        cell = present[place].as_py()
        why = (
            f"Column {name!r}, data row {number[place]}: {cell!r} may be the number "
            f"'{float(cell):g}' or a name."
        )
        return InferredColumn(read.field, words, (Finding(why, (name,), (NUMBER, TEXT)),))
    return InferredColumn(read.field, (*words, *nothing))


class _Numbers(NamedTuple):
    """Texts as the numbers of a field, and the units behind them; of several none is read."""

    field: ColumnField
    values: pa.Array
    numeric: bool
    units: tuple[str, ...] = ()


def _as_numbers(name: str, texts: pa.Array, sign: str) -> _Numbers:
    field = ColumnField(
        name=name, type=NUMBER, decimal_char="," if sign == "," else ".",
        group_char="." if sign == "," else ",",
    )  # fmt: skip
    values = as_declared_numbers(texts, field)
    odd = texts.filter(pc.is_null(values)).drop_null()
    units = _units(odd, field, len(values) - values.null_count)
    if len(units) == 1:
        field = field.model_copy(update={"unit": units[0], "bare_number": False})
        values = as_declared_numbers(texts, field)
    ungrouped = field.model_copy(update={"group_char": ""})
    if as_declared_numbers(texts, ungrouped).null_count == values.null_count:
        field = ungrouped
    present, read = len(texts) - texts.null_count, len(values) - values.null_count
    return _Numbers(field, values, read > _MOSTLY * present, units)


def _units(odd: pa.Array, field: ColumnField, bare: int) -> tuple[str, ...]:
    """Return the units written after numbers, or () if they are too rare or not recognized."""
    parts = pc.extract_regex(pc.unique(odd), WITH_UNIT)
    values = as_declared_numbers(pc.struct_field(parts, "number"), field)
    units: dict[str, str] = {}
    for unit in pc.struct_field(parts, "unit").filter(pc.is_valid(values)).to_pylist():
        units.setdefault(unit_key(unit), unit.strip())
    if len(values) < 2 * values.null_count:
        return ()
    real = all(map(is_unit, units.values()))
    if len(pc.unique(values).drop_null()) < (_FEWEST_NUMBERS if real else 4 * _FEWEST_NUMBERS):
        return ()
    few = len(odd) < max(_FEWEST_WITH_UNIT * bare, _FEWEST_NUMBERS)
    return () if (few if len(units) == 1 else not real) else tuple(units.values())


def _slips(name: str, cells: pa.Array, slips: pa.Array, number: Ids) -> tuple[Finding, ...]:
    """Return a question about the non-numeric cells of a numeric column."""
    place = pc.index(slips, True).as_py()
    share = 1 - pc.sum(slips).as_py() / (len(cells) - cells.null_count)
    why = (
        f"Column {name!r}, data row {number[place]}: {cells[place].as_py()!r} is no number, though "
        f"{100 * share:.0f} % of the column are."
    )
    texts = tuple(sorted(pc.unique(cells.filter(slips)).to_pylist()))
    if len(texts) <= _MOST_WORDS:
        return (Finding(why, (name,), (MISSING_VALUES, TEXT, LEAVE_OUT), texts),)
    return (Finding(why, (name,), (TEXT, LEAVE_OUT)),)


def _beyond(name: str, cells: pa.Array) -> tuple[Finding, ...]:
    """Return a question about cells such as <0.3 where the others are numbers."""
    beyond = pc.fill_null(pc.match_substring_regex(cells, _BEYOND), False)
    others = cells.filter(pc.invert(beyond)).drop_null()
    if not pc.any(beyond).as_py() or len(pc.unique(others)) < _FEWEST_NUMBERS:
        return ()
    if not _as_numbers(name, others, ".").numeric:
        return ()
    cell = cells[pc.index(beyond, True).as_py()].as_py()
    why = (
        f"Column {name!r}: cells such as {cell!r} stand among numbers. Write a number in the file "
        "instead, or:"
    )
    return (Finding(why, (name,), (TEXT, LEAVE_OUT)),)


def _pairs(name: str, cells: pa.Array) -> tuple[Finding, ...]:
    """Return a question about two numbers in a cell, such as a blood pressure."""
    pairs = pc.fill_null(pc.match_substring_regex(cells, _PAIR), False)
    if pc.sum(pairs).as_py() in (None, 0) or pc.mean(pairs).as_py() < _MOSTLY:
        return ()
    why = (
        f"Column {name!r}: cells such as {cells[pc.index(pairs, True).as_py()].as_py()!r} hold two "
        "numbers. Write two columns in the file instead, or:"
    )
    return (Finding(why, (name,), (LEAVE_OUT, TEXT)),)


def _area(name: str, texts: list[str], words: tuple[str, ...]) -> tuple[Finding, ...]:
    """Return a question whether NA is a code of two letters, as others of the column are."""
    codes = pa.array([text for text in texts if text], pa.string())
    alike = len(codes) and pc.all(pc.match_substring_regex(codes, _AREA)).as_py()
    if "NA" not in words or not alike:
        return ()
    why = f"Column {name!r}: does 'NA' mean no value, or is it a code such as {texts[0]!r}?"
    return (Finding(why, (name,), (MISSING_VALUES, A_LEVEL), ("NA",)),)
