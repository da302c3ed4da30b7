"""The error of a classifier in two parts: bias and variance over training samples."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError


class BiasVariance(NamedTuple):
    """Mean zero-one loss of test rows, and its parts: error = bias + variance.

    Bias is what an average over samples leaves: half the squared distance of the shares of the
    predicted classes from the right class. Variance is half the probability that two samples
    differ on a row. Both are estimated without bias.
    """

    error: float
    bias: float
    variance: float


def bias_variance(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> BiasVariance:
    """Split the zero-one loss as Kohavi and Wolpert (1996), with labels taken to be free of noise.

    For one row, p_c the share of the samples whose model predicts class c and t its class, the
    bias is (1 / 2) sum_c ((c = t) - p_c)^2 and the variance (1 / 2) (1 - sum_c p_c^2). With R
    samples the second is R / (R - 1) times too small on average, and the first too large by as
    much; both are corrected, so that bias can be a little below 0.

    `predicted`, shape (R, n), is the class of each row by the model of each sample; `truth` is of
    shape (n,). Fewer than two samples, or other shapes, are a `DataError`.
    """
    labels, right = np.asarray(predicted), np.asarray(truth)
    if labels.ndim != 2 or labels.shape[1:] != right.shape or len(labels) < 2:
        raise DataError(f"predictions of shape {labels.shape}; give at least two samples of n rows")
    samples = len(labels)
    error = float(np.mean(labels != right))
    classes = np.unique(labels)
    shares = np.array([(labels == c).mean(axis=0) for c in classes])
    spread = 0.5 * (1.0 - (shares**2).sum(axis=0)).mean()
    variance = float(spread * samples / (samples - 1))
    return BiasVariance(error, error - variance, variance)
