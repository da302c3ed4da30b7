"""Numbers that may be codes for no value, or be in two units."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from deepcac.scoring.censored import FollowUp
from deepcac.table.columns.cells import numbers, plain
from deepcac.table.columns.description import KEEP, LEAVE_OUT, MISSING_VALUES
from deepcac.table.columns.roles import Roles
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.reading.odd_numbers import missing_codes, plainly, two_units
from deepcac.types import Array, Flags

_FEWEST_STEPS, _MOST_STEPS = 3, 5  # values of a column with a shared code
_FEWEST_COLUMNS, _SHARE = 3, 0.02  # that share it; of the rows


def find_odd_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find odd numbers among the predictors, the follow-up times and a label that is divided."""
    numbers = {name: table.numbers(name) for name in table.numeric}
    for name, values in numbers.items():
        yield from odd_values(name, values)
    yield from _shared_codes(numbers)
    if table.roles is not None:
        yield from odd_outcomes(table.sample.rows, table.roles, table.follow)


def odd_outcomes(rows: pa.Table, roles: Roles, follow: FollowUp | None) -> Iterator[Finding]:
    """Find odd follow-up times, and odd numbers in a label that is divided."""
    if roles.time is not None and follow is not None:
        yield from odd_values(roles.time, follow.time, needed=True, ended=follow.ended)
    if roles.above is not None:
        values = numbers(plain(rows[roles.label]), roles.label)
        yield from odd_values(roles.label, values, needed=True)


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
