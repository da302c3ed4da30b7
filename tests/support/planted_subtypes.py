"""A table with three subtypes in which one sign means another risk, for the tests of networks."""

import numpy as np


def planted(n=900, seed=0):
    """Three far subtypes; the sign of one feature means risk, and the reverse in subtype 1."""
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 4.0 * np.eye(3)[subtype]
    sign = np.where(subtype == 1, -1.0, 1.0)
    y = (sign * X[:, 5] > 0).astype(int)
    return X, y, subtype
