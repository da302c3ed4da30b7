"""The claims of DeepCAC with rules of their own: empty clusters, and its case study."""

import numpy as np

from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.papers.deepcac.length_of_stay import case_study_rules
from deepcac_study.papers.evidence import FAILS, HOLDS, NOT_RUN, UNDECIDED, Arm, Decision, Evidence
from deepcac_study.papers.names import printed_datasets
from deepcac_study.papers.rules.arm_rules import of_arms
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Rule
from deepcac_study.papers.rules.rule_table import base_classifiers, cac_arm
from deepcac_study.papers.rules.truth import Truth, above, counts_in_words, settled, unanimous
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run

_UNDIVIDED = "dcn_z"  # whose squared distances are not divided by the size of the cluster
_KS = (2, 3, 4)
_TABLE_5 = "deepcac_table5_f1"
_SAME = 0.001  # silhouettes this near on every split are those of the same clusters


def rules(findings: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        "DCAC-17": poorer_clusters(),
        "DCAC-40": no_empty_cluster(),
        "DCAC-43": _short_and_long,
        **case_study_rules(findings.studies),
    }


def poorer_clusters() -> Rule:
    """Return the rule that clusters of CAC have a lower silhouette than those of plain k-means.

    Section 6. It is asked with every base classifier. Classifiers that share their clusterings
    count once; where CAC moved no more than a few rows its clusters are those of k-means, and
    nothing is compared.
    """
    pairs = {
        (name, base): [
            cac_arm("deepcac", name, f"{arm}_{base}", "silhouette") for arm in ("km", "cac")
        ]
        for name in printed_datasets(_TABLE_5)
        for base in base_classifiers(_TABLE_5)
    }

    def decide(evidence: Evidence, available: list[tuple[str, str]]) -> Decision:
        truths: dict[tuple[object, ...], Truth] = {}
        same = 0
        for name, base in available:
            arms = pairs[name, base]
            ends = [evidence.per_split(arm) for arm in arms]
            if len(ends[0]) == len(ends[1]) and np.abs(ends[0] - ends[1]).max() <= _SAME:
                same += 1
            elif gap := evidence.contrast(*arms):
                truths[name, *np.round(ends[1], 9).tolist()] = above(gap)
        answers = list(truths.values())
        left = f"clusters are those of k-means in {same} of {len(available)}"
        if not answers:
            return Decision(UNDECIDED, left)
        share = asked("DCAC-17")(len(answers))
        reason = f"{counts_in_words(answers)} other clusterings; {left}; needed for {share:.0%}"
        return Decision(settled(answers, share), reason)

    return of_arms(pairs, decide)


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

    def decide(evidence: Evidence, available: list[int]) -> Decision:
        made = [run for i in available if (run := evidence.run(arms[i]))]
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
    return sum(min(map(sum, split_sizes)) == 0 for split_sizes in sizes)


def _short_and_long(evidence: Evidence) -> Decision:
    """Ask of each split for a cluster of mostly short stays and one of mostly long ones."""
    arm = Arm("cic_los", DEEPCAC, 3, "auprc", "deepcac")
    run = evidence.run(arm)
    if run is None or run.status != "ok":
        return Decision(NOT_RUN, f"needs {evidence.target(arm)}")
    sizes = [split["clusters"]["sizes_train"] for split in run.splits]
    answers = [
        {0, 2} <= {int(np.argmax(counts)) for counts in split_sizes if sum(counts)}
        for split_sizes in sizes
    ]
    reason = f"true for {sum(answers)} of {len(answers)} splits"
    return Decision(settled([unanimous(answers)]), reason, (run.path,))
