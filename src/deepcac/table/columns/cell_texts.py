"""Texts of cells and names in one form, and the words that usually mean no value."""

import re
import unicodedata
from collections.abc import Iterable

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
