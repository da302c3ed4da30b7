"""A gain with its interval over the splits, as claims that name a gain are decided on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.papers.evidence import FAILS, HOLDS, PARTLY, UNDECIDED
from deepcac.papers.truth import Truth
from deepcac.scoring.equivalence import difference


@dataclass(frozen=True)
class Gain:
    """A gain in per cent or points, with its 95 % interval; one split has no width."""

    mean: float
    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float] | npt.NDArray[np.float64], test_share: float) -> "Gain":
        """Return the mean gain over resamples of which a share of the rows is tested."""
        if len(values) < 2:
            return cls(*[float(values[0])] * 3)
        found = difference(values, test_share=test_share, margin=1.0)
        return cls(found.mean, found.low, found.high)

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
