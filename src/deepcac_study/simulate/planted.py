"""Planted cohorts: two subtypes with opposite effects of risk factors, of a given strength.

They measure the power of a study: with strength 0 clusters cannot help, with a large one they must.
Everything is generated; no row is a patient.
"""

import numpy as np

from deepcac.feature_matrix import FeatureMatrix

# Columns: 2 that separate the subtypes, 3 common risk factors, 3 that are reversed.
APART, COMMON, REVERSED = 2, 3, 3
DISTANCE = 4.0  # of the subtypes' means, in standard deviations, along each of the first columns
COMMON_WEIGHT, INTERCEPT = 0.5, -1.0


def planted(strength: float, rows: int, seed: int) -> tuple[FeatureMatrix, np.ndarray]:
    """Draw a cohort with eight columns, of unit variance in each subtype; return the subtypes too.

    `strength` is the log odds ratio per standard deviation of each reversed factor: positive in one
    subtype, negative in the other.
    """
    rng = np.random.default_rng([seed, 20])
    subtype = rng.permutation(np.arange(rows) % 2)
    X = rng.standard_normal((rows, APART + COMMON + REVERSED))
    X[:, :APART] += DISTANCE * subtype[:, None] / np.sqrt(APART)
    sign = 2.0 * subtype - 1.0
    risk = COMMON_WEIGHT * X[:, APART : APART + COMMON].sum(axis=1)
    risk += strength * sign * X[:, APART + COMMON :].sum(axis=1)
    label = rng.random(rows) < 1 / (1 + np.exp(-(INTERCEPT + risk)))
    names = (
        [f"kind_{j}" for j in range(APART)]
        + [f"common_{j}" for j in range(COMMON)]
        + [f"reversed_{j}" for j in range(REVERSED)]
    )
    matrix = FeatureMatrix(np.arange(rows), label.astype(np.int64), X, tuple(names))
    return matrix, subtype
