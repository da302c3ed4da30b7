"""Items to cluster: node features, features of pairs on an edge list, or both.

Pairs of node features are never built. For items X of shape (m, N_n) and weights w the pair of
items i and j has the feature vector x_i * x_j, so that the similarities are X diag(w) X^T and the
sum of the feature vectors, weighted by a symmetric matrix B, is diag(X^T B X).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from deepcac.errors import DataError
from deepcac.similarity.kernels import column_forms, weighted_gram
from deepcac.types import Floats, Ints

LARGEST = 1e70  # training needs fourth powers, and their sums

Matrix = Any  # ndarray or scipy sparse array of two axes

# Share of the items from which a sparse column is multiplied faster as a dense one.
COMMON = 0.25


class ItemSet:
    """Items with features, as in Finley and Joachims (2008, section 6).

    Parameters
    ----------
    nodes : array-like or sparse matrix of shape (m, N_n), optional
        Node features.
    edges : array-like of shape (P, 2), int, optional
        Pairs of items that have explicit features, each pair once and in any order; all others
        have zeros. A pair (i, i) is the similarity of an item with itself.
    pairs : array-like or sparse matrix of shape (P, N_p), optional
        Features of these pairs.
    n_items : int, optional
        m; needed when there are no node features.

    Attributes
    ----------
    n_items, n_features : int
        m and N = N_n + N_p.

    Raises
    ------
    DataError
        No items, no features, a value not finite or beyond 1e70, or lengths that do not agree.

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.similarity import ItemSet
    >>> items = ItemSet(nodes=[[1.0, 0.0], [2.0, 1.0]])
    >>> items.similarity(np.array([1.0, -1.0]))
    array([[1., 2.],
           [2., 3.]])
    """

    def __init__(
        self,
        nodes: Matrix | None = None,
        *,
        edges: npt.ArrayLike | None = None,
        pairs: Matrix | None = None,
        n_items: int | None = None,
    ) -> None:
        if nodes is None and pairs is None:
            raise DataError("an item set has no features; give nodes, or edges and pairs")
        self.nodes = None if nodes is None else _matrix(nodes, "nodes")
        if self.nodes is not None and n_items not in (None, self.nodes.shape[0]):
            raise DataError(f"n_items is {n_items}, but nodes has {self.nodes.shape[0]} rows")
        if self.nodes is None and n_items is None:
            raise DataError("an item set without node features needs n_items")
        self.n_items: int = int(n_items) if self.nodes is None else self.nodes.shape[0]  # type: ignore[arg-type]
        if self.n_items < 1:
            raise DataError("an item set is empty; leave it out")
        self.first, self.second, self.pairs = self._edges(edges, pairs)
        if self.n_features == 0:
            raise DataError("an item set has no feature columns; give nodes or pairs some")
        if sparse.issparse(self.nodes):
            self._split()

    @property
    def shape(self) -> tuple[int, int]:
        """Number of node features and of pair features, (N_n, N_p)."""
        return (
            0 if self.nodes is None else int(self.nodes.shape[1]),
            0 if self.pairs is None else int(self.pairs.shape[1]),
        )

    @property
    def n_features(self) -> int:
        """N, the length of the weights."""
        return sum(self.shape)

    def similarity(self, weights: Floats) -> Floats:
        """Return K (m, m) with K_ij = <weights, psi_ij> (equation 6)."""
        of_nodes, of_pairs = np.split(weights, [self.shape[0]])
        K = np.zeros((self.n_items, self.n_items))
        if sparse.issparse(self.nodes):
            weighted_gram(*self._rare, of_nodes[self._is_rare], K)
            K += (self._common * of_nodes[~self._is_rare]) @ self._common.T
        elif self.nodes is not None:
            K = (self.nodes * of_nodes) @ self.nodes.T
        if self.pairs is not None:
            values = self.pairs @ of_pairs
            K[self.first, self.second] += values
            apart = self.first != self.second
            K[self.second[apart], self.first[apart]] += values[apart]
        return K

    def operator(self, weights: Floats) -> LinearOperator:
        """Return K as a product with vectors, cheaper than K itself if the nodes are sparse."""
        of_nodes, of_pairs = np.split(weights, [self.shape[0]])
        m = self.n_items
        explicit = sparse.csr_array((m, m))
        if self.pairs is not None:
            half = sparse.csr_array(
                (self.pairs @ of_pairs, (self.first, self.second)), shape=(m, m)
            )
            explicit = half + sparse.triu(half, k=1).T

        def product(v: Floats) -> Floats:
            v = v.ravel()
            total = explicit @ v
            if self.nodes is not None:
                total = total + self.nodes @ (of_nodes * (self.nodes.T @ v))
            return total

        return LinearOperator((m, m), matvec=product, dtype=np.float64)

    def psi(self, Y: Floats) -> Floats:
        """Return Psi(x, Y) (N,) of a clustering matrix Y (m, k) (equation 13)."""
        nodes = np.empty(0)
        if self.nodes is not None:
            nodes = ((self.nodes.T @ Y) ** 2).sum(axis=1)
        if self.pairs is None:
            return nodes
        return np.concatenate([nodes, self._pair_sum((Y[self.first] * Y[self.second]).sum(axis=1))])

    def weighted_sum(self, B: Floats) -> Floats:
        """Return the sum over i and j of B_ij psi_ij (N,), for B (m, m) symmetric."""
        nodes = np.zeros(self.shape[0])
        if sparse.issparse(self.nodes):
            rare = np.zeros(np.count_nonzero(self._is_rare))
            column_forms(*self._rare, B, rare)
            nodes[self._is_rare] = rare
            nodes[~self._is_rare] = ((B @ self._common) * self._common).sum(axis=0)
        elif self.nodes is not None:
            nodes = ((B @ self.nodes) * self.nodes).sum(axis=0)
        if self.pairs is None:
            return nodes
        return np.concatenate([nodes, self._pair_sum(B[self.first, self.second])])

    def self_similarity(self, weights: Floats) -> Floats:
        """Return the diagonal of K (m,), without the rest."""
        diagonal = np.zeros(self.n_items)
        if self.nodes is not None:
            diagonal += (self.nodes * self.nodes) @ weights[: self.shape[0]]
        if self.pairs is not None:
            self_pairs = np.flatnonzero(self.first == self.second)
            diagonal[self.first[self_pairs]] += self.pairs[self_pairs] @ weights[self.shape[0] :]
        return diagonal

    def self_sum(self, share: Floats) -> Floats:
        """Return the sum over items i of share_i psi_ii (N,), for `share` (m,)."""
        nodes = np.empty(0)
        if self.nodes is not None:
            nodes = (self.nodes * self.nodes).T @ share
        if self.pairs is None:
            return nodes
        self_share = np.where(self.first == self.second, share[self.first], 0.0)
        return np.concatenate([nodes, self_share @ self.pairs])

    def _split(self) -> None:
        """Split node features: sparse columns for the compiled loops, dense ones for BLAS."""
        columns = sparse.csc_array(self.nodes)
        columns.sort_indices()
        self._is_rare = np.diff(columns.indptr) <= COMMON * self.n_items
        rare = sparse.csc_array(columns[:, np.flatnonzero(self._is_rare)])
        self._rare = (rare.indptr, rare.indices, rare.data)
        self._common = columns[:, np.flatnonzero(~self._is_rare)].toarray()

    def _pair_sum(self, share: Floats) -> Floats:
        """Return the pair features summed with weights `share`; (i, j) counts as (j, i) too."""
        both_ways = np.where(self.first == self.second, share, 2.0 * share)
        return both_ways @ self.pairs

    def _edges(
        self, edges: npt.ArrayLike | None, pairs: Matrix | None
    ) -> tuple[Ints, Ints, Matrix | None]:
        """Return each pair's ends, smaller first, and features; DataError for faulty pairs."""
        if (edges is None) != (pairs is None):
            raise DataError("edges and pairs go together; give both or neither")
        if pairs is None:
            none = np.empty(0, dtype=np.int64)
            return none, none, None
        features = _matrix(pairs, "pairs")
        ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if len(ends) != features.shape[0]:
            raise DataError(f"edges has {len(ends)} rows, but pairs has {features.shape[0]}")
        first, second = np.sort(ends, axis=1).T
        if len(ends) and (first.min() < 0 or second.max() >= self.n_items):
            raise DataError(f"edges names an item outside 0 to {self.n_items - 1}")
        if len(np.unique(first * self.n_items + second)) < len(ends):
            raise DataError("edges has a pair twice; add up its features first")
        return first, second, features


def same_features(item_sets: Sequence[ItemSet]) -> None:
    """Raise `DataError` unless these are item sets with the same numbers of features."""
    if isinstance(item_sets, ItemSet | np.ndarray):
        raise TypeError(
            f"item_sets is one {type(item_sets).__name__}; give a list of ItemSet and a list of "
            "clusterings, as in fit([ItemSet(X)], [labels])"
        )
    if not item_sets:
        raise DataError("there is no item set; give at least one")
    for place, item_set in enumerate(item_sets):
        if not isinstance(item_set, ItemSet):
            raise DataError(f"item set {place} is no ItemSet; wrap its features in ItemSet(...)")
        if item_set.shape != item_sets[0].shape:
            raise DataError(
                f"item set {place} has {item_set.shape} node and pair features, "
                f"the first has {item_sets[0].shape}"
            )


def _matrix(values: Matrix, name: str) -> Matrix:
    """Return a float64 matrix, sparse or dense; DataError unless finite and in range."""
    if sparse.issparse(values):
        matrix = sparse.csr_array(values, dtype=np.float64)
        stored = matrix.data
    else:
        matrix = stored = np.ascontiguousarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise DataError(f"{name} has {matrix.ndim} axes; it needs rows and columns")
    if not np.isfinite(stored).all():
        raise DataError(f"{name} has values that are not finite; impute or drop them")
    if stored.size and np.abs(stored).max() > LARGEST:
        raise DataError(f"{name} has values beyond {LARGEST:g}; scale its columns first")
    return matrix
