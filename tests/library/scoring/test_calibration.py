"""Calibration: slope, intercept and refit of statsmodels, and a curve whose interval holds."""

import numpy as np
import pytest
from scipy.special import expit, logit

from deepcac.scoring.calibration import (
    calibration_curve,
    calibration_intercept,
    calibration_slope,
    recalibrated,
)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_slope_undoes_what_was_done_to_the_log_odds(factor):
    """Risks of 20,000 patients whose log odds were multiplied: the slope is the inverse.

    Its standard error is about .02 here, so .1 is five of them.
    """
    rng = np.random.default_rng(0)
    odds = rng.normal(size=20_000)
    y = (rng.random(20_000) < expit(odds)).astype(np.int64)
    assert calibration_slope(y, expit(factor * odds)) == pytest.approx(1 / factor, abs=0.1)


def test_slope_of_a_table_of_four():
    """Risks .2 and .8, seen 1 of 4 and 3 of 4: log odds -1.386 and 1.386 became -1.099 and 1.099."""
    y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    risk = np.repeat([0.2, 0.8], 4)
    assert calibration_slope(y, risk) == pytest.approx(logit(0.75) / logit(0.8), abs=1e-3)


def test_one_risk_for_all_has_no_slope():
    assert calibration_slope(np.array([0, 1]), np.array([0.3, 0.3])) == 0.0


def test_the_intercept_is_that_of_statsmodels():
    """statsmodels 0.15.0: GLM of a constant, binomial, the log odds of the risks as offset."""
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    risk = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.5, 0.9, 0.05])
    assert calibration_intercept(y, risk) == pytest.approx(0.5393536879637751, abs=1e-9)


@pytest.mark.parametrize("shift", [-3.0, 0.0, 0.4])
def test_the_intercept_undoes_a_shift_of_the_log_odds(shift):
    rng = np.random.default_rng(1)
    odds = rng.normal(size=200)
    y = (rng.random(200) < expit(odds)).astype(np.int64)
    before = calibration_intercept(y, expit(odds))
    assert calibration_intercept(y, expit(odds + shift)) == pytest.approx(before - shift)
    assert expit(odds + before).mean() == pytest.approx(y.mean())


def test_intercept_and_slope_are_those_of_statsmodels():
    rng = np.random.default_rng(3)
    odds = rng.normal(size=400) * 1.3 - 1
    y = (rng.random(400) < 1 / (1 + np.exp(-(0.4 + 0.6 * odds)))).astype(int)
    found = recalibrated(y, expit(odds))
    # statsmodels 0.15.0, Logit(y, add_constant(odds)).
    assert found.intercept == pytest.approx(0.6269189129673127, abs=1e-6)
    assert found.slope == pytest.approx(0.6447028012592813, abs=1e-6)
    assert found.risk.sum() == pytest.approx(y.sum())
    again = recalibrated(y, found.risk)
    assert (again.slope, again.intercept) == (
        pytest.approx(1, abs=1e-6),
        pytest.approx(0, abs=1e-6),
    )


def test_equal_and_certain_risks_are_refitted():
    y = np.array([0, 0, 0, 1])
    assert recalibrated(y, np.full(4, 0.9)).risk == pytest.approx([0.25] * 4)
    assert np.isfinite(recalibrated(y, np.array([0.0, 0.0, 1.0, 1.0])).risk).all()


@pytest.mark.parametrize(
    ("risk", "outcome", "slope"),
    [
        # Risks that hardly differ: an optimiser that stops early says 200.
        (
            [0.501, 0.502, 0.499, 0.503, 0.4995, 0.5005, 0.504, 0.498, 0.5015, 0.5025],
            [0, 1, 0, 1, 1, 0, 1, 0, 0, 1],
            249.65659412,
        ),
        # Risks that are almost certain.
        (
            [1e-6, 0.01, 0.02, 0.02, 0.3, 0.5, 0.6, 0.97, 0.9, 0.999999],
            [0, 0, 0, 1, 0, 0, 1, 1, 0, 1],
            0.25464353,
        ),
    ],
)
def test_the_slope_of_hard_risks_is_that_of_statsmodels(risk, outcome, slope):
    """statsmodels 0.15.0: GLM, binomial, of a constant and the log odds."""
    assert calibration_slope(np.array(outcome), np.array(risk)) == pytest.approx(slope, rel=1e-6)


def test_the_slope_is_a_root_of_the_score():
    """At the maximum, residuals are orthogonal to a constant and to the log odds."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-1, rng.uniform(0.01, 3), 120)
        y = (rng.random(120) < expit(0.7 * odds)).astype(np.int64)
        found = recalibrated(y, expit(odds))
        assert found.risk.sum() == pytest.approx(y.sum(), abs=1e-6)
        assert (y - found.risk) @ odds == pytest.approx(0, abs=1e-5)


def test_risks_that_tell_the_outcome_have_a_finite_slope():
    slope = calibration_slope(np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.9]))
    assert np.isfinite(slope)
    assert slope > 10


@pytest.mark.parametrize("copies", [1, 3])
def test_the_band_of_the_curve_holds_the_true_shares(copies):
    """Right risks of 300 patients in 120 tables; the standard error of a coverage is .02."""
    holds = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-1, 1, 300)
        y = (rng.random(300) < expit(odds)).astype(np.int64)
        curve = calibration_curve(
            np.tile(y, copies), np.tile(expit(odds), copies), np.tile(np.arange(300), copies)
        )
        holds.append((curve.low <= curve.risk) & (curve.risk <= curve.high))
    assert 0.92 < np.mean(holds) < 0.98
    assert np.mean(holds, axis=0).min() > 0.88  # also at the low end


def test_patients_whose_outcomes_differ_count_by_their_residuals():
    """Two visits with outcomes of their own: the band is that of as many patients."""
    rng = np.random.default_rng(2)
    odds = rng.normal(size=800)
    y = (rng.random(800) < expit(odds)).astype(np.int64)
    alone, pairs = (
        calibration_curve(y, expit(odds), who) for who in (np.arange(800), np.arange(800) // 2)
    )
    at = np.interp(pairs.risk, alone.risk, alone.observed)  # the ends are cut by patients
    assert at == pytest.approx(pairs.observed, abs=0.01)
    assert np.mean(pairs.high - pairs.low) < 1.3 * np.mean(alone.high - alone.low)
