"""What a paper is: its reference, and the tables that it prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["score", "alpha", "summary", "data", "other"]


@dataclass(frozen=True)
class Reference:
    """A work as it is cited.

    Attributes
    ----------
    authors : tuple of str
        Names as printed, the family name last.
    title : str
    year : int
    venue : str
        Where it appeared, as far as the paper says.
    """

    authors: tuple[str, ...]
    title: str
    year: int
    venue: str = ""

    @property
    def short(self) -> str:
        """Authors and year, as in a sentence."""
        families = [name.split()[-1] for name in self.authors]
        who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
        return f"{who} {self.year}"

    def __str__(self) -> str:
        parts = (", ".join(self.authors), self.title, self.venue, str(self.year))
        return ". ".join(filter(None, parts)).replace("!.", "!") + "."


@dataclass(frozen=True)
class PrintedTable:
    """One printed table and how the paper lays it out.

    Attributes
    ----------
    source : str
        Name of its file of facts, without ``.csv``.
    number : str
        As the paper numbers it.
    kind : {"score", "alpha", "summary", "data", "other"}
        What decides its cells.
    title : str
        What it holds.
    rows, columns : str
        Fields of a ledger entry, joined by a space, that name a row and a column.
    items : tuple of str
        Columns of the file that hold printed values, where that is not the same for every table
        of the kind.
    folds : bool
        Whether it was printed from five-fold cross-validation; its runs as published are
        cross-validated too.
    setting : bool
        Whether it says what was tried, so that no run can agree with it or differ from it.
    """

    source: str
    number: str
    kind: Kind
    title: str
    rows: str
    columns: str
    items: tuple[str, ...] = ()
    folds: bool = False
    setting: bool = False


@dataclass(frozen=True)
class Paper:
    """One of the papers.

    Attributes
    ----------
    key : str
        As in the column ``paper`` of its files.
    folder : str
        The folder of `deepcac.papers` with its printed tables, claims, names and settings.
    label : str
        For people.
    reference : Reference
    tables : sequence of PrintedTable
    """

    key: str
    folder: str
    label: str
    reference: Reference
    tables: Sequence[PrintedTable]

    @property
    def citation(self) -> str:
        """Label, authors and year."""
        return f"{self.label} ({self.reference.short})"
