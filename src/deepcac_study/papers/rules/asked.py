"""How many comparisons a claim asks for: read from its words, here and nowhere else.

The column ``asks`` of ``claims.csv`` holds the words of the claim that say so; it is empty where
none do.
"""

import re
from collections.abc import Callable

from deepcac_study.catalogue.facts import facts

Asked = Callable[[int], float]  # from the number of comparisons to the share that must be true

EVERY = 1.0  # theorems, lists that name each item, claims of several parts
USUAL = 0.75  # a claim without a word
# What a theorem implies, and what is conjectured, is asked of every case.
_EVERY = (
    *("all", "every", "each", "always", "consistent", "consistently"),
    *("all but", "consequence", "conjecture"),
)
_NEARLY = ("typically", "very predictable")
_COUNT = re.compile(r"(\d+) of (\d+)")


def share_of(words: str, comparisons: int) -> float:
    """Return the share of comparisons that some words ask for.

    "5 of 7" asks for that share, "several" for two comparisons, "most" for more than half,
    "typically" for nine in ten. Unknown words are a `KeyError`.
    """
    if not words:
        return USUAL
    if count := _COUNT.fullmatch(words):
        return int(count[1]) / int(count[2])
    shares = {
        **dict.fromkeys(_EVERY, EVERY),
        **dict.fromkeys(_NEARLY, 0.9),
        "most": (comparisons // 2 + 1) / comparisons,
        "several": min(2 / comparisons, 1.0),
    }
    return shares[words]


def asked(claim: str) -> Asked:
    """Return the share that a claim, named by its id, asks for."""
    (row,) = (row for row in facts("claims") if row["id"] == claim)
    return lambda comparisons: share_of(row["asks"], comparisons)
