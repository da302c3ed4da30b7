"""A page about a table: the answer first, then sections of notes, figures and tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deepcac import __version__
from deepcac.files.atomic import atomic_path
from deepcac.pages.figures import Figure
from deepcac.pages.sections import Block, Facts, Remarks, Section
from deepcac.pages.tables import Table
from deepcac.pages.templating import environment
from deepcac.scoring.small_cells import NOTE, OTHERS, OWNER, Rule
from deepcac.table.answer import Answer
from deepcac.table.findings.label_leaks import HEAD
from deepcac.table.inference.labelled_table import LabelledTable
from deepcac.table.output_files import StrPath
from deepcac.table.page_text import page_text, quotable


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


OWN = (
    "This page is only for the owner of the table: it has true counts, and what messages say of "
    "single rows. It must not leave your hands."
)


def write_page(path: StrPath, page: Page, *, exact: bool = False) -> Page:
    """Write a page as HTML and return it as it is shown, of plain text.

    Its counts are hidden and rounded, unless it is the owner's own (`exact`).
    """
    rule = OWNER if exact else OTHERS
    shown = shown_page(page, rule)
    made = environment("deepcac.table")
    made.globals["embedded"] = True
    words = {"rounding": rule.show(NOTE), "own": OWN if exact else "", "version": __version__}
    text = made.get_template("page.html").render(document=shown, title=shown.title, **words)
    with atomic_path(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return shown


def shown_page(page: Page, rule: Rule) -> Page:
    """Return a page of plain text, whose counts are as the rule has them."""
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
        rows = [[replace(cell, text=rule.show(cell.text)) for cell in row] for row in block.rows]
        return replace(block, head=list(map(rule.show, block.head)), rows=rows)
    if isinstance(block, Facts):
        return Facts([(rule.show(name), rule.show(value)) for name, value in block.entries])
    if isinstance(block, Remarks):
        return replace(block, lines=[rule.show(page_text(line, names)) for line in block.lines])
    if isinstance(block, Section):
        return replace(block, blocks=[_under(rule, names, inner) for inner in block.blocks])
    return block if isinstance(block, Figure) else _under(rule, names, block(rule))


def remarks_on(lines: Iterable[str]) -> list[Block]:
    """Return what to know of a table, under its heading; nothing where there is nothing."""
    lines = list(lines)
    return [Section("remarks", "What to know", [Remarks(lines)])] if lines else []


def method_section(lines: Iterable[str], heading: str = "How it was judged") -> Section:
    """Return how a page was made, a paragraph each."""
    return Section("method", heading, list(lines))


def page_names(table: LabelledTable, *names: str) -> frozenset[str]:
    """Return what a page may quote: `names`, and those that its table has."""
    return quotable(table.columns, (*table.classes, *table.words, table.label, *names))


def leak_warning(table: LabelledTable) -> list[Block]:
    """Return a warning of columns that know the label."""
    return [Remarks(table.leaks, HEAD, warning=True)] if table.leaks else []
