"""The separation oracle: the clustering whose constraint is violated most (section 4.4).

With Y* the right clustering of m items in k clusters, the violation of a clustering Y is

    H(Y) = Delta(Y*, Y) + trace(Y^T K Y) - trace(Y*^T K Y*)
         = 100 + trace(Y^T (K - (100 / k) Y* Y*^T) Y) - trace(Y*^T K Y*),

because Delta is 100 less 100 / k times ||Y*^T Y||^2 = trace(Y^T Y* Y*^T Y) (equation 16). So any
clusterer of K clusters K - (100 / k) Y* Y*^T instead; the factor 100 is missing in the text of
Finley and Joachims (2008, section 4.4).
"""

import time
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from deepcac.similarity.clusterers import by_products, clusterer
from deepcac.similarity.clustering import delta, indicator
from deepcac.similarity.cutting import Cut
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.reading import Reading
from deepcac.types import Floats, Ints


def loss_augmented(K: Floats, truth: Floats) -> Floats:
    """Return K - (100 / k) Y* Y*^T."""
    return K - (100.0 / truth.shape[1]) * (truth @ truth.T)


def loss_augmented_operator(K: LinearOperator, truth: Floats) -> LinearOperator:
    """Return K - (100 / k) Y* Y*^T as a product with vectors."""

    def product(v: Floats) -> Floats:
        v = v.ravel()
        return K.matvec(v) - (100.0 / truth.shape[1]) * (truth @ (truth.T @ v))

    return LinearOperator(K.shape, matvec=product, dtype=np.float64)


class Oracle:
    """Finds the most violated constraints of training examples, and times each call.

    Parameters
    ----------
    item_sets, labels : sequences of length n
        Training examples, with cluster codes from 0.
    method : {"spectral", "iterative", "discrete"}
        Clusterer.
    n_restarts : int
        Random starts of the iterative clusterer.
    rng : Generator
        Generator of these starts; successive calls draw different ones.
    reading : Reading
        How Psi and K are summed.

    Attributes
    ----------
    seconds : dict of str to list of float
        Seconds of every call, by part: "similarity", "oracle", "psi".
    """

    def __init__(
        self,
        item_sets: Sequence[ItemSet],
        labels: Sequence[Ints],
        method: str,
        n_restarts: int,
        rng: np.random.Generator,
        reading: Reading,
    ) -> None:
        self._items = item_sets
        self._truths = [indicator(codes) for codes in labels]
        self._right = [
            reading.psi(items, Y) for items, Y in zip(item_sets, self._truths, strict=True)
        ]
        self._find = clusterer(method, "oracle")
        self._relaxed = method == "spectral"
        self._n_restarts, self._rng, self._reading = n_restarts, rng, reading
        # Where the relaxed clusterer starts: the weights change little from call to call.
        self._last: list[Floats | None] = [None] * len(item_sets)
        self.seconds: dict[str, list[float]] = {"similarity": [], "oracle": [], "psi": []}

    def separate(self, example: int, weights: Floats) -> Cut:
        """Return the most violated plane that the clusterer finds for one example."""
        items, truth = self._items[example], self._truths[example]
        times = [time.perf_counter()]
        if self._relaxed and by_products(*truth.shape) and sparse.issparse(items.nodes):
            K = loss_augmented_operator(self._reading.operator(items, weights), truth)
        else:
            K = loss_augmented(self._reading.similarity(items, weights), truth)
        times.append(time.perf_counter())
        Y = self._find(
            K, truth.shape[1], self._rng, n_restarts=self._n_restarts, start=self._last[example]
        )
        times.append(time.perf_counter())
        normal = self._right[example] - self._reading.psi(items, Y)
        times.append(time.perf_counter())
        for name, spent in zip(self.seconds, np.diff(times), strict=True):
            self.seconds[name].append(float(spent))
        self._last[example] = Y
        return Cut(normal, delta(truth, Y))

    def separate_all(self, example: int, weights: Floats) -> Cut:
        """Return the mean plane of all examples, the one-slack constraint; `example` is ignored.

        An example whose plane is not violated enters with its right clustering, that is zeros.
        """
        cuts = [self.separate(i, weights) for i in range(len(self._items))]
        violated = [cut for cut in cuts if cut.loss > weights @ cut.normal]
        normal, loss = np.zeros(len(weights)), 0.0
        for cut in violated:
            normal += cut.normal / len(cuts)
            loss += cut.loss / len(cuts)
        return Cut(normal, loss)
