"""Differences between subgroups: planted ones are found, and each is its plain definition."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from deepcac.scoring.bootstrap import poisson_weights
from deepcac.table.held_out_risks import HeldOut
from deepcac.table.pages.subgroup_differences import (
    AUROC,
    BENEFIT,
    MEASURES,
    OE,
    subgroup_differences,
)

N, RESAMPLES = 600, 3


@pytest.fixture(scope="module")
def cohort():
    """Risks that know nothing of men, and that are right for women; `ward` means nothing."""
    rng = np.random.default_rng(1)
    odds = rng.normal(-0.5, 1.5, N)
    y = (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    man = np.arange(N) % 5 < 2
    ward = rng.integers(0, 2, N)
    rows = pa.table({"sex": np.where(man, "m", "f"), "ward": np.where(ward, "a", "b")})
    encoder = SimpleNamespace(places={"odds": 0}, used=())
    features = SimpleNamespace(row_id=np.arange(1, N + 1), label=y)
    table = SimpleNamespace(rows=rows, encoder=encoder, features=features)
    said = np.where(man, rng.normal(-0.5, 1.5, N), odds)
    tested = [np.sort(rng.permutation(N)[: N // 2]) for _ in range(RESAMPLES)]
    at = np.concatenate(tested)
    risk = 1 / (1 + np.exp(-said[at]))
    resample = np.repeat(np.arange(RESAMPLES), N // 2)
    held = HeldOut(y[at], at + 1, at + 1, resample, {"lr": risk})
    return table, held, man[at]


def shown(*names):
    return [SimpleNamespace(column=column, name=name) for column, name in names]


def test_a_planted_difference_is_found_and_one_that_is_none_is_not(cohort):
    table, held, _ = cohort
    groups = shown(("sex", "f"), ("sex", "m"), ("ward", "a"), ("ward", "b"))
    sexes, wards = subgroup_differences(table, held, groups, "lr", 0.3)
    assert (sexes.name, sexes.reference) == ("m", "f")  # women are more
    assert sexes.gaps[AUROC].value < -0.15
    assert sexes.gaps[AUROC].high < 0
    assert sexes.gaps[AUROC].p < 0.01
    assert all(gap.p > 0.05 for gap in wards.gaps.values())


def test_a_difference_is_that_of_the_scores_and_its_interval_that_of_drawn_patients(cohort):
    table, held, man = cohort
    (found,) = subgroup_differences(table, held, shown(("sex", "f"), ("sex", "m")), "lr", 0.3)
    _, place = np.unique(held.patient, return_inverse=True)
    weights = poisson_weights(place.max() + 1, 500)[place]
    y, risk = held.y, held.risk["lr"]

    def auroc(inside, counts):
        parts = [inside & (held.resample == j) for j in range(RESAMPLES)]
        return np.mean([roc_auc_score(y[p], risk[p], sample_weight=counts[p]) for p in parts])

    def ratio(inside, counts):
        return np.log((counts * y)[inside].sum() / (counts * risk)[inside].sum())

    def benefit(inside, counts):
        each = (risk >= 0.3) * np.where(y == 1, 1.0, -3 / 7)
        return 1000 * (counts * each)[inside].sum() / counts[inside].sum()

    p = []
    for measure, score, draws in ((AUROC, auroc, 100), (OE, ratio, 500), (BENEFIT, benefit, 500)):
        value = score(man, np.ones(len(y))) - score(~man, np.ones(len(y)))
        drawn = [score(man, w) - score(~man, w) for w in weights.T[:draws].astype(float)]
        error = np.std(drawn, ddof=1)
        gap = found.gaps[measure]
        tell = np.exp if measure == OE else float
        assert gap.value == pytest.approx(tell(value))
        loose = 0.3 if draws == 100 else 1e-6
        half = (np.log(gap.high / gap.low) if measure == OE else gap.high - gap.low) / 2
        assert half == pytest.approx(1.96 * error, rel=loose + 1e-4)
        p.append(2 * norm.sf(abs(value) / error))
    assert found.gaps[OE].p >= p[1] * (1 - 1e-9)  # Holm takes none down


def test_p_are_adjusted_over_all_differences(cohort):
    table, held, _ = cohort
    few = shown(("ward", "a"), ("ward", "b"))
    (alone,) = subgroup_differences(table, held, few, "lr", 0.3)
    every = subgroup_differences(table, held, [*shown(("sex", "f"), ("sex", "m")), *few], "lr", 0.3)
    assert all(every[1].gaps[name].p >= alone.gaps[name].p for name in MEASURES)
    assert alone.gaps[AUROC][:3] == every[1].gaps[AUROC][:3]


def test_one_subgroup_has_no_difference(cohort):
    table, held, _ = cohort
    assert subgroup_differences(table, held, shown(("sex", "f")), "lr", 0.3) == []
