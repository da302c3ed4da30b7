"""Risks at a horizon: tables worked by hand, plain references, and an independent program."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from deepcac.scoring.censored import (
    FollowUp,
    auroc_at,
    brier_at,
    censoring_curve,
    kaplan_meier,
    observed_risk,
)
from deepcac.scoring.resampled_scores import Patients, resampled_benefits

# Six patients: events at 1, 3 and 5, ends of follow-up at 2, 4 and 6.
TIME = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
EVENT = np.array([True, False, True, False, True, False])


def cohort(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    event, end = rng.exponential(np.exp(-x)), rng.exponential(1.5, size=n)
    return FollowUp(np.minimum(event, end), event <= end, 0.7), 1 / (1 + np.exp(-x)), event


def net_benefit(follow, risk, threshold):
    whom = Patients(follow.outcome, risk, follow)
    return resampled_benefits(whom, np.ones((len(risk), 1)), threshold)[0]


def test_a_table_by_hand():
    curve = kaplan_meier(TIME, EVENT)
    assert curve.survival[[0, 2, 4]] == pytest.approx([5 / 6, 5 / 6 * 3 / 4, 5 / 6 * 3 / 4 / 2])
    assert curve.at(2.9) == pytest.approx(5 / 6)
    assert curve.before(3.0) == pytest.approx(5 / 6)
    left = censoring_curve(TIME, EVENT)
    assert left.at(4.0) == pytest.approx(4 / 5 * 2 / 3)
    follow = FollowUp(TIME, EVENT, 3.5)
    assert follow.outcome.tolist() == [1, 0, 1, 0, 0, 0]
    assert follow.outcome_known.tolist() == [True, False, True, True, True, True]
    assert follow.weights() == pytest.approx([1, 0, 5 / 4, 5 / 4, 5 / 4, 5 / 4])


def test_an_event_comes_before_a_censoring_of_the_same_time():
    left = censoring_curve(np.array([1.0, 1.0, 2.0]), np.array([True, False, False]))
    assert left.at(1.0) == pytest.approx(1 / 2)
    follow = FollowUp(np.array([1.0, 1.0, 2.0]), np.array([True, False, False]), 1.0)
    assert follow.outcome_known.all()
    assert follow.weights() == pytest.approx([1, 1, 1])


def test_weights_stand_for_all_patients_and_learn_from_some():
    follow, _, _ = cohort(2000)
    assert follow.weights().sum() == pytest.approx(2000, rel=0.05)
    assert not follow.weights()[~follow.outcome_known].any()
    some = np.arange(500)
    alone = follow.take(some).weights()
    assert follow.weights(some)[:500] == pytest.approx(alone)


def test_without_censoring_they_are_the_plain_scores():
    _, risk, event = cohort()
    follow = FollowUp(event, np.ones(300, dtype=bool), 0.7)
    y = (event <= 0.7).astype(int)
    assert auroc_at(follow, risk) == pytest.approx(roc_auc_score(y, risk))
    assert brier_at(follow, risk) == pytest.approx(((y - risk) ** 2).mean())
    assert observed_risk(follow)[0] == pytest.approx(y.mean())
    treated = risk >= 0.4
    plain = (treated & (y == 1)).mean() - (treated & (y == 0)).mean() * 0.4 / 0.6
    assert net_benefit(follow, risk, 0.4) == pytest.approx(plain)
    assert net_benefit(follow, risk, 0.99) == 0.0


def test_the_auroc_is_that_of_weighted_pairs():
    follow, risk, _ = cohort(80)
    weight, y = follow.weights(), follow.outcome
    won = total = 0.0
    for i in np.flatnonzero((y == 1) & follow.outcome_known):
        for j in np.flatnonzero((y == 0) & follow.outcome_known):
            pair = weight[i] * weight[j]
            total += pair
            won += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    assert auroc_at(follow, risk) == pytest.approx(won / total)


def test_censored_scores_come_near_those_of_everyone():
    follow, risk, event = cohort(20_000, seed=1)
    y = event <= 0.7
    assert auroc_at(follow, risk) == pytest.approx(roc_auc_score(y, risk), abs=0.01)
    assert brier_at(follow, risk) == pytest.approx(((y - risk) ** 2).mean(), abs=0.01)
    share, low, high = observed_risk(follow)
    assert low < share < high
    assert share == pytest.approx(y.mean(), abs=0.01)


def test_an_independent_program_says_the_same():
    """scikit-survival 0.28.0 (cumulative_dynamic_auc, brier_score), lifelines 0.30.3."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    event, end = rng.exponential(np.exp(-x)), rng.exponential(1.5, size=200)
    follow = FollowUp(np.minimum(event, end), event <= end, 0.7)
    risk = 1 / (1 + np.exp(-x))
    assert auroc_at(follow, risk) == pytest.approx(0.8270998658277724)
    assert brier_at(follow, risk) == pytest.approx(0.1771050345317255)
    share, low, high = observed_risk(follow)
    assert 1 - share == pytest.approx(0.4990860498361326)
    assert (1 - high, 1 - low) == pytest.approx((0.41604780511485895, 0.5765109086888999))
    # dcurves 1.1.7, dca with time_to_outcome_col: the model, and "all".
    thresholds, everybody = (0.2, 0.4, 0.6), np.ones(200)
    found = [net_benefit(follow, risk, one) for one in thresholds]
    assert found == pytest.approx([0.387343519021049, 0.2999510903421815, 0.22480805041280305])
    found = [net_benefit(follow, everybody, one) for one in thresholds]
    assert found == pytest.approx([0.37614243770483424, 0.16818991693977897, -0.2477151245903314])
    # lifelines: the first and the last fifth of the risks.
    fifths = np.array_split(np.argsort(risk, kind="stable"), 5)
    first, last = (observed_risk(follow.take(own)) for own in (fifths[0], fifths[4]))
    assert first == pytest.approx((0.14107656043139916, 0.06081450092237073, 0.30829965694849937))
    assert last == pytest.approx((0.8940493646138807, 0.7577147596009719, 0.9714052661960245))


def test_scores_at_a_horizon_by_hand():
    """Of `TIME` at 3.5: weights 1 for the event at 1, 5/4 for that at 3 and the three later ones."""
    follow = FollowUp(TIME, EVENT, 3.5)
    risk = np.array([0.9, 0.5, 0.4, 0.6, 0.2, 0.1])
    # The event at 1 lies above all three others, that at 3 above two of them.
    pairs = 1 * 3 * 5 / 4, 5 / 4 * 2 * 5 / 4
    assert auroc_at(follow, risk) == pytest.approx(sum(pairs) / (9 / 4 * 15 / 4))
    squares = 0.1**2 + 5 / 4 * (0.6**2 + 0.6**2 + 0.2**2 + 0.1**2)
    assert brier_at(follow, risk) == pytest.approx(squares / 6)
    # From .5 on the patients of times 1, 2 and 4 are treated: one event of three at risk.
    assert net_benefit(follow, risk, 0.5) == pytest.approx(1 / 2 * (1 / 3 - 2 / 3))


def test_no_event_and_only_events_have_an_interval():
    """scipy 1.15 binomtest, Clopper-Pearson: 0 of 40 and 40 of 40."""
    quiet = FollowUp(np.full(40, 10.0), np.zeros(40, bool), 5.0)
    assert observed_risk(quiet) == pytest.approx((0, 0, 0.0880973))
    # Ten of them left before the horizon: only thirty are known.
    early = FollowUp(np.where(np.arange(40) < 10, 1.0, 10.0), np.zeros(40, bool), 5.0)
    assert observed_risk(early) == pytest.approx((0, 0, 1 - 0.025 ** (1 / 30)))
    nobody = FollowUp(np.full(40, 1.0), np.zeros(40, bool), 5.0)
    assert observed_risk(nobody) == (0.0, 0.0, 1.0)
    every = FollowUp(np.arange(1.0, 41.0), np.ones(40, bool), 50.0)
    assert observed_risk(every) == pytest.approx((1, 1 - 0.0880973, 1))
