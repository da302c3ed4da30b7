"""What acting on a risk is worth: net benefit over thresholds (Vickers and Elkin 2006)."""

import numpy as np
import numpy.typing as npt

from deepcac.types import Array, Ids


# By hand: dcurves has these curves, but brings ten packages, lifelines and statsmodels among them,
# and a pandas below 3.
def net_benefit(y: Ids, risk: Array, thresholds: Array) -> Array:
    """Return the net benefit of treating all whose risk reaches a threshold, shape (T,).

    True positives less false positives at the odds of the threshold, a patient; treating nobody has
    0. `y` and `risk` are of shape (n,), thresholds (T,) lie inside (0, 1).
    """
    return np.asarray(_benefit(y, risk, thresholds).mean(axis=0))


def treat_all(y: Ids, thresholds: Array) -> Array:
    """Return the net benefit of treating everybody, of shape (T,)."""
    return net_benefit(y, np.ones(len(y)), thresholds)


def _benefit(y: Ids, risk: Array, thresholds: Array) -> Array:
    """Return what each patient adds at each threshold, of shape (n, T)."""
    odds = thresholds / (1 - thresholds)
    treated = risk[:, None] >= thresholds
    return np.asarray(treated * np.where(y[:, None] == 1, 1.0, -odds), dtype=np.float64)


def net_benefit_gain(
    y: Ids,
    risk: Array,
    reference: Array,
    thresholds: Array,
    patient: npt.NDArray[np.intp],
    *,
    draws: int = 500,
    seed: int = 0,
) -> Array:
    """Return how much more net benefit one risk has than another, with an interval, shape (3, T).

    Risks, of shape (n,), are pooled over resamples; `patient` tells whose each is. The 95 %
    percentile interval is of a bootstrap that draws patients whole: it holds their spread, not that
    of the training rows.
    """
    gain = _benefit(y, risk, thresholds) - _benefit(y, reference, thresholds)
    _, place = np.unique(patient, return_inverse=True)
    sums = np.zeros((place.max() + 1, len(thresholds)))
    np.add.at(sums, place, gain)
    counts = np.bincount(place).astype(np.float64)
    weights = np.random.default_rng(seed).poisson(1.0, (draws, len(counts)))
    means = (weights @ sums) / np.maximum(weights @ counts, 1)[:, None]
    return np.vstack([gain.mean(axis=0), *np.percentile(means, [2.5, 97.5], axis=0)])
