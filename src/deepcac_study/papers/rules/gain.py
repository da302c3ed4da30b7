"""A gain with its interval over the splits, and verdicts on claims that name one."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.scoring.statistics import corrected_error
from deepcac_study.papers.evidence import (
    FAILS,
    HOLDS,
    LOST,
    PARTLY,
    UNDECIDED,
    Arm,
    Decision,
    Evidence,
    test_share,
)
from deepcac_study.papers.rules.arm_rules import Pairs, of_arms
from deepcac_study.papers.rules.decisions import Rule
from deepcac_study.papers.rules.truth import Truth, settled

Values = Sequence[float] | npt.NDArray[np.float64]
Gains = Mapping[str, "Gain"]
Judge = Callable[[Gains], str]


@dataclass(frozen=True)
class Gain:
    """A gain in per cent or points, with its 95 % interval; unbounded where nothing varies.

    What is printed is known exactly: both ends are the number.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def over(cls, values: Values, test_share: float) -> "Gain":
        """Return the mean gain over resamples of which a share of the rows is tested."""
        return cls.pooled([values], test_share)

    @classmethod
    def pooled(cls, sets: Sequence[Values], test_share: float) -> "Gain":
        """Return the gain averaged over data sets, each with resamples of its own.

        The error of the average is that of the means together, with the degrees of freedom of
        Welch and Satterthwaite. Sets in which nothing varies, such as those of one resample, add
        none; if that is so of all, the gain may be anything.
        """
        mean = float(np.mean([np.mean(values) for values in sets]))
        ratio = test_share / (1 - test_share)
        spreads = [
            (corrected_error(np.asarray(values, dtype=np.float64), ratio) ** 2, len(values) - 1)
            for values in sets
            if np.ptp(values) > 0
        ]
        if not spreads:
            return cls(mean, -math.inf, math.inf)
        variance, freedom = np.array(spreads).T
        half = float(
            stats.t.ppf(0.975, variance.sum() ** 2 / (variance**2 / freedom).sum())
            * math.sqrt(variance.sum())
            / len(sets)
        )
        return cls(mean, mean - half, mean + half)

    def __str__(self) -> str:
        if math.isinf(self.low):
            return f"{self.mean:+.2f} (no interval: nothing varies)"
        if self.low == self.high:
            return f"{self.mean:+.2f}"
        return f"{self.mean:+.2f} ({self.low:+.2f} to {self.high:+.2f})"

    @property
    def positive(self) -> Truth:
        """Whether it is above 0."""
        return True if self.low > 0 else False if self.high <= 0 else None

    def reaches(self, low: float, high: float) -> bool:
        """Say whether the interval and a range have a point in common."""
        return self.low <= high and low <= self.high

    def near(self, value: float, margin: float) -> str:
        """Return the verdict on the claim that it is positive and within a margin of a value."""
        reached = self.reaches(value - margin, value + margin)
        if self.positive:
            return HOLDS if reached else PARTLY
        return UNDECIDED if self.positive is None and reached else FAILS


def averages(groups: Mapping[str, Pairs], judge: Judge) -> Rule:
    """Return a rule on the gain of mean over mean, in per cent, one for each group."""
    pairs = {
        (name, i): pair
        for name, group_pairs in groups.items()
        for i, pair in enumerate(group_pairs)
    }

    def decide(evidence: Evidence, available: list[tuple[str, int]]) -> Decision:
        by_group = {
            name: [pairs[key] for key in available if key[0] == name] for name, _ in available
        }
        gains = {name: _gain(pairs, evidence) for name, pairs in by_group.items()}
        listed = ", ".join(f"{name} {gain} %" for name, gain in gains.items())
        return Decision(judge(gains), listed)

    return of_arms(pairs, decide)


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

    def judge(gains: Gains) -> str:
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


def all_positive(gains: Gains) -> str:
    """Judge gains that should all be positive."""
    return settled([gain.positive for gain in gains.values()])


def near(value: float, margin: float = 2.0) -> Judge:
    """Judge a gain that should be positive, and within `margin` points of a value."""

    def judge(gains: Gains) -> str:
        (gain,) = gains.values()
        return gain.near(value, margin)

    return judge


def within(low: float, high: float) -> Judge:
    """Judge gains that should all be positive and within a range."""

    def judge(gains: Gains) -> str:
        signs = [gain.positive for gain in gains.values()]
        if False in signs:
            return FAILS
        if None in signs:
            return UNDECIDED
        return HOLDS if all(gain.reaches(low, high) for gain in gains.values()) else PARTLY

    return judge


def largest(name: str) -> Judge:
    """Judge gains of which one data set's should be the largest: no interval reaches its own."""

    def judge(gains: Gains) -> str:
        others = [gain for other, gain in gains.items() if other != name]
        if name not in gains or not others:
            return LOST
        claimed = gains[name]
        if all(claimed.low > gain.high for gain in others):
            return HOLDS
        return FAILS if any(claimed.high < gain.low for gain in others) else UNDECIDED

    return judge
