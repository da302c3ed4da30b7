"""What a data manager would say about a table before a model is made of it."""

from typing import NamedTuple

from deepcac.table.columns.description import KEEP, LEAVE_OUT


class Finding(NamedTuple):
    """A remark on some columns, which a description answers.

    Attributes
    ----------
    text : str
        What was found, with the column.
    fields : tuple of str
        The columns; empty for the rows as a whole.
    answers : tuple of str
        Of a question; empty for a finding that is certain.
    values : tuple of str
        Cells of the columns that it is about.
    certain : str
        What the description says without a question: `LEAVE_OUT`, or a role of the column.
    check : str
        Name of the check that found it (`run_checks` sets it).
    """

    text: str
    fields: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    certain: str = ""
    check: str = ""


def leave_out(name: str, why: str) -> Finding:
    """Leave a column out."""
    return Finding(why, (name,), certain=LEAVE_OUT)


def ask_to_leave_out(name: str, why: str) -> Finding:
    """Ask whether a column is to be left out."""
    return Finding(f"{name!r} {why}", (name,), (LEAVE_OUT, KEEP))
