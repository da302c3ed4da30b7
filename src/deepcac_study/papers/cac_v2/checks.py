"""Checks of two claims of CAC v2: on Gaussian classes, and on twelve rivals of EC3."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from deepcac_study.papers.claim_verdicts import CANNOT, FAILS, HOLDS, PARTLY, UNDECIDED, Outcome
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.rules.compared_scores import CHECKS, Comparisons
from deepcac_study.papers.rules.rule import ClaimRule

_DISTANCES = np.arange(1.0, 12.5, 0.5)  # of the class means, in standard deviations


def crossings_fall(_: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether fewer points cross the hyperplane between two Gaussians as they move apart.

    The share beyond the middle falls at least exponentially with the distance (section 5.1) if its
    logarithm falls in every step at least as much as in the first.
    """
    falls = -np.diff(np.log(norm.sf(_DISTANCES / 2)))
    steady = bool(falls[0] > 0 and (falls >= falls[0] * (1 - 1e-9)).all())
    figures = (
        f"half a standard deviation more divides the share by {np.exp(falls[0]):.2f} "
        f"at distance 1 and by {np.exp(falls[-1]):.2f} at 12; exponential is a constant factor"
    )
    return Outcome(HOLDS if steady else FAILS, figures)


def rivals_of_ec3(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
    """Check whether EC3 beats the random forest on the five data sets of its paper.

    AdaBoost, BGCM and UPE, among the twelve rivals of the claim, were not run, so it cannot hold.
    """
    verdict, figures, *_ = CHECKS["higher"](comparisons, rule, evidence)
    verdict = {HOLDS: PARTLY, UNDECIDED: CANNOT}.get(verdict, verdict)
    note = "; AdaBoost, BGCM and UPE were not run"
    return Outcome(verdict, f"against the random forest {figures}", note=note)
