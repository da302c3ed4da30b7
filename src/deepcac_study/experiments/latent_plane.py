"""Where rows lie in the latent space of a network: a plane to look at."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.decomposition import PCA

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def latent_plane(latents: Array, cluster: Ids, label: Ids) -> pa.Table:
    """Return the first two principal components of latents, without the rows' ids.

    Parameters
    ----------
    latents : ndarray of shape (n, m)
        m is at least 2. Of a network that diverged there are none.
    cluster : ndarray of shape (n,)
        As the network numbers them.
    label : ndarray of shape (n,)

    Returns
    -------
    pyarrow.Table
        Columns ``x``, ``y``, ``cluster`` and ``label``. The signs of the components are those of
        scikit-learn, so that the same latents give the same plane.
    """
    components = PCA(n_components=2, svd_solver="full")
    plane = components.fit_transform(latents) if len(latents) > 1 else np.empty((len(latents), 2))
    return pa.table(
        {
            "x": pa.array(plane[:, 0].astype(np.float32)),
            "y": pa.array(plane[:, 1].astype(np.float32)),
            "cluster": pa.array(cluster, pa.int16()),
            "label": pa.array(label, pa.int8()),
        }
    )
