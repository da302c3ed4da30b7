"""Pages as lists of blocks, such as notes, figures and tables, which one template renders."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import Rule

# A heading of a list of contents, and its entries: text and anchor.
Group = tuple[str, list[tuple[str, str]]]
_FEW = 3  # entries from which a page has a list of contents


class Statement(str):
    """A sentence of what was found; a plain string is a note, which is paler."""


@dataclass(frozen=True)
class Facts:
    """Names and what is known of each, as a list; entries without a value are left out."""

    entries: Sequence[tuple[str, str]]


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
        What leads to it, if anything; what is above it.
    blocks : sequence of Block
        Notes (str, or Markup where they hold HTML) and whatever else a `Block` is; a function of
        the rule by which counts are written, where a figure is drawn from them.
    link : str
        The heading among the links of the page.
    folded : bool
        Whether it opens by a click on its heading.
    """

    id: str
    heading: str
    blocks: "Sequence[Block]"
    link: str = ""
    folded: bool = False


Block = str | Statement | Facts | Figure | Table | Remarks | Section | Callable[[Rule], "Block"]
_KINDS: tuple[tuple[type, str], ...] = (
    (Statement, "finding"), (str, "note"), (Facts, "facts"), (Figure, "figure"), (Table, "table"),
    (Remarks, "remarks"), (Section, "section"),
)  # fmt: skip


def kind(block: Block) -> str:
    """Return how the template calls a block."""
    return next(name for of, name in _KINDS if isinstance(block, of))


def tables_of(blocks: Iterable[Block]) -> list[Table]:
    """Return the tables of blocks and of the sections among them, in order."""
    tables: list[Table] = []
    for block in blocks:
        if isinstance(block, Table):
            tables.append(block)
        elif isinstance(block, Section):
            tables += tables_of(block.blocks)
    return tables


def titled(tables: Iterable[Table], *, folded: bool = False) -> list[Section]:
    """Return tables under their titles, a note that several share once.

    If they are `folded`, all but the first open by a click.
    """
    sections: list[Section] = []
    before = ""
    for table in tables:
        notes = [table.note] if table.note not in ("", before) else []
        closed = folded and bool(sections)
        sections.append(Section("", table.title, [*notes, table], folded=closed))
        before = table.note
    return sections


def contents(blocks: Iterable[Block]) -> list[Group]:
    """Return the list of contents of a page's blocks; none of a page that is seen at once."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for block in blocks:
        named = isinstance(block, Section) and block.id
        heading = block.heading if isinstance(block, Section) and named else _heading(block)
        inner = block.blocks if isinstance(block, Section) and named else [block]
        groups.setdefault(heading, []).extend(_entries(inner, f"{heading}: "))
    many = sum(len(entries) for entries in groups.values())
    return list(groups.items()) if many >= _FEW else []


def _heading(block: Block) -> str:
    return "Figures" if isinstance(block, Figure) else "Tables"


def _entries(blocks: Iterable[Block], subject: str) -> list[tuple[str, str]]:
    """Return what blocks add to a list of contents, the subject of their section left out."""
    entries: list[tuple[str, str]] = []
    for block in blocks:
        if isinstance(block, Figure):
            entries.append((block.title.removeprefix(subject), f"figure-{block.id}"))
        elif isinstance(block, Table):
            # A printed table is on the page of its paper, which needs no name there.
            title = block.title.rpartition("), ")[2] if block.group else block.title
            entries.append((title, f"table-{block.id}"))
        elif isinstance(block, Section):
            entry = [(block.heading, block.id)] if block.id else _entries(block.blocks, subject)
            entries += entry
    return entries
