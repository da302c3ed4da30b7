"""How the published programs scaled static features."""

import numpy as np
import numpy.typing as npt

from deepcac.feature_matrix import FeatureMatrix
from deepcac.preprocess import standardise_alone
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.published.datasets import NOT_SCALED, SCALED_BY_SET, imitated

Array = npt.NDArray[np.float64]
Rows = tuple[npt.NDArray[np.intp], ...]


def published_scaling(
    features: FeatureMatrix, rows: Rows, dataset: str, family: str, protocol: Protocol
) -> list[Array] | None:
    """Scale the parts of a split as a published program did, or return None where it was sound.

    A4 (CAC family) standardises every part by its own mean and sd, CIC's sets a, b and c one by
    one before that. D4 (deep methods) standardises all rows and then every part. L3 leaves the
    features of the length-of-stay task as they are.

    Parameters
    ----------
    features : FeatureMatrix
        The whole data set.
    rows : tuple of ndarray of int
        Row positions of the parts.
    dataset, family : str
        Data set id, and ``"cac"`` or ``"deep"``.
    protocol : Protocol
    """
    if family == "cac" and "A4" in protocol:
        by_set = imitated(dataset) in SCALED_BY_SET
        X = _pool_sets(features) if by_set else np.nan_to_num(features.X)
    elif family == "deep" and "D4" in protocol:
        X = standardise_alone(features.X)
    elif "L3" in protocol and imitated(dataset) in NOT_SCALED:
        return [np.nan_to_num(features.X[part]) for part in rows]
    else:
        return None
    return [standardise_alone(X[part]) if len(part) else X[part] for part in rows]


def _pool_sets(features: FeatureMatrix) -> Array:
    """Standardise each set of a data set on its own before pooling."""
    pooled = np.empty_like(features.X)
    group = np.asarray(features.group)
    for name in np.unique(group):
        members = group == name
        pooled[members] = standardise_alone(features.X[members])
    return pooled
