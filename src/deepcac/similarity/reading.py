"""Readings of the formulas for Psi and K (Finley and Joachims 2008, equations 2, 13 and 15)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from deepcac.similarity.itemset import ItemSet
from deepcac.types import Floats


@dataclass(frozen=True)
class Reading:
    """How Psi and K are summed; the defaults are k-means itself.

    Both change together, so the sums stay linear in the weights. A factor f for both has the
    effect of f^2 on C; the pairs of an item with itself change the clusterings too.

    Attributes
    ----------
    once : bool
        Sum each pair of items once, without pairs of an item with itself, as (15) does; (13) sums
        both ways.
    diagonal : bool
        Keep the pairs of an item with itself. Only then is (2) the k-means of (1).
    divided : bool
        Divide by the number of features N, as a public port does.
    """

    once: bool = False
    diagonal: bool = True
    divided: bool = False

    def similarity(self, items: ItemSet, weights: Floats) -> Floats:
        """Return K (m, m)."""
        K = items.similarity(weights)
        if not self._with_diagonal:
            np.einsum("ii->i", K)[:] = 0.0
        return K if self._factor(items) == 1.0 else self._factor(items) * K

    def operator(self, items: ItemSet, weights: Floats) -> LinearOperator:
        """Return K as a product with vectors."""
        whole, factor = items.operator(weights), self._factor(items)
        diagonal = np.zeros(items.n_items)
        if not self._with_diagonal:
            diagonal = items.self_similarity(weights)

        def product(v: Floats) -> Floats:
            v = v.ravel()
            return factor * (whole.matvec(v) - diagonal * v)

        return LinearOperator(whole.shape, matvec=product, dtype=np.float64)

    def psi(self, items: ItemSet, Y: Floats) -> Floats:
        """Return Psi(x, Y) (N,)."""
        total = items.psi(Y)
        if not self._with_diagonal:
            total -= items.self_sum((Y**2).sum(axis=1))
        return total if self._factor(items) == 1.0 else self._factor(items) * total

    @property
    def _with_diagonal(self) -> bool:
        return self.diagonal and not self.once

    def _factor(self, items: ItemSet) -> float:
        """Return the factor that scales K and Psi."""
        return (0.5 if self.once else 1.0) / (items.n_features if self.divided else 1)
