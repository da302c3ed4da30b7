"""Rows that are forms of a patient, and not patients."""

from collections.abc import Iterator

from deepcac.table.columns.description import KEEP, LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_MARKS = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


def find_forms(table: ExaminedTable) -> Iterator[Finding]:
    """Find an export in which an event or a repeated form is a row."""
    marks = tuple(name for name in table.rows.column_names if name.lower() in _MARKS)
    if marks:
        text = (
            f"{', '.join(map(repr, marks))}: a row is a form, and not a patient. Make one row of "
            "each patient in the file, or:"
        )
        yield Finding(text, marks, (LEAVE_OUT, KEEP))
