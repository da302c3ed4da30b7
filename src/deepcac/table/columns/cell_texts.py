"""Texts of cells in one form, without pyarrow: no value, names of columns, dates."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING

from deepcac.errors import ConfigError

if TYPE_CHECKING:  # a plan of the workflow reads descriptions without these
    import pandas as pd

    from deepcac.types import Flags


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


ANY, DEFAULT = "any", "default"  # what the standard calls no one pattern, and ISO 8601
# What a cell looks like, whatever the language of a month is.
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?|\d{1,2}[-/. ][^\W\d]{3,9}\.?[-/. ]\d{2,4}([ T].*)?"
    r"|\d{2}:[0-5]\d(:[0-5]\d(\.\d+)?)?"
)
_DAYS = (
    "%Y{0}%m{0}%d", "%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y", "%y{0}%m{0}%d",
    "%d{0}%b{0}%Y", "%d{0}%B{0}%Y", "%d{0}%b{0}%y",
)  # fmt: skip
_HOURS = (
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%H:%M:%S%z", "%H:%M:%S.%f%z", "%I:%M %p", "%I:%M:%S %p",
)  # fmt: skip
_ISO_DAY, _ISO_HOURS = "%Y-%m-%d", ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%S%z", "%H:%M:%S.%f%z")
_ISO = {
    "date": (_ISO_DAY,),
    "time": _ISO_HOURS[:2],
    "datetime": tuple(f"{_ISO_DAY}T{hours}" for hours in _ISO_HOURS),
}
_AMONG_POINTS = ("%d", "%Y")  # what comes first: nobody writes the month first with points


def are_dates(texts: list[str]) -> bool:
    """Return whether distinct texts are dates, in any common order of day, month and year."""
    return bool(texts) and all(_DATE.fullmatch(text) for text in texts)


def date_patterns(texts: list[str]) -> list[str]:
    """Return patterns (of strptime) that read every text, one for each different reading."""
    sign = next(iter(re.findall(r"[-/. ]", texts[0])), "-")
    days = [d.format(sign) for d in _DAYS if sign != "." or d.startswith(_AMONG_POINTS)]
    dated = [day + "".join(rest) for day, rest in product(days, [("",), *product(" T", _HOURS)])]
    readings: dict[bytes, str] = {}
    for pattern in (*dated, *_HOURS):
        fits = _values(texts[:1], pattern).notna().all()  # of one text this is soon known
        if fits and (values := _values(texts, pattern)).notna().all():
            readings.setdefault(values.to_numpy("datetime64[us]").tobytes(), pattern)
    return [*readings.values()]


def date_type(pattern: str) -> tuple[str, str]:
    """Return the type of the standard for a pattern, and its format, which is short for ISO."""
    hours = "%H" in pattern or "%I" in pattern
    kind = ("datetime" if hours else "date") if "%d" in pattern else "time"
    return kind, DEFAULT if pattern in _ISO[kind] else pattern


def check_format(name: str, format: str) -> None:
    """Refuse a format of dates that is no pattern."""
    if format in (ANY, DEFAULT):
        return
    try:
        datetime.strptime(datetime(2000, 12, 31, tzinfo=UTC).strftime(format), format)
    except ValueError as error:
        raise ConfigError(
            f"{name!r}: format {format!r} is no pattern of dates ({error})"
        ) from error
    if "%" not in format:
        raise ConfigError(f"{name!r}: format {format!r} is no pattern of dates, as %d.%m.%Y is")


def fits_format(texts: list[str], kind: str, format: str) -> "Flags":
    """Return which texts are of a type of the standard, written as its format says, shape (n,)."""
    import numpy as np

    if kind not in _ISO or format == ANY:
        return np.ones(len(texts), np.bool_)
    patterns = _ISO[kind] if format == DEFAULT else (format,)
    return np.logical_or.reduce([_values(texts, pattern).notna() for pattern in patterns])


def _values(texts: list[str], pattern: str) -> "pd.Series":
    import pandas as pd

    return pd.Series(pd.to_datetime(texts, format=pattern, errors="coerce", utc=True))
