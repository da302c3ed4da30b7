"""The claims of CAC v1 with rules of their own: separation, and what a search finds (6.2, B.1)."""

from collections.abc import Iterator, Mapping
from itertools import permutations

import numpy as np
from scipy.stats import spearmanr

from deepcac.cac.path import FOLDS
from deepcac.scoring.equivalence import LEVEL, Difference, difference
from deepcac.scoring.margins import MARGIN
from deepcac_study.catalogue.methods import CAC_LR
from deepcac_study.papers.evidence import (
    FAILS,
    HOLDS,
    NOT_RUN,
    PARTLY,
    Arm,
    Decision,
    Evidence,
    exactly,
    tuned_alphas,
)
from deepcac_study.papers.names import printed_datasets, usual_k
from deepcac_study.papers.rules.arm_rules import of_arms
from deepcac_study.papers.rules.asked import asked
from deepcac_study.papers.rules.decisions import Rule, sound_only
from deepcac_study.papers.rules.rule_table import base_classifiers, cac_arm
from deepcac_study.papers.rules.truth import (
    Truth,
    above,
    alike,
    counts_in_words,
    not_below,
    settled,
    together,
)
from deepcac_study.records.reader import Findings
from deepcac_study.records.runs import Run, Runs

_TABLE = "cac_v1_table1_f1_heldout"
_LARGE_ALPHA = 2.0  # nearer to the printed 2.5 than to 1 on the grid


Candidates = Mapping[int, Run]


def rules(findings: Findings) -> dict[str, Rule]:
    """Return the rules by claim id."""
    return {
        "CAC1-29": _low_then_high("diabetes"),
        "CAC1-36": _alphas_differ,
        "CAC1-38": _separation_matters(),
        "CAC1-37": sound_only(_printed_k_is_chosen, "k is searched"),
    }


def _low_then_high(dataset: str) -> Rule:
    """Return the rule that a data set has the least class separation under k-means, and gains most.

    Separation counts a row, so that sizes do not matter.
    """
    arms = {name: [cac_arm("cac_v1", name, CAC_LR)] for name in printed_datasets(_TABLE)}

    def decide(evidence: Evidence, names: list[str]) -> Decision:
        start, growth = {}, {}
        for name in names:
            ends = _separations(evidence, *arms[name])
            if not len(ends):
                return Decision(NOT_RUN, f"needs the curves of {evidence.target(*arms[name])}")
            start[name], growth[name] = ends[:, 0], ends[:, 1] / ends[:, 0]
        n = min(map(len, start.values()))
        lowest = [min(start, key=lambda name: start[name][j]) == dataset for j in range(n)]
        most = [max(growth, key=lambda name: growth[name][j]) == dataset for j in range(n)]
        listed = ", ".join(f"{name} x{np.mean(ratio):.1f}" for name, ratio in growth.items())
        answers: list[Truth] = [alike(lowest), alike(most)]
        reason = (
            f"least separated on {sum(lowest)}, gains most on {sum(most)} of {n} splits: {listed}"
        )
        return Decision(together(answers), reason)

    return of_arms(arms, decide)


def _separation_matters() -> Rule:
    """Return the rule that CAC gains more over k-means where it separates the classes more.

    Section 6.3. By the rank correlation, over the data sets, of the growth in separation with the
    gain in F1 of CAC+LR over KM+LR: above 0 by an exact permutation test, at 5 %, on means over
    the splits.
    """
    arms = {
        name: [cac_arm("cac_v1", name, method) for method in (CAC_LR, "km_lr")]
        for name in printed_datasets(_TABLE)
    }

    def decide(evidence: Evidence, names: list[str]) -> Decision:
        growth, gains = [], []
        for name in names:
            ends = _separations(evidence, arms[name][0])
            gap = evidence.contrast(*arms[name])
            if not len(ends) or gap is None:
                return Decision(NOT_RUN, f"needs the curves of {evidence.target(arms[name][0])}")
            growth.append(float(np.log(ends[:, 1] / ends[:, 0]).mean()))
            gains.append(gap.mean)
        rho, p = _rank_correlation(growth, gains)
        answer: Truth = None if p >= LEVEL else rho > 0
        listed = ", ".join(
            f"{name} x{np.exp(more):.1f} {gain:+.3f}"
            for name, more, gain in zip(names, growth, gains, strict=True)
        )
        reason = f"rank correlation {rho:+.2f} (p {p:.3f}) of growth and gain in F1: {listed}"
        return Decision(settled([answer]), reason)

    return of_arms(arms, decide)


def _rank_correlation(first: list[float], other: list[float]) -> tuple[float, float]:
    """Return Spearman's correlation and its exact one-sided p, for the side that it is on."""
    rho = float(spearmanr(first, other).statistic) if np.ptp(first) and np.ptp(other) else 0.0
    drawn = [abs(rho) <= spearmanr(first, order).statistic + 1e-9 for order in permutations(other)]
    return rho, float(np.mean(drawn)) if rho else 1.0


def _separations(evidence: Evidence, arm: Arm) -> np.ndarray:
    """Return the separation a row of each split at the k-means start and at the end."""
    run = evidence.run(arm)
    splits = run.splits if run else []
    curves = [(split.get("history", {}).get("separation"), split["n_train"]) for split in splits]
    return np.array([[c[0] / rows, c[-1] / rows] for c, rows in curves if c and c[0] > 0])


def _alphas_differ(evidence: Evidence) -> Decision:
    """Decide whether the tuned alpha depends on data set and classifier, and is 2.5 on Diabetes."""
    tuned: dict[str, dict[str, float]] = {}
    used = []
    for dataset in printed_datasets(_TABLE):
        for base in base_classifiers(_TABLE):
            run = evidence.run(cac_arm("cac_v1", dataset, f"cac_{base}"))
            alphas = tuned_alphas(run) if run else []
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
    """Decide whether the folds ask for the printed k: above k = 1, and no other k above it."""
    by_dataset = {candidates[1].dataset: candidates for candidates in _with_one(evidence)}
    wanted = printed_datasets(_TABLE)
    if lack := [name for name in wanted if name not in by_dataset]:
        target = evidence.target(Arm(lack[0], CAC_LR, 1, "f1", "cac_v1"))
        return Decision(NOT_RUN, f"needs {target} and other k, on {len(lack)} data sets")
    answers: list[Truth] = []
    texts, used = [], []
    for name in wanted:
        candidates, k = by_dataset[name], usual_k("cac_v1", name, CAC_LR)
        differences = {other: _ahead(candidates, k, other) for other in candidates if other != k}
        parts = [above(gap) if other == 1 else not_below(gap) for other, gap in differences.items()]
        answers.append(False if False in parts else None if None in parts else True)
        best = max(candidates, key=lambda other: np.mean(fold_scores(candidates[other])))
        texts.append(f"{name} k = {best}, {differences[1].mean:+.3f} of k = {k} over k = 1")
        used += [run.path for run in candidates.values()]
    reason = f"best in the folds: {'; '.join(texts)}; {counts_in_words(answers)} data sets"
    return Decision(settled(answers, asked("CAC1-37")(len(answers))), reason, tuple(used))


def _with_one(evidence: Evidence) -> list[Candidates]:
    families = [
        candidates
        for candidates in k_candidates(evidence.runs)
        if 1 in candidates and candidates[1].method == CAC_LR
    ]
    return [
        candidates
        for candidates in families
        if usual_k("cac_v1", candidates[1].dataset, CAC_LR) in candidates
    ]


def _ahead(candidates: Candidates, k: int, other: int) -> Difference:
    """Return the score of one k in the folds less that of another, split by split."""
    first, two = (np.array(fold_scores(candidates[x])) for x in (k, other))
    if len(first) < 2:
        return exactly(float(np.mean(first) - np.mean(two)))
    return difference(first - two, test_share=1 / FOLDS, margin=MARGIN)


def k_candidates(runs: Runs) -> Iterator[Candidates]:
    """Yield the runs of one data set and method by k, where there are several to choose from."""
    by_method: dict[tuple[str, str], dict[int, Run]] = {}
    for run in runs.where(protocol="sound", status="ok"):
        if run.splits and all("alpha_f1" in s["hyperparameters"] for s in run.splits):
            by_method.setdefault((run.dataset, run.method), {})[run.k] = run
    for candidates in by_method.values():
        if len(candidates) > 2:
            yield dict(sorted(candidates.items()))


def fold_scores(run: Run) -> list[float]:
    """Return the cross-validated F1 of each split, at its best alpha."""
    return [max(split["hyperparameters"]["alpha_f1"].values()) for split in run.splits]
