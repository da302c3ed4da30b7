"""Slope and intercept of the calibration of risks whose truth is known."""

import numpy as np
import pytest
from scipy.special import expit, logit

from deepcac.scoring.calibration_slope import calibration_intercept, calibration_slope


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
