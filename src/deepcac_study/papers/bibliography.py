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
    """A cited work."""

    authors: str  # names as printed, the family name last, joined by commas
    title: str
    year: int
    venue: str = ""  # where it appeared, as far as the paper says

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
    """One printed table and its layout: a row of the paper's ``tables.csv``."""

    source: str  # name of its file of facts, without ``.csv``
    number: str  # as the paper numbers it
    kind: Kind  # what decides its cells
    title: str  # what it holds
    # Fields of a ledger entry, joined by a space, that name a row and a column.
    rows: str
    columns: str
    # Columns of the file with printed values, separated by spaces, if the kind has no default.
    items: str = ""
    # Whether it was printed from five-fold cross-validation, as its runs as published then are.
    folds: bool = False
    # Whether it lists settings that were tried, so that no run can agree or differ.
    setting: bool = False
    # Whether its cells follow from those of another table, as counts and averages do.
    derived: bool = False
    same_split: bool = False  # whether our run as published has the paper's split and seed
    averaged: bool = False  # whether its scores are means over the classes, also of two


class Paper(_Fact):
    """One of the papers."""

    key: str  # as in the column ``paper`` of its files
    # The folder of `deepcac_study.papers` with its printed tables, claims, names and settings.
    folder: str
    label: str  # for people
    proposes: str  # what the paper proposes, in a sentence
    methods: tuple[str, ...] = ()  # of its own, as its tables call them in their columns
    reference: Reference
    pictures: tuple[str, ...]  # pages of the report whose pictures decide its claims

    @property
    def citation(self) -> str:
        """Label, authors and year."""
        return f"{self.label} ({self.reference.short})"

    @cached_property
    def tables(self) -> tuple[PrintedTable, ...]:
        """The printed tables."""
        return tuple(PrintedTable.model_validate(row) for row in facts("tables", self.folder))

    def averages(self, number: str) -> bool:
        """Return whether the scores of a table are means over the classes, even for two."""
        return any(table.averaged for table in self.tables if table.number == number)


def _papers() -> dict[str, Paper]:
    text = (resources.files("deepcac_study.papers") / "papers.yaml").read_text(encoding="utf-8")
    return {key: Paper(key=key, **fields) for key, fields in yaml.safe_load(text).items()}


PAPERS = _papers()
