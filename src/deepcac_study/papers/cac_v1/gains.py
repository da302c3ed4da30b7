"""Gains of mean over mean by data set, in per cent, and verdicts on claims that name them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from deepcac_study.papers.evidence import (
    FAILS,
    HOLDS,
    LOST,
    PARTLY,
    UNDECIDED,
    Arm,
    Decision,
    Evidence,
    lacking,
    nothing_left,
    test_share,
    usable,
    without,
)
from deepcac_study.papers.gain import Gain
from deepcac_study.papers.rules import Pairs, Rule
from deepcac_study.papers.truth import settled

Judge = Callable[[Mapping[str, Gain]], str]


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
        every_arm = [arm for pair in everything for arm in pair]
        kept = {name: own for name, pairs in groups.items() if (own := usable(pairs, evidence))}
        arms = [arm for pairs in kept.values() for pair in pairs for arm in pair]
        if not kept:
            return nothing_left(every_arm, evidence)
        if missing := lacking(arms, evidence):
            return missing
        gains = {name: _gain(pairs, evidence) for name, pairs in kept.items()}
        listed = ", ".join(f"{name} {gain} {unit}" for name, gain in gains.items())
        reason = listed + without(every_arm, evidence)
        return Decision(judge(gains), reason, evidence.paths(arms))

    return rule


def _gain(pairs: Pairs, evidence: Evidence) -> Gain:
    """Return the gain of the first arms' sum over that of the second arms."""
    first, second = (_sums([pair[side] for pair in pairs], evidence) for side in (0, 1))
    run = evidence.run(pairs[0][0])
    if run is None or len(first) != len(second):
        return Gain.over([float(100 * (first.mean() / second.mean() - 1))], 0.5)
    return Gain.over(100 * (first / second - 1), test_share(run))


def _sums(arms: Sequence[Arm], evidence: Evidence) -> np.ndarray:
    """Return the sum of the arms' scores on each split; of their means where splits differ."""
    scores = [evidence.per_split(arm) for arm in arms]
    if len({len(values) for values in scores}) > 1:
        scores = [values.mean(keepdims=True) for values in scores]
    return np.sum(scores, axis=0)


def from_to(lowest: tuple[str, float], highest: tuple[str, float], margin: float = 2.0) -> Judge:
    """Judge gains that run from one data set's to another's, within `margin` points."""

    def judge(gains: Mapping[str, Gain]) -> str:
        if not {lowest[0], highest[0]} <= set(gains):
            return LOST
        means = {name: gain.mean for name, gain in gains.items()}
        ends = (min(means, key=means.__getitem__), max(means, key=means.__getitem__))
        near = all(gains[n].reaches(v - margin, v + margin) for n, v in (lowest, highest))
        signs = [gain.positive for gain in gains.values()]
        if False in signs or (None in signs and not near):
            return FAILS
        if None in signs:
            return UNDECIDED
        return HOLDS if ends == (lowest[0], highest[0]) and near else PARTLY

    return judge


def all_positive(gains: Mapping[str, Gain]) -> str:
    """Judge gains that should all be positive."""
    return settled([gain.positive for gain in gains.values()])


def near(value: float, margin: float = 2.0) -> Judge:
    """Judge a gain that should be positive, and within `margin` points of a value."""

    def judge(gains: Mapping[str, Gain]) -> str:
        (gain,) = gains.values()
        return gain.near(value, margin)

    return judge


def within(low: float, high: float) -> Judge:
    """Judge gains that should all be positive and within a range."""

    def judge(gains: Mapping[str, Gain]) -> str:
        signs = [gain.positive for gain in gains.values()]
        if False in signs:
            return FAILS
        if None in signs:
            return UNDECIDED
        return HOLDS if all(gain.reaches(low, high) for gain in gains.values()) else PARTLY

    return judge


def largest(name: str) -> Judge:
    """Judge gains of which one data set's should be the largest: no interval reaches its own."""

    def judge(gains: Mapping[str, Gain]) -> str:
        others = [gain for other, gain in gains.items() if other != name]
        if name not in gains or not others:
            return LOST
        own = gains[name]
        if all(own.low > gain.high for gain in others):
            return HOLDS
        return FAILS if any(own.high < gain.low for gain in others) else UNDECIDED

    return judge
