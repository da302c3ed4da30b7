"""What the answers to the questions of a description change in it."""

from typing import Any

from deepcac.errors import ConfigError
from deepcac.table.columns.dates import date_type
from deepcac.table.columns.description import (
    A_LEVEL,
    EVENT,
    KEEP,
    LEAVE_OUT,
    LEAVE_ROWS_OUT,
    MISSING_VALUES,
    NUMBER,
    PATIENT,
    TEXT,
    WRITTEN,
    ColumnField,
    OpenQuestion,
    Resource,
)


def apply_answers(resource: Resource) -> Resource:
    """Return a description in which every answer that was given has its effect."""
    use, usual = resource.use, resource.table.missing_values
    fields = {column.name: column for column in resource.table.fields}
    leave_out, patient, outcome = dict(use.leave_out), use.patient, use.outcome
    given = [asked for asked in use.questions if asked.answer not in (None, KEEP)]
    for about, name in ((asked, name) for asked in given for name in asked.fields):
        if name not in fields:
            raise ConfigError(f"a question is about {name!r}, which is no field")
        if about.answer == LEAVE_OUT:
            leave_out.setdefault(name, "decided by a person")
        elif about.answer == PATIENT:
            patient = name
            leave_out.pop(name, None)
        elif outcome is not None and about.answer == LEAVE_ROWS_OUT:
            outcome = outcome.model_copy(update={"rows_without": LEAVE_OUT})
        elif outcome is not None and str(about.answer).startswith(f"{EVENT} "):
            event = str(about.answer).removeprefix(f"{EVENT} ")
            outcome = outcome.model_copy(update={"event": event})
        else:
            if outcome is not None and name == outcome.field:
                outcome = outcome.model_copy(update={"rows_without": LEAVE_OUT})
            fields[name] = fields[name].model_copy(update=_changed(fields[name], about, usual))
    roles = use.changed(patient=patient, outcome=outcome).roles()
    left = {name: why for name, why in leave_out.items() if name not in roles}
    return resource.changed(fields.values(), patient=patient, outcome=outcome, leave_out=left)


def _changed(column: ColumnField, asked: OpenQuestion, usual: tuple[str, ...]) -> dict[str, Any]:
    """Return what an answer changes in a field."""
    if str(asked.answer).startswith(f"{WRITTEN} "):
        kind, format = date_type(str(asked.answer).removeprefix(f"{WRITTEN} "))
        return {"type": kind, "format": format}
    verb, _, value = str(asked.answer).partition(" ")
    missing = usual if column.missing_values is None else column.missing_values
    if asked.answer == A_LEVEL:
        return {"missing_values": tuple(word for word in missing if word not in asked.values)}
    if verb == MISSING_VALUES:
        return {"missing_values": (*missing, *asked.values)}
    if verb == "decimal":
        return {"type": NUMBER, "decimal_char": value, "group_char": "," if value == "." else "."}
    if verb in (NUMBER, TEXT):
        return {"type": verb}
    raise ConfigError(f"{column.name!r}: {verb!r} is no answer that has an effect")
