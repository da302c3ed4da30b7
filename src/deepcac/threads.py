"""Thread limits for small fits, which threads slow down on a busy machine: they wait for cores."""

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.cluster  # noqa: F401  # loads the libraries whose threads are limited
from threadpoolctl import ThreadpoolController

SMALL = 2_000_000  # rows x columns x clusters, half a second on one thread


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # it looks through all libraries, which takes milliseconds


def few_threads(X: npt.ArrayLike, clusters: int = 1) -> AbstractContextManager[Any]:
    """Return a context that limits OpenMP and BLAS to one thread if the work is at most `SMALL`.

    Larger work gets a context that does nothing.

    Parameters
    ----------
    X : array-like of shape (n, d)
    clusters : int
        Number of clusters that each row is compared with.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.arange(20.0)[:, None]
    >>> with few_threads(X, 2):
    ...     len(KMeans(2, random_state=0).fit(X).cluster_centers_)
    2
    """
    small = np.size(X) * clusters <= SMALL
    return _controller().limit(limits=1) if small else nullcontext()
