"""Supervised k-means: a structural SVM learns the similarity that k-means uses."""

import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from deepcac.errors import ConfigError
from deepcac.similarity.clusterers import Name
from deepcac.similarity.cutting import Solution, cutting_planes
from deepcac.similarity.itemset import ItemSet
from deepcac.similarity.kernelmap import KernelMap
from deepcac.similarity.separation import Oracle
from deepcac.similarity.weighted import SimilarityClusterer, check_training
from deepcac.similarity.workingset import WorkingSet
from deepcac.sklearn_compat import Interval, StrOptions


class SupervisedKMeans(SimilarityClusterer):
    """Supervised k-means clustering (Finley and Joachims 2008).

    From item sets with their right clusterings it learns weights w of the features psi_ij of
    pairs of items, so that k-means with similarities K_ij = <w, psi_ij> finds such clusterings in
    new item sets. w may be negative and K indefinite.

    Parameters
    ----------
    n_clusters : int or None
        Number of clusters that `predict` looks for, unless it is given one. In training each
        example has as many as its own clustering.
    C : float
        Weight of the slack: 1/2 ||w||^2 + C / n times the sum of the n slacks (equation 11).
    oracle : {"spectral", "iterative", "discrete"}
        Clusterer that finds the most violated constraint in training. Spectral searches relaxed
        clusterings and constrains too much; the others find a local maximum and may miss
        violated constraints (section 5).
    predictor : {"iterative", "spectral", "discrete"}
        Clusterer of `predict`.
    epsilon : float
        Training ends when no constraint is violated by more than this beyond its slack, in the
        unit of the loss (0 to 100); 0.1 is the default of SVM-struct.
    max_iter : int
        Largest number of passes over the examples.
    n_restarts : int
        Random starts of the iterative clusterer, in training and in `predict`.
    weights : {"free", "nonnegative"}
        Whether weights may be negative. Without negative weights K is positive semidefinite as
        long as each feature is a kernel (section 3.1).
    kernel : {None, "rbf", "poly", "sigmoid", "cosine"}
        Kernel between pairs of items, for small sets (section 3.3); None is linear.
    gamma : float or None
        Parameter of the kernel, as in scikit-learn.
    slack : {"n", "one"}
        One slack per example as in the paper, or one for all (Joachims, Finley and Yu 2009); the
        optimum is the same.
    warm_start : bool
        Begin with the cutting planes of the last `fit`, which must have been on the same training
        set and with the same `weights`; `C` may differ.
    random_state : int, RandomState or None
        Seed of the iterative clusterer.

    Attributes
    ----------
    weights_ : ndarray of shape (N,)
        w; with a kernel, the weights of its map's features.
    n_features_in_ : int
        N.
    cutting_planes_ : WorkingSet
        Planes at the end, with their dual variables.
    slack_ : ndarray of shape (n,) or (1,)
        Slack of each example.
    duality_gap_ : float
        As in `cutting.Solution`.
    n_iter_ : int
        Passes over the examples.
    n_cuts_ : int
        Constraints that were added.
    converged_ : bool
        Whether training ended before `max_iter`.
    n_oracle_calls_ : int
        Number of clusterings during training.
    oracle_seconds_ : ndarray of shape (n_oracle_calls_,)
        Seconds of each of them.
    seconds_ : dict of str to float
        Seconds, in total and by part: "total", "similarity", "oracle", "psi", "program".

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.similarity import ItemSet, SupervisedKMeans
    >>> rng = np.random.default_rng(0)
    >>> topic = np.repeat([0, 1], 10)
    >>> def documents():  # the first feature tells the clusters apart, the second is louder
    ...     return ItemSet(np.column_stack([2.0 * topic - 1.0, 9.0 * rng.choice([-1, 1], 20)]))
    >>> model = SupervisedKMeans(C=10.0, random_state=0)
    >>> model = model.fit([documents(), documents()], [topic, topic])
    >>> round(model.loss(documents(), topic), 6)
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "C": [Interval(Real, 0, None, closed="neither")],
        "oracle": [StrOptions(set(get_args(Name)))],
        "predictor": [StrOptions(set(get_args(Name)))],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"free", "nonnegative"})],
        "kernel": [str, None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "slack": [StrOptions({"n", "one"})],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        C: float = 1.0,
        oracle: Name = "spectral",
        predictor: Name = "iterative",
        epsilon: float = 0.1,
        max_iter: int = 1000,
        n_restarts: int = 10,
        weights: Literal["free", "nonnegative"] = "free",
        kernel: str | None = None,
        gamma: float | None = None,
        slack: Literal["n", "one"] = "n",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.C = C
        self.oracle = oracle
        self.predictor = predictor
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.n_restarts = n_restarts
        self.weights = weights
        self.kernel = kernel
        self.gamma = gamma
        self.slack = slack
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, item_sets: Sequence[ItemSet], clusterings: Sequence[npt.ArrayLike]) -> Self:
        """Learn the weights from item sets and their right clusterings.

        Parameters
        ----------
        item_sets : sequence of n ItemSet
            All with the same features.
        clusterings : sequence of n array-like of shape (m_i,)
            Cluster of each item, at least two clusters in each set.
        """
        begin = time.perf_counter()
        self._check()
        labels = check_training(item_sets, clusterings)
        self._map = None
        if self.kernel is not None:
            self._map = KernelMap(self.kernel, self.gamma).fit(item_sets)
        items = [self._mapped(item_set) for item_set in item_sets]
        oracle = Oracle(
            items, labels, self.oracle, self.n_restarts, self._generator(), self._reading
        )
        planes = self._planes(len(items) if self.slack == "n" else 1, items[0].n_features)
        separate = oracle.separate if self.slack == "n" else oracle.separate_all
        solution = cutting_planes(separate, planes, epsilon=self.epsilon, max_iter=self.max_iter)
        self._keep(solution, oracle, time.perf_counter() - begin)
        return self

    def _planes(self, n: int, N: int) -> WorkingSet:
        """Return an empty working set, or that of the last fit if `warm_start`."""
        last = getattr(self, "cutting_planes_", None)
        if not self.warm_start or last is None:
            return WorkingSet(n, N, self.C / n, nonnegative=self.weights == "nonnegative")
        if (last.n_examples, last.n_features) != (n, N):
            raise ConfigError("warm_start needs the training set of the last fit; set it to False")
        if last.nonnegative != (self.weights == "nonnegative"):
            raise ConfigError(
                f"warm_start keeps whether weights may be negative, and weights={self.weights!r} "
                "is not that of the last fit; set warm_start to False"
            )
        return last.under(self.C / n)

    def _keep(self, solution: Solution, oracle: Oracle, seconds: float) -> None:
        """Set the fitted attributes from the solution, and `seconds_` per part of the fit."""
        self.weights_ = solution.weights
        self.cutting_planes_ = solution.planes
        self.slack_ = solution.slack
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.n_cuts_ = solution.n_cuts
        self.converged_ = solution.converged
        self.oracle_seconds_ = np.array(oracle.seconds["oracle"])
        self.n_oracle_calls_ = len(self.oracle_seconds_)
        parts = {name: float(np.sum(times)) for name, times in oracle.seconds.items()}
        self.seconds_ = {"total": seconds, **parts, "program": solution.qp_seconds}

    def _check(self) -> None:
        self._validate_params()
        if self.weights == "nonnegative" and self.kernel is not None:
            raise ConfigError("weights of a kernel have no sign to keep; use weights='free'")

    def _summary(self) -> str:
        if not hasattr(self, "weights_"):
            return ""
        return (
            f"{type(self).__name__}: {len(self.weights_)} weights from {self.n_cuts_} constraints "
            f"in {self.n_iter_} passes; {'converged' if self.converged_ else 'not converged'}"
        )

    def _mapped(self, item_set: ItemSet) -> ItemSet:
        mapping = getattr(self, "_map", None)
        return item_set if mapping is None else mapping.transform(item_set)
