"""Claims of CAC v1 about the alpha and the k that a search finds (section 6.2, appendix B.1)."""

import numpy as np

from deepcac.experiments.k_choice import fold_scores, k_candidates
from deepcac.papers.arms import base_classifiers, cac_arm
from deepcac.papers.evidence import FAILS, HOLDS, NOT_RUN, PARTLY, Decision, Evidence
from deepcac.papers.names import printed_datasets, usual_k
from deepcac.papers.rules import Rule
from deepcac.papers.truth import by_share

_TABLE = "cac_v1_table1_f1_heldout"
_LARGE_ALPHA = 2.0  # nearer to the printed 2.5 than to 1 on the grid


def tuning_rules() -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {"CAC1-36": _alphas_differ, "CAC1-37": _printed_k_is_chosen}


def _alphas_differ(evidence: Evidence) -> Decision:
    """Decide whether the tuned alpha depends on data set and classifier, and is 2.5 on Diabetes."""
    tuned: dict[str, dict[str, float]] = {}
    used = []
    for dataset in printed_datasets(_TABLE):
        for base in base_classifiers(_TABLE):
            run = evidence.run(cac_arm("cac_v1", dataset, f"cac_{base}"))
            alphas = [
                split["hyperparameters"]["alpha"]
                for split in (run.splits if run else [])
                if "alpha" in split.get("tuned", ())
            ]
            if run is None or not alphas:
                return Decision(NOT_RUN, f"{dataset} has no tuned alpha for {base} yet")
            tuned.setdefault(dataset, {})[base] = float(np.median(alphas))
            used.append(run.path)
    large = all(alpha >= _LARGE_ALPHA for alpha in tuned["diabetes"].values())
    by_set = len({alpha for alphas in tuned.values() for alpha in alphas.values()}) > 1
    by_classifier = any(len(set(alphas.values())) > 1 for alphas in tuned.values())
    figures = "; ".join(
        f"{name}: " + ", ".join(f"{method} {alpha:g}" for method, alpha in alphas.items())
        for name, alphas in tuned.items()
    )
    verdict = HOLDS if by_set and by_classifier and large else PARTLY if by_set else FAILS
    return Decision(verdict, figures, tuple(used))


def _printed_k_is_chosen(evidence: Evidence) -> Decision:
    """Decide whether the folds ask for the k that the paper prints, on its data sets."""
    if evidence.protocol != "sound":
        return Decision(NOT_RUN, "k is searched in the sound protocol only")
    datasets = printed_datasets(_TABLE)
    found, used, right = {}, [], 0
    for candidates in k_candidates(evidence.runs):
        first = next(iter(candidates.values()))
        if first.method != "cac_lr" or first.dataset not in datasets or first.synthetic:
            continue
        means = {k: float(np.mean(fold_scores(run))) for k, run in candidates.items()}
        found[first.dataset] = max(means, key=means.__getitem__)
        right += found[first.dataset] == usual_k("cac_v1", first.dataset, first.method)
        used += [run.path for run in candidates.values()]
    if len(found) < len(datasets):
        return Decision(NOT_RUN, f"k was searched on {len(found)} of {len(datasets)} data sets")
    figures = ", ".join(f"{name} k = {k}" for name, k in found.items())
    return Decision(by_share(right / len(found), 1.0), f"best in the folds: {figures}", tuple(used))
