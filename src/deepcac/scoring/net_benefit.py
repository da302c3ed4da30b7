"""Net benefit of treating above a risk threshold (Vickers and Elkin 2006)."""

import numpy as np

from deepcac.types import Array, Ids


# By hand: dcurves has these curves, but brings ten packages, lifelines and statsmodels among them,
# and a pandas below 3.
def net_benefit(y: Ids, risk: Array, thresholds: Array) -> Array:
    """Return the net benefit of treating all patients at or above each threshold, shape (T,).

    True positives minus false positives times the odds of the threshold, per patient; treating
    nobody has 0. `y` and `risk` are of shape (n,), thresholds (T,) lie inside (0, 1).
    """
    return np.asarray(_benefit(y, risk, thresholds).mean(axis=0))


def _benefit(y: Ids, risk: Array, thresholds: Array) -> Array:
    """Return the contribution of each patient at each threshold, shape (n, T)."""
    odds = thresholds / (1 - thresholds)
    treated = risk[:, None] >= thresholds
    return np.asarray(treated * np.where(y[:, None] == 1, 1.0, -odds), dtype=np.float64)
