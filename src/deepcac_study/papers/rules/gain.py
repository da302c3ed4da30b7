"""A gain with its confidence interval over the splits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from deepcac.scoring.statistics import corrected_error
from deepcac_study.papers.claim_verdicts import FAILS, HOLDS, PARTLY, UNDECIDED, Truth

Values = Sequence[float] | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Gain:
    """A gain in per cent or points, with its 95 % interval; unbounded where nothing varies.

    For a printed gain both ends are the number itself.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def exact(cls, value: float) -> "Gain":
        """Return a gain without an interval."""
        return cls(value, value, value)

    @classmethod
    def pooled(cls, sets: Sequence[Values], test_share: float) -> "Gain":
        """Return the gain averaged over data sets, each with separate resamples.

        The errors of the means are combined, with the degrees of freedom of Welch and
        Satterthwaite. Sets in which nothing varies, such as those of one resample, add no error;
        if that is so for all, the interval is unbounded.
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
        """Whether the gain is above 0; open if the interval includes 0."""
        return True if self.low > 0 else False if self.high <= 0 else None

    def reaches(self, low: float, high: float) -> bool:
        """Return whether the interval and a range have a point in common."""
        return self.low <= high and low <= self.high

    def near(self, value: float, margin: float) -> str:
        """Return the verdict on the claim of a positive gain within a margin of a value."""
        reached = self.reaches(value - margin, value + margin)
        if self.positive:
            return HOLDS if reached else PARTLY
        return UNDECIDED if self.positive is None and reached else FAILS
