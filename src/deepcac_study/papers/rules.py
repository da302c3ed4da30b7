"""Rules that many claims share; each looks at runs and returns a decision."""

from collections.abc import Callable, Mapping, Sequence

from deepcac_study.papers.evidence import (
    LOST,
    NOT_DECIDABLE,
    NOT_RUN,
    Arm,
    Decision,
    Evidence,
    lacking,
    nothing_left,
    usable,
    without,
)
from deepcac_study.papers.truth import (
    MOST,
    Ask,
    Truth,
    above,
    all_hold,
    equivalent,
    not_above,
    not_below,
    settled,
)

Rule = Callable[[Evidence], Decision]
Pairs = Sequence[tuple[Arm, Arm]]
Groups = Mapping[str, tuple[Sequence[Arm], Sequence[Arm]]]


def beats(pairs: Pairs, *, share: float = MOST) -> Rule:
    """Return the rule "the first arm is better than the second" in a share of comparisons."""
    return _counted(pairs, above, share, "above")


def never_above(pairs: Pairs, *, share: float = MOST) -> Rule:
    """Return the rule "the first arm is not better than the second"."""
    return _counted(pairs, not_above, share, "not above")


def comparable(pairs: Pairs) -> Rule:
    """Return the rule "the two arms are equivalent" in every comparison."""
    return _counted(pairs, equivalent, 1.0, "equivalent")


def superior_or_comparable(pairs: Pairs, *, share: float = MOST) -> Rule:
    """Return the rule "the first arm is no more than the margin below the second"."""
    return _counted(pairs, not_below, share, "no more than 0.01 below")


def _counted(pairs: Pairs, ask: Ask, share: float, words: str) -> Rule:
    def rule(evidence: Evidence) -> Decision:
        every_arm = [arm for pair in pairs for arm in pair]
        kept = usable(pairs, evidence)
        arms = [arm for pair in kept for arm in pair]
        if not kept:
            return nothing_left(every_arm, evidence)
        if missing := lacking(arms, evidence):
            return missing
        found = [evidence.contrast(*pair) for pair in kept]
        answers = [ask(one) for one in found if one]
        counts = [answers.count(answer) for answer in (True, False, None)]
        reason = (
            f"{words} in {counts[0]} of {len(answers)}, not in {counts[1]}, open in {counts[2]}; "
            f"asked in {share:.0%}"
        )
        left = without(every_arm, evidence)
        return Decision(settled(answers, share), reason + left, evidence.paths(arms))

    return rule


def maxima(groups: Groups, *, at_least: int, ask: Ask = above) -> Rule:
    """Return the rule "the best of the first arms is above the best of the others".

    It is asked of at least so many of the groups, or of the same share of those with data.
    """

    def judge(evidence: Evidence, name: str) -> Truth:
        first, second = (max(arms, key=lambda arm: _height(arm, evidence)) for arms in groups[name])
        found = evidence.contrast(first, second)
        return None if found is None else ask(found)

    arms = {name: [*first, *second] for name, (first, second) in groups.items()}
    return by_group(arms, judge, at_least / len(groups))


def best_is(groups: Mapping[str, tuple[Sequence[Arm], Arm]]) -> Rule:
    """Return the rule "this arm is the best of these" for each group."""

    def judge(evidence: Evidence, name: str) -> Truth:
        arms, claimed = groups[name]
        others = [arm for arm in arms if arm != claimed]
        rival = max(others, key=lambda arm: _height(arm, evidence))
        found = evidence.contrast(claimed, rival)
        return None if found is None else above(found)

    return by_group({name: list(arms) for name, (arms, _) in groups.items()}, judge, 1.0)


def _height(arm: Arm, evidence: Evidence) -> float:
    standing = evidence.standing(arm)
    assert standing is not None  # every arm of a group with all its runs
    return standing


def by_group(
    groups: Mapping[str, Sequence[Arm]], judge: Callable[[Evidence, str], Truth], share: float
) -> Rule:
    """Return the rule that something is true of a share of groups of arms, such as data sets."""

    def rule(evidence: Evidence) -> Decision:
        every_arm = [arm for arms in groups.values() for arm in arms]
        kept = {
            name: arms
            for name, arms in groups.items()
            if not any(evidence.left_out(arm) for arm in arms)
        }
        arms = [arm for own in kept.values() for arm in own]
        if not kept:
            return nothing_left(every_arm, evidence)
        if missing := lacking(arms, evidence):
            return missing
        answers = {name: judge(evidence, name) for name in kept}
        listed = [
            f"{word} of {', '.join(names)}"
            for word, wanted in (("true", True), ("false", False), ("open", None))
            if (names := [name for name, answer in answers.items() if answer is wanted])
        ]
        reason = f"{'; '.join(listed)}; asked of {share:.0%}" + without(every_arm, evidence)
        return Decision(settled(list(answers.values()), share), reason, evidence.paths(arms))

    return rule


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


def of_another_program(program: str, arms: Sequence[Arm]) -> Rule:
    """Return the rule of a claim on how the runs of a program ended that is not ours.

    Nothing that we run decides it; how our own runs ended is said beside.
    """

    def rule(evidence: Evidence) -> Decision:
        made = [run for arm in arms if (run := evidence.run(arm))]
        finished = sum(run.status == "ok" for run in made)
        reason = f"about {program}; {finished} of {len(made)} runs of our own version finish"
        return Decision(NOT_DECIDABLE, reason, tuple(run.path for run in made))

    return rule
