"""A page about a table: the answer first, then sections of notes, figures and tables.

A message for a terminal is for whoever has the table; it may name a row and its cell. A page is
sent to others. So every line of a page that began as a message passes `page_text`. Shares of
patients are typed where they are written (`Share`, `Count`), and are not looked for.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deepcac import __version__
from deepcac.files.atomic import atomic_path
from deepcac.files.output_files import StrPath
from deepcac.pages.figures import Figure
from deepcac.pages.sections import Block, Facts, Remarks, Section
from deepcac.pages.tables import Table
from deepcac.pages.templating import environment
from deepcac.scoring.small_cells import FEW, NOTE, OTHERS, OWNER, Rule, Text
from deepcac.table.answer import Answer
from deepcac.table.findings.label_leaks import HEAD
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.reading.table_encoder import EncodedColumn

UNNAMED = "'…'"
_NUMBERS = r"\d[\d,]*(?:(?:, | and | or | to )\d[\d,]*)*"
_QUOTED = re.compile(r"(?<![\w'\"])('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?!\w)")
# A row and its content; a row.
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
_ONLY_IN_FEW = re.compile(rf"(?<=: )\S+(?= occurs in fewer than {FEW}\b)")


def page_text(message: object, names: Collection[str] = ()) -> Text:
    """Return what a page says of a message; that of the owner says it whole.

    Parameters
    ----------
    message : str or Exception
    names : collection of str
        What may be quoted: columns, and levels and classes of `FEW` patients or more. Whatever
        else is in quotation marks is withheld.

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


def quotable(columns: Iterable[EncodedColumn], classes: Collection[str] = ()) -> frozenset[str]:
    """Return the names that a page may quote: of columns, their levels, and classes."""
    named = [text for column in columns for text in (column.name, *column.levels)]
    return frozenset((*named, *classes))


def _inside(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


@dataclass(frozen=True)
class Page:
    """A page about a table of one's own: one HTML file, which needs no other.

    Attributes
    ----------
    title : str
    answer : Answer
        The first screen.
    sections : sequence of Section
        The blocks of the first one follow the answer.
    command : str
        What made the page.
    names : collection of str
        What a message on the page may quote.
    """

    title: str
    answer: Answer
    sections: Sequence[Section]
    command: str
    names: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def of_table(
        cls,
        table: LabelledTable,
        answer: Answer,
        first: Sequence[Block],
        sections: Sequence[Section],
        command: str,
        *,
        title: str,
        remarks: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> "Page":
        """Return the page that answers a question about a table with an outcome.

        Parameters
        ----------
        table : LabelledTable
        answer : Answer
        first : sequence of Block
            A figure, and what it is about; columns that know the label come before them, and what
            the answer rests on after them.
        sections : sequence of Section
            The others.
        command, title : str
        remarks : sequence of str
            What to know besides the remarks on the table.
        names : sequence of str
            What may be quoted besides the names of the table.
        """
        blocks = [
            *([Remarks(table.leaks, HEAD, warning=True)] if table.leaks else []),
            *first,
            *([Remarks(answer.warnings, warning=True)] if answer.warnings else []),
            *answer.details,
            *remarks_on([*table.remarks, *remarks]),
        ]
        sections = [Section("answer", "Answer", blocks), *sections]
        return cls(title, answer, sections, command, page_names(table, *names))


OWN = (
    "This page is only for the owner of the table: it has true counts, and what messages say of "
    "single rows. It must not leave your hands."
)


def write_page(path: StrPath, page: Page, *, exact: bool = False) -> Page:
    """Write a page as HTML and return it as it is shown, of plain text.

    Its counts are hidden and rounded, unless it is the owner's own (`exact`).
    """
    shown = shown_page(page, exact=exact)
    made = environment("deepcac.table")
    made.globals["embedded"] = True
    rounding = NOTE.exact if exact else str(NOTE)
    words = {"rounding": rounding, "own": OWN if exact else "", "version": __version__}
    text = made.get_template("page.html").render(document=shown, title=shown.title, **words)
    with atomic_path(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return shown


def shown_page(page: Page, *, exact: bool) -> Page:
    """Return a page of plain text, whose counts are those of the owner, or for others."""
    rule = OWNER if exact else OTHERS
    answer, show = page.answer, rule.show
    shown = replace(
        answer,
        sentence=show(answer.sentence),
        also=list(map(show, answer.also)),
        numbers=[(show(name), show(value)) for name, value in answer.numbers],
        details=list(map(show, answer.details)),
        warnings=list(map(show, answer.warnings)),
    )
    sections: Any = [_under(rule, page.names, section) for section in page.sections]
    return replace(page, answer=shown, sections=sections)


def _under(rule: Rule, names: frozenset[str], block: Block) -> Block:
    """Return a block of plain text; a message is without what it tells of single rows."""
    if isinstance(block, str):
        return rule.show(block)
    if isinstance(block, Table):
        return block.under(rule)
    if isinstance(block, Facts):
        return Facts([(rule.show(name), rule.show(value)) for name, value in block.entries])
    if isinstance(block, Remarks):
        return replace(block, lines=list(map(rule.show, page_lines(block.lines, names))))
    if isinstance(block, Section):
        return replace(block, blocks=[_under(rule, names, inner) for inner in block.blocks])
    return block if isinstance(block, Figure) else _under(rule, names, block(rule))


def remarks_on(lines: Iterable[str]) -> list[Block]:
    """Return what to know of a table, under its heading; nothing where there is nothing."""
    lines = list(lines)
    return [Section("remarks", "What to know", [Remarks(lines)])] if lines else []


def method_section(lines: Iterable[str], heading: str = "How it was tested") -> Section:
    """Return how a page was made, a paragraph each."""
    return Section("method", heading, list(lines))


def page_names(table: LabelledTable, *names: str) -> frozenset[str]:
    """Return what a page may quote: `names`, and those that its table has."""
    return quotable(table.columns, (*table.classes, *table.words, table.label, *names))
