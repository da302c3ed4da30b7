"""CAC v2, section 5.1: how many points of Gaussian classes cross the hyperplane between them."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from deepcac_study.papers.evidence import FAILS, HOLDS, Decision, Evidence
from deepcac_study.papers.rules import Rule

Floats = npt.NDArray[np.float64]

_DISTANCES = np.arange(1.0, 12.5, 0.5)  # of the class means, in standard deviations


def _crossing(distance: Floats) -> Floats:
    """Return the share of a unit Gaussian beyond the middle between it and another one."""
    return np.asarray(norm.sf(distance / 2))


def crossings_fall(share: Callable[[Floats], Floats] = _crossing) -> Rule:
    """Return the rule that the share falls at least exponentially with the distance.

    That is so if the logarithm falls by no less from step to step than at first.
    """

    def rule(evidence: Evidence) -> Decision:
        falls = -np.diff(np.log(share(_DISTANCES)))
        steady = bool(falls[0] > 0 and (falls >= falls[0] * (1 - 1e-9)).all())
        reason = (
            f"theory: half a standard deviation more divides the share by {np.exp(falls[0]):.2f} "
            f"at distance 1 and by {np.exp(falls[-1]):.2f} at 12; exponential is a constant factor"
        )
        return Decision(HOLDS if steady else FAILS, reason)

    return rule
