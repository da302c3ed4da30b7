"""Rules that many claims share; each looks at runs and returns a decision."""

import math
from collections.abc import Callable, Mapping, Sequence

from deepcac.papers.evidence import (
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    NOT_RUN,
    PARTLY,
    TIE,
    Arm,
    Decision,
    Evidence,
    open_arms,
    without,
)
from deepcac.papers.names import restricted

Rule = Callable[[Evidence], Decision]
Pairs = Sequence[tuple[Arm, Arm]]
Judge = Callable[[dict[str, float]], str]


def beats(pairs: Pairs, *, share: float = 1.0) -> Rule:
    """Return the rule "the first arm scores higher than the second".

    Holds if the share of wins is at least `share`, partly if it is above one half. A tie is no win.
    """

    def rule(evidence: Evidence) -> Decision:
        kept = open_arms(pairs, evidence)
        if missing := _missing(pairs, kept, evidence.standing):
            return missing
        wins, ties, losses = tally(kept, evidence)
        figures = f"{wins} wins, {ties} ties, {losses} losses of {len(kept)}"
        arms = [arm for pair in kept for arm in pair]
        return Decision(
            by_share(wins / len(kept), share), figures + without(pairs, kept), evidence.paths(arms)
        )

    return rule


def not_below(pairs: Pairs) -> Rule:
    """Return the rule "superior or comparable": no arm below the other by 2 combined sd."""

    def rule(evidence: Evidence) -> Decision:
        kept = open_arms(pairs, evidence)
        if missing := _missing(pairs, kept, evidence.standing):
            return missing
        fine = 0
        for first, second in kept:
            margin = 2 * math.hypot(evidence.spread(first), evidence.spread(second))
            fine += _gap(evidence.standing(first), evidence.standing(second)) >= -max(margin, TIE)
        arms = [arm for pair in kept for arm in pair]
        figures = f"superior or within 2 sd in {fine} of {len(kept)}"
        return Decision(
            by_share(fine / len(kept), 1.0), figures + without(pairs, kept), evidence.paths(arms)
        )

    return rule


def by_share(share: float, wanted: float) -> str:
    """Return holds for a share of `wanted` or more, partly above one half, else fails."""
    if share >= wanted - 1e-9:
        return HOLDS
    return PARTLY if share > 0.5 else FAILS


def tally(pairs: Pairs, evidence: Evidence) -> tuple[int, int, int]:
    """Return wins, ties and losses of the first arms."""
    wins = ties = losses = 0
    for first, second in pairs:
        gap = _gap(evidence.standing(first), evidence.standing(second))
        wins, ties, losses = (
            wins + (gap > TIE),
            ties + (abs(gap) <= TIE),
            losses + (gap < -TIE),
        )
    return wins, ties, losses


def _gap(first: float | None, second: float | None) -> float:
    """Return first less second; two runs without a score are a tie."""
    if first is None or second is None or first == second:
        return 0.0
    return first - second


def _missing(pairs: Pairs, kept: Pairs, look: Callable[[Arm], float | None]) -> Decision | None:
    if not kept:
        return Decision(NOT_DECIDABLE, without(pairs, kept).removeprefix("; "))
    lacking = [pair for pair in kept if any(look(arm) is None for arm in pair)]
    if not lacking:
        return None
    return Decision(NOT_RUN, f"{len(lacking)} of {len(kept)} comparisons have no runs yet")


def averages(groups: Mapping[str, Pairs], judge: Judge, unit: str = "%") -> Rule:
    """Return a rule on the gain of mean over mean, in per cent, one for each group.

    Parameters
    ----------
    groups : dict
        Comparisons by name (a data set, for example).
    judge : callable
        From gains by name to a verdict.
    unit : str
        Shown after each gain.
    """

    def rule(evidence: Evidence) -> Decision:
        everything = [pair for pairs in groups.values() for pair in pairs]
        kept = open_arms(everything, evidence)
        if missing := _missing(everything, kept, evidence.score):
            return missing
        gains = {}
        for name, pairs in groups.items():
            own = [pair for pair in pairs if pair in kept]
            first, second = (
                sum(evidence.score(pair[side]) or 0.0 for pair in own) for side in (0, 1)
            )
            if own and second:
                gains[name] = 100 * (first / second - 1)
        figures = ", ".join(f"{name} {gain:+.2f} {unit}" for name, gain in gains.items())
        arms = [arm for pair in kept for arm in pair]
        verdict = judge(gains)
        return Decision(verdict, figures + without(everything, kept), evidence.paths(arms))

    return rule


def maxima(
    groups: Mapping[str, tuple[Sequence[Arm], Sequence[Arm]]],
    *,
    at_least: int,
    ties_count: bool = False,
) -> Rule:
    """Return the rule "the best of the first arms is above the best of the others".

    Holds if that is so (or equal, if ties count) in `at_least` groups, or in all open ones, if
    fewer; partly in more than half.
    """

    def rule(evidence: Evidence) -> Decision:
        wins, compared, used = [], [], []
        for name, (first, second) in groups.items():
            standings = [[evidence.standing(arm) for arm in arms] for arms in (first, second)]
            known = [[value for value in side if value is not None] for side in standings]
            if known != standings:
                if first[0].dataset in restricted():
                    continue
                return Decision(NOT_RUN, f"{name} lacks runs")
            compared.append(name)
            used += [*first, *second]
            gap = _gap(max(known[0]), max(known[1]))
            if gap > TIE or (ties_count and abs(gap) <= TIE):
                wins.append(name)
        if not compared:
            return Decision(NOT_DECIDABLE, "no open data set")
        verdict = by_share(len(wins) / len(compared), min(at_least / len(compared), 1.0))
        figures = f"{len(wins)} of {len(compared)}: {', '.join(wins) or 'none'}"
        return Decision(verdict, figures, evidence.paths(used))

    return rule


def best_is(groups: Mapping[str, tuple[Sequence[Arm], Arm]]) -> Rule:
    """Return the rule "this arm is the best of these" for each group; all hold, half partly."""

    def rule(evidence: Evidence) -> Decision:
        right, found, used = 0, [], []
        for name, (arms, claimed) in groups.items():
            scores = {arm: evidence.standing(arm) for arm in arms}
            known = {arm: score for arm, score in scores.items() if score is not None}
            if known != scores:
                if claimed.dataset in restricted():
                    continue
                return Decision(NOT_RUN, f"{name} lacks {len(scores) - len(known)} runs")
            best = max(known, key=lambda arm: known[arm])
            right += known[best] - known[claimed] <= TIE
            found.append(f"{name} {best.method} k = {best.k} ({known[best]:.3f})")
            used += list(known)
        if not found:
            return Decision(NOT_DECIDABLE, "no open data set")
        verdict = by_share(right / len(found), 1.0)
        return Decision(
            verdict, f"{right} of {len(found)}: {', '.join(found)}", evidence.paths(used)
        )

    return rule


def status(arm: Arm, wanted: str) -> Rule:
    """Return the rule "this run ends with this status"."""

    def rule(evidence: Evidence) -> Decision:
        run = evidence.run(arm)
        if run is None:
            needs = restricted().get(arm.dataset)
            return Decision(NOT_DECIDABLE, f"needs {needs}") if needs else Decision(NOT_RUN, "")
        verdict = HOLDS if run.status == wanted else FAILS
        return Decision(verdict, f"status {run.status}", (run.path,))

    return rule


def every(*rules: Rule) -> Rule:
    """Return the rule that all the given ones hold; mixed verdicts make it partly.

    Parts that only restricted data could decide are left out, unless there is no other.
    """

    def rule(evidence: Evidence) -> Decision:
        decisions = [one(evidence) for one in rules]
        verdicts = {decision.verdict for decision in decisions}
        figures = " | ".join(decision.figures for decision in decisions if decision.figures)
        runs = tuple(dict.fromkeys(path for decision in decisions for path in decision.runs))
        if NOT_RUN in verdicts:
            return Decision(NOT_RUN, figures, runs)
        if len(verdicts) > 1:
            verdicts.discard(NOT_DECIDABLE)
        return Decision(verdicts.pop() if len(verdicts) == 1 else PARTLY, figures, runs)

    return rule
