"""Checks of claims of DeepCAC: on poor or empty clusters, and on its case study."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from deepcac_study.catalogue.facts import facts
from deepcac_study.catalogue.methods import DEEPCAC
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.papers.agreement import WIDEST
from deepcac_study.papers.claim_verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Outcome,
    Truth,
    above,
    alike,
    counts_in_words,
    settled,
    together,
    unanimous,
)
from deepcac_study.papers.evidence import Evidence
from deepcac_study.papers.rules.compared_scores import Comparisons
from deepcac_study.papers.rules.rule import ClaimRule
from deepcac_study.records.studies import TOP

_SAME = 0.001  # silhouettes this near on every split are those of the same clusters


def poorer_clusters(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
    """Check whether clusters of CAC have a lower silhouette than those of plain k-means.

    Section 6, with every base classifier. Classifiers that share their clusterings count once;
    where CAC moved no more than a few rows its clusters are those of k-means, and nothing is
    compared.
    """
    truths: dict[tuple[object, ...], Truth] = {}
    same = 0
    for comparison in comparisons:
        ends = [evidence.per_split(arm) for arm in comparison.arms(rule)]
        if len(ends[0]) == len(ends[1]) and np.abs(ends[0] - ends[1]).max() <= _SAME:
            same += 1
        else:
            key = (comparison.dataset, *np.round(ends[1], 9).tolist())
            truths[key] = above(comparison.gap(evidence))
    answers = list(truths.values())
    left = f"clusters are those of k-means in {same} of {len(comparisons)}"
    if not answers:
        return Outcome(UNDECIDED, left)
    share = rule.share(len(answers))
    figures = f"{counts_in_words(answers)} other clusterings; {left}; needed for {share:.0%}"
    return Outcome(settled(answers, share), figures)


def no_empty_cluster(comparisons: Comparisons, rule: ClaimRule, evidence: Evidence) -> Outcome:
    """Check whether distances divided by the cluster size leave no cluster empty.

    Section 7. The comparison is with DCN, which does not divide them; if it has no empty cluster
    either, nothing had to be prevented.
    """
    arms = [arm for comparison in comparisons for arm in comparison.first]
    runs = [(arm.method == DEEPCAC, run) for arm in arms if (run := evidence.run(arm))]
    divided, undivided = (
        sum(int(run["empty_cluster"].sum()) for ours, run in runs if ours is kind)
        for kind in (True, False)
    )
    n = sum(ours for ours, _ in runs)
    figures = (
        f"fits with an empty cluster: {divided} of DeepCAC in {n} runs, "
        f"{undivided} of DCN-Z, which divides by no size"
    )
    return Outcome(FAILS if divided else HOLDS if undivided else UNDECIDED, figures)


def short_and_long(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check that each split has a cluster of mostly short stays and one of mostly long ones."""
    answers = [{0, 2} <= majorities for majorities in rows["majorities"]]
    figures = f"true for {sum(answers)} of {len(answers)} splits"
    return Outcome(settled([unanimous(answers)]), figures)


def other_features(evidence: Evidence) -> str:
    """Return why sound runs do not decide: other columns, and another imputation."""
    if evidence.protocol != SOUND.name:
        return ""
    return "about the paper's features, and the sound ones are others"


def printed_scores(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check the AUPRC of DeepCAC and of its students against the two printed ones."""
    answers: list[Truth] = []
    texts = []
    for row in facts("deepcac_section14_student"):
        values, printed = rows[row["item"]].to_numpy(), float(row["value"])
        near = bool(abs(values.mean() - printed) <= WIDEST)
        answers.append(near if near or (np.abs(values - printed) > WIDEST).all() else None)
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        texts.append(f"{row['item']} {values.mean():.3f} ± {spread:.3f}, printed {row['value']}")
    return Outcome(together(answers), "; ".join(texts))


def _lists(rows: pd.DataFrame) -> list[list[set[str]]]:
    """Return, by split, the ten most important features of each cluster's risk model."""
    by_split: dict[object, list[set[str]]] = {}
    for (seed, _), part in rows.groupby(["seed", "cluster"]):
        top = part[part["importance"] > 0].nlargest(TOP, "importance", keep="all")
        by_split.setdefault(seed, []).append(set(top["feature"][:TOP]))
    return [by_split[seed] for seed in rows["seed"].unique()]


def shared_features(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check on each split that only PaO2 is in all three lists, and two features in two lists."""
    answers = []
    for lists in _lists(rows):
        within = Counter(name for names in lists for name in names)
        by_count = Counter(within.values())
        answers.append((within["PaO2_last"] == len(lists), by_count[3] == 1, by_count[2] == 2))
    parts = list(zip(*answers, strict=True))
    words = ("PaO2_last in all three", "one in all three", "two in two")
    texts = [f"{name}: {sum(right)}" for name, right in zip(words, parts, strict=True)]
    figures = f"{', '.join(texts)} of {len(answers)} splits"
    return Outcome(together([unanimous(right) for right in parts]), figures)


def ventilation_and_urine(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether both are among the ten features with the largest effects on test rows."""
    answers = []
    for _, part in rows.groupby("seed", sort=False):
        effects = part.drop_duplicates("feature").nlargest(TOP, "effect")["feature"]
        answers.append(
            all(effects.str.startswith(name).any() for name in ("MechVent", "UrineOutput"))
        )
    figures = f"both among the {TOP} strongest on {sum(answers)} of {len(answers)} splits"
    return Outcome(together([unanimous(answers)]), figures)


def own_risk_factors(rows: pd.DataFrame, rule: ClaimRule) -> Outcome:
    """Check whether lists of different clusters differ more than those of one cluster over splits.

    Lists also differ by chance: risk factors are specific to clusters only if lists of one cluster
    share more than those of two clusters, on every pair of splits.
    """
    excess = [_excess(first, other) for first, other in combinations(_lists(rows), 2)]
    if not excess:
        return Outcome(UNDECIDED, "one split: what splits have in common cannot be seen")
    right = [value > 0 for value in excess]
    figures = (
        f"a cluster's lists of {TOP} share {np.mean(excess):+.1f} features more across splits than "
        f"the lists of two clusters do; more on {sum(right)} of {len(right)} pairs of splits"
    )
    return Outcome(together([alike(right)]), figures)


def _excess(first: Sequence[set[str]], other: Sequence[set[str]]) -> float:
    """Return how many more features lists of one cluster share between splits than other lists."""
    shared = np.array([[len(a & b) for b in other] for a in first])
    k = len(shared)
    across = (shared.sum() - np.trace(shared)) / (k * (k - 1))
    return float(np.trace(shared) / k - across)
