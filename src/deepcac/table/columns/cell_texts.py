"""Texts of cells and names in one form, and the words that usually mean no value."""

import re
import unicodedata
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

# Words for no value, as programs write them; "none" and "-" mean so among numbers only.
NO_VALUE = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "<NA>", "?", ".",
)  # fmt: skip
AMONG_NUMBERS = ("none", "-")
# Words of people who do not know; in a text column they are no level of their own.
UNKNOWN = re.compile(
    r"(un|not |in)(known|available|recorded|specified|stated|reported|done|assessed)"
    r"([ /_-](invalid|unknown|missing))?|unk|nk|missing|na[ _/]na|no data|no answer|"
    r"unbekannt|k\.? ?a\.?|keine angabe|inconnu|non renseign[ée]|desconocido|sin datos?|ignoto",
    re.IGNORECASE,
)
# What a spreadsheet shows where a formula failed, in several languages.
ERROR_CELLS = (
    "#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!",
    "#nv", "#wert!", "#bezug!", "#zahl!", "#valeur!", "#nombre!", "#nom?", "#¡valor!", "#¡ref!",
    "#¡num!", "#¿nombre?", "#¡div/0!", "#¡nulo!", "#n/d", "#nul!", "#valor!", "#núm!", "#nome?",
    "#valore!", "#rif!", "#n/b", "#waarde!", "#verw!", "#getal!", "#naam?", "#deel/0!",
)  # fmt: skip
ROW_NAMES = "(row names)"  # of a file whose header has no name for its first column
_NUMBER = r"([_ .-]?(visit))?([_ .-]?(id|ids|identifier|nr|no|nbr|num|number|code))?"
_PATIENT = (
    r"(.*[_ .-])?(patient|subject|person|participant|proband|mrn|pat|subj|usubj|case|record|rand|"
    r"famil(y|ie)|household|mother|mom|pers)" + _NUMBER
)
_ID = r"(.*[_ .-])?p?id"
# Names of a column that says whose row it is, and which row.
NAMES_A_PATIENT = re.compile(_PATIENT, re.IGNORECASE)
NAMES_A_ROW = re.compile(
    rf"{_PATIENT}|{_ID}|(.*[_ .-])?(nr|no|number|record|index|obs|seqn?o?)|kid|unnamed.*",
    re.IGNORECASE,
)
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
SPACES = "\u00a0\u2007\u2009\u202f"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_SPACES = re.compile(f"[{SPACES}\\s]+")


def as_number(text: str) -> float | None:
    """Return the number that a text is, if any."""
    try:
        return float(text)
    except ValueError:
        return None


def uniform(text: str) -> str:
    """Return text in its composed form, without invisible characters, with plain single spaces."""
    seen = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    return _SPACES.sub(" ", seen).strip()


def uniform_names(names: Iterable[str]) -> list[str]:
    """Return names of columns as `uniform` has them."""
    return [uniform(str(name)) for name in names]


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
