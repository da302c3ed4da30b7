"""Tables with the description that commands find out, and with all of its questions answered."""

from dataclasses import replace

from deepcac.files.limits import MOST_ROWS
from deepcac.table.columns.described_rows import DescribedTable, apply_answers
from deepcac.table.columns.description import KEEP, Outcome, Use
from deepcac.table.inference.described_table import describe_table
from deepcac.table.inference.labelled_table import described_table


def use_of(label="died", **lines):
    """Return a use of columns; `lines` are those of its outcome and its own."""
    of_outcome = {name: lines.pop(name) for name in Outcome.model_fields.keys() & lines.keys()}
    if not isinstance(left := lines.get("leave_out", {}), dict):
        lines["leave_out"] = dict.fromkeys(left, "as asked for")
    return Use(outcome=None if label is None else Outcome(field=label, **of_outcome), **lines)


def describe(path, label="died", **lines):
    """Return the description of a table; `lines` are those of `use_of`."""
    return describe_table(path, use_of(label, **lines)).description


def inferred(path, label="died", *, rows=MOST_ROWS, seed=0, **lines):
    """Return a table as a command finds out how it is read; `label` may be a whole use."""
    use = label if isinstance(label, Use) else use_of(label, **lines)
    return described_table(path, use, rows=rows, seed=seed)


def asked(path, label="died", **lines):
    """Return check and columns of each question about a table."""
    questions = describe(path, label, **lines).resource.use.questions
    return [(question.check, *question.fields) for question in questions]


def decided(path, label="died", answer=KEEP, **lines):
    """Return a table whose questions are answered.

    The answer is `answer`, or the first one of a question that has no such answer.
    """
    description = describe(path, label, **lines)
    use = description.resource.use
    questions = tuple(
        question.model_copy(
            update={"answer": answer if answer in question.answers else question.answers[0]}
        )
        for question in use.questions
    )
    changed = {"use": use.model_copy(update={"questions": questions})}
    resource = apply_answers(description.resource.model_copy(update=changed))
    description = replace(description, resource=resource, looked_at=False)
    return DescribedTable(path, description)
