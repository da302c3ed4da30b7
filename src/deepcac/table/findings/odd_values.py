"""Numbers that may be codes for no value, be in two units, or be of no patient."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from deepcac.scoring.censored import FollowUp
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.columns.cells import numbers, plain
from deepcac.table.columns.description import KEEP, LEAVE_OUT, MISSING_VALUES, Outcome
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.reading.odd_numbers import missing_codes, plainly, two_units
from deepcac.types import Array, Flags

_FEWEST_STEPS, _MOST_STEPS = 3, 5  # values of a column with a shared code
_FEWEST_COLUMNS, _SHARE = 3, 0.02  # that share it; of the rows
_FEW, _SOME = 0.02, 0.3  # shares of the rows that are above and below
_MOST_VALUES = 12  # that one answer can make missing
_DAY = r"[_ .-]?(\d{1,2}|baseline|bl|admission|first)?"  # weight_kg1, hrt1, age at admission
# Names of a measurement, and the numbers between which it lies in any unit.
_MEASURES = (
    (rf"(age|alter|edad|[aâ]ge){_DAY}", 0, 115),
    (rf"(pulse|puls|heart[_ .-]?rate|hr|hrt|heartrte){_DAY}", 5, 350),
    (rf"(sys(tolic)?[_ .-]?(bp)?|sbp|sysbp){_DAY}", 20, 370),
    (rf"(dia(stolic)?[_ .-]?(bp)?|dbp|diabp){_DAY}", 5, 300),
    (rf"(map|mean[_ .-]?bp|meanbp){_DAY}", 5, 330),
    (rf"(resp(iratory)?[_ .-]?(rate)?|rr){_DAY}", 1, 120),
    (rf"(weight[_ .-]?(kg|lb)?|gewicht|body[_ .-]?weight|wt[_ .-]?kg){_DAY}", 0.2, 1500),
    (rf"(height[_ .-]?(cm|m|in)?|gr[oö](ss|ß)e|ht[_ .-]?cm){_DAY}", 0.2, 280),
    (rf"(bmi){_DAY}", 5, 200),
    (rf"(temp(erature)?[_ .-]?[cf]?){_DAY}", 10, 120),
    (rf"(spo2|sao2|o2[_ .-]?sat){_DAY}", 5, 100),
    (r".*[_ .-](tat|hours?|hrs?)", -np.inf, 24 * 365.25 * 5),
)


def find_odd_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find odd numbers among the predictors, the follow-up times and a label that is divided."""
    numbers = {name: table.numbers(name) for name in table.numeric}
    for name, values in numbers.items():
        yield from odd_values(name, values)
    yield from _shared_codes(numbers)
    if table.outcome is not None:
        yield from odd_outcomes(table.rows, table.description.outcome, table.outcome.follow)


def odd_outcomes(rows: pa.Table, asked: Outcome, follow: FollowUp | None) -> Iterator[Finding]:
    """Find odd follow-up times, and odd numbers in a label that is divided."""
    if asked.time is not None and follow is not None:
        yield from odd_values(asked.time, follow.time, needed=True, ended=follow.ended)
    if asked.above is not None:
        values = numbers(plain(rows[asked.field]), asked.field)
        yield from odd_values(asked.field, values, needed=True)


def odd_values(
    name: str, values: Array, *, needed: bool = False, ended: Flags | None = None
) -> Iterator[Finding]:
    """Find codes for no value, or else two units, among numbers (n,).

    A column that is `needed` (a follow-up time, a label that is divided) cannot be left out. Of
    times, `ended` tells which ones are to an event: many others may be the end of the study, long
    after these.
    """
    codes = missing_codes(name, values, needed=needed, spikes=ended is None)
    for text, code in codes:
        if needed:
            yield Finding(text, (name,), (KEEP,))
        else:
            yield Finding(text, (name,), (MISSING_VALUES, KEEP), (code,))
    seen = values if ended is None else values[ended]
    units = "" if codes else two_units(name, seen, needed=needed)
    if units:
        yield Finding(units, (name,), (KEEP,) if needed else (LEAVE_OUT, KEEP))


def _shared_codes(numbers: Mapping[str, Array]) -> Iterator[Finding]:
    """Find the last of few values in several columns that stands in the same rows of all.

    Patients differ from question to question; those whose questionnaire is absent do not.
    """
    rows: dict[bytes, list[str]] = {}
    for name, values in numbers.items():
        distinct = np.unique(values[~np.isnan(values)])
        few = _FEWEST_STEPS <= len(distinct) <= _MOST_STEPS
        if few and (np.diff(distinct) == 1).all():
            last = values == distinct[-1]
            if last.mean() >= _SHARE:
                rows.setdefault(last.tobytes(), []).append(name)
    for names in filter(lambda names: len(names) >= _FEWEST_COLUMNS, rows.values()):
        for name in names:
            code = plainly(np.nanmax(numbers[name]))
            text = (
                f"Column {name!r}: {code!r} stands in the same rows as the last value of "
                f"{len(names) - 1} other columns. If it means no value, list it "
                "under missingValues."
            )
            yield Finding(text, (name,), (MISSING_VALUES, KEEP), (code,))


def find_impossible_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find ages of 455 years and blood pressures of 0."""
    for name in table.numeric:
        limits = [m for names, *m in _MEASURES if re.fullmatch(names, name, re.IGNORECASE)]
        if not limits:
            continue
        low, high = limits[0]
        values = table.numbers(name)
        # What looks like a code for no value is asked about as one.
        codes = [float(code) for _, code in missing_codes(name, values)]
        outside = ((values < low) | (values > high)) & ~np.isin(values, codes)
        # Of a column in another unit, such as ages in months, many are too large.
        if not outside.any() or (values > high).mean() > _FEW or (values < low).mean() > _SOME:
            continue
        distinct = np.unique(values[outside])
        shown = ", ".join(repr(plainly(value)) for value in distinct[:3])
        n = Count(int(outside.sum()))
        text = Text("Column {!r}: {} values such as {} are impossible.", name, n, shown)
        few = len(distinct) <= _MOST_VALUES
        answers = (MISSING_VALUES, KEEP) if few else (LEAVE_OUT, KEEP)
        yield Finding(text, (name,), answers, tuple(map(plainly, distinct)) if few else ())
