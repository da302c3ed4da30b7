"""Columns of dates, which no model reads as they are."""

import re
from collections.abc import Iterator

import numpy as np

from deepcac.scoring.small_cells import FEW
from deepcac.table.columns.description import DATES, LEAVE_OUT
from deepcac.table.findings.examination import DATE_NOTE, ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.types import Array

_NAMES_A_DATE = re.compile(
    r"(.*[_ .-])?(date|datum|fecha|dat|dob|dod|doa|dt)([_ .-].*)?|.*(date|datum|dte)|"
    r"(date|fecha).*|geb\w*dat|(.*[_ .-])?(admitted|admission|born|birth|discharged?|diag(nosis)?|"
    r"death|entry|enrol\w*|onset|visit|surgery|operation|aufnahme|geburt|entlassung)",
    re.IGNORECASE,
)
# Days since 1899 (spreadsheets), 1960 or 1970 from 1902 to 2064; seconds, milliseconds since 1970.
_CLOCKS = ((1_000, 60_000), (1e8, 4e9), (1e11, 4e12))


def find_dates(table: ExaminedTable) -> Iterator[Finding]:
    """Find dates, also those that are written as numbers."""
    away = table.description.resource.use.no_predictors()
    for name, field in table.description.fields.items():
        if field.type in DATES and name not in away:
            yield Finding(DATE_NOTE, (name,), certain=LEAVE_OUT)
    for name in table.numeric:
        values = table.numbers(name)
        if are_days(name, values[~np.isnan(values)]):
            yield Finding(DATE_NOTE, (name,), certain=LEAVE_OUT)


def are_days(name: str, values: Array) -> bool:
    """Tell whether numbers (n,), none NaN, are dates: 20240131, or days since 1899 by their name.

    Such are also seconds since 1970.
    """
    if not len(values):
        return False
    low, high = values.min(), values.max()
    if low > 19_000_000 and high < 21_000_000 and (values == np.floor(values)).all():
        month, day = values // 100 % 100, values % 100
        real = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        return bool(real.all()) and len(np.unique(values)) >= FEW
    whole = bool((values == np.floor(values)).all())
    clock = any(first <= low and high <= last for first, last in _CLOCKS)
    return whole and clock and _NAMES_A_DATE.fullmatch(name) is not None
