"""Pages as lists of sections, which one template renders."""

from collections.abc import Sequence
from dataclasses import dataclass

from deepcac.pages.figures import Figure
from deepcac.pages.tables import Table

# A heading of a list of contents, and its entries: text and anchor.
Group = tuple[str, list[tuple[str, str]]]
_FEW = 3  # entries from which a page has a list of contents


@dataclass(frozen=True)
class Section:
    """A part of a page: what is said, then its figures, then its tables.

    Attributes
    ----------
    title : str
        Its heading; a section without one is the body of the page.
    anchor, link : str
        What leads to it; where its heading leads.
    notes, sentences : sequence of str
        What a reader must know; what was found.
    figures, tables : sequence
    folded : bool
        Whether its tables open by a click, but for the first.
    part : bool
        Whether it is a part of the section before it.
    template : str
        Of what is neither figure nor table.
    """

    title: str = ""
    anchor: str = ""
    link: str = ""
    notes: Sequence[str] = ()
    sentences: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    folded: bool = False
    part: bool = False
    template: str = ""

    @property
    def entries(self) -> list[Group]:
        """What it adds to a list of contents."""
        subject = f"{self.title}: "
        figures = [(f.title.removeprefix(subject), f"figure-{f.id}") for f in self.figures]
        tables = [(_short(table), f"table-{table.id}") for table in self.tables]
        if self.title:
            return [(self.title, [*figures, *tables])]
        return [("Figures", figures), ("Tables", tables)]


def _short(table: Table) -> str:
    """Return a title; of a printed table without its paper, whose page it is on."""
    return table.title.rpartition("), ")[2] if table.group else table.title


@dataclass(frozen=True)
class ReportPage:
    """A page: its heading, what is said first, and its sections.

    Attributes
    ----------
    id, heading : str
        Its file, without the ending; the first line.
    sections : sequence of Section
    name, subject : str
        What the menu calls it, and the subject that it is listed under.
    notes, warnings, sentences : sequence of str
        What a reader must know, what to take care of, and what was found.
    written : frozenset of str
        Ids of the tables that are files as well.
    back, of : str
        The page of all pages of subtypes, and the data set that these are of.
    synthetic : bool
        Whether no patient stands behind it.
    """

    id: str
    heading: str
    sections: Sequence[Section]
    name: str = ""
    subject: str = ""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    sentences: Sequence[str] = ()
    written: frozenset[str] = frozenset()
    back: str = ""
    of: str = ""
    synthetic: bool = False

    @property
    def contents(self) -> list[Group]:
        """The list of contents; none of a page that is seen at once."""
        groups: list[Group] = []
        for section in self.sections:
            if section.part:
                groups[-1][1].append((section.title, section.anchor))
            else:
                groups += section.entries
        return groups if sum(len(entries) for _, entries in groups) >= _FEW else []
