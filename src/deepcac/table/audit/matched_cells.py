"""Cells around random rows with given sizes: groups by likeness that mean nothing."""

import numpy as np
from sklearn.metrics import euclidean_distances

from deepcac.judging.partitions import Partition
from deepcac.judging.resamples import Resample, Rows
from deepcac.task import Ids

_STEPS = 300


def matched_cells(sample: Resample, sizes: Ids) -> Partition:
    """Part rows into cells around training rows drawn at random, of given sizes.

    A row goes to the least squared distance less the weight of the cell (a power diagram). The
    weights climb where a cell is too small, which ends at the sizes as far as ties allow
    (Aurenhammer, Hoffmann and Aronov 1998).

    Parameters
    ----------
    sample : Resample
    sizes : ndarray of shape (k,)
        Training rows that each cell should have.
    """
    X = sample.train.bounded
    rng = np.random.default_rng([sample.seed, len(sizes)])
    centres = X[rng.choice(len(X), len(sizes), replace=len(X) < len(sizes))]
    squared = euclidean_distances(X, centres, squared=True)
    weight, best, least = np.zeros(len(sizes)), np.zeros(len(sizes)), np.inf
    for step in range(_STEPS):
        label = (squared - weight).argmin(axis=1)
        lacking = (sizes - np.bincount(label, minlength=len(sizes))) / len(X)
        if np.abs(lacking).sum() < least:
            best, least = weight.copy(), np.abs(lacking).sum()
        weight += 2 * squared.std() / np.sqrt(1 + step) * lacking

    def assign(rows: Rows) -> Ids:
        away = euclidean_distances(rows.bounded, centres, squared=True)
        return np.asarray((away - best).argmin(axis=1), dtype=np.int64)

    return Partition(assign(sample.train), assign)
