"""What a data manager would say about a table before a model is made of it."""

from typing import NamedTuple

from deepcac.table.columns.description import KEEP, LEAVE_OUT


class Finding(NamedTuple):
    """A remark on some columns, which a description answers."""

    text: str  # what was found, with the column
    fields: tuple[str, ...] = ()  # the columns; empty for the rows as a whole
    answers: tuple[str, ...] = ()  # of a question; empty for a finding that is certain
    values: tuple[str, ...] = ()  # cells of the columns that it is about
    # What the description says without a question: `LEAVE_OUT`, or a role of the column
    certain: str = ""
    check: str = ""  # name of the check that found it (`run_checks` sets it)


def leave_out(name: str, why: str) -> Finding:
    """Leave a column out."""
    return Finding(why, (name,), certain=LEAVE_OUT)


def ask_to_leave_out(name: str, why: str) -> Finding:
    """Ask whether a column is to be left out."""
    return Finding(f"{name!r} {why}", (name,), (LEAVE_OUT, KEEP))
