"""The language of rules: each row of a paper's ``rules.csv`` is a query of the table of scores.

Read a row as: from `source`, where `where`, group by `group_by`, apply `check`. All rows of a claim
must hold. Columns:

- id: the claim; claims that repeat an earlier one use its rules;
- source: a source of the table (`papers.score_table`), ``ledger``, or a printed table of scores:
  then the data sets and base classifiers that it names. ``theory``, ``print`` and ``printed cells``
  need no runs;
- where: a condition on the columns, as `pandas.DataFrame.query` reads it;
- group_by: columns; `check` is applied to each group, and a share of the groups must be true;
- check: a key of `rules.compared_scores.CHECKS`, which compare scores, else the path of a function
  in `deepcac_study.papers`;
- methods, than: the two sides of a comparison: methods, where ``*`` is each base classifier,
  ``printed`` all methods of the table and ``others`` those that are not among `methods`. Equally
  long lists are compared pair by pair, others each with each;
- metric, k: as printed, several separated by spaces; without k the paper's usual one;
- threshold: the numbers in the claim. How many comparisons must be true is read from the column
  ``asks`` of ``claims.csv`` (`share_of`);
- words: what to run where there are no rows, or what is counted, or the name of a gain;
- print: ``else`` if printed values decide as long as there are too few runs;
- unless: a function that returns why the runs decide nothing, for example on other data.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import pandas as pd

from deepcac_study.catalogue.facts import facts
from deepcac_study.papers.claim_verdicts import Answer, Outcome

_USUAL = 0.75  # a claim without a word
# What a theorem implies, and what is conjectured, is asked of every case.
_EVERY = (
    *("all", "every", "each", "always", "consistent", "consistently"),
    *("all but", "consequence", "conjecture"),
)
_NEARLY = ("typically", "very predictable")
_COUNT = re.compile(r"(\d+) of (\d+)")


class ClaimRule(NamedTuple):
    """One row of a table of rules; the module's docstring explains the fields."""

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
    # Of the claim: whose it is, and its words on how many comparisons must be true.
    paper: str = ""
    asks: str = ""

    @property
    def metrics(self) -> list[str]:
        """The metrics."""
        return self.metric.split()

    @property
    def numbers(self) -> list[float]:
        """The numbers in the claim."""
        return [float(text.rpartition(":")[2]) for text in self.threshold.split()]

    @property
    def named_numbers(self) -> dict[str, float]:
        """The numbers by the text before their colon, such as a data set."""
        parts = (text.rpartition(":") for text in self.threshold.split())
        return {name: float(number) for name, _, number in parts}

    def share(self, comparisons: int) -> float:
        """Return the share of comparisons that must be true."""
        return share_of(self.asks, comparisons)


Check = Callable[[pd.DataFrame, ClaimRule], Outcome]
GroupCheck = Callable[[pd.DataFrame, ClaimRule], Answer]


@cache
def rules() -> dict[str, list[ClaimRule]]:
    """Return the rules of all papers by claim."""
    rows = facts("rules")
    return {
        claim["id"]: [
            ClaimRule(**row | {"id": claim["id"]}, paper=claim["paper"], asks=claim["asks"])
            for row in rows
            if row["id"] == (claim["same_as"] or claim["id"])
        ]
        for claim in facts("claims")
    }


def function(place: str) -> Any:
    """Return a function by its path, such as ``rules.swept_settings.faster``."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"deepcac_study.papers.{module}"), name)


def share_of(words: str, comparisons: int) -> float:
    """Return the share of comparisons that the words of a claim require.

    "5 of 7" is that share, "several" two comparisons, "most" more than half, "typically" nine in
    ten. Unknown words are a `KeyError`.
    """
    if not words:
        return _USUAL
    if count := _COUNT.fullmatch(words):
        return int(count[1]) / int(count[2])
    shares = {
        **dict.fromkeys(_EVERY, 1.0),
        **dict.fromkeys(_NEARLY, 0.9),
        "most": (comparisons // 2 + 1) / comparisons,
        "several": min(2 / comparisons, 1.0),
    }
    return shares[words]
