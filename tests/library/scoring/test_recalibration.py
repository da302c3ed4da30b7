"""Refitted risks: statsmodels' coefficients, and as many events as were seen."""

import numpy as np
import pytest
from scipy.special import expit

from deepcac.scoring.recalibration import recalibrated


def test_intercept_and_slope_are_those_of_statsmodels():
    rng = np.random.default_rng(3)
    odds = rng.normal(size=400) * 1.3 - 1
    y = (rng.random(400) < 1 / (1 + np.exp(-(0.4 + 0.6 * odds)))).astype(int)
    found = recalibrated(y, expit(odds))
    # statsmodels 0.15.0, Logit(y, add_constant(odds)).
    assert found.intercept == pytest.approx(0.6269189129673127, abs=1e-4)
    assert found.slope == pytest.approx(0.6447028012592813, abs=1e-4)
    assert found.risk.sum() == pytest.approx(y.sum())
    again = recalibrated(y, found.risk)
    assert (again.slope, again.intercept) == (
        pytest.approx(1, abs=1e-4),
        pytest.approx(0, abs=1e-4),
    )


def test_equal_and_certain_risks_are_refitted():
    y = np.array([0, 0, 0, 1])
    assert recalibrated(y, np.full(4, 0.9)).risk == pytest.approx([0.25] * 4)
    assert np.isfinite(recalibrated(y, np.array([0.0, 0.0, 1.0, 1.0])).risk).all()
