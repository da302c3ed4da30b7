"""Scores of predictions by their plain definitions, over parts, at a horizon and in subgroups."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from deepcac.judging.predictions import Predictions, stack
from deepcac.scoring.bootstrap import poisson_weights
from deepcac.scoring.censored import FollowUp, joined
from deepcac.scoring.resampled_scores import (
    AUROC,
    BRIER,
    RATIO,
    SLOPE,
    Patients,
    drawn_scores,
    estimate,
    resampled_benefits,
    risk_scores,
)
from deepcac.table.pages.risk_section import MEASURES, subgroup_gaps, subgroups
from deepcac.table.pages.score_tables import BENEFIT
from deepcac.table.risk_model_choice import MODEL, held_out

HORIZON, T = 2.0, 0.3


def censored_weights(time, event, counts):
    """How many patients each one stands for, one by one: 1 / G just before the event or horizon."""
    weights = []
    for moment, ended in zip(time, event, strict=True):
        if moment < HORIZON and not ended:
            weights.append(0.0)
            continue
        left = 1.0
        for s in np.unique(time[~event]):
            if s < min(moment, HORIZON):
                at_risk = counts[(time > s) | ((time == s) & ~event)].sum()
                lost = counts[(time == s) & ~event].sum()
                left *= 1 - (lost / at_risk if at_risk else 0.0)
        weights.append(1 / max(left, 1 / max(counts.sum(), 1)))
    return np.array(weights) * counts


@pytest.fixture(params=["once", "horizon"])
def predictions(request):
    """Return two parts of 60 and 40 patients, judged by a model each."""
    rng = np.random.default_rng(3)
    parts = []
    for rows in (np.arange(60), np.arange(60, 100)):
        odds = rng.normal(-0.4, 1.2, len(rows))
        follow = None
        y = (rng.random(len(rows)) < 1 / (1 + np.exp(-odds))).astype(np.int64)
        if request.param == "horizon":
            time = rng.exponential(3, len(rows)).round(2)
            follow = FollowUp(time, rng.random(len(rows)) < 0.6, HORIZON)
            y = follow.outcome
        risk = 1 / (1 + np.exp(-odds - rng.normal(0, 0.5, len(rows))))
        none = np.zeros(len(rows), dtype=np.int64)
        parts.append(Predictions(rows, rows, y, {"lr": risk}, none, follow))
    return stack(parts)


def plain_scores(judged, counts):
    """The scores of all parts by their definitions, under one draw."""
    aurocs, y, risk, weight, everyone, benefit = [], [], [], [], [], 0.0
    for j in range(2):
        rows = judged.part == j
        whom, n = judged.of("lr").take(rows), counts[rows]
        treated = whom.risk >= T

        def weigh(rows, whom=whom, n=n):
            if whom.follow is None:
                return n[rows].astype(float)
            return censored_weights(whom.follow.time[rows], whom.follow.event[rows], n[rows])

        w = weigh(np.ones(len(n), bool))
        aurocs.append(roc_auc_score(whom.y, whom.risk, sample_weight=w))
        events = (whom.y[treated] * weigh(treated)).sum()
        benefit += events - (n[treated].sum() - events) * T / (1 - T)
        for column, values in zip(
            (y, risk, weight, everyone), (whom.y, whom.risk, w, n), strict=True
        ):
            column.append(values)
    y, risk, weight, everyone = map(np.concatenate, (y, risk, weight, everyone))
    odds = np.log(risk / (1 - risk))

    def loss(ab):
        at = ab[0] + ab[1] * odds
        return (weight * (np.logaddexp(0, at) - y * at)).sum()

    return {
        AUROC: np.mean(aurocs),
        RATIO: (weight * y).sum() / (everyone * risk).sum(),
        SLOPE: minimize(loss, [0.0, 1.0], tol=1e-12).x[1],
        BRIER: (weight * (y - risk) ** 2).sum() / everyone.sum(),
        BENEFIT: benefit / everyone.sum(),
    }


def test_scores_over_parts_are_their_plain_definitions_in_every_draw(predictions):
    draws = poisson_weights(100, 4)
    draws[:, 0] = 1
    whom = predictions.of("lr")
    made = {**risk_scores(whom, draws), BENEFIT: resampled_benefits(whom, draws, T)}
    for j in range(4):
        for name, value in plain_scores(predictions, draws[:, j]).items():
            assert made[name][j] == pytest.approx(value, rel=1e-4, abs=1e-5), (name, j)


@pytest.mark.parametrize("risk", [np.full(100, 0.5), np.tile([0.1, 0.9], 50)])
def test_a_model_file_has_no_calibration_where_there_is_no_slope(risk):
    y, row = np.tile([0, 1], 50), np.arange(100)
    predictions = Predictions(row, row, y, {MODEL: risk}, row % 5)
    out = held_out(np.array([0.5, 0.6, 0.5, 0.6, 0.5]), 20, 0.25, predictions)
    assert np.isfinite(list(out.values())).all()
    assert not [name for name in out if "calibration" in name or "expected" in name]


def test_a_draw_of_one_outcome_has_no_ratio_and_no_slope():
    y, risk = np.repeat([0, 1], 20), np.roll(np.linspace(0.1, 0.9, 40), 1)
    draws = np.column_stack([1 - y, y]).astype(np.uint8)
    scores = drawn_scores(Patients(y, risk), draws)
    for name in (AUROC, RATIO, SLOPE):
        assert np.isnan(scores[name]).tolist() == [False, True, True]


def test_one_draw_that_is_ranked_perfectly_does_not_make_an_interval_of_everything():
    rng = np.random.default_rng(0)
    y, odds = np.arange(40) % 2, rng.normal(size=40) + 0.5 * (np.arange(40) % 2)
    whom, draws = Patients(y, 1 / (1 + np.exp(-odds))), poisson_weights(40, 200)
    usual = drawn_scores(whom, draws)
    draws[:, 0] = np.where(y == 1, odds > 1, odds < 0)
    scores = drawn_scores(whom, draws)
    assert 0.95 < scores[AUROC][1] < 1
    assert np.flatnonzero(np.isnan(scores[SLOPE])).tolist() == [1]
    for name in (AUROC, SLOPE):
        errors = [estimate(name, of[name][0], of[name][1:]).error for of in (usual, scores)]
        assert errors[1] == pytest.approx(errors[0], rel=0.25)


def test_patients_come_with_all_their_predictions():
    row = np.tile(np.arange(30), 3)
    none = np.zeros(90)
    judged = Predictions(row, row // 2, (row % 2), {"lr": none}, np.repeat([0, 1, 2], 30))
    draws = judged.draws
    for patient in range(15):
        lines = draws[judged.unit == patient]
        assert (lines == lines[0]).all()
    assert judged.rows == 30
    assert judged.outcomes.tolist() == [15, 15]


def test_models_with_the_same_risks_are_shown_once():
    row = np.arange(4)
    risk = np.array([0.1, 0.2, 0.3, 0.4])
    judged = Predictions(row, row, row % 2, {"a": risk, "b": risk + 0, "c": risk / 2}, row * 0)
    assert list(judged.named({"a": "first", "b": "second", "c": "third"}).risk) == [
        "first", "third",
    ]  # fmt: skip


def cohort(n=100, **columns):
    rows = pa.table(columns)
    label = (np.arange(n) % 4 < 2).astype(np.int64)
    features = SimpleNamespace(label=label, row_id=np.arange(n), X=np.zeros((n, 0)))
    return SimpleNamespace(
        rows=rows, encoder=SimpleNamespace(places={}, used=()), features=features, group=None,
        follow=None,
    )  # fmt: skip


def test_patients_of_unknown_outcome_are_not_counted_as_without_the_event():
    """Of men 25 had the event and nobody else was followed to the horizon: nothing to rank."""
    table, rows = cohort(sex=np.where(np.arange(100) % 2, "m", "f")), np.arange(100)
    event = table.features.label == 1
    time = np.where(event, 1.0, np.where(rows % 2, 0.5, 3.0))
    follow = FollowUp(time, event, HORIZON)
    risk = np.linspace(0.1, 0.9, 100)
    judged = Predictions(rows, rows, follow.outcome, {"lr": risk}, rows * 0, follow)
    assert judged.take(rows % 2 == 0).of("lr").rankable
    assert not judged.take(rows % 2 == 1).of("lr").rankable
    shown, few = subgroups(table, judged, ["sex"], T)
    ((name, one),) = shown["sex"].items()
    assert (name, one.predictions.rows, one.predictions.outcomes[1]) == ("f", 50, 25)
    assert few == ["sex m"]


def test_a_subgroup_of_few_is_not_named():
    ward = np.where(np.arange(100) < 97, "a", "b")
    table, rows = cohort(ward=ward), np.arange(100)
    risk = np.random.default_rng(0).random(100)
    judged = Predictions(rows, rows, table.features.label, {"lr": risk}, rows * 0)
    shown, few = subgroups(table, judged, ["ward"], T)
    assert list(shown["ward"]) == ["a"]
    assert few == ["ward (a level of few rows)"]


def test_a_subgroup_without_both_outcomes_in_any_part_is_not_scored():
    row = np.arange(40)
    y, part = row % 2, (row % 2) * (row < 30)
    table = cohort(40, sex=np.where(row < 30, "m", "f"))
    judged = Predictions(row, row, y, {"lr": np.linspace(0.1, 0.9, 40)}, part)
    _, few = subgroups(table, judged, ["sex"], T)
    assert few == ["sex f", "sex m (never both outcomes in one test part)"]


N, RESAMPLES = 600, 3


@pytest.fixture(scope="module")
def sexes():
    """Risks that know nothing of men, and that are right for women; `ward` means nothing."""
    rng = np.random.default_rng(1)
    odds = rng.normal(-0.5, 1.5, N)
    y = (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    man = np.arange(N) % 5 < 2
    ward = rng.integers(0, 2, N)
    table = cohort(N, sex=np.where(man, "m", "f"), ward=np.where(ward, "a", "b"))
    said = np.where(man, rng.normal(-0.5, 1.5, N), odds)
    at = np.concatenate([np.sort(rng.permutation(N)[: N // 2]) for _ in range(RESAMPLES)])
    part = np.repeat(np.arange(RESAMPLES), N // 2)
    judged = Predictions(at, at, y[at], {"lr": 1 / (1 + np.exp(-said[at]))}, part)
    return table, judged, man[at]


def test_a_planted_difference_is_found_and_one_that_is_none_is_not(sexes):
    table, judged, _ = sexes
    gaps = subgroup_gaps(subgroups(table, judged, ["sex", "ward"], T)[0])
    assert next(iter(gaps)) == "sex m – f"  # women are more
    men, wards = gaps.values()
    assert men[AUROC].high < 0
    assert men[AUROC].value < -0.15
    assert men[AUROC].p < 0.01
    assert all(gap.p > 0.05 for gap in wards.values())


def test_a_difference_is_that_of_the_scores_and_its_interval_that_of_drawn_patients(sexes):
    table, judged, man = sexes
    (found,) = subgroup_gaps(subgroups(table, judged, ["sex"], T)[0]).values()
    y, risk, weights = judged.y, judged.risk["lr"], judged.draws

    def auroc(inside, counts):
        parts = [inside & (judged.part == j) for j in range(RESAMPLES)]
        return np.mean([roc_auc_score(y[p], risk[p], sample_weight=counts[p]) for p in parts])

    def ratio(inside, counts):
        return np.log((counts * y)[inside].sum() / (counts * risk)[inside].sum())

    def benefit(inside, counts):
        each = (risk >= T) * np.where(y == 1, 1.0, -3 / 7)
        return 1000 * (counts * each)[inside].sum() / counts[inside].sum()

    for measure, score, draws in (
        (AUROC, auroc, 100),
        (RATIO, ratio, 500),
        (BENEFIT, benefit, 500),
    ):
        value = score(man, np.ones(len(y))) - score(~man, np.ones(len(y)))
        drawn = [score(man, w) - score(~man, w) for w in weights.T[:draws].astype(float)]
        error = np.std(drawn, ddof=1)
        gap = found[measure]
        assert gap.value == pytest.approx(np.exp(value) if measure == RATIO else value)
        half = (np.log(gap.high / gap.low) if measure == RATIO else gap.high - gap.low) / 2
        loose = 0.3 if draws == 100 else 1e-6
        assert half == pytest.approx(1.96 * error, rel=loose + 1e-4)
        assert gap.p >= 2 * norm.sf(abs(value) / error) * (1 - loose) - 1e-9  # Holm takes none down


def test_p_are_adjusted_over_all_differences(sexes):
    table, judged, _ = sexes
    alone = subgroup_gaps(subgroups(table, judged, ["ward"], T)[0])
    both = subgroup_gaps(subgroups(table, judged, ["sex", "ward"], T)[0])
    (pair,) = alone
    assert all(both[pair][name].p >= alone[pair][name].p for name in MEASURES)
    assert alone[pair][AUROC][:3] == both[pair][AUROC][:3]


def test_one_subgroup_has_no_difference(sexes):
    table, judged, _ = sexes
    everybody = replace_column(table, "sex", "f")
    assert subgroup_gaps(subgroups(everybody, judged, ["sex"], T)[0]) == {}


def replace_column(table, name, value):
    n = table.rows.num_rows
    return SimpleNamespace(**{**vars(table), "rows": pa.table({name: [value] * n})})


def test_predictions_of_several_places_keep_their_follow_up():
    follow = [FollowUp(np.arange(1.0, 5.0) + j, np.arange(4) % 2 == 0, 3.0) for j in range(2)]
    row = np.arange(4)
    parts = [
        Predictions(row + 4 * j, row, one.outcome, {"lr": row / 4}, row * 0, one)
        for j, one in enumerate(follow)
    ]
    both = stack(parts)
    assert both.part.tolist() == [0] * 4 + [1] * 4
    assert both.follow.time.tolist() == joined(follow).time.tolist()
    again = replace(both, risk={"lr": both.risk["lr"] / 2}).take(both.part == 1)
    assert again.follow.time.tolist() == follow[1].time.tolist()
    assert re.match(r"\d", f"{again.share:.2f}")
