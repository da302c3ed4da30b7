"""The claims of DeepCAC with rules of their own: empty clusters, and its case study."""

import numpy as np

from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.papers.deepcac.length_of_stay import case_study_rules
from deepcac_study.papers.evidence import FAILS, HOLDS, NOT_RUN, UNDECIDED, Arm, Decision, Evidence
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.rules.arm_rules import of_arms
from deepcac_study.papers.rules.decisions import Rule, settled, unanimous
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run

_UNDIVIDED = "dcn_z"  # whose squared distances are not divided by the size of the cluster
_KS = (2, 3, 4)


def rules(found: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        "DCAC-40": no_empty_cluster(),
        "DCAC-43": _short_and_long,
        **case_study_rules(found.studies),
    }


def no_empty_cluster() -> Rule:
    """Return the rule that distances divided by the cluster size leave no cluster empty.

    Section 7. DCN, which does not divide them, stands for training without; where it has no empty
    cluster either, nothing had to be prevented.
    """
    arms = [
        Arm(name, method, k, "auprc", "deepcac")
        for name in printed_datasets("deepcac_table2_auprc")
        for method in (DEEPCAC, _UNDIVIDED)
        for k in _KS
    ]

    def decide(evidence: Evidence, kept: list[int]) -> Decision:
        made = [run for i in kept if (run := evidence.run(arms[i]))]
        divided, undivided = (
            [_empty(run) for run in made if run.method == method]
            for method in (DEEPCAC, _UNDIVIDED)
        )
        reason = (
            f"fits with an empty cluster: {sum(divided)} of DeepCAC in {len(divided)} runs, "
            f"{sum(undivided)} of DCN-Z, which divides by no size"
        )
        return Decision(FAILS if sum(divided) else HOLDS if sum(undivided) else UNDECIDED, reason)

    return of_arms({i: [arm] for i, arm in enumerate(arms)}, decide)


def _empty(run: Run) -> int:
    """Return the number of splits with a cluster that holds no training row."""
    sizes = [split["clusters"]["sizes_train"] for split in run.splits if split.get("clusters")]
    return sum(min(map(sum, own)) == 0 for own in sizes)


def _short_and_long(evidence: Evidence) -> Decision:
    """Ask of each split for a cluster of mostly short stays and one of mostly long ones."""
    arm = Arm("cic_los", DEEPCAC, 3, "auprc", "deepcac")
    run = evidence.run(arm)
    if run is None or run.status != "ok":
        return Decision(NOT_RUN, f"needs {evidence.target(arm)}")
    sizes = [split["clusters"]["sizes_train"] for split in run.splits]
    found = [{0, 2} <= {int(np.argmax(own)) for own in one if sum(own)} for one in sizes]
    reason = f"true of {sum(found)} of {len(found)} splits"
    return Decision(settled([unanimous(found)]), reason, (run.path,))
