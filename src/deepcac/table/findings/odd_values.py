"""Numbers that may be codes for no value, or be in two units."""

from collections.abc import Iterator

import pyarrow as pa

from deepcac.scoring.censored import FollowUp
from deepcac.table.columns.cells import plain
from deepcac.table.columns.description import KEEP, LEAVE_OUT, MISSING_VALUES
from deepcac.table.columns.roles import Roles
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.reading.class_labels import label_numbers
from deepcac.table.reading.odd_numbers import missing_codes, two_units
from deepcac.types import Array, Flags


def find_odd_values(table: ExaminedTable) -> Iterator[Finding]:
    """Find odd numbers among the predictors, the follow-up times and a label that is divided."""
    for name in table.numeric:
        yield from odd_values(name, table.numbers(name))
    if table.roles is not None:
        yield from odd_outcomes(table.sample.rows, table.roles, table.follow)


def odd_outcomes(rows: pa.Table, roles: Roles, follow: FollowUp | None) -> Iterator[Finding]:
    """Find odd follow-up times, and odd numbers in a label that is divided."""
    if roles.time is not None and follow is not None:
        yield from odd_values(roles.time, follow.time, needed=True, ended=follow.ended)
    if roles.above is not None:
        values = label_numbers(plain(rows[roles.label]), roles.label)
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
    units = "" if codes else two_units(name, values if ended is None else values[ended])
    if units:
        yield Finding(units, (name,), (KEEP,) if needed else (LEAVE_OUT, KEEP))
