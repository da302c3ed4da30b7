"""Kernels between pairs of items (Finley and Joachims 2008, section 3.3), for small sets.

w is a combination of the pairs seen in training. Its coordinates in the space that these pairs
span are an ordinary weight vector, so that a kernel amounts to other pair features: those of the
Nystroem map with every training pair as a landmark, which is exact for such w.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.kernel_approximation import Nystroem

from deepcac.errors import DataError
from deepcac.similarity.itemset import ItemSet, Matrix
from deepcac.types import Floats, Ints

MAX_PAIRS = 4000  # their kernel matrix takes 128 MB


class KernelMap:
    """Features of pairs of items whose dot products are a kernel of the pairs' feature vectors.

    Parameters
    ----------
    kernel : str
        As in scikit-learn's `pairwise_kernels`.
    gamma : float or None
        Parameter of the kernel.
    """

    def __init__(self, kernel: str, gamma: float | None = None) -> None:
        self.kernel = kernel
        self.gamma = gamma

    def fit(self, item_sets: Sequence[ItemSet]) -> Self:
        """Take all pairs of the item sets as landmarks; more than `MAX_PAIRS` are an error."""
        n_pairs = sum(len(all_edges(items)) for items in item_sets)
        if n_pairs > MAX_PAIRS:
            raise DataError(
                f"a kernel over {n_pairs} pairs of items is too large (at most {MAX_PAIRS}); "
                "use kernel=None"
            )
        vectors = np.concatenate([pair_vectors(items) for items in item_sets])
        self._map = Nystroem(
            self.kernel, gamma=self.gamma, n_components=len(vectors), random_state=0
        ).fit(vectors)
        return self

    def transform(self, items: ItemSet) -> ItemSet:
        """Return the items with explicit features of all pairs."""
        features = self._map.transform(pair_vectors(items))
        return ItemSet(edges=all_edges(items), pairs=features, n_items=items.n_items)


def all_edges(items: ItemSet) -> Ints:
    """Return all pairs of items (P, 2); pairs (i, i) only if they have features."""
    self_features = items.nodes is not None or bool((items.first == items.second).any())
    return np.stack(np.triu_indices(items.n_items, k=0 if self_features else 1), axis=1)


def pair_vectors(items: ItemSet) -> Floats:
    """Return psi (pairs, N) of all pairs, dense."""
    first, second = all_edges(items).T
    parts = []
    if items.nodes is not None:
        nodes = _dense(items.nodes)
        parts.append(nodes[first] * nodes[second])
    if items.pairs is not None:
        place = np.full((items.n_items, items.n_items), -1)
        place[first, second] = np.arange(len(first))
        explicit = np.zeros((len(first), items.shape[1]))
        explicit[place[items.first, items.second]] = _dense(items.pairs)
        parts.append(explicit)
    return np.concatenate(parts, axis=1)


def _dense(values: Matrix) -> Floats:
    return values if isinstance(values, np.ndarray) else values.toarray()
