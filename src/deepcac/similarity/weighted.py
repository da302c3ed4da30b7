"""Base class of learnt similarities: K, clustering of new items, and their loss."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, check_random_state

from deepcac.errors import ConfigError, DataError
from deepcac.html_summary import SummaryHTML
from deepcac.similarity.clusterers import clusterer
from deepcac.similarity.clustering import delta
from deepcac.similarity.itemset import ItemSet, same_features
from deepcac.similarity.reading import Reading
from deepcac.types import Floats, Ints


class SimilarityClusterer(SummaryHTML, BaseEstimator):
    """Base of k-means with weights on the features of pairs of items.

    Subclasses have the parameters `n_clusters`, `predictor`, `n_restarts` and `random_state`, and
    learn `weights_` of shape (N,).
    """

    n_clusters: int | None
    predictor: str
    n_restarts: int
    random_state: Any
    weights_: Floats
    # Item sets are no metadata that a pipeline could pass on.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"item_sets": UNUSED, "clusterings": UNUSED}
    __metadata_request__predict: ClassVar[dict[str, str]] = {
        "item_set": UNUSED,
        "n_clusters": UNUSED,
    }
    # No parameter: only `published` changes it.
    _reading = Reading()

    def fit(self, item_sets: Sequence[ItemSet], clusterings: Sequence[npt.ArrayLike]) -> Self:
        """Learn the weights from item sets and their right clusterings."""
        raise NotImplementedError

    @property
    def n_features_in_(self) -> int:
        """Number of features of a pair of items."""
        return len(self.weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # item sets
        return tags

    def similarity(self, item_set: ItemSet) -> Floats:
        """Return K (m, m) of an item set under the learnt weights (equation 6)."""
        check_is_fitted(self, "weights_")
        items = self._mapped(item_set)
        same_features([items])
        if items.n_features != len(self.weights_):
            raise DataError(
                f"the item set has {items.n_features} features, the weights are for "
                f"{len(self.weights_)}"
            )
        return self._reading.similarity(items, self.weights_)

    def predict(self, item_set: ItemSet, n_clusters: int | None = None) -> npt.NDArray[Any]:
        """Cluster the items of a set with the predictor.

        Parameters
        ----------
        item_set : ItemSet
            m items with the features of training.
        n_clusters : int, optional
            k; the parameter of the same name if None.

        Returns
        -------
        clustering : ndarray of shape (m,), int64, or (m, k)
            Labels from 0; from ``predictor="spectral"`` the relaxed clustering, a matrix with
            orthonormal columns.
        """
        k = self.n_clusters if n_clusters is None else n_clusters
        if k is None:
            raise ConfigError("the number of clusters is not known; give n_clusters")
        find = clusterer(self.predictor, "predictor")
        Y = find(self.similarity(item_set), k, self._generator(), n_restarts=self.n_restarts)
        return Y if self.predictor == "spectral" else Y.argmax(axis=1)

    def loss(self, item_set: ItemSet, clustering: npt.ArrayLike) -> float:
        """Return Delta between a clustering and the predicted one of as many clusters."""
        n_clusters = len(np.unique(np.asarray(clustering)))
        return delta(clustering, self.predict(item_set, n_clusters))

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _mapped(self, item_set: ItemSet) -> ItemSet:
        """Return the item set with the features that the weights belong to."""
        return item_set


class EqualWeights(SimilarityClusterer):
    """No learning: all weights 1 (the baseline None of Finley and Joachims 2008, section 6.2).

    Parameters
    ----------
    n_clusters : int or None
        Number of clusters that `predict` looks for.
    predictor : {"iterative", "spectral", "discrete"}
        Clusterer.
    n_restarts : int
        Random starts of the iterative clusterer.
    random_state : int, RandomState or None
        Seed of these starts.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        predictor: str = "iterative",
        n_restarts: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.predictor = predictor
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, item_sets: Sequence[ItemSet], clusterings: Any = None) -> Self:
        """Set all weights to 1; `clusterings` are not used."""
        same_features(item_sets)
        self.weights_ = np.ones(item_sets[0].n_features)
        return self


def check_training(
    item_sets: Sequence[ItemSet], clusterings: Sequence[npt.ArrayLike]
) -> list[Ints]:
    """Return the clusterings as codes from 0; `DataError` if they do not fit the item sets."""
    same_features(item_sets)
    if len(item_sets) != len(clusterings):
        raise DataError(f"{len(item_sets)} item sets, but {len(clusterings)} clusterings")
    encoded = []
    for place, (items, clustering) in enumerate(zip(item_sets, clusterings, strict=True)):
        labels = np.asarray(clustering)
        if labels.shape != (items.n_items,):
            raise DataError(
                f"clustering {place} has shape {labels.shape}; its item set has "
                f"{items.n_items} items"
            )
        names, codes = np.unique(labels, return_inverse=True)
        if len(names) < 2:
            raise DataError(f"clustering {place} has one cluster; it teaches nothing, leave it out")
        encoded.append(codes.astype(np.int64))
    return encoded


def check_positive(**parameters: float) -> None:
    """Raise `ConfigError` for parameters that are not above 0."""
    for name, value in parameters.items():
        if not value > 0:
            raise ConfigError(f"{name} is {value}; it must be above 0")
