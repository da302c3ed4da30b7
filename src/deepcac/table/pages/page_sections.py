"""A page about a table: the answer first, then sections of notes, figures and tables."""

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from deepcac import __version__
from deepcac.files.atomic import atomic_path
from deepcac.pages.figures import Figure, as_svg
from deepcac.pages.templating import environment
from deepcac.scoring.small_cells import NOTE, OTHERS, OWNER, Rule
from deepcac.table.answer import Answer
from deepcac.table.output_files import StrPath
from deepcac.table.page_text import page_text

HIDE_COUNTS = (True, False, False, True)  # on a narrow page: rows and events go before scores


@dataclass(frozen=True)
class PageTable:
    """A table of a page.

    Attributes
    ----------
    id, title : str
        The second is for readers who cannot see it.
    head : sequence of str
    rows : sequence of sequence of str
    labels : int
        How many columns name the row.
    kept : sequence of bool
        Which of the first columns stay where a page is too narrow for all.
    """

    id: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1
    kept: Sequence[bool] = ()


@dataclass(frozen=True)
class Remarks:
    """Messages about a table, without what they tell of few patients; in a box if `warning`.

    `head` is the line above them.
    """

    lines: Sequence[str]
    head: str = ""
    warning: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a page, under a heading.

    Attributes
    ----------
    id, heading : str
    blocks : sequence
        Notes (str, or Markup where they hold HTML), figures, tables, remarks and sections; or a
        function of the rule by which counts are written, where a figure is drawn from them.
    link : str
        The heading among the links of the page.
    """

    id: str
    heading: str
    blocks: "Sequence[Block]"
    link: str = ""


Block = str | Figure | PageTable | Remarks | Section | Callable[[Rule], "Block"]


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


_KINDS = {
    str: "note", Markup: "note", Figure: "figure", PageTable: "table", Remarks: "remarks",
    Section: "section",
}  # fmt: skip


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
    made.filters |= {"address": _address, "kind": lambda block: _KINDS[type(block)]}
    text = made.get_template("page.html").render(
        document=shown, rounding=rule.show(NOTE), own=OWN if exact else "", version=__version__
    )
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
    if isinstance(block, PageTable):
        rows = [tuple(map(rule.show, row)) for row in block.rows]
        return replace(block, head=list(map(rule.show, block.head)), rows=rows)
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


def tables_of(blocks: Iterable[Any]) -> list[PageTable]:
    """Return the tables of blocks and of the sections among them, in order."""
    tables: list[PageTable] = []
    for block in blocks:
        if isinstance(block, PageTable):
            tables.append(block)
        elif isinstance(block, Section):
            tables += tables_of(block.blocks)
    return tables


def _address(figure: Figure) -> str:
    """Return a figure as an address that needs no file."""
    coded = base64.b64encode(as_svg(figure).encode()).decode()
    return f"data:image/svg+xml;base64,{coded}"
