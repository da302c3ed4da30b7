"""What worlds hold beside runs: sweeps, theorems, case studies, the relatives' experiments.

Each part has a sign: +1 as claimed, -1 against, 0 where its splits disagree or tell nothing.
"""

import numpy as np
import pandas as pd
from clustering_records import bad_times, checks, good_times, synth, webkb
from decomposition_records import SETS, decomposed

from deepcac_study.records.clusterings import Clusterings
from deepcac_study.records.decompositions import ResampledRecord
from deepcac_study.records.studies import CaseStudy
from deepcac_study.records.sweep_tables import AM_SOFTMAX, CENTROIDS, NONE, TERMS
from deepcac_study.records.theorem_checks import TheoryRecord

ALPHAS = (0.0, 0.02, 1.0)


def alpha_table(sign: int) -> pd.DataFrame:
    """Return a sweep over alpha of two splits; they disagree where the sign is 0."""
    good = ((0.3, 0.5, 0.2), (0.5, 0.4, 0.01), (0.5, 0.4, 0.9), (1, 2, 3), (1, 5, 3))
    bad = ((0.3, 0.31, 0.3), (0.5, 0.4, 0.3), (0.4, 0.5, 0.3), (3, 2, 1), (1, 3, 5))
    shapes = {1: (good, good), -1: (bad, bad), 0: (good, bad)}[sign]
    parts = [_alpha_rows(*shape, seed, fine=shape is good) for seed, shape in enumerate(shapes)]
    return pd.DataFrame([row for part in parts for row in part])


def passes_by_alpha(*counts: int) -> pd.DataFrame:
    """Return a sweep of two splits by the passes of each alpha, all of which lower the loss."""
    return pd.DataFrame(
        {"alpha": a, "pass": step, "seed": seed, "train_log_loss": 0.5 / (step + 1),
         "silhouette": 0.5, "f1": 0.5, "separation": 1.0, "test_log_loss": 0.5, "cost": 1.0}
        for seed in (0, 1)
        for a, count in zip((0.1, 0.2, 0.5, 1.0, 2.0, 5.0), counts, strict=True)
        for step in range(count)
    )  # fmt: skip


def _alpha_rows(f1, train, test, separation, passes, seed, *, fine):
    return [
        {
            "seed": seed, "alpha": alpha, "pass": step, "separation": s - 0.5 ** (s * step),
            "train_log_loss": a + 0.1 * (step < count - 1), "test_log_loss": b, "f1": score,
            "silhouette": (-alpha if fine else alpha) * (step + (count == 1)),
        }
        for alpha, score, a, b, s, count in zip(
            ALPHAS, f1, train, test, separation, passes, strict=True
        )
        for step in range(count)
    ]  # fmt: skip


def separation_table(sign: int) -> pd.DataFrame:
    """Return trainings in which the margins alone separate the classes, or the means' distance."""
    rows = []
    for seed in (0, 1):
        right = sign > 0 or (sign == 0 and seed == 0)
        for term in TERMS:
            raised = term == (AM_SOFTMAX if right else CENTROIDS)
            for alpha in (0.0,) if term == NONE else (2.0, 5.0):
                share = 0.03 if raised and alpha == 5.0 else 0.01
                rows.append({
                    "seed": seed, "term": term, "alpha": alpha, "limit": 2.4, "start_batch_scaling": 45.0, "status": "ok",
                    "loss": 9.0, "length": 3.0, "share": share, "direction_share": share,
                    "test_share": 0.01, "auroc": 0.8, "auprc": 0.5,
                })  # fmt: skip
    return pd.DataFrame(rows)


def weight_table(sign: int) -> pd.DataFrame:
    """Return a sweep over DeepCAC's loss weights of two splits."""
    good = (0.7, 0.6, 0.72, 0.72, 0.72), (0.70, 0.71, 0.71, 0.715, 0.71)
    bad = (0.7, 0.72, 0.6, 0.7, 0.5), (0.70, 0.5, 0.6, 0.69, 0.71)
    shapes = {1: (good, good), -1: (bad, bad), 0: (good, bad)}[sign]
    return pd.DataFrame(
        {"parameter": name, "value": value, "seed": seed, "auroc": s, "auprc": s}
        for seed, pair in enumerate(shapes)
        for name, scores in zip(("alpha", "beta"), pair, strict=True)
        for value, s in zip((0.0, 1.0, 5.0, 20.0, 100.0), scores, strict=True)
    )


def grid_table(sign: int) -> pd.DataFrame:
    """Return a synthetic grid whose trends have a sign, or are lost in noise."""
    rng = np.random.default_rng(0)
    rows = []
    for rare in (False, True):
        for ics, ocs, clusters in np.ndindex(3, 2, 3):
            for method, k in (("lr", 1), *((m, k) for m in ("km_lr", "cac_lr") for k in (2, 3, 4))):
                place = {"ics": ics, "ocs": ocs, "clusters": (2, 3, 5)[clusters]}
                trend = ics - clusters + (k >= place["clusters"]) + (2 - 2 * (method == "lr"))
                trend += 2 * (method == "cac_lr") + (0 if sign > 0 else -2 * ocs)
                noise = rng.normal(0, 0.002 if sign else 0.5)
                score = 0.5 + 0.05 * sign * trend + noise
                about = {"imbalanced": rare, "method": method, "k": k, "f1": score, "auroc": score}
                rows.append(place | about)
    return pd.DataFrame(rows)


def theory(sign: int, *, shift: float | None = None) -> TheoryRecord:
    """Return a record of the theorems; where the sign is 0 every bound is vacuous.

    By `shift` clustering lowers the training loss and raises the test loss.
    """
    good = sign >= 0
    inside, size = (1.0 if good else 5.0), (0.9 if good else 1.5)
    shift = {1: 0.1, 0: 0.0, -1: -0.1}[sign] if shift is None else shift
    total = {1: 0.6, 0: 9.0, -1: 0.3}[sign]
    arms = {"lr": 0.0, "km_lr": shift, "cac_lr": shift}
    limits = {"lower": 0.0, "loss": inside, "upper": 2.0}
    models = {"same_sign": 1.0 if sign else 0.5, "projection": 1.0 if good else -1.0, "rows": 10}
    tight = {1: 0.5, 0: 4.0, -1: 4.0}[sign]
    record = {
        "dataset": "cic", "k": 2, "protocol": "sound", "synthetic": False,
        "cost": [
            {"alpha": a, "first": 10.0, "rise": 0.0 if good else 5.0,
             "lloyd_rise": 1.0 if sign > 0 else 0.0}
            for a in (0.1, 1.0)
        ],
        "growth": dict.fromkeys("ndk", size),
        "log_loss": [
            {"arm": "lr", "cluster": 1, "radius": 3.0, **limits, **models},
            {"arm": "cac_lr", "cluster": 1, "radius": 2.0 if sign else 3.0, **models,
             "lower": inside - tight / 2 if good else 0.0, "loss": inside,
             "upper": inside + tight / 2 if good else 4.0},
        ],
        "am_softmax": [
            {"case": "class means", **limits, "printed_lower": 0.0, "printed_upper": 2.0}
        ],
        "risk": [
            {"arm": arm, "training": 0.3 - s, "test": 0.4 + s, "total": total + s / 2,
             "complexity": 0.1, "confidence": 0.1}
            for arm, s in arms.items()
        ],
    }  # fmt: skip
    return TheoryRecord("results/theory/cic_k2.json", record)


def case_study(sign: int) -> CaseStudy:
    """Return a case study of cic_los with k = 3; where the sign is 0 its splits disagree."""
    rows = []
    for seed in range(3):
        fine = sign > 0 or (sign == 0 and seed < 2)
        own = {j: [f"f{j}{i}" for i in range(9 - (j != 2))] for j in (1, 2, 3)}
        lists = {j: ["PaO2_last", *own[j]] for j in own}
        lists[1].append("shared_a")
        lists[2][1] = "shared_a"
        lists[3].append("shared_b")
        lists[2][2] = "shared_b"
        if not fine:
            lists = {j: [f"g{i}" for i in range(10)] for j in own}
        strong = ["MechVentDuration", "UrineOutputSum"] if fine else ["GCS", "SOFA"]
        for j in own:
            rows += [_feature(seed, j, name, 1.0, 0.1) for name in lists[j]]
            rows += [_feature(seed, j, name, 0.0, 0.9) for name in strong]
    scores = {1: (0.495, 0.358), 0: (0.495, 0.358), -1: (0.3, 0.2)}[sign]
    splits = [
        {
            "seed": s,
            "auprc": scores[0] + 0.1 * s * (not sign),
            "student_auprc": scores[1] + 0.1 * s * (not sign),
        }
        for s in range(3)
    ]
    record = {
        "dataset": "cic_los",
        "k": 3,
        "protocol": "sound",
        "synthetic": False,
        "splits": splits,
    }
    sizes = np.ones((3, 3, 3), dtype=np.int64)
    return CaseStudy("results/case_study/cic_los_k3.json", record, sizes, pd.DataFrame(rows))


def _feature(seed, cluster, name, importance, effect):
    return {
        "seed": seed, "feature": name, "cluster": cluster, "importance": importance,
        "effect": effect, "mean": 1.0, "filled": 1.0, "sd": 1.0, "rows": 9, "p": 0.01,
    }  # fmt: skip


def decompositions(sign: int):
    """Return the twenty records of class decomposition."""
    far = ("uci_vehicle", "uci_vowel")
    if sign > 0:
        plans = {n: {"svm": 8.0 if n in far else -0.2 if n == "uci_colic" else 0.2} for n in SETS}
        shape = {"nb": 4.5, "separate": -1.0, "seconds": (1.0, 5.0)}
    elif sign < 0:
        plans = {n: {"svm": -8.0 if n in far else -3.0} for n in SETS}
        shape = {"nb": -4.5, "separate": 9.0, "validation": -1.0, "clusters": (5, 5)}
    else:
        plans = {n: {"svm": 0.3 if i % 2 else -0.4} for i, n in enumerate(SETS)}
        shape = {"nb": 0.3, "spread": 30.0}
    return [decomposed(n, **{**shape, **plans[n]}) for n in SETS]


def with_clusters(gain: float, factor) -> list:
    """Return records whose gain, and whose saved fits, go with the number of clusters."""
    plans = [
        {"clusters": (1 + i, *(2,) * (1 + i)), "nb": gain * i, "svm": gain * i,
         "fits": (10, int(10 * factor(2 + i)))}
        for i in range(len(SETS))
    ]  # fmt: skip
    return [decomposed(n, **plan, rest=True) for n, plan in zip(SETS, plans, strict=True)]


def idle(*, whole: bool) -> list:
    """Return records without any gain; merged back to whole classes, or not."""
    shape = {"nb": 0.0, "svm": 0.0, "spread": 0.0, "validation": 0.0}
    return [decomposed(n, **shape, whole=whole) for n in SETS]


def resampled(sign: int) -> ResampledRecord:
    """Return bias and variance with and without the search."""
    less = {"bias": 0.2 - 0.05 * sign, "variance": 0.12 if sign > 0 else 0.05}
    parts = {b: {"alone": {"bias": 0.2, "variance": 0.1}, "greedy": less} for b in ("nb", "svm")}
    record = {"dataset": "uci_vote", "synthetic": False, "parts": parts}
    return ResampledRecord("results/bias_variance/uci_vote.json", record)


def clusterings(sign: int) -> Clusterings:
    """Return the experiments of supervised k-means."""
    if sign >= 0:
        runs = (*webkb(), *webkb("webkb_l_unit", 40.0), *synth(45.0, 50.0))
        return Clusterings(runs, good_times(), checks().checks)
    runs = (
        *webkb(learnt=90.0),
        *webkb("webkb_l_unit", 95.0),
        *synth(30.0, 30.0, none=20.0),
    )
    wrong = checks(
        iterative={"n_cuts": 100, "missed": 0, "above_slack": 0},
        spectral={"converged": False, "above_slack": 1},
        deviation=1.0, rand=1.5, batch=7, noise_free=3.0,
    )  # fmt: skip
    return Clusterings(runs, bad_times(), wrong.checks)
