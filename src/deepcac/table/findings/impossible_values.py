"""Numbers that no patient can have, by the name of their column."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.description import KEEP, LEAVE_OUT, MISSING_VALUES
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.reading.odd_numbers import missing_codes, plainly

_FEW, _SOME = 0.02, 0.3  # shares of the rows that are above and below
_MOST_VALUES = 12  # that one answer can make missing


class _Measure(NamedTuple):
    """A measurement by its names, and the numbers between which it lies in any unit."""

    names: str
    low: float
    high: float


_MEASURES = (
    _Measure(r"age|alter|edad|[aâ]ge", 0, 115),
    _Measure(r"pulse|puls|heart[_ .-]?rate|hr|hrt|heartrte", 5, 350),
    _Measure(r"sys(tolic)?[_ .-]?(bp)?|sbp|sysbp", 20, 370),
    _Measure(r"dia(stolic)?[_ .-]?(bp)?|dbp|diabp", 5, 300),
    _Measure(r"map|mean[_ .-]?bp|meanbp", 5, 330),
    _Measure(r"resp(iratory)?[_ .-]?(rate)?|rr", 1, 120),
    _Measure(r"weight[_ .-]?(kg|lb)?|gewicht|body[_ .-]?weight|wt[_ .-]?kg", 0.2, 1500),
    _Measure(r"height[_ .-]?(cm|m|in)?|gr[oö](ss|ß)e|ht[_ .-]?cm", 0.2, 280),
    _Measure(r"bmi", 5, 200),
    _Measure(r"temp(erature)?[_ .-]?[cf]?", 10, 120),
    _Measure(r"spo2|sao2|o2[_ .-]?sat", 5, 100),
)
_DAY = r"[_ .-]?(\d{1,2}|baseline|bl|admission|first)?"  # weight_kg1, hrt1, age at admission
_HOURS = re.compile(r".*[_ .-](tat|hours?|hrs?)", re.IGNORECASE)
_MOST_HOURS = 24 * 365.25 * 5


def find_impossible_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find ages of 455 years and blood pressures of 0."""
    for name in table.numeric:
        measure = next((m for m in _MEASURES if _is_named(name, m.names)), None)
        low, high = (0.0, np.inf) if measure is None else (measure.low, measure.high)
        if measure is None:
            if not _HOURS.fullmatch(name):
                continue
            low, high = -np.inf, _MOST_HOURS
        values = table.numbers(name)
        # What looks like a code for no value is asked about as one.
        codes = [float(code) for _, code in missing_codes(name, values)]
        outside = ((values < low) | (values > high)) & ~np.isin(values, codes)
        # Of a column in another unit, such as ages in months, many are too large.
        if not outside.any() or (values > high).mean() > _FEW or (values < low).mean() > _SOME:
            continue
        distinct = np.unique(values[outside])
        shown = ", ".join(repr(plainly(value)) for value in distinct[:3])
        text = (
            f"Column {name!r}: {format_count(int(outside.sum()))} values such as {shown} are "
            "impossible."
        )
        few = len(distinct) <= _MOST_VALUES
        answers = (MISSING_VALUES, KEEP) if few else (LEAVE_OUT, KEEP)
        yield Finding(text, (name,), answers, tuple(map(plainly, distinct)) if few else ())


def _is_named(name: str, names: str) -> bool:
    return re.fullmatch(rf"({names}){_DAY}", name, re.IGNORECASE) is not None
