"""Calibration of predicted risks: intercept and slope, a smooth curve, and recalibration."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.preprocessing import SplineTransformer

from deepcac.task import FEW
from deepcac.types import Array, Flags, Ids

_CERTAIN = 1e-7  # nearer to 0 or 1 a risk has no log odds
_FAR = 60.0  # log odds beyond every risk
# Penalties that only keep a slope and a curve finite where the risks separate the outcomes.
_OF_SLOPE, _OF_CURVE = 1e-10, 1e-5
_CONVERGED, _MOST_STEPS = 1e-10, 200
_KNOTS, _POINTS = 4, 50


def log_odds(risk: Array) -> Array:
    """Return the log odds of risks; those of 0 and 1 are finite."""
    return np.asarray(logit(np.clip(risk, _CERTAIN, 1 - _CERTAIN)))


def is_certain(risk: Array) -> Flags:
    """Return which risks are 0 or 1, or so close that `log_odds` clips them."""
    return np.asarray((risk < _CERTAIN) | (risk > 1 - _CERTAIN))


def calibration_intercept(y: Ids, risk: Array, weight: Array | None = None) -> float:
    """Return the shift of the log odds at which expected and observed events agree.

    Calibration in the large (Cox 1958): 0 is perfect, above 0 the risks are too low. `y`, shape
    (n,), is 1 for an event, and holds both values; `weight` is of that shape.
    """
    return _shift(y, log_odds(risk), weight)


def calibration_slope(y: Ids, risk: Array, weight: Array | None = None) -> float:
    """Return the slope of the outcome's log odds on those of the predicted risk (Cox 1958).

    1 is perfect; below 1 the risks are too extreme; it is 0 where all risks are equal. `y`, shape
    (n,), is 1 for an event, and holds both values; `weight` is of that shape.
    """
    odds = log_odds(risk)
    spread = float(odds.std())
    if spread < _CERTAIN:
        return 0.0
    X = np.column_stack([np.ones(len(y)), (odds - odds.mean()) / spread])
    return float(_newton(X, y, _OF_SLOPE, weight)[1]) / spread


class Recalibration(NamedTuple):
    """Logistic recalibration to other patients: new log odds are intercept + slope * old ones."""

    slope: float
    intercept: float
    risk: Array

    def of(self, risk: Array) -> Array:
        """Return recalibrated risks."""
        return np.asarray(expit(self.intercept + self.slope * log_odds(risk)))


def recalibrated(y: Ids, risk: Array, weight: Array | None = None) -> Recalibration:
    """Refit the intercept and the slope of predicted risks (Cox 1958), shape (n,).

    `y` is 1 where the event came, and holds both values; `weight` is of that shape.
    """
    slope = calibration_slope(y, risk, weight)
    odds = slope * log_odds(risk)
    intercept = _shift(y, odds, weight)
    return Recalibration(slope, intercept, expit(odds + intercept))


class Calibration(NamedTuple):
    """Measures of calibration of predicted risks."""

    intercept: float  # what is added to all log odds so that their mean is right: 0 is right
    slope: float  # 1 is right; below 1 the risks are too extreme
    ratio: float  # observed events over expected ones
    brier: float
    scaled_brier: float  # 1 is perfect, 0 is the share of events for everybody
    log_loss: float


def calibration(y: Ids, risk: Array) -> Calibration:
    """Compare predicted risks with outcomes (Van Calster et al. 2019), shape (n,) both.

    `y` is 1 for an event, and holds both values.
    """
    odds, share = log_odds(risk), y.mean()
    brier = float(((risk - y) ** 2).mean())
    right = expit(np.where(y == 1, odds, -odds))
    return Calibration(
        intercept=_shift(y, odds),
        slope=calibration_slope(y, risk),
        ratio=float(y.sum() / risk.sum()),
        brier=brier,
        scaled_brier=1 - brier / float(share * (1 - share)),
        log_loss=-float(np.log(right).mean()),
    )


class CalibrationCurve(NamedTuple):
    """A smooth calibration curve at 50 risks.

    They run from the 1st to the 99th percentile of all risks, or over a narrower range with five
    patients beyond each end, but at least between the quartiles. `observed` is the share of events
    at that risk, with a pointwise 95 % interval.
    """

    risk: Array
    observed: Array
    low: Array
    high: Array


# By hand: scikit-learn's curve has bins, and no library known to us has an interval for several
# predictions per patient.
def calibration_curve(
    y: Ids, risk: Array, patient: npt.NDArray[np.intp], weight: Array | None = None
) -> CalibrationCurve:
    """Fit the share of events as a smooth function of the log odds of the risk.

    A logistic regression on a cubic spline with four knots. The interval is symmetric on the log
    odds, and its variance allows for several predictions per patient (`_patient_scores`). All are
    of shape (n,); `weight` is that of rows, such as the inverse chance of not being censored.
    """
    weights = np.ones(len(y)) if weight is None else weight
    odds = log_odds(risk)
    outside = min(max(0.01, FEW / len(np.unique(patient))), 0.25)  # an end is nobody's own risk
    least, most = np.quantile(risk, [outside, 1 - outside])
    grid = np.linspace(float(least), float(most), _POINTS)
    basis = _curve_basis(odds)
    X = basis(odds)
    beta = _newton(X, y, _OF_CURVE, weight)
    expected = expit(X @ beta)
    curved = weights * expected * (1 - expected)
    information = (X * curved[:, None]).T @ X + _OF_CURVE * np.eye(X.shape[1])
    there = basis(log_odds(grid))
    reach = np.linalg.solve(information, there.T)
    variance = ((_patient_scores(X * weights[:, None], y, expected, patient) @ reach) ** 2).sum(
        axis=0
    )
    middle, half = there @ beta, stats.norm.ppf(0.975) * np.sqrt(variance)
    return CalibrationCurve(grid, *(expit(middle + step * half) for step in (0, -1, 1)))


def calibration_index(y: Ids, risk: Array, weight: Array, counts: Array) -> Array:
    """Return the mean distance of risks from their calibration curve, shape (r,).

    The integrated calibration index (Austin and Steyerberg 2019) on the curve of
    `calibration_curve`, whose knots are those of all risks. Curves have the weights (n, r), means
    the counts (n, r). NaN where one outcome has no weight.
    """
    odds = log_odds(risk)
    X = _curve_basis(odds)(odds)
    begin, index = None, np.full(weight.shape[1], np.nan)
    for j, (curve_weight, count) in enumerate(zip(weight.T, counts.T, strict=True)):
        if min(y @ curve_weight, (1 - y) @ curve_weight) > 0:
            begin = _newton(X, y, _OF_CURVE, curve_weight, begin)
            index[j] = np.average(np.abs(expit(X @ begin) - risk), weights=count)
    return index


def _curve_basis(odds: Array) -> Callable[[Array], Array]:
    """Return the spline basis of a curve over log odds; fewer knots if many risks are equal."""
    knots = np.quantile(odds, np.linspace(0, 1, _KNOTS))
    apart = knots[np.append(True, np.diff(knots) > _CERTAIN)]
    if len(apart) < 2:  # all risks are equal: the curve is one level
        return lambda values: np.ones((len(values), 1))
    ends: Any = "quantile" if len(apart) == _KNOTS else apart[:, None]
    splines = SplineTransformer(_KNOTS, degree=3, knots=ends, extrapolation="linear")
    splines.fit(odds[:, None])
    return lambda values: splines.transform(values[:, None])


def _patient_scores(X: Array, y: Ids, expected: Array, patient: npt.NDArray[np.intp]) -> Array:
    """Return vectors (patients, q) whose squares sum to the variance of the score.

    Where all predictions of a patient share one outcome, the model's own spread counts: residuals
    vanish where events are rare, and so would the interval of Liang and Zeger (1986). Where the
    outcomes of a patient differ, the residuals count.
    """
    _, place = np.unique(patient, return_inverse=True)
    rows = np.bincount(place)
    events = np.bincount(place, weights=y)
    alike = ((events == 0) | (events == rows))[place]
    spread = np.where(alike, np.sqrt(expected * (1 - expected)), y - expected)
    sums = np.zeros((len(rows), X.shape[1]))
    np.add.at(sums, place, X * spread[:, None])
    return sums


def _shift(y: Ids, odds: Array, weight: Array | None = None) -> float:
    """Return the shift of all log odds at which expected and observed events agree."""
    ends = -_FAR - odds.max(), _FAR - odds.min()
    weights = np.ones(len(y)) if weight is None else weight
    return float(brentq(lambda step: weights @ (expit(odds + step) - y), *ends, xtol=1e-12))


def _newton(
    X: Array, y: Ids, penalty: float, weight: Array | None = None, begin: Array | None = None
) -> Array:
    """Return the coefficients (q,) of a logistic regression of `y` (n,) on `X` (n, q).

    Newton steps from `begin`, halved while the loss would rise, until the largest is negligible.
    """
    sign = np.where(y == 1, -1.0, 1.0)
    weights = np.ones(len(y)) if weight is None else weight

    def loss(beta: Array) -> float:
        return float(weights @ np.logaddexp(0, sign * (X @ beta)) + penalty / 2 * beta @ beta)

    beta = np.zeros(X.shape[1]) if begin is None else begin
    lowest = loss(beta)
    for _ in range(_MOST_STEPS):
        expected = expit(X @ beta)
        curved = weights * expected * (1 - expected)
        slope = X.T @ (weights * (y - expected)) - penalty * beta
        step = np.linalg.solve((X * curved[:, None]).T @ X + penalty * np.eye(len(beta)), slope)
        while np.abs(step).max() > _CONVERGED and loss(beta + step) > lowest:
            step /= 2
        beta = beta + step
        lowest = loss(beta)
        if np.abs(step).max() <= _CONVERGED * (1 + np.abs(beta).max()):
            break
    return beta
