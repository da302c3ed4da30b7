"""Rules of DeepCAC's claims that compare arms with the spread over the splits in mind."""

from collections.abc import Mapping, Sequence

from deepcac.papers.evidence import (
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    Arm,
    Decision,
    Evidence,
    open_arms,
    without,
)
from deepcac.papers.rules import Rule, by_share
from deepcac.scoring.statistics import holm

_SIGNIFICANT = 0.05


def significant(
    pairs: Sequence[tuple[Arm, Arm]], levels: Mapping[tuple[str, int], float] | None = None
) -> Rule:
    """Return the rule "the first arm is better, and significantly so" (Holm over all pairs).

    `levels` names the level by data set and k where it is not 0.05.
    """

    def rule(evidence: Evidence) -> Decision:
        kept = open_arms(pairs, evidence)
        if not kept:
            return Decision(NOT_DECIDABLE, without(pairs, kept).removeprefix("; "))
        tests = [evidence.test(*pair) for pair in kept]
        made = [test for test in tests if test is not None]
        if len(made) < len(tests):
            return Decision(NOT_RUN, f"{len(tests) - len(made)} of {len(tests)} tests lack runs")
        adjusted = holm([test.p for test in made])
        higher = sum(test.mean > 0 for test in made)
        wanted = [(levels or {}).get((first.dataset, first.k), _SIGNIFICANT) for first, _ in kept]
        sure = sum(
            bool(test.mean > 0 and p < level)
            for test, p, level in zip(made, adjusted, wanted, strict=True)
        )
        verdict = HOLDS if sure == len(made) else PARTLY if higher > len(made) / 2 else FAILS
        figures = f"higher in {higher} of {len(made)}, significantly in {sure}"
        arms = [arm for pair in kept for arm in pair]
        return Decision(verdict, figures + without(pairs, kept), evidence.paths(arms))

    return rule


def comparable(pairs: Sequence[tuple[Arm, Arm]]) -> Rule:
    """Return the rule "the two arms differ by at most 2 combined standard deviations"."""

    def rule(evidence: Evidence) -> Decision:
        near, gaps = 0, []
        for first, second in pairs:
            one, other = evidence.score(first), evidence.score(second)
            if one is None or other is None:
                return Decision(NOT_RUN, f"{first.dataset} k = {first.k} lacks runs")
            margin = 2 * (evidence.spread(first) ** 2 + evidence.spread(second) ** 2) ** 0.5
            near += abs(one - other) <= margin
            gaps.append(f"k = {first.k} {one - other:+.3f} (2 sd {margin:.3f})")
        arms = [arm for pair in pairs for arm in pair]
        return Decision(by_share(near / len(pairs), 1.0), ", ".join(gaps), evidence.paths(arms))

    return rule
