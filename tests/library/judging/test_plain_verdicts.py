"""Verdicts against a slow plain reference: on random scores, on those of the study, by hand."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deepcac.judging.questions import QUESTIONS, pairs
from deepcac.judging.resample_scores import resample_scores
from deepcac.judging.verdicts import verdicts
from deepcac.scoring.equivalence import difference
from deepcac_study.judge.judgement_files import read_records
from deepcac_study.records import record_archive
from deepcac_study.records.reader import JUDGED, by_kind

RESULTS = Path(__file__).parents[3] / "docs" / "results"
KEYS = ["question", "metric", "dataset", "contender", "reference"]
CHOICES = {one.id: (one.choice, one.reference_choice) for one in QUESTIONS}
NAMES = ("lr", "km_lr", "cac_lr", "dist_lr", "hash_lr")
METRICS = ("auroc", "auprc")


def plain_holm(p):
    """Reject one after the other, the smallest first, each at .05 by those that are left."""
    adjusted = [None] * len(p)
    largest = 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, p[i] * (len(p) - step)))
        adjusted[i] = largest
    return adjusted


def plain_test(d, share, margin):
    """Return p of no difference, of equivalence, and of a gain of the margin or more."""
    n = len(d)
    mean = sum(d) / n
    variance = sum((x - mean) ** 2 for x in d) / (n - 1)
    error = math.sqrt(variance * (1 / n + share / (1 - share)))
    above = 1 - stats.t.cdf((margin - mean) / error, n - 1)
    below = stats.t.cdf((-margin - mean) / error, n - 1)
    return 2 * stats.t.cdf(-abs(mean) / error, n - 1), max(above, below), above


def plain_verdicts(asked, margin):
    """Return the verdict and adjusted p of each (differences, share, clustered) of one family."""
    compared = [i for i, (d, *_) in enumerate(asked) if any(x != 0 for x in d)]
    tests = [plain_test(*asked[i][:2], margin) for i in compared]
    adjusted = [plain_holm(own) for own in zip(*tests, strict=True)] if tests else []
    found = [("tied" if clustered else "never chosen", None) for *_, clustered in asked]
    for place, i in enumerate(compared):
        p, same, gain = (own[place] for own in adjusted)
        mean = sum(asked[i][0])
        word = ("better" if mean > 0 else "worse") if p < 0.05 else "undecided"
        found[i] = "equivalent" if p >= 0.05 and same < 0.05 else word, (p, same, gain)
    return found


def differences(scores, question, metric, dataset, contender, reference):
    ours, theirs = (
        scores[(scores["dataset"] == dataset) & (scores["contender"] == name)].sort_values("seed")
        for name in (contender, reference)
    )
    first, second = (f"{metric}_{choice}" for choice in CHOICES[question])
    gaps = [float(a - b) for a, b in zip(ours[first], theirs[second], strict=True)]
    return gaps, float(ours["test_share"].iloc[0]), any(k > 1 for k in ours[f"{first}_k"])


def random_scores(rng, n_datasets):
    """Return scores of arms that were chosen never, seldom or always, with every kind of gain."""
    rows = []
    for dataset in (f"set{i}" for i in range(n_datasets)):
        n, share = int(rng.integers(3, 12)), float(rng.uniform(0.2, 0.45))
        alone = {metric: rng.uniform(0.6, 0.9, n) for metric in METRICS}
        for name in NAMES:
            row = {"dataset": [dataset] * n, "contender": name, "seed": range(n)}
            row["test_share"] = share
            taken = rng.random(n) < rng.choice([0.0, 0.3, 1.0]) * (name != "lr")
            for metric in METRICS:
                gain = rng.choice([0.0, -0.01, 0.004, 0.03]) + rng.choice([3e-4, 0.02]) * (
                    rng.normal(size=n)
                )
                row[f"{metric}_default"] = row[f"{metric}_tuned"] = alone[metric] + gain * taken
                row[f"{metric}_clustered"] = alone[metric] + gain
                row[f"{metric}_tuned_k"] = 1 + taken
                row[f"{metric}_default_k"] = row[f"{metric}_clustered_k"] = 2
            rows.append(pd.DataFrame(row))
    return pd.concat(rows, ignore_index=True)


def assert_plain(scores, table, margin, tolerance):
    words = set()
    for _, family in table.groupby(["question", "metric"]):
        asked = [differences(scores, *row) for row in family[KEYS].itertuples(index=False)]
        for (_, row), (word, p) in zip(
            family.iterrows(), plain_verdicts(asked, margin), strict=True
        ):
            words.add(word)
            near = p and any(abs(value - 0.05) < tolerance for value in p)
            assert row["verdict"] == word or near, row[KEYS].tolist()
            told = row[["p_holm", "p_equivalent_holm", "p_gain_excluded_holm"]].astype(float)
            if p is None:
                assert told.isna().all()
            else:
                assert told.tolist() == pytest.approx(p, abs=tolerance)
    return words


@settings(max_examples=3)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_random_scores_get_the_plain_verdicts(seed, n_datasets):
    scores = random_scores(np.random.default_rng(seed), n_datasets)
    table = verdicts(scores, 0.01, 0.005)
    wanted = {
        (question.id, metric, dataset, *pair)
        for question, metric in product(QUESTIONS, METRICS)
        for dataset in scores["dataset"].unique()
        for pair in pairs(question, sorted(NAMES))
    }
    assert set(table[KEYS].itertuples(index=False, name=None)) == wanted
    assert_plain(scores, table, 0.01, 1e-9)


def test_every_verdict_occurs_in_random_scores():
    scores = random_scores(np.random.default_rng(0), 8)
    words = assert_plain(scores, verdicts(scores, 0.01, 0.005), 0.01, 1e-9)
    assert words == {"better", "worse", "equivalent", "undecided", "never chosen"}


@pytest.mark.long
def test_the_verdicts_of_the_study_are_plain(tmp_path):
    record_archive.lay(RESULTS / "records", tmp_path / "results")
    records = read_records(by_kind(tmp_path.rglob("results/judge/*/*.json"))[JUDGED])
    table = pd.read_csv(RESULTS / "judge_verdicts.csv")
    assert_plain(resample_scores(records), table, 0.01, 1e-2)  # the table has five decimals


def test_both_sides_of_the_margin_by_hand():
    """Three resamples, a share of 1 / 4: error .002 sqrt(1 / 3 + 1 / 3), two degrees of freedom.

    Student's t with two degrees has the distribution 1/2 + t / (2 sqrt(2 + t^2)).
    """
    d, error = [0.001, 0.003, 0.005], 0.002 * math.sqrt(2 / 3)

    def beyond(t):
        return 0.5 - t / (2 * math.sqrt(2 + t * t))

    p, same, gain = plain_test(d, 0.25, 0.01)
    assert p == pytest.approx(2 * beyond(0.003 / error))
    assert gain == same == pytest.approx(beyond((0.01 - 0.003) / error))
    found = difference(d, test_share=0.25, margin=0.01)
    assert (found.p, found.p_equivalent, found.better) == pytest.approx((p, same, gain))
    ((word, adjusted),) = plain_verdicts([(d, 0.25, True)], 0.01)
    assert word == "equivalent"
    assert adjusted == pytest.approx((0.20759, 0.02517, 0.02517), abs=1e-5)
    # Beside two others no longer: 3 times .0252 is above .05; one more, never chosen, adds nothing.
    other, nothing = ([0.05, -0.05, 0.01], 0.25, True), ([0.0] * 3, 0.25, False)
    words = [word for word, _ in plain_verdicts([(d, 0.25, True), other, other, nothing], 0.01)]
    assert words == ["undecided", "undecided", "undecided", "never chosen"]


def test_what_rests_on_leaving_out_comparisons_that_were_never_chosen():
    """`docs/judge.md` says which verdicts of the study would fall if each counted with p = 1."""
    table = pd.read_csv(RESULTS / "judge_verdicts.csv")
    own = table[(table["question"] == "help") & (table["metric"] == "auroc")]
    padded = own.assign(
        p_holm=plain_holm(own["p"].fillna(1.0).tolist()),
        p_equivalent_holm=plain_holm(own["p_equivalent"].fillna(1.0).tolist()),
    )
    fallen = padded[(padded["verdict"] == "equivalent") & (padded["p_equivalent_holm"] >= 0.05)]
    assert sorted(zip(fallen["dataset"], fallen["contender"], strict=True)) == [
        ("cic", "dist_fnn"),
        ("cic_los", "dist_lgbm"),
        ("diabetes", "dist_lgbm"),
        ("sepsis", "dist_lgbm"),
        ("sepsis_signature", "dist_lgbm"),
        ("sepsis_signature", "km_lr"),
    ]
    shown = padded["verdict"].isin(["better", "worse"])
    assert ((padded["p_holm"] < 0.05) == shown).all()
