"""What may become of a claim: true, false or open answers, and the verdict that follows."""

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
    """What a check finds in some rows."""

    verdict: str
    figures: str  # the numbers that decided, or what is missing
    rows: pd.DataFrame | None = None  # those that decided, where it is not all
    note: str = ""  # what else it does not tell, after the data that were left out


class Decision(NamedTuple):
    """What the runs say about a claim."""

    verdict: str  # one of `VERDICTS`
    reason: str  # one sentence with the numbers that decided, or with what is missing
    runs: tuple[str, ...] = ()  # paths of the runs that decide


Truth = bool | None  # None: the splits do not tell
Answer = tuple[Truth, str]  # of a group of rows, and the numbers that gave it
Ask = Callable[[Difference], Truth]


def above(gap: Difference) -> Truth:
    """Say whether a difference is above 0: its 95 % interval is; it is not if equivalent to 0."""
    if gap.low > 0:
        return True
    return False if gap.high <= 0 or gap.p_equivalent < LEVEL else None


def not_above(gap: Difference) -> Truth:
    """Say whether a difference is not above 0."""
    answer = above(gap)
    return None if answer is None else not answer


def not_below(gap: Difference) -> Truth:
    """Say whether a difference is no more than the margin below 0 (one-sided, 5 %)."""
    if gap.worse < LEVEL:
        return True
    return False if gap.worse > 1 - LEVEL else None


def equivalent(gap: Difference) -> Truth:
    """Say whether a difference lies inside the margin (two one-sided tests, 5 %)."""
    if gap.p_equivalent < LEVEL:
        return True
    return False if max(gap.worse, gap.better) > 1 - LEVEL else None


def alike(answers: Sequence[Truth]) -> Truth:
    """Return the answer that all give; open where they disagree."""
    return answers[0] if len(set(answers)) == 1 else None


def unanimous(answers: Sequence[Truth]) -> Truth:
    """Return what all splits say; open where they disagree, or where there is only one."""
    return alike(answers) if len(answers) > 1 else None


def by_share(share: float, wanted: float, half: float = 0.5) -> str:
    """Return holds for a share of `wanted` or more, partly above one half, else fails."""
    if share >= wanted - 1e-9:
        return HOLDS
    return PARTLY if share > half else FAILS


def settled(answers: Sequence[Truth], wanted: float = 1.0, *, half: float = 0.5) -> str:
    """Return the verdict that stands whatever the open answers are.

    Without one it is undecided, or "cannot hold" where too few answers are left to be true. A claim
    asks for the share `wanted` of true answers, and holds partly above `half`.
    """
    true, still_open = answers.count(True), answers.count(None)
    least, most = (by_share(n / len(answers), wanted, half) for n in (true, true + still_open))
    if least == most:
        return least
    return UNDECIDED if most == HOLDS else CANNOT


def all_hold(verdicts: Iterable[str]) -> str:
    """Return the verdict on a claim whose parts were decided apart; mixed ones make it partly."""
    distinct = set(verdicts)
    if len(distinct) == 1:
        return distinct.pop()
    if not distinct & {UNDECIDED, CANNOT}:
        return PARTLY
    return UNDECIDED if distinct == {HOLDS, UNDECIDED} else CANNOT


def either_way(verdicts: Iterable[str]) -> str:
    """Return the verdict that all give, such as those of several machines; else none stands."""
    distinct = set(verdicts)
    if len(distinct) == 1:
        return distinct.pop()
    return UNDECIDED if distinct & {HOLDS, UNDECIDED} else CANNOT


def together(parts: Sequence[Truth]) -> str:
    """Return the verdict on a claim of several parts: partly where any of them is true."""
    return settled(parts, half=0.0)


def counts_in_words(answers: Sequence[Truth]) -> str:
    """Return the answers in words."""
    text = f"true for {answers.count(True)} of {len(answers)}"
    return f"{text}, {answers.count(None)} undecided" if None in answers else text
