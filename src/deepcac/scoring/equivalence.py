"""Verdicts on a difference against a margin: better, worse, equivalent or undecided."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from deepcac.scoring.statistics import corrected_error
from deepcac.types import Array

BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"
# Nothing is tested: both sides are the same model in every resample; or two models whose scores are
# the same in each.
NOT_TESTED = NEVER, TIED = "never chosen", "tied"
LEVEL, POWER = 0.05, 0.8
DRAWS = 50_000  # of the posterior over data sets


@dataclass(frozen=True)
class Difference:
    """A mean difference over resamples of one data set, with its 95 % interval.

    `p` is two-sided, for no difference; `p_equivalent` that of the two one-sided tests for one
    inside the margin. `detectable` is the smallest true difference that would be found with 80 %
    power, by the first step of Holm's procedure if the test is one of several. `worse`, `same` and
    `better` are posterior probabilities that it lies below, inside and above the margin; the last
    is also the p of the one-sided test that excludes a gain of the margin or more.
    """

    mean: float
    low: float
    high: float
    p: float
    p_equivalent: float
    detectable: float
    worse: float
    same: float
    better: float


def difference(
    values: Sequence[float] | Array, *, test_share: float, margin: float, tests: int = 1
) -> Difference:
    """Estimate a mean difference over correlated resamples, and test it against a margin.

    Values, shape (J,) with J >= 2, are the score of one contender minus that of the other. The
    correlation of two resamples is taken to be the test share of the rows (Nadeau and Bengio 2003,
    section 3). `tests` is the number of tests in the family. The posterior is Student's with the
    same mean, width and J - 1 degrees of freedom (Benavoli et al. 2017, section 3). If all values
    are equal, every probability is 0 or 1.
    """
    d = np.asarray(values, dtype=np.float64)
    error = corrected_error(d, test_share / (1 - test_share))
    return measured(float(d.mean()), error, len(d) - 1, margin=margin, tests=tests)


def measured(
    mean: float, error: float, freedom: float, *, margin: float, tests: int = 1
) -> Difference:
    """Compare a difference of known standard error with a margin, as `difference` does.

    `freedom` is that of Student's distribution; infinite for the normal one.
    """
    error = max(error, 1e-12)  # without any, probabilities become 0 or 1 instead of NaN
    # Of scipy's functions, which are many times as fast as its distributions.
    worse, better = special.stdtr(freedom, [(-margin - mean) / error, (mean - margin) / error])
    levels = [1 - LEVEL / 2, 1 - LEVEL / 2 / tests, POWER]
    quantile, strictest, power = special.stdtrit(freedom, levels).tolist()
    return Difference(
        mean=mean,
        low=mean - quantile * error,
        high=mean + quantile * error,
        p=float(2 * special.stdtr(freedom, -abs(mean) / error)),
        p_equivalent=float(max(worse, better)),
        detectable=(strictest + power) * error,
        worse=float(worse),
        same=float(1.0 - worse - better),
        better=float(better),
    )


def verdict(estimate: Difference, p: float, p_equivalent: float) -> str:
    """Return "better", "worse", "equivalent" or "undecided" for a difference.

    It is better or worse if the test excludes no difference; equivalent if the two one-sided tests
    exclude both sides of the margin; else it is undecided. The p values are those of `estimate`, or
    adjusted for the family that it belongs to.
    """
    if p < LEVEL:
        return BETTER if estimate.mean > 0 else WORSE
    return EQUIVALENT if p_equivalent < LEVEL else UNDECIDED


def over_datasets(means: Sequence[float] | Array, margin: float) -> tuple[float, float, float]:
    """Return the probabilities that a contender is worse, the same and better on a new data set.

    `means`, (m,), are its mean differences on m data sets. Returned are shares of draws from the
    posterior of the Bayesian signed-rank test (Benavoli et al. 2017, section 4) in which each is
    the most probable; they sum to 1. One prior observation lies at 0.
    """
    z = np.concatenate([[0.0], np.asarray(means, dtype=np.float64)])
    pair = z[:, None] + z[None, :]
    above = (pair > 2 * margin).astype(np.float64)
    below = (pair < -2 * margin).astype(np.float64)
    prior = np.ones(len(z))
    weights = np.random.default_rng(0).dirichlet(prior, size=DRAWS)
    better = np.einsum("di,ij,dj->d", weights, above, weights)
    worse = np.einsum("di,ij,dj->d", weights, below, weights)
    winner = np.argmax(np.column_stack([worse, 1 - better - worse, better]), axis=1)
    lower, same, upper = (np.bincount(winner, minlength=3) / DRAWS).tolist()
    return lower, same, upper
