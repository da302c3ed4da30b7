"""Column types of arrow in few plain ones: numbers, text, dates, and what no command reads."""

import uuid

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.table.columns.cells import is_numeric, is_text, plain, truth_words


def plain_type(name: str, column: pa.Array) -> pa.Array:
    """Return a column of a type that arrow's functions know.

    Dictionaries and runs are laid out, extensions give what they store, views and half floats
    become the usual types; a UUID becomes its text.

    Raises
    ------
    DataError
        Of a union no row can be taken.
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


_SIMPLE = r"^(\D*\d*(\.0+)?|[0-9a-fA-F-]+)$"  # where capitals say nothing
_ZEROS = r"^(\D*)0*(\d+?)(\.0+)?$"


def same_names(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of ids so that names of one patient are equal: 7, 7.0, 007; P7, p007."""
    texts = as_texts(cells)
    simple = pc.match_substring_regex(texts, _SIMPLE)
    texts = pc.if_else(simple, pc.utf8_lower(texts), texts)
    return pc.replace_substring_regex(texts, _ZEROS, r"\1\2")


def is_bytes(kind: pa.DataType) -> bool:
    """Tell whether an arrow type holds bytes, which may be no text."""
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in kinds)


_CUT = r"^\d[.,]\d+E\+\d+$"
_USUAL = {
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
    pa.float16(): pa.float32(),
}


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
