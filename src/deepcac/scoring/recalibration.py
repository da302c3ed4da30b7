"""Risks on the patients of another place: how far off, and what refitting two numbers does."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from deepcac.scoring.calibration_slope import calibration_slope
from deepcac.task import Array, Ids

_CERTAIN = 1e-7  # nearer to 0 or 1 a risk has no log odds
_FAR = 60.0  # log odds beyond every risk


class Recalibration(NamedTuple):
    """What makes risks fit other patients: new log odds are intercept + slope * old ones."""

    slope: float
    intercept: float
    risk: Array


def recalibrated(y: Ids, risk: Array) -> Recalibration:
    """Refit the intercept and the slope of predicted risks (Cox 1958), shape (n,).

    `y` is 1 where the event came, and holds both values.
    """
    slope = calibration_slope(y, risk)
    odds = slope * log_odds(risk)
    intercept = shift(y, odds)
    return Recalibration(slope, intercept, expit(odds + intercept))


def log_odds(risk: Array) -> Array:
    """Return the log odds of risks; those of 0 and 1 are finite."""
    return np.asarray(logit(np.clip(risk, _CERTAIN, 1 - _CERTAIN)))


def shift(y: Ids, odds: Array) -> float:
    """Return what is added to all log odds so that as many events are expected as came."""
    ends = -_FAR - odds.max(), _FAR - odds.min()
    return float(brentq(lambda step: expit(odds + step).sum() - y.sum(), *ends))
