"""Whether predicted risks are the shares that are seen: numbers and a smooth curve."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from deepcac.scoring.calibration_slope import calibration_slope
from deepcac.scoring.recalibration import log_odds, shift
from deepcac.task import Array, Ids

_KNOTS = 4
_WEAK = 1e5  # a penalty that only keeps the curve finite where the risks tell the outcome


class Calibration(NamedTuple):
    """How risks and outcomes agree."""

    intercept: float  # what is added to all log odds so that their mean is right: 0 is right
    slope: float  # 1 is right; below 1 the risks are too extreme
    ratio: float  # observed events over expected ones
    brier: float
    scaled_brier: float  # 1 is perfect, 0 is the share of events for everybody
    log_loss: float


def calibration(y: Ids, risk: Array) -> Calibration:
    """Compare predicted risks with outcomes (Van Calster et al. 2019), shape (n,) both.

    `y` is 1 where the event came, and holds both values.
    """
    odds, share = log_odds(risk), y.mean()
    brier = float(((risk - y) ** 2).mean())
    right = expit(np.where(y == 1, odds, -odds))
    return Calibration(
        intercept=shift(y, odds),
        slope=calibration_slope(y, risk),
        ratio=float(y.sum() / risk.sum()),
        brier=brier,
        scaled_brier=1 - brier / float(share * (1 - share)),
        log_loss=-float(np.log(right).mean()),
    )


class CalibrationCurve(NamedTuple):
    """A smooth calibration curve at 50 risks, from the 1st to the 99th percentile of all.

    `observed` is the share of events at that risk, with a 95 % interval.
    """

    risk: Array
    observed: Array
    low: Array
    high: Array


def calibration_curve(
    y: Ids, risk: Array, patient: npt.NDArray[np.intp], *, draws: int = 50
) -> CalibrationCurve:
    """Fit the share of events as a smooth function of the log odds of the risk.

    A logistic regression on a cubic spline with four knots; its interval by a bootstrap over
    patients, who may have several predictions.
    """
    odds = log_odds(risk)
    least, most = np.quantile(risk, [0.01, 0.99])
    grid = np.linspace(float(least), float(most), 50)
    places = log_odds(grid)[:, None]
    _, place = np.unique(patient, return_inverse=True)
    weights = np.random.default_rng(0).poisson(1.0, (draws, place.max() + 1))
    model = make_pipeline(
        SplineTransformer(_KNOTS, degree=3, knots="quantile", extrapolation="linear"),
        LogisticRegression(C=_WEAK, solver="newton-cholesky", tol=1e-8),
    )

    def fitted(weight: Array) -> Array:
        model.fit(odds[:, None], y, logisticregression__sample_weight=weight)
        return np.asarray(model.predict_proba(places)[:, 1])

    drawn = [fitted(own[place]) for own in weights if np.unique(y[own[place] > 0]).size == 2]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return CalibrationCurve(grid, fitted(np.ones(len(y))), low, high)
