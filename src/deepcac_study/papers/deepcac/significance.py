"""The rule of DeepCAC's claims that a difference is significant."""

from collections.abc import Mapping, Sequence

from deepcac.scoring.equivalence import LEVEL, Difference
from deepcac.scoring.statistics import holm
from deepcac_study.papers.evidence import (
    Arm,
    Decision,
    Evidence,
    lacking,
    nothing_left,
    usable,
    without,
)
from deepcac_study.papers.rules import Rule
from deepcac_study.papers.truth import Truth, above, settled


def significant(
    pairs: Sequence[tuple[Arm, Arm]], levels: Mapping[tuple[str, int], float] | None = None
) -> Rule:
    """Return the rule "the first arm is better, and significantly so" (Holm over all pairs).

    A difference that no test finds is open, unless it is worse or equivalent. `levels` names the
    level by data set and k where it is not 0.05.
    """

    def rule(evidence: Evidence) -> Decision:
        every_arm = [arm for pair in pairs for arm in pair]
        kept = usable(pairs, evidence)
        arms = [arm for pair in kept for arm in pair]
        if not kept:
            return nothing_left(every_arm, evidence)
        if missing := lacking(arms, evidence):
            return missing
        found = [one for pair in kept if (one := evidence.contrast(*pair))]
        wanted = [(levels or {}).get((first.dataset, first.k), LEVEL) for first, _ in kept]
        adjusted = holm([one.p for one in found])
        answers = [
            _sure(one, p < level) for one, p, level in zip(found, adjusted, wanted, strict=True)
        ]
        reason = (
            f"higher in {sum(one.mean > 0 for one in found)} of {len(found)}, significantly in "
            f"{answers.count(True)}, not better in {answers.count(False)}"
        )
        left = without(every_arm, evidence)
        return Decision(settled(answers), reason + left, evidence.paths(arms))

    return rule


def _sure(found: Difference, significantly: bool) -> Truth:
    if significantly and found.mean > 0:
        return True
    return False if above(found) is False else None
