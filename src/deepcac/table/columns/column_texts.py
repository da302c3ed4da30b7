"""Columns of text in one form.

Apart from `cell_texts`, which a registry of data sets reads where there is no pyarrow.
"""

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.table.columns.cell_texts import INVISIBLE, SPACES

_MINUS = "\u2212"
# Signs between thousands that can stand for nothing else: 1 234,5, 1'234.5, and 1,23,456 (lakh).
_SPACED = r"^[+-]?[1-9]\d{0,2}([ '\x{2019}]\d{3})+([.,]\d+)?$"
_LAKH = r"^[+-]?[1-9]\d?(,\d{2})+,\d{3}(\.\d+)?$"
_AS_FORMULA = r'^="([^"]*)"$'  # how a spreadsheet keeps the zeros of a text


def uniform_text(column: pa.Array) -> pa.Array:
    """Do to a column what `uniform` does to a text, and give numbers a plain minus."""
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
