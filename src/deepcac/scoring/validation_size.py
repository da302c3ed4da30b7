"""Sample size of a validation study of a risk model (Riley et al. 2021)."""

from dataclasses import dataclass
from math import asinh, ceil, sqrt

import numpy as np
from scipy.optimize import brentq

from deepcac.errors import ConfigError
from deepcac.types import Array

# Widths of the 95 % intervals that are aimed at, as in pmvalsampsize.
RATIO, SLOPE, STATISTIC, BENEFIT = 0.2, 0.2, 0.1, 0.2
_Z = 1.96
_MOST = 1e9


@dataclass(frozen=True)
class ValidationSize:
    """Number of patients that each criterion requires, for 95 % intervals of the width below."""

    ratio: int  # observed by expected events: 0.2
    slope: int  # calibration slope: 0.2
    statistic: int  # AUROC: 0.1
    benefit: int | None  # standardised net benefit at the threshold: 0.2; None without a threshold
    share: float  # of the patients with the event, as assumed

    @property
    def needed(self) -> int:
        """The largest of them."""
        return max(self.ratio, self.slope, self.statistic, self.benefit or 0)

    @property
    def events(self) -> int:
        """Events among them."""
        return ceil(self.needed * self.share)


# By hand: pmvalsampsize simulates normal log odds, and here those of the model are given.
def validation_size(odds: Array, auroc: float, threshold: float | None = None) -> ValidationSize:
    """Return the smallest sample to validate a risk model on, as pmvalsampsize does.

    The model is assumed to be calibrated. `odds`, shape (n,), are its log odds for patients like
    those of the study, such as held-out ones; `auroc` is the expected one; patients whose risk
    exceeds the threshold are treated. A number out of range is a `ConfigError`.

    References
    ----------
    Riley et al. 2021 (Stat Med 40, 4230), with the widths that pmvalsampsize has as defaults.
    """
    if not 0.5 < auroc <= 1 or len(odds) < 2 or float(np.ptp(odds)) == 0:
        raise ConfigError(f"AUROC {auroc:g}: no validation study can be planned for such a model")
    risk = 1 / (1 + np.exp(-odds))
    share = float(risk.mean())
    of_ratio = asinh(RATIO / 2) / _Z
    return ValidationSize(
        ratio=ceil((1 - share) / (share * of_ratio**2)),
        slope=_size_for_slope(odds, risk),
        statistic=_size_for_auroc(auroc, share),
        benefit=None if threshold is None else _size_for_benefit(risk, share, threshold),
        share=share,
    )


def _size_for_slope(odds: Array, risk: Array) -> int:
    """Return the patients at which the interval of the calibration slope is narrow enough."""
    weight = risk * (1 - risk)
    a, b, c = (float((weight * odds**power).mean()) for power in range(3))
    return ceil(a / ((SLOPE / 2 / _Z) ** 2 * (a * c - b**2)))


def _size_for_auroc(auroc: float, share: float) -> int:
    """Return the patients at which Newcombe's (2006) interval of the AUROC is narrow enough."""

    def surplus(n: float) -> float:
        more = (n / 2 - 1) * ((1 - auroc) / (2 - auroc) + auroc / (1 + auroc))
        variance = auroc * (1 - auroc) * (1 + more) / (n**2 * share * (1 - share))
        return 2 * _Z * sqrt(variance) - STATISTIC

    # An almost perfect ranking is known well enough from the fewest patients.
    return 4 if surplus(4) <= 0 else ceil(brentq(surplus, 4, _MOST))


def _size_for_benefit(risk: Array, share: float, threshold: float) -> int:
    """Return the patients at which the interval of the net benefit is narrow enough."""
    treated = risk > threshold
    sensitivity = float((risk * treated).mean()) / share
    false_alarms = float(((1 - risk) * treated).mean()) / (1 - share)
    w = (1 - share) / share * threshold / (1 - threshold)
    variance = (
        sensitivity * (1 - sensitivity) / share
        + w**2 * false_alarms * (1 - false_alarms) / (1 - share)
        + w**2 * false_alarms**2 / (share * (1 - share))
    )
    return ceil(variance / (BENEFIT / 2 / _Z) ** 2)
