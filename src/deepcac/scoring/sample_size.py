"""Sample size to develop a risk model (Riley et al. 2020)."""

from dataclasses import dataclass
from math import ceil, exp, log, sqrt

import numpy as np
from scipy.stats import norm

from deepcac.errors import ConfigError

SHRINKAGE = 0.9  # of the predictors' effects, at least
OPTIMISM = 0.05  # in the explained share, Nagelkerke's R2, at most
RISK_ERROR = 0.05  # of the overall risk (half its interval), and of a patient's risk on average
EXPLAINED = 0.15  # of the largest R2, where nobody knows better
MOST_FOR_ERROR = 30  # parameters up to which the formula of the average error was simulated


@dataclass(frozen=True)
class SampleSize:
    """Number of patients that each criterion requires."""

    overall: int  # the overall risk is known within 0.05
    average_error: int | None  # a risk is off by 0.05 on average; None beyond 30 parameters
    shrinkage: int  # effects need to be shrunk by 10 % at most
    optimism: int  # R2 looks better than it is by 0.05 at most
    r2: float  # Cox and Snell's, as assumed

    @property
    def needed(self) -> int:
        """The largest of them."""
        return max(self.overall, self.average_error or 0, self.shrinkage, self.optimism)


def largest_r2(share: float) -> float:
    """Return the largest possible Cox and Snell R2 for an outcome with this share of events."""
    return 1 - exp(2 * (share * log(share) + (1 - share) * log(1 - share)))


def r2_of_auroc(auroc: float, share: float) -> float:
    """Return the Cox and Snell R2 that goes with an AUROC and a share of events.

    As in pmsampsize, whose simulation this is the limit of: the log odds are normal in both
    classes, with one variance (Riley et al. 2021, Stat Med 40, 4230, section 3.3).

    >>> round(r2_of_auroc(0.81, 0.77), 2)
    0.2
    """
    if not 0.5 < auroc < 1:
        raise ConfigError(f"AUROC {auroc:g}: an R2 needs one between 0.5 and 1")
    apart = sqrt(2) * norm.ppf(auroc)
    x = np.linspace(-8, 8 + apart, 4001)
    weight = share * norm.pdf(x - apart), (1 - share) * norm.pdf(x)
    odds = log(share / (1 - share)) + apart * x - apart**2 / 2
    fitted = weight[0] * np.logaddexp(0, -odds) + weight[1] * np.logaddexp(0, odds)
    loss = float(fitted.sum() * (x[1] - x[0]))
    entropy = -share * log(share) - (1 - share) * log(1 - share)
    return 1 - exp(-2 * (entropy - loss))


# By hand: pmsampsize leaves out the criterion of the average error.
def sample_size(parameters: int, share: float, r2: float | None = None) -> SampleSize:
    """Return the smallest sample to develop a risk model of a binary outcome.

    A numeric variable counts as one of the candidate `parameters`, a category as one per level but
    the first. `share` of the patients have the outcome. `r2` is the expected one of Cox and Snell;
    `EXPLAINED` of the largest if None. A number out of range is a `ConfigError`.

    Riley et al. 2020 (BMJ 368, m441), figures 1 to 4.

    >>> sample_size(24, 0.174, 0.288).optimism
    662
    """
    if parameters < 1 or not 0 < share < 1:
        raise ConfigError(f"{parameters} parameters, share {share:g}: a sample size needs others")
    top = largest_r2(share)
    explained = EXPLAINED * top if r2 is None else r2
    if not 0 < explained < top:
        raise ConfigError(f"R2 {explained:g}: it lies between 0 and {top:.3f} for this outcome")
    left = explained / (explained + OPTIMISM * top)
    rarer = min(share, 1 - share)  # the formula is for an outcome in at most a half
    average = (-0.508 + 0.259 * log(rarer) + 0.504 * log(parameters) - log(RISK_ERROR)) / 0.544
    return SampleSize(
        overall=ceil((1.96 / RISK_ERROR) ** 2 * share * (1 - share)),
        average_error=ceil(exp(average)) if parameters <= MOST_FOR_ERROR else None,
        shrinkage=_shrunk(parameters, explained, SHRINKAGE),
        optimism=_shrunk(parameters, explained, left),
        r2=explained,
    )


def _shrunk(parameters: int, r2: float, shrinkage: float) -> int:
    return ceil(parameters / ((shrinkage - 1) * log(1 - r2 / shrinkage)))
