"""Variants of supervised k-means with another reading of ambiguous formulas in the paper."""

from typing import TypeVar

from deepcac.similarity.reading import Reading
from deepcac.similarity.weighted import SimilarityClusterer

Model = TypeVar("Model", bound=SimilarityClusterer)


def published(model: type[Model], reading: Reading) -> type[Model]:
    """Return a subclass of `model` that computes Psi and K by `reading`.

    The reading is fixed in the class and no parameter, so that nobody tunes it; `clone` and
    `get_params` work as before.

    Examples
    --------
    >>> from deepcac.similarity import Reading, SupervisedKMeans, published
    >>> model = published(SupervisedKMeans, Reading(once=True))(C=10.0)
    """
    return type(model.__name__, (model,), {"_reading": reading, "__doc__": model.__doc__})
