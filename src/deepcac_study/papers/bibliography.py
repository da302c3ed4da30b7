"""The five papers, in the order of the claims table: references, and the tables they print."""

from functools import cached_property
from importlib import resources
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from deepcac_study.catalogue.facts import facts

Kind = Literal["score", "alpha", "summary", "data", "other"]


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reference(_Fact):
    """A work as it is cited.

    Attributes
    ----------
    authors : str
        Names as printed, the family name last, joined by commas.
    venue : str
        Where it appeared, as far as the paper says.
    """

    authors: str
    title: str
    year: int
    venue: str = ""

    @property
    def short(self) -> str:
        """Authors and year, as in a sentence."""
        families = [name.split()[-1] for name in self.authors.split(", ")]
        who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
        return f"{who} {self.year}"

    def __str__(self) -> str:
        parts = filter(None, (self.authors, self.title, self.venue, str(self.year)))
        return ". ".join(parts).replace("!.", "!") + "."


class PrintedTable(_Fact):
    """One printed table and how the paper lays it out: a row of the paper's ``tables.csv``.

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
    items : str
        Columns of the file that hold printed values, joined by a space, where the kind does not
        say it.
    folds : bool
        Whether it was printed from five-fold cross-validation; its runs as published are
        cross-validated too.
    setting : bool
        Whether it says what was tried, so that no run can agree with it or differ from it.
    derived : bool
        Whether its cells follow from those of another table, as counts and averages do.
    same_split : bool
        Whether our run as published has the paper's own split and seed.
    """

    source: str
    number: str
    kind: Kind
    title: str
    rows: str
    columns: str
    items: str = ""
    folds: bool = False
    setting: bool = False
    derived: bool = False
    same_split: bool = False


class Paper(_Fact):
    """One of the papers.

    Attributes
    ----------
    key : str
        As in the column ``paper`` of its files.
    folder : str
        The folder of `deepcac_study.papers` with its printed tables, claims, names and settings.
    label : str
        For people.
    proposes : str
        What the paper proposes, in a sentence.
    pictures : tuple of str
        Pages of the report whose pictures decide its claims.
    """

    key: str
    folder: str
    label: str
    proposes: str
    reference: Reference
    pictures: tuple[str, ...]

    @property
    def citation(self) -> str:
        """Label, authors and year."""
        return f"{self.label} ({self.reference.short})"

    @cached_property
    def tables(self) -> tuple[PrintedTable, ...]:
        """The printed tables."""
        return tuple(PrintedTable.model_validate(row) for row in facts("tables", self.folder))


def _papers() -> dict[str, Paper]:
    text = (resources.files("deepcac_study.papers") / "papers.yaml").read_text(encoding="utf-8")
    return {key: Paper(key=key, **own) for key, own in yaml.safe_load(text).items()}


PAPERS = _papers()
