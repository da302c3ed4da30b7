"""From answers (true, false, open) to verdicts; what a rule is, and rules made of others."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from deepcac.scoring.equivalence import LEVEL, Difference
from deepcac_study.papers.evidence import (
    CANNOT,
    FAILS,
    HOLDS,
    LOST,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Decision,
    Evidence,
)

Truth = bool | None  # None: the splits do not tell
Ask = Callable[[Difference], Truth]

MOST = 0.75  # the share that a claim without a number asks for


def above(found: Difference) -> Truth:
    """Say whether a difference is above 0: its 95 % interval is; it is not if equivalent to 0."""
    if found.low > 0:
        return True
    return False if found.high <= 0 or found.p_equivalent < LEVEL else None


def not_above(found: Difference) -> Truth:
    """Say whether a difference is not above 0."""
    answer = above(found)
    return None if answer is None else not answer


def not_below(found: Difference) -> Truth:
    """Say whether a difference is no more than the margin below 0 (one-sided, 5 %)."""
    if found.worse < LEVEL:
        return True
    return False if found.worse > 1 - LEVEL else None


def equivalent(found: Difference) -> Truth:
    """Say whether a difference lies inside the margin (two one-sided tests, 5 %)."""
    if found.p_equivalent < LEVEL:
        return True
    return False if max(found.worse, found.better) > 1 - LEVEL else None


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
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    if not found & {UNDECIDED, CANNOT}:
        return PARTLY
    return UNDECIDED if found == {HOLDS, UNDECIDED} else CANNOT


def either_way(verdicts: Iterable[str]) -> str:
    """Return the verdict that all give, such as those of several machines; else none stands."""
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    return UNDECIDED if found & {HOLDS, UNDECIDED} else CANNOT


def together(parts: Sequence[Truth]) -> str:
    """Return the verdict on a claim of several parts: partly where any of them is true."""
    return settled(parts, half=0.0)


def told(answers: Sequence[Truth]) -> str:
    """Return the answers in words."""
    text = f"true of {answers.count(True)} of {len(answers)}"
    return f"{text}, {answers.count(None)} open" if None in answers else text


Rule = Callable[[Evidence], Decision]
Found = tuple[str, str]  # a verdict and its figures


class Record(Protocol):
    """What was measured, and where it lies."""

    @property
    def path(self) -> str:
        """Place of the record."""


R = TypeVar("R", bound=Record)
F = TypeVar("F", bound=Callable[..., object])


def by_name(*functions: F) -> dict[str, F]:
    """Return functions by their names, as tables of rules name them."""
    return {one.__name__: one for one in functions}


def every(*rules: Rule) -> Rule:
    """Return the rule that all the given ones hold; mixed verdicts make it partly.

    Parts that only restricted or lost data could decide are left out, unless there is no other.
    An undecided part leaves the whole undecided, unless another does not hold.
    """

    def rule(evidence: Evidence) -> Decision:
        decisions = [one(evidence) for one in rules]
        verdicts = {decision.verdict for decision in decisions}
        reason = " | ".join(decision.reason for decision in decisions if decision.reason)
        runs = tuple(dict.fromkeys(path for decision in decisions for path in decision.runs))
        if NOT_RUN in verdicts:
            return Decision(NOT_RUN, reason, runs)
        if len(verdicts) > 1:
            verdicts -= {NOT_DECIDABLE, LOST}
        return Decision(all_hold(verdicts), reason, runs)

    return rule


def always(judge: Callable[[], Found], before: str) -> Rule:
    """Return a rule by theory or arithmetic, whatever was run; `before` starts its reason."""

    def rule(evidence: Evidence) -> Decision:
        verdict, figures = judge()
        return Decision(verdict, f"{before}: {figures}")

    return rule


def sound_only(rule: Rule, what: str) -> Rule:
    """Return a rule for the sound protocol, the only one in which something is done."""

    def checked(evidence: Evidence) -> Decision:
        if evidence.protocol != "sound":
            return Decision(NOT_RUN, f"{what} in the sound protocol only")
        return rule(evidence)

    return checked


def of_records(
    records: Sequence[R],
    judge: Callable[[Sequence[R]], Found],
    *,
    needs: str,
    what: str = "measured",
) -> Rule:
    """Return a rule on all records of a kind, which are made in the sound protocol only."""

    def rule(evidence: Evidence) -> Decision:
        if not records:
            return Decision(NOT_RUN, f"needs {needs}")
        verdict, figures = judge(records)
        return Decision(verdict, figures, tuple(record.path for record in records))

    return sound_only(rule, what)


def or_on_print(rule: Rule, judge: Callable[[], Found]) -> Rule:
    """Return a rule on our runs that print alone decides until there are enough of them."""

    def either(evidence: Evidence) -> Decision:
        found = rule(evidence)
        verdict, figures = judge()
        if found.verdict == NOT_RUN:
            return Decision(verdict, f"on print: {figures}; our runs: {found.reason}")
        return Decision(found.verdict, f"{found.reason}; on print: {verdict}", found.runs)

    return either
