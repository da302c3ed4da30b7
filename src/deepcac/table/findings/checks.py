"""Every check, in the order in which a person reads what they find."""

from collections.abc import Iterator
from dataclasses import replace

from deepcac.table.columns.description import LEAVE_OUT
from deepcac.table.findings.dates import find_dates
from deepcac.table.findings.examination import Check, ExaminedTable, run_checks
from deepcac.table.findings.filled_after import find_filled_after
from deepcac.table.findings.finding import Finding
from deepcac.table.findings.follow_up import find_follow_up
from deepcac.table.findings.header import find_no_header
from deepcac.table.findings.label_leaks import find_label_leaks
from deepcac.table.findings.levels import find_spellings
from deepcac.table.findings.odd_values import find_odd_values
from deepcac.table.findings.repeated_rows import find_repeated_rows
from deepcac.table.findings.row_names import find_row_names
from deepcac.table.findings.unreadable import find_unreadable

# Columns that are no predictors: they are looked for once, when a description is made.
NO_PREDICTORS: dict[str, Check] = {"row name": find_row_names, "date": find_dates}
LEAKS: dict[str, Check] = {
    "label leak": find_label_leaks,
    "follow-up": find_follow_up,
    "filled after": find_filled_after,
}
QUESTIONS: dict[str, Check] = {
    "unreadable": find_unreadable,
    "header": find_no_header,
    "repeated rows": find_repeated_rows,
    "spelling": find_spellings,
    "odd value": find_odd_values,
    **LEAKS,
}


def find_certain(table: ExaminedTable) -> Iterator[Finding]:
    """Yield what a description says without a question."""
    return run_checks(NO_PREDICTORS, table)


def find_questions(table: ExaminedTable) -> list[Finding]:
    """Return what a person must decide, but for what the description has an answer to."""
    use = table.description.resource.use
    answered = {(asked.check, name) for asked in use.questions for name in asked.fields or ("",)}
    return [
        finding
        for finding in run_checks(QUESTIONS, table)
        if any((finding.check, name) not in answered for name in finding.fields or ("",))
    ]


def with_certain(table: ExaminedTable) -> ExaminedTable:
    """Return a table whose description leaves out what is certainly no predictor."""
    resource = table.description.resource
    leave_out = dict(resource.use.leave_out)
    for finding in find_certain(table):
        if finding.certain == LEAVE_OUT:
            leave_out |= dict.fromkeys(finding.fields, finding.text)
    use = resource.use.model_copy(update={"leave_out": leave_out})
    described = replace(table.description, resource=resource.model_copy(update={"use": use}))
    return replace(table, description=described, unreadable={})
