"""The claims of CAC v2 with rules of their own: Gaussian classes, and twelve rivals of EC3."""

import numpy as np
from scipy.stats import norm

from deepcac_study.papers.evidence import (
    CANNOT,
    FAILS,
    HOLDS,
    NOT_RUN,
    PARTLY,
    UNDECIDED,
    Decision,
    Evidence,
)
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.rules.arm_rules import counted
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Found, Rule, always
from deepcac_study.papers.rules.rule_table import cac_arm
from deepcac_study.records.reader import Findings

_OF_EC3 = ("titanic", "magic", "credit", "adult", "diabetes")
_DISTANCES = np.arange(1.0, 12.5, 0.5)  # of the class means, in standard deviations


def rules(findings: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {"CAC2-03": always(crossings_fall, "theory"), "CAC2-18": _one_of_twelve()}


def crossings_fall() -> Found:
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
    return HOLDS if steady else FAILS, figures


def _one_of_twelve() -> Rule:
    """Return the rule that EC3 beats the random forest on the five sets of its own paper.

    Of the twelve rivals of the claim AdaBoost, BGCM and UPE were not run, so that it cannot hold.
    """
    names = [name for name in printed_datasets("cac_v2_table2_f1") if name in _OF_EC3]
    arms = [[cac_arm("cac_v2", name, method) for name in names] for method in ("ec3", "rf")]
    forest = counted("beats", list(zip(*arms, strict=True)), asked("CAC2-18"))

    def rule(evidence: Evidence) -> Decision:
        decision = forest(evidence)
        verdict = {HOLDS: PARTLY, UNDECIDED: CANNOT}.get(decision.verdict, decision.verdict)
        reason = f"against the random forest {decision.reason}; AdaBoost, BGCM and UPE were not run"
        return decision if decision.verdict == NOT_RUN else Decision(verdict, reason, decision.runs)

    return rule
