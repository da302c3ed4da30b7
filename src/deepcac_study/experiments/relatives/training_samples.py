"""Predictions of the same rows by models of many training samples, with and without clusters."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.numeric_table import hold_back
from deepcac_study.experiments.relatives.repeated_runs import (
    ARMS,
    SHARES,
    USUAL,
    Arm,
    Base,
    Parts,
    cluster_parts,
    draw_parts,
    fit_arm,
)

SAMPLES = 10


class Resampled(NamedTuple):
    """What the models of all samples say of the test rows.

    Attributes
    ----------
    truth : ndarray of shape (n,)
    predicted : dict of (base, arm) to ndarray of shape (samples, n)
    """

    truth: npt.NDArray[Any]
    predicted: dict[tuple[Base, Arm], npt.NDArray[Any]]


def resample(X: pd.DataFrame, y: npt.ArrayLike, samples: int = SAMPLES, seed: int = 0) -> Resampled:
    """Predict a quarter of the rows by models of samples of the others.

    A sample divides the others into training rows (half of all) and validation rows (a quarter),
    class by class; the test rows stay.

    Parameters
    ----------
    X : DataFrame of shape (n, d)
        Columns of dtype "category" are nominal, all others numeric; NaN is missing.
    y : array-like of shape (n,)
        Classes.
    samples : int
    seed : int
        Of the test rows; sample i draws from (seed, i).
    """
    labels = np.asarray(y)
    codes = np.unique(labels, return_inverse=True)[1]
    first = draw_parts(labels, np.random.default_rng(seed))
    pool = np.sort(np.concatenate([first.train, first.validation]))
    share = SHARES[1] / (SHARES[0] + SHARES[1])
    predictions: dict[tuple[Base, Arm], list[npt.NDArray[Any]]] = {}
    for sample in range(samples):
        rng = np.random.default_rng([seed, sample])
        held = hold_back(codes[pool], share, rng)
        parts = Parts(pool[~held], pool[held], first.test)
        data = cluster_parts(X, labels, parts, sample, None, rng)
        for base in USUAL:
            for arm in ARMS:
                predicted = fit_arm(data, base, arm).predict(data.test[0])
                predictions.setdefault((base, arm), []).append(predicted)
    stacked = {key: np.array(predicted) for key, predicted in predictions.items()}
    return Resampled(labels[first.test], stacked)
