"""What a rule is, and rules made of others, of records or of nothing that was run."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from deepcac_study.papers.evidence import LOST, NOT_DECIDABLE, NOT_RUN, Decision, Evidence
from deepcac_study.papers.rules.truth import all_hold

Rule = Callable[[Evidence], Decision]
Found = tuple[str, str]  # a verdict and its figures
PRINTED = "by the printed values"


class Record(Protocol):
    """What was measured, and where it lies."""

    @property
    def path(self) -> str:
        """Place of the record."""


R = TypeVar("R", bound=Record)
F = TypeVar("F", bound=Callable[..., object])


def by_name(*functions: F) -> dict[str, F]:
    """Return functions by their names, as tables of rules name them."""
    return {function.__name__: function for function in functions}


def every(*rules: Rule) -> Rule:
    """Return the rule that all the given ones hold; mixed verdicts make it partly.

    Parts that only restricted or lost data could decide are left out, unless there is no other.
    An undecided part leaves the whole undecided, unless another does not hold.
    """

    def rule(evidence: Evidence) -> Decision:
        decisions = [part(evidence) for part in rules]
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
    """Return a rule for the corrected protocol, the only one in which something is done."""

    def checked(evidence: Evidence) -> Decision:
        if evidence.protocol != "sound":
            return Decision(NOT_RUN, f"{what} under the corrected protocol only")
        return rule(evidence)

    return checked


def of_records(
    records: Sequence[R],
    judge: Callable[[Sequence[R]], Found],
    *,
    needs: str,
    what: str = "measured",
) -> Rule:
    """Return a rule on all records of a kind, which are made under the corrected protocol only."""

    def rule(evidence: Evidence) -> Decision:
        if not records:
            return Decision(NOT_RUN, f"needs {needs}")
        verdict, figures = judge(records)
        return Decision(verdict, figures, tuple(record.path for record in records))

    return sound_only(rule, what)


def undecidable(rule: Rule, why: str) -> Rule:
    """Return a rule whose runs decide nothing, such as those of other data; it says what they say.

    Where nothing was run it says what is needed.
    """

    def explained(evidence: Evidence) -> Decision:
        decision = rule(evidence)
        if decision.verdict == NOT_RUN and not decision.runs:
            return decision
        reason = f"{why}; on ours it would be '{decision.verdict}': {decision.reason}"
        return Decision(NOT_DECIDABLE, reason, decision.runs)

    return explained


def or_on_print(rule: Rule, judge: Callable[[], Found]) -> Rule:
    """Return a rule on our runs that print alone decides until there are enough of them."""

    def either(evidence: Evidence) -> Decision:
        decision = rule(evidence)
        verdict, figures = judge()
        if decision.verdict == NOT_RUN:
            return Decision(verdict, f"{PRINTED}: {figures}; our runs: {decision.reason}")
        reason = f"{decision.reason}; {PRINTED}: {verdict}"
        return Decision(decision.verdict, reason, decision.runs)

    return either
