"""What a data manager would say about a table before a model is made of it."""

from typing import NamedTuple


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
        Name of the check that found it (`find_all` sets it).
    """

    text: str
    fields: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    certain: str = ""
    check: str = ""
