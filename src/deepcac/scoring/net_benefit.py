"""What acting on a risk is worth: net benefit over thresholds (Vickers and Elkin 2006)."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def net_benefit(y: Ids, risk: Array, thresholds: Array) -> Array:
    """Return the net benefit of treating all whose risk reaches a threshold.

    Parameters
    ----------
    y : ndarray of shape (n,)
        1 where the event came.
    risk : ndarray of shape (n,)
    thresholds : ndarray of shape (T,)
        Risks inside (0, 1) from which a patient is treated.

    Returns
    -------
    ndarray of shape (T,)
        True positives less false positives at the odds of the threshold, a patient. Treating
        nobody has 0.
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
    """Return how much more net benefit one risk has than another, with an interval.

    Parameters
    ----------
    y : ndarray of shape (n,)
    risk, reference : ndarray of shape (n,)
        Of the same predictions, pooled over resamples.
    thresholds : ndarray of shape (T,)
    patient : ndarray of shape (n,)
        Whose prediction it is; a patient is drawn whole.
    draws : int
        Of the bootstrap over patients.
    seed : int

    Returns
    -------
    ndarray of shape (3, T)
        The difference, and the ends of its 95 % percentile interval. The interval holds the
        spread of the patients, not of the training rows.
    """
    gain = _benefit(y, risk, thresholds) - _benefit(y, reference, thresholds)
    _, place = np.unique(patient, return_inverse=True)
    sums = np.zeros((place.max() + 1, len(thresholds)))
    np.add.at(sums, place, gain)
    counts = np.bincount(place).astype(np.float64)
    weights = np.random.default_rng(seed).poisson(1.0, (draws, len(counts)))
    means = (weights @ sums) / np.maximum(weights @ counts, 1)[:, None]
    return np.vstack([gain.mean(axis=0), *np.percentile(means, [2.5, 97.5], axis=0)])
