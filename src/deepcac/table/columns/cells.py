"""Cells of a column: their types in few plain ones, which are missing, and texts in one form."""

import re
import uuid
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.scoring.small_cells import Count
from deepcac.table.columns.cell_texts import INVISIBLE, SPACES
from deepcac.types import Array, Ids

EXACT = 2.0**53  # whole numbers beyond it are not exact
LARGEST = 1e100  # the squares of larger numbers, summed, leave the range of a double

_UNIT_WORD = (
    r"(?:y|yr|yrs|years?|mo|mos|months?|w|wks?|weeks?|d|days?|h|hrs?|hours?|min|mins|minutes?|s|secs?"
    r"|[munpkdc]?(?:g|mol|l|m|eq|iu|u|cal|pa|osm)|mm ?hg|cm ?h2o|bpm|lbs?|oz|in|ft|inches|°? ?[cfk]"
    r"|copies|cells|%|‰|\d+|kg|m2|m²|m\^2|10\^\d+|x10\^?\d+)"
)
_UNIT = re.compile(rf"{_UNIT_WORD}(?: ?[/*·.^] ?{_UNIT_WORD})*", re.IGNORECASE)
_ALIKE = {  # spellings of one unit
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), "year"),
    **dict.fromkeys(("mo", "mos", "month", "months"), "month"),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), "week"),
    **dict.fromkeys(("d", "day", "days"), "day"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hour"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("lb", "lbs"), "lb"),
}
_SIMPLE = r"^(\D*\d*(\.0+)?|[0-9a-fA-F-]+)$"  # where capitals say nothing
_ZEROS = r"^(\D*)0*(\d+?)(\.0+)?$"
_CUT = r"^\d[.,]\d+E\+\d+$"
_USUAL = {
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
    pa.float16(): pa.float32(),
}


def is_text(kind: pa.DataType) -> bool:
    """Return whether an arrow type holds text."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in kinds)


def refuse_missing(cells: pa.ChunkedArray, name: str, why: str, number: Ids | None = None) -> None:
    """Refuse cells without a value, with how many there are; rows count from 1 without `number`."""
    gone = pc.is_null(cells, nan_is_null=True)
    place = pc.index(gone, True).as_py()
    if place >= 0:
        row = place + 1 if number is None else number[place]
        n = pc.sum(gone).as_py()
        rows = f" (the first of {Count(n)} such rows)" if n > 1 else ""
        raise DataError(f"column {name!r}, data row {row}: {why}{rows}")


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionaries; its text without outer spaces, null where empty."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    column = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def truth_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return True and False as words, in one spelling whatever the column's type and case."""
    lower = pc.utf8_lower(column.cast(pa.string()))
    places = pc.index_in(lower, value_set=pa.array(["false", "true"]))
    return pc.coalesce(pc.take(pa.array(["False", "True"]), places), column.cast(pa.string()))


def truth_like(texts: Iterable[str]) -> bool:
    """Return whether all texts are true or false, in any case."""
    return {text.lower() for text in texts} <= {"true", "false"}


def unit_key(unit: str) -> str:
    """Return a unit so that its spellings are equal: mg/L and mg/l, yrs and years."""
    bare = re.sub(r"[\s.]", "", unit).lower().replace("µ", "u").replace("μ", "u")
    return _ALIKE.get(bare, bare)


def is_unit(text: str) -> bool:
    """Return whether a text is a unit of measurement."""
    return _UNIT.fullmatch(text) is not None


def numbers(cells: pa.ChunkedArray, name: str, number: Ids | None = None) -> Array:
    """Return a column of numbers, NaN where missing; an impossible one is refused with its row.

    Cells are of `plain`; `number` is that of each row in its file, from 1 if None.
    """
    if not is_numeric(cells.type):
        raise DataError(
            f"column {name!r} is of type {cells.type}; numbers were expected: give it type: number "
            "in the description"
        )
    # Whole numbers beyond 2**53 are refused below; the cast would change their last digits.
    values = np.asarray(cells.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    whole = pa.types.is_integer(cells.type)
    beyond = np.abs(values) >= EXACT if whole else np.abs(values) > LARGEST
    if beyond.any():
        at = int(beyond.argmax())
        row = at + 1 if number is None else number[at]
        raise DataError(
            f"column {name!r}, data row {row}: {values[at]:g} is no measurement; leave it empty "
            "where the value is missing"
        )
    return values


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether an arrow type holds numbers, or yes and no."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in kinds)


def plain_type(name: str, column: pa.Array) -> pa.Array:
    """Return a column of a type that arrow's functions know.

    Dictionaries and runs are laid out, extensions give what they store, views and half floats
    become the usual types; a UUID becomes its text. Of a union no row can be taken.
    """
    kind = column.type
    if pa.types.is_union(kind):
        raise DataError(f"column {name!r} is of type {kind}; leave it out of the file")
    if pa.types.is_null(kind):  # of a file with types, where no row has a value
        return column.cast(pa.string())
    if isinstance(kind, pa.UuidType):
        texts = [value and str(uuid.UUID(bytes=value)) for value in column.storage.to_pylist()]
        return pa.array(texts, pa.string())
    if isinstance(kind, pa.Bool8Type):
        return column.storage.cast(pa.bool_())
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(name, column.storage)
    if pa.types.is_dictionary(kind):
        return plain_type(name, column.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return plain_type(name, pc.run_end_decode(column))
    if usual := _USUAL.get(kind):
        return column.cast(usual)
    return column


def same_names(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of ids so that names of one patient are equal: 7, 7.0, 007; P7, p007."""
    texts = as_texts(cells)
    simple = pc.match_substring_regex(texts, _SIMPLE)
    texts = pc.if_else(simple, pc.utf8_lower(texts), texts)
    return pc.replace_substring_regex(texts, _ZEROS, r"\1\2")


def is_bytes(kind: pa.DataType) -> bool:
    """Return whether an arrow type holds bytes, which may be no text."""
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in kinds)


def as_texts(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells as text; a whole number has no decimal point, true is True, of any type."""
    if is_text(cells.type):
        return pc.replace_substring_regex(cells, r"^([+-]?\d+)\.0+$", r"\1")
    if pa.types.is_floating(cells.type):
        values = cells.cast(pa.float64())
        whole = pc.equal(values, pc.floor(values))
        small = pc.and_(whole, pc.less(pc.abs(values), 2.0**53))
        bare = pc.if_else(small, values, None).cast(pa.int64()).cast(pa.string())
        return pc.coalesce(bare, values.cast(pa.string()))
    return truth_words(cells) if pa.types.is_boolean(cells.type) else cells.cast(pa.string())


def refuse_type(kind: pa.DataType, name: str, what: str) -> None:
    """Refuse a column that names rows, sites or groups, if it is no text, number or date."""
    dated = pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_null(kind)
    if not (is_text(kind) or is_numeric(kind) or dated):
        raise DataError(f"column {name!r} is of type {kind}; {what} is text, a number or a date")


def row_names(column: pa.ChunkedArray, name: str, what: str) -> pa.ChunkedArray:
    """Return the plain cells of a column that names rows, sites or groups (`refuse_type`)."""
    refuse_type(column.type, name, what)
    cells = plain(column)
    if is_text(cells.type):
        cut = pc.index(pc.match_substring_regex(cells, _CUT), True).as_py()
        if cut >= 0:
            raise DataError(
                f"column {name!r}: {cells[cut].as_py()!r} is a number that a spreadsheet cut; "
                f"{what} needs all of its digits: export the column as text"
            )
    return cells


_MINUS = "\u2212"
# Signs between thousands that can stand for nothing else: 1 234,5, 1'234.5, and 1,23,456 (lakh).
_SPACED = r"^[+-]?[1-9]\d{0,2}([ '\x{2019}]\d{3})+([.,]\d+)?$"
_LAKH = r"^[+-]?[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$"
_AS_FORMULA = r'^="([^"]*)"$'  # how a spreadsheet keeps the zeros of a text


def uniform_text(column: pa.Array) -> pa.Array:
    """Apply `uniform` to a text column, and normalize number signs and separators."""
    if not pc.all(pc.string_is_ascii(column)).as_py():
        column = pc.utf8_normalize(column, form="NFC")
        column = pc.replace_substring_regex(column, f"[{INVISIBLE}]", "")
        column = pc.replace_substring_regex(column, f"[{SPACES}]", " ")
        column = pc.replace_substring_regex(column, rf"^{_MINUS}(\d)", r"-\1")
    column = pc.utf8_trim_whitespace(column)
    if pc.any(pc.match_substring_regex(column, r"  |[\t\r\n\f\v]")).as_py():
        column = pc.replace_substring_regex(column, r"[ \t\r\n\f\v]+", " ")
    if pc.any(pc.starts_with(column, '="')).as_py():
        column = pc.replace_substring_regex(column, _AS_FORMULA, r"\1")
    for pattern, signs in ((_SPACED, " '\u2019"), (_LAKH, ",")):
        if pc.any(pc.match_substring_regex(column, f"[{signs}]")).as_py():
            apart = pc.match_substring_regex(column, pattern)
            column = pc.if_else(apart, pc.replace_substring_regex(column, f"[{signs}]", ""), column)
    return column
