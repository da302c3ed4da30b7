"""Supervised k-means under the other readings of its formulas."""

from typing import TypeVar

from deepcac.similarity.reading import Reading
from deepcac.similarity.weighted import SimilarityClusterer

Model = TypeVar("Model", bound=SimilarityClusterer)


def published(model: type[Model], reading: Reading) -> type[Model]:
    """Return a class like `model` that sums Psi and K as `reading` says.

    The reading is no parameter, so that nobody tunes it; `clone` and `get_params` are as before.

    Examples
    --------
    >>> from deepcac.similarity import Reading, SupervisedKMeans, published
    >>> model = published(SupervisedKMeans, Reading(once=True))(C=10.0)
    """
    return type(model.__name__, (model,), {"_reading": reading, "__doc__": model.__doc__})
