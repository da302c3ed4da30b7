"""What a page says of a message: the message, without rows, cells and counts of few patients.

A message for a terminal is for whoever has the table; it may name a row and its cell. A page is
sent to others. So every line of a page that began as a message passes here. Shares of patients are
typed where they are written (`Share`, `Count`), and are not looked for.
"""

import re
from collections.abc import Collection, Iterable
from typing import Protocol

from deepcac.scoring.small_cells import FEW, OWNER, Text

UNNAMED = "'…'"
_NUMBERS = r"\d[\d,]*(?:(?:, | and | or | to )\d[\d,]*)*"
_QUOTED = re.compile(r"(?<![\w'\"])('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?!\w)")
# A row and what stands in it; a row.
_CELL = re.compile(
    rf",? ?(?:in )?\b(?:data )?rows? {_NUMBERS}: (?:'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s;,]+)"
)
_ROW = re.compile(rf"\b(?:in )?(?:data )?rows? {_NUMBERS}(?! (?:of|rows))")
_UNITS = r"(?:rows?|cells?|patients?|values?|times|labels?|copies|ids?|visits?|records?|levels?)"
_COUNT = re.compile(
    rf"(?<![\d,.])(?:[1-7]|one|two|three|four|five|six|seven)(?= (?:\w+ )?{_UNITS}\b)"
)
_RANGE = re.compile(r"\b(?:it )?goes from \S+ to [^\s;,]+")
_LISTED = re.compile(r"; there are [^;]*")
_ONLY_IN_FEW = re.compile(rf"(?<=: )\S+(?= stands in fewer than {FEW}\b)")


class NamedLevels(Protocol):
    """A column of a table: its name, and the levels of a category."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels of a category."""


def page_text(message: object, names: Collection[str] = ()) -> Text:
    """Return what a page says of a message; that of the owner says it whole.

    Parameters
    ----------
    message : str or Exception
    names : collection of str
        What may be quoted: columns, and levels and classes of `FEW` patients or more. Whatever
        else stands in quotation marks is withheld.

    Examples
    --------
    >>> page_text("column 'age', data row 7: '6o' is no number; mend it", ["age"])
    "column 'age': a cell is no number; mend it"
    >>> page_text("2 patients are followed up", ["crp"])
    'fewer than 8 patients are followed up'
    """
    whole = message if isinstance(message, str) else str(message)
    text = _CELL.sub(": a cell", str(whole))
    text = _ROW.sub("in another row", text)
    text = _COUNT.sub(f"fewer than {FEW}", text)
    text = _RANGE.sub("has another range", text)
    text = _LISTED.sub("", text)
    text = _ONLY_IN_FEW.sub("a value", text)
    allowed = frozenset(names)
    text = _QUOTED.sub(lambda match: match[0] if _inside(match[0]) in allowed else UNNAMED, text)
    return Text.of(text, OWNER.show(whole))


def page_lines(messages: Iterable[object], names: Collection[str] = ()) -> list[Text]:
    """Return the `page_text` of each message, equal ones once."""
    lines: dict[Text, list[str]] = {}
    for message in messages:
        text = page_text(message, names)
        lines.setdefault(text, []).append(text.exact)
    return [Text.of(str(text), "; ".join(whole)) for text, whole in lines.items()]


def quotable(columns: Iterable[NamedLevels], classes: Collection[str] = ()) -> frozenset[str]:
    """Return the names that a page may quote: of columns, their levels, and classes."""
    named = [text for column in columns for text in (column.name, *column.levels)]
    return frozenset((*named, *classes))


def _inside(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])
