"""Columns of numbers that cannot be numbers."""

from collections.abc import Iterator

from deepcac.table.columns.description import LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding


def find_unreadable(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that the encoder refuses: an impossible number, two columns of one feature."""
    assert table.encoder  # it fills `unreadable`
    for name, why in table.unreadable.items():
        yield Finding(why, (name,), (LEAVE_OUT,))
