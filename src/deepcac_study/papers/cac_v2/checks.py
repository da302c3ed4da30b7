"""What two claims of CAC v2 ask: of Gaussian classes, and of twelve rivals of EC3."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from deepcac_study.papers.claim_verdicts import CANNOT, FAILS, HOLDS, PARTLY, UNDECIDED, Outcome
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.rules.compared_scores import CHECKS, Comparisons
from deepcac_study.papers.rules.rule import ClaimRule

_DISTANCES = np.arange(1.0, 12.5, 0.5)  # of the class means, in standard deviations


def crossings_fall(_: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Ask whether fewer points cross the hyperplane between two Gaussians as these are apart.

    The share beyond the middle falls at least exponentially with the distance (section 5.1) if its
    logarithm falls by no less from step to step than at first.
    """
    falls = -np.diff(np.log(norm.sf(_DISTANCES / 2)))
    steady = bool(falls[0] > 0 and (falls >= falls[0] * (1 - 1e-9)).all())
    figures = (
        f"half a standard deviation more divides the share by {np.exp(falls[0]):.2f} "
        f"at distance 1 and by {np.exp(falls[-1]):.2f} at 12; exponential is a constant factor"
    )
    return Outcome(HOLDS if steady else FAILS, figures)


def rivals_of_ec3(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
    """Ask whether EC3 beats the random forest on the five sets of its own paper.

    Of the twelve rivals of the claim AdaBoost, BGCM and UPE were not run, so that it cannot hold.
    """
    verdict, figures, *_ = CHECKS["higher"](comparisons, rule, evidence)
    verdict = {HOLDS: PARTLY, UNDECIDED: CANNOT}.get(verdict, verdict)
    note = "; AdaBoost, BGCM and UPE were not run"
    return Outcome(verdict, f"against the random forest {figures}", note=note)
