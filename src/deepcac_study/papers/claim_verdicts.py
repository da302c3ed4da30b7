"""Verdicts on claims, from answers that are true, false or open (None)."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from deepcac.scoring.equivalence import LEVEL, Difference

VERDICTS = {
    "holds": "holds",
    "partly": "partly",
    "fails": "fails",
    "cannot_hold": "cannot hold",
    "undecided": "undecided",
    "toy": "toy",
    "not_decidable": "not decidable",
    "not_rebuildable": "data not rebuildable",
    "not_run": "not run",
}
HOLDS, PARTLY, FAILS, CANNOT, UNDECIDED, TOY, NOT_DECIDABLE, LOST, NOT_RUN = VERDICTS.values()


class Outcome(NamedTuple):
    """Result of a check of some rows."""

    verdict: str
    figures: str  # the numbers that decided, or what is missing
    rows: pd.DataFrame | None = None  # those that decided, where it is not all
    note: str = ""  # further limits, after the data that were left out


class Decision(NamedTuple):
    """Verdict on a claim from the runs, with its evidence."""

    verdict: str  # one of `VERDICTS`
    reason: str  # one sentence with the numbers that decided, or with what is missing
    runs: tuple[str, ...] = ()  # paths of the runs that decide


Truth = bool | None  # None: open, the splits do not decide
Answer = tuple[Truth, str]  # of a group of rows, and the numbers that gave it
Ask = Callable[[Difference], Truth]


def above(gap: Difference) -> Truth:
    """Return True if the 95 % interval is above 0, False if equivalent to or below 0, else None."""
    if gap.low > 0:
        return True
    return False if gap.high <= 0 or gap.p_equivalent < LEVEL else None


def not_above(gap: Difference) -> Truth:
    """Return whether a difference is not above 0."""
    answer = above(gap)
    return None if answer is None else not answer


def not_below(gap: Difference) -> Truth:
    """Return whether a difference is no more than the margin below 0 (one-sided, 5 %)."""
    if gap.worse < LEVEL:
        return True
    return False if gap.worse > 1 - LEVEL else None


def equivalent(gap: Difference) -> Truth:
    """Return whether a difference lies inside the margin (two one-sided tests, 5 %)."""
    if gap.p_equivalent < LEVEL:
        return True
    return False if max(gap.worse, gap.better) > 1 - LEVEL else None


def alike(answers: Sequence[Truth]) -> Truth:
    """Return the common answer; open if they disagree."""
    return answers[0] if len(set(answers)) == 1 else None


def unanimous(answers: Sequence[Truth]) -> Truth:
    """Return the common answer of the splits; open if they disagree, or for a single one."""
    return alike(answers) if len(answers) > 1 else None


def by_share(share: float, wanted: float, half: float = 0.5) -> str:
    """Return "holds" for a share of at least `wanted`, "partly" above `half`, else "fails"."""
    if share >= wanted - 1e-9:
        return HOLDS
    return PARTLY if share > half else FAILS


def settled(answers: Sequence[Truth], wanted: float = 1.0, *, half: float = 0.5) -> str:
    """Return the verdict that does not depend on the open answers.

    If there is none, it is "undecided", or "cannot hold" if too few answers can still be true. A
    claim holds with the share `wanted` of true answers, and partly above `half`.
    """
    true, still_open = answers.count(True), answers.count(None)
    least, most = (by_share(n / len(answers), wanted, half) for n in (true, true + still_open))
    if least == most:
        return least
    return UNDECIDED if most == HOLDS else CANNOT


def all_hold(verdicts: Iterable[str]) -> str:
    """Return the verdict on a claim from those of its parts; mixed ones make it "partly"."""
    distinct = set(verdicts)
    if len(distinct) == 1:
        return distinct.pop()
    if not distinct & {UNDECIDED, CANNOT}:
        return PARTLY
    return UNDECIDED if distinct == {HOLDS, UNDECIDED} else CANNOT


def either_way(verdicts: Iterable[str]) -> str:
    """Return the common verdict of alternatives, such as machines; else "undecided" or "cannot"."""
    distinct = set(verdicts)
    if len(distinct) == 1:
        return distinct.pop()
    return UNDECIDED if distinct & {HOLDS, UNDECIDED} else CANNOT


def together(parts: Sequence[Truth]) -> str:
    """Return the verdict on a claim of several parts: "partly" if only some of them are true."""
    return settled(parts, half=0.0)


def counts_in_words(answers: Sequence[Truth]) -> str:
    """Return the answers in words."""
    text = f"true for {answers.count(True)} of {len(answers)}"
    return f"{text}, {answers.count(None)} undecided" if None in answers else text
