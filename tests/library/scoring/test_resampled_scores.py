"""Scores of all bootstrap draws at once, at a horizon and with competing events.

Numbers of other programs: lifelines 0.30, scikit-survival 0.25, dcurves 1.1, statsmodels 0.14.
"""

import numpy as np
import pytest

from deepcac.scoring.calibration import calibration_intercept, recalibrated
from deepcac.scoring.censored import (
    FollowUp,
    auroc_at,
    brier_at,
    joined,
    observed_risk,
    resampled_weights,
)
from deepcac.scoring.resampled_scores import (
    AUROC,
    BRIER,
    INTERCEPT,
    RATIO,
    RECALIBRATED_BRIER,
    SLOPE,
    Patients,
    estimate,
    resampled_benefits,
    risk_scores,
    shifts,
    slopes,
)


@pytest.fixture
def followed():
    """Patients of whom half are censored, and the numbers that other programs have for them."""
    rng, n = np.random.default_rng(11), 200
    time = rng.exponential(6, n) + np.arange(n) * 1e-6
    event = rng.choice([0, 1], n, p=[0.45, 0.55]) == 1
    risk = np.clip(rng.uniform(0.05, 0.9, n) - 0.03 * time + 0.1, 0.02, 0.97)
    follow = FollowUp(time, event, 5.0)
    return Patients(follow.outcome, risk, follow)


def net_benefit(follow, risk, threshold):
    """By the risk of those who are treated, as a curve of Kaplan and Meier or its like gives it."""
    treated = risk >= threshold
    events = observed_risk(follow.take(treated))[0]
    return treated.mean() * (events - (1 - events) * threshold / (1 - threshold))


@pytest.fixture
def competing():
    rng, n = np.random.default_rng(7), 120
    time = np.round(rng.exponential(5, n), 3) + np.arange(n) * 1e-6
    code = rng.choice([0, 1, 2], n, p=[0.4, 0.35, 0.25])
    return FollowUp(time, code == 1, 4.0, code == 2)


def test_scores_at_a_horizon_are_those_of_scikit_survival_lifelines_and_dcurves(followed):
    once = np.ones((200, 1))
    found = risk_scores(followed, once)
    assert found[AUROC][0] == pytest.approx(0.77649049, abs=1e-8)
    assert found[BRIER][0] == pytest.approx(0.18886122, abs=1e-8)
    assert found[RATIO][0] * followed.risk.mean() == pytest.approx(0.3544364431987791, abs=1e-12)
    benefit = [resampled_benefits(followed, once, t)[0] for t in (0.2, 0.4)]
    assert benefit == pytest.approx([0.245172, 0.085008], abs=5e-7)
    everyone = followed._replace(risk=np.ones(200))
    benefit = [resampled_benefits(everyone, once, t)[0] for t in (0.2, 0.4)]
    assert benefit == pytest.approx([0.193046, -0.075939], abs=5e-7)


def test_weighted_refits_are_those_of_statsmodels():
    rng, n = np.random.default_rng(7), 120
    rng.exponential(5, n), rng.choice([0, 1, 2], n, p=[0.4, 0.35, 0.25])
    y = (rng.random(n) < 0.4).astype(int)
    risk, weight = rng.uniform(0.05, 0.9, n), rng.uniform(0.5, 3, n)
    found = recalibrated(y, risk, weight)
    wanted = (-0.04381730007319595, -0.16279457024694646)
    assert (found.slope, found.intercept) == pytest.approx(wanted, abs=1e-9)
    odds = np.log(risk / (1 - risk))
    assert np.ravel(slopes(y, odds, weight[:, None])) == pytest.approx(wanted, abs=1e-9)
    assert shifts(y, odds, weight[:, None])[0] == pytest.approx(-0.22213249, abs=1e-8)


def test_cumulative_incidence_and_interval_are_those_of_lifelines(competing):
    wanted = (0.20383000342714777, 0.13195185949966434, 0.2867958146524416)
    assert observed_risk(competing) == pytest.approx(wanted, abs=1e-12)


def test_cumulative_incidence_by_hand():
    """Of five, one has the event, one the other event, one is lost, then one of two has it."""
    time = np.array([1.0, 2, 3, 4, 5])
    follow = FollowUp(time, np.array([1, 0, 0, 1, 0]) == 1, 4.5, np.array([0, 1, 0, 0, 0]) == 1)
    assert observed_risk(follow)[0] == pytest.approx(1 / 5 + 3 / 5 * 1 / 2)
    assert follow.outcome_known.tolist() == [True, True, False, True, True]
    assert follow.weights().tolist() == pytest.approx([1, 1, 0, 1.5, 1.5])
    censored = FollowUp(time, follow.event, 4.5)
    assert observed_risk(censored)[0] == pytest.approx(1 - 4 / 5 * 1 / 2)
    assert censored.outcome_known.tolist() == [True, False, False, True, True]


def test_events_that_compete_make_up_the_whole_with_those_without_any(competing):
    rival = FollowUp(competing.time, competing.other, 4.0, competing.event)
    either = FollowUp(competing.time, competing.ended, 4.0)
    both = observed_risk(competing)[0] + observed_risk(rival)[0]
    assert both == pytest.approx(observed_risk(either)[0])
    weighted = (competing.weights() * competing.outcome).mean()
    assert weighted == pytest.approx(observed_risk(competing)[0])


@pytest.mark.parametrize("which", ["followed", "competing"])
def test_a_draw_is_scored_as_its_rows_are(which, request):
    given = request.getfixturevalue(which)
    whom = given
    if which == "competing":
        risk = np.random.default_rng(1).uniform(0.02, 0.8, len(given.time))
        whom = Patients(given.outcome, risk, given)
    draws = np.random.default_rng(0).poisson(1.0, (len(whom.y), 4)).astype(np.uint8)
    found = risk_scores(whom, draws)
    weights = resampled_weights(whom.follow, draws)
    benefit = resampled_benefits(whom, draws, 0.3)
    for j in range(4):
        rows = np.repeat(np.arange(len(whom.y)), draws[:, j])
        own = whom.take(rows)
        weight = own.follow.weights()
        np.testing.assert_allclose(weights[rows, j], weight)
        assert found[AUROC][j] == pytest.approx(auroc_at(own.follow, own.risk))
        assert found[BRIER][j] == pytest.approx(brier_at(own.follow, own.risk))
        fit = recalibrated(own.y, own.risk, weight)
        assert found[SLOPE][j] == pytest.approx(fit.slope, abs=1e-7)
        mended = brier_at(own.follow, fit.risk)
        assert found[RECALIBRATED_BRIER][j] == pytest.approx(mended, abs=1e-7)
        assert benefit[j] == pytest.approx(net_benefit(own.follow, own.risk, 0.3))


def test_without_a_horizon_scores_are_the_plain_ones(followed):
    plain = followed._replace(follow=None)
    found = risk_scores(plain, np.ones((200, 1)))
    assert found[RATIO][0] == pytest.approx(plain.y.sum() / plain.risk.sum())
    assert found[INTERCEPT][0] == pytest.approx(calibration_intercept(plain.y, plain.risk))
    assert found[BRIER][0] == pytest.approx(np.mean((plain.y - plain.risk) ** 2))


def test_an_interval_of_auroc_stays_between_0_and_1_and_of_a_ratio_above_0():
    drawn = np.array([0.97, 0.99, 0.999, 0.95])
    assert estimate(AUROC, 0.98, drawn).high < 1
    found = estimate(RATIO, 1.0, np.exp([-0.1, 0.1, -0.1, 0.1]))
    assert found.low * found.high == pytest.approx(1)


def test_tables_are_joined_though_one_has_no_competing_events(competing):
    plain = FollowUp(np.array([9.0]), np.array([True]), 4.0)
    whole = joined([competing, plain])
    assert len(whole.time) == 121
    assert not whole.other[-1]
    assert whole.other[:-1].tolist() == competing.other.tolist()
    assert joined([plain]).other is None
    assert joined([]) is None
