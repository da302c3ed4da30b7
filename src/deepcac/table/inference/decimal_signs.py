"""Which sign stands before decimals in the texts of a table, judged by all of its columns."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
        # A point before three digits is that of thousands only beside whole numbers below 1,000.
        small = sign == "," or (whole.any() and not like(_LONG).any())
        if either and small and sign not in votes:
            unclear[sign] = pc.index(column, texts[int(thousands.argmax())]).as_py()
    return _Seen(total / max(rows.sum(), 1), frozenset(votes), unclear)
