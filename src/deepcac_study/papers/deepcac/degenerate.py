"""DeepCAC's claim that its loss leaves no cluster empty (section 7)."""

from collections.abc import Sequence

from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.experiments.finished import Run
from deepcac_study.papers.evidence import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Arm,
    Decision,
    Evidence,
    lacking,
    nothing_left,
    without,
)
from deepcac_study.papers.rules import Rule

_UNDIVIDED = "dcn_z"  # whose squared distances are not divided by the size of the cluster


def no_empty_cluster(datasets: Sequence[str], ks: Sequence[int]) -> Rule:
    """Return the rule that distances divided by the cluster size leave no cluster empty.

    DCN, which does not divide them, stands for training without; where it has no empty cluster
    either, nothing had to be prevented.
    """

    def rule(evidence: Evidence) -> Decision:
        arms = [
            Arm(name, method, k, "auprc", "deepcac")
            for name in datasets
            for method in (DEEPCAC, _UNDIVIDED)
            for k in ks
        ]
        kept = [arm for arm in arms if not evidence.left_out(arm)]
        if not kept:
            return nothing_left(arms, evidence)
        if missing := lacking(kept, evidence):
            return missing
        made = [run for arm in kept if (run := evidence.run(arm))]
        divided, undivided = (
            [_empty(run) for run in made if run.method == method]
            for method in (DEEPCAC, _UNDIVIDED)
        )
        reason = (
            f"fits with an empty cluster: {sum(divided)} of DeepCAC in {len(divided)} runs, "
            f"{sum(undivided)} of DCN-Z, which divides by no size"
        ) + without(arms, evidence)
        verdict = FAILS if sum(divided) else HOLDS if sum(undivided) else UNDECIDED
        return Decision(verdict, reason, evidence.paths(kept))

    return rule


def _empty(run: Run) -> int:
    """Return the number of splits with a cluster that holds no training row."""
    sizes = [split["clusters"]["sizes_train"] for split in run.splits if split.get("clusters")]
    return sum(min(map(sum, own)) == 0 for own in sizes)
