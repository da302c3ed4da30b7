"""The baseline Pair: a linear SVM that classifies pairs of items by common cluster (section 6.2).

The hinge losses of all pairs are one structural loss (Joachims 2006), so that Algorithm 1 with
one slack trains it: a constraint is a weighted sum of pair features, and a pass over the pairs
needs K only. Features of pairs are never stored.
"""

import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from deepcac.similarity.clusterers import Name
from deepcac.similarity.cutting import Cut, cutting_planes
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.weighted import SimilarityClusterer, check_positive, check_training
from deepcac.similarity.workingset import WorkingSet
from deepcac.types import Floats


class PairSimilarity(SimilarityClusterer):
    """Pairwise training of the similarity of k-means (Finley and Joachims 2008, section 6.2).

    Minimises 1/2 (||w||^2 + b^2) + C times the mean over pairs i < j of max(0, 1 - t (K_ij + b)),
    with t = 1 for a pair in one cluster and -1 for others. The similarity of two items is the
    SVM's decision value, K_ij + b. The real clusterings of ``predictor="iterative"`` do not depend
    on b; the relaxed ones of ``"spectral"`` do.

    Parameters
    ----------
    n_clusters, predictor, max_iter, n_restarts, random_state
        As in `SupervisedKMeans`.
    C : float
        Weight of the mean hinge loss.
    epsilon : float
        Precision, in the unit of the mean hinge loss.

    Attributes
    ----------
    weights_, bias_ : ndarray of shape (N,), float
        w and b.
    slack_ : ndarray of shape (1,)
        Mean hinge loss of the training pairs.
    duality_gap_, n_iter_, n_cuts_, converged_, cutting_planes_
        As in `SupervisedKMeans`.
    seconds_ : dict of str to float
        Seconds: "total" and "program".
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        C: float = 1.0,
        predictor: Name = "iterative",
        epsilon: float = 0.001,
        max_iter: int = 1000,
        n_restarts: int = 10,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.predictor = predictor
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, item_sets: Sequence[ItemSet], clusterings: Sequence[npt.ArrayLike]) -> Self:
        """Learn the weights; arguments as in `SupervisedKMeans.fit`."""
        begin = time.perf_counter()
        check_positive(C=self.C, epsilon=self.epsilon, max_iter=self.max_iter)
        labels = check_training(item_sets, clusterings)
        targets = [_targets(codes) for codes in labels]
        n_pairs = sum(np.count_nonzero(target) for target in targets) / 2

        def separate(example: int, weights: Floats) -> Cut:
            normal, active = np.zeros(len(weights)), 0.0
            for items, target in zip(item_sets, targets, strict=True):
                margin = target * (items.similarity(weights[:-1]) + weights[-1])
                violated = np.where(margin < 1.0, target, 0.0)
                normal[:-1] += items.weighted_sum(violated) / (2.0 * n_pairs)
                normal[-1] += violated.sum() / (2.0 * n_pairs)
                active += np.count_nonzero(violated) / (2.0 * n_pairs)
            return Cut(normal, active)

        planes = WorkingSet(1, item_sets[0].n_features + 1, self.C)
        solution = cutting_planes(separate, planes, epsilon=self.epsilon, max_iter=self.max_iter)
        self.weights_, self.bias_ = solution.weights[:-1], float(solution.weights[-1])
        self.cutting_planes_, self.slack_ = solution.planes, solution.slack
        self.duality_gap_, self.n_iter_, self.n_cuts_ = (
            solution.gap,
            solution.n_iter,
            solution.n_cuts,
        )
        self.converged_ = solution.converged
        self.seconds_ = {"total": time.perf_counter() - begin, "program": solution.qp_seconds}
        return self

    def similarity(self, item_set: ItemSet) -> Floats:
        """Return K + b (m, m) of an item set under the learnt weights."""
        return super().similarity(item_set) + self.bias_


def _targets(codes: npt.NDArray[np.int64]) -> Floats:
    """Return 1 for pairs in one cluster, -1 for others, 0 for an item and itself."""
    target = np.where(codes[:, None] == codes, 1.0, -1.0)
    np.fill_diagonal(target, 0.0)
    return target
