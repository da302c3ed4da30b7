"""Intervals of calibration against a plain bootstrap of patients, and their coverage."""

import numpy as np
import pytest
from scipy.special import expit

from deepcac.scoring.calibration import calibration
from deepcac.scoring.resampled_scores import SLOPE, Patients, patient_draws, score_intervals


def cohort(seed, n=300):
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1, 1, n)
    return (rng.random(n) < expit(odds)).astype(np.int64), expit(0.8 * odds)


def intervals(y, risk, patient):
    return score_intervals(Patients(y, risk), patient_draws(patient))


def test_they_are_those_of_a_plain_bootstrap_of_patients():
    """Three predictions per patient: patients are drawn, not predictions."""
    y, risk = cohort(0)
    rng = np.random.default_rng(1)
    risks = expit(np.log(risk / (1 - risk)) + rng.normal(0, 0.1, (3, 300)))
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, 300, 300)
        drawn.append(calibration(np.tile(y[rows], 3), risks[:, rows].ravel()))
    found = intervals(np.tile(y, 3), risks.ravel(), np.tile(np.arange(300), 3))
    wanted = calibration(np.tile(y, 3), risks.ravel())
    for j, (name, value) in enumerate(wanted._asdict().items()):
        one = found[name]
        assert one.value == pytest.approx(value)
        spread = np.std([each[j] for each in drawn])
        assert (one.high - one.low) / (2 * 1.96) == pytest.approx(spread, rel=0.2)


def test_the_slope_of_right_risks_lies_inside_in_95_of_100_tables():
    inside = []
    for seed in range(100):
        y, risk = cohort(seed, 200)
        one = intervals(y, risk, np.arange(200))[SLOPE]
        inside.append(one.low <= 1.25 <= one.high)
    assert 0.88 <= np.mean(inside) <= 1
