"""The one language of rules: each paper's ``rules.csv``, a query of the table of scores a row.

Read a row as: from `source`, where `where`, group by `group_by`, ask `check`. All rows of a claim
must hold. Columns:

- id: the claim;
- source: a source of the table (`papers.scores`), ``ledger``, or a printed table of scores: then
  the data sets and base classifiers that it names. ``theory``, ``print`` and ``printed cells`` need
  no runs;
- where: a condition on the columns, as `pandas.DataFrame.query` reads it;
- group_by: columns; `check` is asked of each group, and a share of the groups must be true;
- check: words of `rules.comparisons.CHECKS` that compare scores, else a function by its place in
  `deepcac_study.papers`;
- methods, than: what is compared with what: methods, of which ``*`` stands for each base
  classifier, ``printed`` for all of the table and ``others`` for those that are not among
  `methods`. As many of both are compared one with one, else each with each;
- metric, k: as printed, several with a space between; without k the paper's own;
- threshold: the numbers that the claim names. How many comparisons must be true is read from the
  claim's words (`asked`);
- words: what to run where there is nothing, or what is counted, or what a gain is called;
- print: ``else`` where printed values decide as long as there are too few runs;
- unless: a function that says why the runs decide nothing, such as those of other data.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import pandas as pd

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.truth import Answer
from deepcac_study.papers.verdicts import Found


class Rule(NamedTuple):
    """One row of a table of rules; the module says what the fields mean."""

    id: str
    source: str = ""
    where: str = ""
    group_by: str = ""
    check: str = ""
    methods: str = ""
    than: str = ""
    metric: str = ""
    k: str = ""
    threshold: str = ""
    words: str = ""
    print: str = ""
    unless: str = ""

    @property
    def paper(self) -> str:
        """Whose claim it is."""
        (row,) = (row for row in facts("claims") if row["id"] == self.id)
        return row["paper"]

    @property
    def metrics(self) -> list[str]:
        """The metrics."""
        return self.metric.split()

    @property
    def numbers(self) -> list[float]:
        """The numbers that the claim names."""
        return [float(text.rpartition(":")[2]) for text in self.threshold.split()]

    @property
    def named_numbers(self) -> dict[str, float]:
        """The numbers by what stands before their colon, such as a data set."""
        parts = (text.rpartition(":") for text in self.threshold.split())
        return {name: float(number) for name, _, number in parts}

    def share(self, comparisons: int) -> float:
        """Return the share of comparisons that must be true."""
        return asked(self.id)(comparisons)


Check = Callable[[pd.DataFrame, Rule], Found]
GroupCheck = Callable[[pd.DataFrame, Rule], Answer]


@cache
def rules() -> dict[str, list[Rule]]:
    """Return the rules of all papers by claim."""
    by_claim: dict[str, list[Rule]] = {}
    for row in facts("rules"):
        by_claim.setdefault(row["id"], []).append(Rule(**row))
    return by_claim


def function(place: str) -> Any:
    """Return a function by its place, such as ``rules.sweeps.faster``."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"deepcac_study.papers.{module}"), name)
