"""Rules on the scores of arms; each looks at runs and returns a decision."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from deepcac.scoring.equivalence import LEVEL, Difference
from deepcac.scoring.statistics import holm
from deepcac_study.papers.evidence import (
    NOT_DECIDABLE,
    NOT_RUN,
    Arm,
    Decision,
    Evidence,
    lacking,
    nothing_left,
    without,
)
from deepcac_study.papers.rules.asked import EVERY, Asked
from deepcac_study.papers.rules.decisions import Rule
from deepcac_study.papers.rules.truth import (
    Ask,
    Truth,
    above,
    equivalent,
    not_above,
    not_below,
    settled,
)

Pairs = Sequence[tuple[Arm, Arm]]
Groups = Mapping[str, tuple[Sequence[Arm], Sequence[Arm]]]
K = TypeVar("K", bound=Hashable)


def of_arms(
    groups: Mapping[K, Sequence[Arm]], decide: Callable[[Evidence, list[K]], Decision]
) -> Rule:
    """Return a rule on groups of arms, such as comparisons or data sets, by name.

    A group of which any arm's data can decide nothing is left out. It is decided on the evidence
    and the names of the groups that are left, all of whose arms have runs.
    """

    def rule(evidence: Evidence) -> Decision:
        every_arm = [arm for arms in groups.values() for arm in arms]
        available = [name for name, arms in groups.items() if not any(map(evidence.left_out, arms))]
        arms = [arm for name in available for arm in groups[name]]
        if not available:
            return nothing_left(every_arm, evidence)
        if missing := lacking(arms, evidence):
            return missing
        decision = decide(evidence, available)
        if decision.verdict == NOT_RUN:
            return decision
        reason = decision.reason + without(every_arm, evidence)
        return Decision(decision.verdict, reason, evidence.paths(arms))

    return rule


def of_pairs(pairs: Pairs, decide: Callable[[Pairs, list[Difference]], Decision]) -> Rule:
    """Return a rule on the differences of comparisons."""

    def decided(evidence: Evidence, available: list[int]) -> Decision:
        chosen = [pairs[i] for i in available]
        return decide(chosen, [gap for pair in chosen if (gap := evidence.contrast(*pair))])

    return of_arms(dict(enumerate(pairs)), decided)


# What is asked of the first arm beside the second, and in words.
COUNTED: dict[str, tuple[Ask, str]] = {
    "beats": (above, "higher"),
    "never above": (not_above, "not higher"),
    "comparable": (equivalent, "equivalent"),
    "superior or comparable": (not_below, "no more than 0.01 below"),
}


def counted(name: str, pairs: Pairs, wanted: Asked) -> Rule:
    """Return a rule of `COUNTED`, which asks for a share of the comparisons."""
    ask, words = COUNTED[name]

    def decide(_: Pairs, differences: list[Difference]) -> Decision:
        answers, share = [ask(gap) for gap in differences], wanted(len(differences))
        counts = [answers.count(answer) for answer in (True, False, None)]
        reason = (
            f"{words} in {counts[0]} of {len(answers)}, not in {counts[1]}, undecided in "
            f"{counts[2]}; needed in {share:.0%}"
        )
        return Decision(settled(answers, share), reason)

    return of_pairs(pairs, decide)


def significant(pairs: Pairs, levels: Mapping[tuple[str, int], float]) -> Rule:
    """Return the rule "the first arm is better, and significantly so" (Holm over all pairs).

    A difference that no test finds is open, unless it is worse or equivalent. `levels` names the
    level by data set and k where it is not 0.05.
    """

    def decide(chosen: Pairs, differences: list[Difference]) -> Decision:
        wanted = [levels.get((first.dataset, first.k), LEVEL) for first, _ in chosen]
        adjusted = holm([gap.p for gap in differences])
        answers = [
            _sure(gap, p < level)
            for gap, p, level in zip(differences, adjusted, wanted, strict=True)
        ]
        reason = (
            f"higher in {sum(gap.mean > 0 for gap in differences)} of {len(differences)}, "
            f"significantly in {answers.count(True)}, not better in {answers.count(False)}"
        )
        return Decision(settled(answers), reason)

    return of_pairs(pairs, decide)


def _sure(gap: Difference, significantly: bool) -> Truth:
    if significantly and gap.mean > 0:
        return True
    return False if above(gap) is False else None


def maxima(groups: Groups, wanted: Asked, *, ask: Ask = above) -> Rule:
    """Return the rule "the best of the first arms is above the best of the others"."""

    def judge(evidence: Evidence, name: str) -> Truth:
        first, second = (_best(arms, evidence) for arms in groups[name])
        gap = evidence.contrast(first, second)
        return None if gap is None else ask(gap)

    arms = {name: [*first, *second] for name, (first, second) in groups.items()}
    return by_group(arms, judge, wanted)


def best_is(groups: Mapping[str, tuple[Sequence[Arm], Arm]]) -> Rule:
    """Return the rule "this arm is the best of these" for each group."""

    def judge(evidence: Evidence, name: str) -> Truth:
        arms, claimed = groups[name]
        gap = evidence.contrast(claimed, _best([a for a in arms if a != claimed], evidence))
        return None if gap is None else above(gap)

    return by_group({name: list(arms) for name, (arms, _) in groups.items()}, judge)


def _best(arms: Sequence[Arm], evidence: Evidence) -> Arm:
    """Return the arm with the highest score, of arms that all have runs."""
    return max(arms, key=lambda arm: evidence.standing(arm) or 0.0)


def best_counts(groups: Mapping[str, Sequence[Sequence[Arm]]], wanted: Mapping[str, int]) -> Rule:
    """Return the rule that the last arm is above all others in as many rows as wanted, or more.

    So claims on two tables that the same runs decide can hold together.
    """

    def judge(evidence: Evidence, name: str) -> Truth:
        answers = [
            [above(gap) for other in others if (gap := evidence.contrast(last, other))]
            for *others, last in groups[name]
        ]
        sure = sum(all(row) for row in answers)
        possible = sum(False not in row for row in answers)
        return True if sure >= wanted[name] else None if possible >= wanted[name] else False

    return by_group({n: [arm for row in rows for arm in row] for n, rows in groups.items()}, judge)


def by_group(
    groups: Mapping[str, Sequence[Arm]],
    judge: Callable[[Evidence, str], Truth],
    wanted: Asked = lambda _: EVERY,
) -> Rule:
    """Return the rule that something is true of a share of groups of arms, such as data sets."""

    def decide(evidence: Evidence, available: list[str]) -> Decision:
        answers = {name: judge(evidence, name) for name in available}
        share = wanted(len(answers))
        listed = [
            f"{word} for {', '.join(names)}"
            for word, wanted in (("true", True), ("false", False), ("undecided", None))
            if (names := [name for name, answer in answers.items() if answer is wanted])
        ]
        reason = f"{'; '.join(listed)}; needed for {share:.0%}"
        return Decision(settled(list(answers.values()), share), reason)

    return of_arms(groups, decide)


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
