"""Whether predicted risks are the shares that are seen."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

Array = npt.NDArray[np.float64]
_CERTAIN = 1e-7  # nearer to 0 or 1 a risk has no log odds
_NO_PENALTY = 1e10


def calibration_slope(y: npt.NDArray[np.int64], risk: Array) -> float:
    """Return the slope of the outcome's log odds on those of the predicted risk (Cox 1958).

    1 is right; below 1 the risks are too extreme; it is 0 where all risks are one. `y`, shape (n,),
    is 1 where the event came, and holds both values.
    """
    odds = logit(np.clip(risk, _CERTAIN, 1 - _CERTAIN))
    spread = odds.std()
    if spread == 0:
        return 0.0
    scaled = ((odds - odds.mean()) / spread)[:, None]
    return float(
        LogisticRegression(C=_NO_PENALTY, max_iter=1000).fit(scaled, y).coef_[0, 0] / spread
    )


def calibration_intercept(y: npt.NDArray[np.int64], risk: Array) -> float:
    """Return the shift of the predicted log odds at which as many events are expected as came.

    Calibration in the large (Cox 1958): 0 is right, above 0 the risks are too low. `y`, shape (n,),
    is 1 where the event came, and holds both values.
    """
    odds = logit(np.clip(risk, _CERTAIN, 1 - _CERTAIN))
    most = np.abs(odds).max() + np.abs(logit(y.mean())) + 1.0
    return float(brentq(lambda shift: expit(odds + shift).mean() - y.mean(), -most, most))
