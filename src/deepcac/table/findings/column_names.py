"""Columns whose names say what they are: codes, dates, forms, persons, sites, weights."""

import re
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from deepcac.scoring.small_cells import FEW
from deepcac.table.columns.cells import as_texts, is_bytes
from deepcac.table.columns.description import DATES, KEEP, LEAVE_OUT, SITE, TEXT
from deepcac.table.findings.examination import DATE_NOTE, ExaminedTable
from deepcac.table.findings.finding import Finding, ask_to_leave_out, leave_out
from deepcac.types import Array


def _names(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_CODE = _names(
    r"(.*[_ .-])?(types?|codes?|id|group|grp|race|ethnic(ity)?|source|disposition|religion|state|"
    r"birthplace|region|categor(y|ies)|diagnosis|reason|department|ward|occupation|rasse|gruppe)"
    r"([_ .-]?(id|code|no|nr|num))?|race[_ .-]?[a-z]+|[a-z]+(type|code|group|race)"
)
_FEWEST_CODES, _MOST_CODES = 3, 60  # different ones
_DATE = _names(
    r"(.*[_ .-])?(date|datum|fecha|dat|dob|dod|doa|dt)([_ .-].*)?|.*(date|datum|dte)|"
    r"(date|fecha).*|geb\w*dat|(.*[_ .-])?(admitted|admission|born|birth|discharged?|diag(nosis)?|"
    r"death|entry|enrol\w*|onset|visit|surgery|operation|aufnahme|geburt|entlassung)"
)
# Days since 1899 (spreadsheets), 1960 or 1970 from 1902 to 2064; seconds, milliseconds since 1970.
_CLOCKS = ((1_000, 60_000), (1e8, 4e9), (1e11, 4e12))
_FORM = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")
_PERSON = _names(
    r"(.*[_ .-])?((first|last|sur|given|family|full|middle|maiden|patient)[_ .-]?name|name|"
    r"vorname|nachname|pr[eé]nom|nom|nombre|apellidos?)"
)
_FEWEST_PERSONS = 20  # different ones
_SITE = _names(
    r"((study|trial|treat(ing|ment)|enrol\w*|health|care|recruiting|admi\w*|medical)[_ .-])?"
    r"(site|cent(er|re)|clinic|hospital|institution|inst|facility|practice|"
    r"communit(y|ies)|comm|provider|provnum|klinik|zentrum|krankenhaus|h[oô]pital|centro)"
    r"([_ .-]?(id|no|nr|num|number|code|name))?"
)
_SURELY_SITE = _names(r"(study[_ .-]|trial[_ .-])?(site|cent(er|re))([_ .-]?(id|no|nr|code))?")
_ANSWERS = {"yes", "no", "y", "n", "true", "false", "0", "1", "ja", "nein", "oui", "non"}
_MOST_SITES = 0.2  # of the rows
_WEIGHT = _names(
    r"(.*[_ .-])?(samp(ling|le)?|survey|prob(ability)?|inverse|design|case|p|f)?[_ .-]?"
    r"(weights?|wts?|wgt)"
)
_SPREAD = 10  # times the middle, which no body is


def find_codes(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of whole numbers that have the name of a category."""
    for name in filter(_CODE.fullmatch, table.numeric):
        distinct = np.unique(table.numbers(name))
        distinct = distinct[~np.isnan(distinct)]
        whole = bool((distinct == np.floor(distinct)).all())
        if whole and _FEWEST_CODES <= len(distinct) <= _MOST_CODES:
            yield Finding("codes of a category", (name,), certain=TEXT)


def find_dates(table: ExaminedTable) -> Iterator[Finding]:
    """Find dates, also those that are written as numbers."""
    away = table.description.use.no_predictors()
    for name, field in table.description.fields.items():
        if field.type in DATES and name not in away:
            yield leave_out(name, DATE_NOTE)
    for name in table.numeric:
        values = table.numbers(name)
        if are_days(name, values[~np.isnan(values)]):
            yield leave_out(name, DATE_NOTE)


def are_days(name: str, values: Array) -> bool:
    """Tell whether numbers (n,), none NaN, are dates: 20240131, or days since 1899 by their name.

    Such are also seconds since 1970.
    """
    if not len(values) or (values != np.floor(values)).any():
        return False
    low, high = values.min(), values.max()
    if low > 19_000_000 and high < 21_000_000:
        month, day = values // 100 % 100, values % 100
        real = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        return bool(real.all()) and len(np.unique(values)) >= FEW
    clock = any(first <= low and high <= last for first, last in _CLOCKS)
    return clock and _DATE.fullmatch(name) is not None


def find_forms(table: ExaminedTable) -> Iterator[Finding]:
    """Find an export in which an event or a repeated form is a row, and no patient."""
    marks = tuple(name for name in table.rows.column_names if name.lower() in _FORM)
    if marks:
        text = (
            f"{', '.join(map(repr, marks))}: a row is a form, and not a patient. Make one row of "
            "each patient in the file, or:"
        )
        yield Finding(text, marks, (LEAVE_OUT, KEEP))


def find_persons(table: ExaminedTable) -> Iterator[Finding]:
    """Find text columns of many names."""
    for name in filter(_PERSON.fullmatch, table.predictors):
        cells = table.cells(name)
        if table.is_text(name) and len(pc.unique(cells).drop_null()) >= _FEWEST_PERSONS:
            yield leave_out(name, "names of persons")


def find_site(table: ExaminedTable) -> Iterator[Finding]:
    """Find the first column that has the name of one and several values with many rows."""
    if table.description.use.site is not None:
        return
    for name in filter(_SITE.fullmatch, table.predictors):
        if is_bytes(table.cells(name).type):
            continue
        texts = pc.unique(as_texts(table.cells(name)).drop_null()).to_pylist()
        answers = {text.lower() for text in texts} <= _ANSWERS and not _SURELY_SITE.fullmatch(name)
        if 2 <= len(texts) <= _MOST_SITES * len(table.number) and not answers:
            yield Finding("the site", (name,), certain=SITE)
            return


def find_weights(table: ExaminedTable) -> Iterator[Finding]:
    """Find numbers that have the name of a weight and spread as no body weight does."""
    for name in filter(_WEIGHT.fullmatch, table.numeric):
        values = table.numbers(name)
        if np.nanmin(values) >= 0 and np.nanmax(values) > _SPREAD * np.nanmedian(values):
            yield ask_to_leave_out(name, "spreads as weights of a sample do: is it one?")
