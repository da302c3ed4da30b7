"""Calibration and net benefit, against other programs and by hand."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from deepcac.scoring.calibration import calibration, calibration_curve
from deepcac.scoring.net_benefit import net_benefit
from deepcac.scoring.resampled_scores import Patients, benefit, patient_draws


def cohort(n=200, seed=7):
    """Synthetic risks and outcomes; the numbers below are of these."""
    rng = np.random.default_rng(seed)
    risk = np.round(rng.beta(2, 5, n), 4)
    return (rng.random(n) < risk).astype(np.int64), risk


def test_net_benefit_is_that_of_dcurves():
    # dcurves 1.1.7, `dca`, net_benefit of the model and of "all".
    y, risk = cohort()
    thresholds = np.array([0.05, 0.1, 0.2, 0.3, 0.5])
    ours = net_benefit(y, risk, thresholds)
    assert ours == pytest.approx([0.291579, 0.251111, 0.171250, 0.053571, -0.05], abs=1e-6)
    everybody = [0.289474, 0.25, 0.156250, 0.035714, -0.35]
    assert net_benefit(y, np.ones(len(y)), thresholds) == pytest.approx(everybody, abs=1e-6)


def test_net_benefit_by_hand():
    y, risk = np.array([1, 1, 0, 0, 0]), np.array([0.9, 0.1, 0.6, 0.2, 0.1])
    # From .5 on: one event and one other are treated, at odds 1; from .2 on: two others, odds 1/4.
    found = net_benefit(y, risk, np.array([0.5, 0.2]))
    assert found == pytest.approx([(1 - 1) / 5, (1 - 2 / 4) / 5])


def test_calibration_is_that_of_statsmodels():
    # statsmodels 0.15.0: GLM of the outcome on the log odds, and with them as an offset.
    y, risk = cohort()
    found = calibration(y, risk)
    assert found.slope == pytest.approx(0.51117875, abs=1e-6)
    assert found.intercept == pytest.approx(0.28873297, abs=1e-6)
    assert found.ratio == pytest.approx(1.194499422, abs=1e-8)
    assert found.brier == pytest.approx(0.22399165725, abs=1e-10)
    assert found.scaled_brier == pytest.approx(1 - 0.22399165725 / (0.325 * 0.675))
    assert found.log_loss == pytest.approx(log_loss(y, risk))


def test_calibration_by_hand():
    # Brier (.04 + .04 + .64 + .04) / 4; half of the rows are events, so .25 for everybody.
    found = calibration(np.array([0, 1, 0, 1]), np.array([0.2, 0.8, 0.8, 0.8]))
    assert found.brier == pytest.approx(0.19)
    assert found.scaled_brier == pytest.approx(1 - 0.19 / 0.25)
    assert found.ratio == pytest.approx(2 / 2.6)
    assert found.log_loss == pytest.approx(-(3 * np.log(0.8) + np.log(0.2)) / 4)
    # Two risks, seen 0 of 1 and 2 of 3; of the shift a and odds +-log 4 this is e^a = x, where
    # x/4 / (1 + x/4) + 3 * 4x / (1 + 4x) = 2.
    x = np.exp(found.intercept)
    assert x / (4 + x) + 12 * x / (1 + 4 * x) == pytest.approx(2)


def test_the_curve_is_that_of_statsmodels():
    # statsmodels 0.15.0, GLM binomial on patsy's bs (degree 3, inner knots at the thirds of the
    # log odds), at five of the fifty risks.
    y, risk = cohort(2000)
    curve = calibration_curve(y, risk, np.arange(2000))
    some = [0, 12, 25, 37, 49]
    assert curve.risk[some] == pytest.approx(
        [0.027484, 0.196159, 0.37889, 0.547564, 0.716239], abs=1e-6
    )
    wanted = [0.005646, 0.188353, 0.392253, 0.584543, 0.662943]
    assert curve.observed[some] == pytest.approx(wanted, abs=0.002)


def test_right_risks_lie_on_the_diagonal_and_inside_their_interval():
    y, risk = cohort(20_000)
    curve = calibration_curve(y, risk, np.arange(len(y)))
    assert np.abs(curve.observed - curve.risk).max() < 0.04
    assert ((curve.low <= curve.observed) & (curve.observed <= curve.high)).mean() > 0.9
    far = calibration_curve(y, risk / 2, np.arange(len(y)))
    assert (far.observed / far.risk)[10:40] == pytest.approx(2, rel=0.15)


def test_a_gain_is_the_difference_and_doubled_patients_widen_it():
    y, risk = cohort(400)
    worse = np.random.default_rng(0).permutation(risk)

    def gain(copies, patient):
        whole, ours, theirs = (np.tile(part, copies) for part in (y, risk, worse))
        draws = patient_draws(patient)
        return np.array(
            [
                benefit(Patients(whole, ours), draws, t)
                - benefit(Patients(whole, theirs), draws, t)
                for t in (0.2, 0.4)
            ]
        )

    each = gain(1, np.arange(400))
    assert each[:, 0] == pytest.approx([118.75, 112.5])  # dcurves 1.1.7, of both models
    # Each patient four times: the same difference, and an interval no narrower than before.
    assert gain(4, np.tile(np.arange(400), 4)) == pytest.approx(each, abs=1e-9)
    apart = gain(4, np.arange(1600))
    assert (apart[:, 1:].std(axis=1) < 0.7 * each[:, 1:].std(axis=1)).all()
