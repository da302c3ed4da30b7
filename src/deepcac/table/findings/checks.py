"""Every check, in the order in which a person reads what they find."""

from dataclasses import replace

from deepcac.table.columns.cells import as_texts, plain
from deepcac.table.columns.description import LEAVE_OUT, TEXT, OpenQuestion, TableDescription
from deepcac.table.findings import column_faults, label_leaks, repeated_rows
from deepcac.table.findings.examination import Check, ExaminedTable, Finding, run_checks

# What a description says without a question. It is looked for once, when the description is made:
# a person may then take a line out.
CERTAIN: dict[str, Check] = {
    "patient": repeated_rows.find_patient,
    "site": column_faults.find_site,
    "row name": column_faults.find_row_names,
    "person": column_faults.find_persons,
    "date": column_faults.find_dates,
    "constant": column_faults.find_constants,
    "duplicate": column_faults.find_duplicates,
    "code": column_faults.find_codes,
}
LEAKS: dict[str, Check] = {
    "label leak": label_leaks.find_label_leaks,
    "follow-up": label_leaks.find_follow_up,
    "endpoint": label_leaks.find_endpoints,
    "later event": label_leaks.find_later_events,
    "filled after": label_leaks.find_filled_after,
}
QUESTIONS: dict[str, Check] = {
    "unreadable": column_faults.find_unreadable,
    "header": column_faults.find_no_header,
    "repeated rows": repeated_rows.find_repeated_rows,
    "outcome": column_faults.find_unclear_outcome,
    "form": column_faults.find_forms,
    "weight": column_faults.find_weights,
    "spelling": column_faults.find_spellings,
    "impossible value": column_faults.find_impossible_values,
    "odd value": column_faults.find_odd_values,
    **LEAKS,
}


def find_questions(table: ExaminedTable) -> list[Finding]:
    """Return what a person must decide, but for what the description asks already."""
    asked = table.description.use.questions
    decided = {subject for question in asked for subject in _subjects(question)}
    findings = []
    for finding in run_checks(QUESTIONS, table):
        if not decided.issuperset(_subjects(finding)):
            findings.append(finding)
            # Of a leak a person decides once, whatever gives it away.
            decided |= _subjects(finding) if finding.check in LEAKS else set()
    return findings


def _subjects(about: Finding | OpenQuestion) -> set[tuple[str, str]]:
    """Return the (check, column) pairs that a finding or question is about."""
    what = "leak" if about.check in LEAKS else about.check
    return {(what, name) for name in about.fields or ("",)}


def apply_certain_findings(table: ExaminedTable) -> ExaminedTable:
    """Return the table with its description updated by the findings that need no confirmation."""
    for check in CERTAIN:
        findings = list(run_checks({check: CERTAIN[check]}, table))
        if findings:
            table = _as_described(table, _described(table, findings))
    return table


def _as_described(table: ExaminedTable, description: TableDescription) -> ExaminedTable:
    """Return a table by a new description, in which more columns may be texts."""
    rows, before = table.rows, table.description.fields
    for place, name in enumerate(rows.column_names):
        if description.fields[name].type == TEXT != before[name].type:
            rows = rows.set_column(place, name, as_texts(plain(rows[name])))
    sample = replace(table.sample, rows=rows)
    return replace(table, sample=sample, description=description, unreadable={})


def _described(table: ExaminedTable, findings: list[Finding]) -> TableDescription:
    fields = dict(table.description.fields)
    leave_out, changed = dict(table.description.use.leave_out), dict[str, object]()
    for finding in findings:
        for name in finding.fields:
            if finding.certain == LEAVE_OUT:
                leave_out[name] = finding.text
            elif finding.certain == TEXT:
                fields[name] = fields[name].model_copy(update={"type": TEXT})
            else:
                changed[finding.certain] = name
    resource = table.description.resource.changed(fields.values(), leave_out=leave_out, **changed)
    return replace(table.description, resource=resource)
