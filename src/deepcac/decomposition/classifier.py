"""Class decomposition as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_consistent_length, check_random_state

from deepcac.decomposition.configuration import separate
from deepcac.decomposition.decompose import Clusterer, checked_labels, decompose, labels_of
from deepcac.decomposition.discriminants import (
    ByScore,
    ClassWeight,
    ClusterGroups,
    OneAgainstRest,
    Predictor,
    Refit,
    Training,
    ValidationAccuracy,
    class_of_group,
    cluster_counts,
    fit_groups,
    group_labels,
    weights_of_classes,
)
from deepcac.decomposition.group_prediction import GroupPrediction
from deepcac.decomposition.mixtures.mixed import Columns
from deepcac.decomposition.mixtures.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.mixtures.validation import check_rows, rows_at
from deepcac.decomposition.pair_votes import ByPairs
from deepcac.decomposition.search import Found, Ties, exhaustive, greedy
from deepcac.decomposition.smo import PairwiseLinearSVC
from deepcac.errors import ConfigError
from deepcac.html_summary import SummaryHTML, sizes
from deepcac.linear.base_classifiers import seeded
from deepcac.numeric_table import (
    check_classes,
    check_classifier,
    check_two_classes,
    check_weights,
    hold_back,
)
from deepcac.sklearn_compat import HasMethods, Interval, StrOptions
from deepcac.types import Floats, Ints


class WeightedRows(NamedTuple):
    """Rows of training or validation.

    Attributes
    ----------
    X : DataFrame or ndarray of shape (n, d)
    classes : ndarray of shape (n,), int64
        Class ids; -1 for a class that is not fitted.
    weights : ndarray of shape (n,) or None
        None where every row counts as one.
    """

    X: Any
    classes: Ints
    weights: Floats | None = None

    def take(self, rows: npt.NDArray[np.int64]) -> "WeightedRows":
        """Return the rows at some positions."""
        weights = None if self.weights is None else self.weights[rows]
        return WeightedRows(rows_at(self.X, rows), self.classes[rows], weights)

    def by_class(self, of_classes: Floats | None) -> "WeightedRows":
        """Return the rows, their weights times those of their classes (n_classes,)."""
        if of_classes is None:
            return self
        factor = np.append(of_classes, 1.0)[self.classes]  # the last for a class not fitted
        return self._replace(weights=factor if self.weights is None else factor * self.weights)


RefitMode = Literal["all", "one_class"]


def predictor(base: Any, data: Training, refit: RefitMode) -> Predictor:
    """Return the cheapest predictor of the validation rows that suits `base` and `refit`.

    Parameters
    ----------
    base : estimator
        Unfitted.
    data : Training
    refit : {"all", "one_class"}
        As in `ClassDecompositionClassifier`.
    """
    if refit == "all":
        return Refit(base, data)
    groups = ClusterGroups(data.classes, data.clusters)
    if isinstance(base, PairwiseLinearSVC):
        return ByPairs(base.discriminants(data.X, data.X_validation), groups)
    if isinstance(base, MixedNaiveBayes):
        return ByScore(base.discriminants(data.X, data.X_validation, data.weights), groups)
    return ByScore(OneAgainstRest(base, data), groups)


Search = Literal["greedy", "none", "exhaustive"]


class ClassDecompositionClassifier(SummaryHTML, GroupPrediction, ClassifierMixin, BaseEstimator):
    """Class decomposition via clustering (Vilalta, Achari & Eick 2003).

    The rows of each class are clustered; a simple classifier learns to tell the clusters apart;
    its answers are mapped back to the classes. A search on validation rows merges clusters of a
    class where that is more accurate.

    Parameters
    ----------
    base_estimator : classifier, optional
        `MixedNaiveBayes` if None. Given a table with categories it must take one, as
        `MixedNaiveBayes`, `PairwiseLinearSVC` or a pipeline with an encoder do.
    max_clusters : int or None
        The most clusters per class that EM tries; the number of clusters per class of k-means.
    clusterer : {"em", "kmeans"}
        EM chooses the number of clusters by cross-validated likelihood.
    search : {"greedy", "none", "exhaustive"}
        Algorithm 2 of the paper; all clusters as found; or every configuration.
    refit : {"all", "one_class"}
        Whether each configuration is fitted as a whole, or only the discriminants of the class
        that changes (section 3.3): the same result for naive Bayes and linear machines, one
        against one or one against rest; another base estimator is searched one against rest.
    validation : float
        Share of the rows of each class held out for the search, unless `fit` is given others; a
        class of one row has none. Without a search nothing is held out.
    ties : {"separate", "merge"}
        What happens to a merge that changes nothing.
    revert : bool
        Restore the original classes where the greedy search finds nothing better.
    class_weight : {"balanced"}, dict or None
        Weights of the rows by class, in training as far as the base estimator takes row weights,
        and in the accuracy of the search. A class weighs the same however many clusters it has.
    n_jobs : int or None
        Threads that fit the ten folds of EM's cross-validation; they do not affect results.
    random_state : int, RandomState or None
        Seed of the validation rows and the clustering.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    subtypes_ : ndarray of shape (n,)
        Group of each row, numbered class by class; of rows that were not clustered, as `assign`.
    n_clusters_ : tuple of int
        Clusters of each class before the search.
    training_rows_ : ndarray
        Positions of the rows that were clustered and fitted.
    clusters_ : ndarray of shape (len(training_rows_),)
        Cluster of each of them within its class.
    configuration_ : tuple of tuple of tuple of int
        For each class the groups of clusters that share a label.
    steps_ : tuple of Step
        Merges tried by the greedy search: class, clusters, validation accuracy before and after,
        and whether it was taken.
    merges_tried_, merges_taken_ : int
        Their numbers.
    validation_accuracy_ : ndarray of shape (merges_tried_ + 2,)
        With all clusters separate, after each merge tried, and of the result; empty without
        a search.
    reverted_ : bool
        Whether the original classes were restored.
    n_configurations_ : int
        Configurations whose accuracy was evaluated.
    n_fits_, n_fits_if_all_ : int
        Discriminants fitted by the search, and the number with ``refit="all"``; a pairwise base
        has one per pair of groups, others one per group.
    estimator_ : classifier
        The base estimator, fitted to the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from deepcac.decomposition import ClassDecompositionClassifier, PairwiseLinearSVC
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0, 0], [4, 0], [2, 0]])
    >>> X = np.repeat(centres, 60, axis=0) + rng.normal(scale=0.3, size=(180, 2))
    >>> y = np.repeat(["ends", "ends", "middle"], 60)
    >>> PairwiseLinearSVC().fit(X, y).score(X, y) < 0.8
    True
    >>> model = ClassDecompositionClassifier(PairwiseLinearSVC(), random_state=0).fit(X, y)
    >>> model.n_clusters_, model.score(X, y) > 0.95
    ((2, 1), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base_estimator": [HasMethods(["fit", "predict"]), None],
        "max_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "clusterer": [StrOptions({"em", "kmeans"})],
        "search": [StrOptions({"greedy", "none", "exhaustive"})],
        "refit": [StrOptions({"all", "one_class"})],
        "validation": [Interval(Real, 0, 1, closed="neither")],
        "ties": [StrOptions({"separate", "merge"})],
        "revert": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    __metadata_request__fit: ClassVar[dict[str, str]] = {
        "validation": UNUSED,
    }

    def __init__(
        self,
        base_estimator: Any = None,
        max_clusters: int | None = 10,
        *,
        clusterer: Clusterer = "em",
        search: Search = "greedy",
        refit: RefitMode = "all",
        validation: float = 1 / 3,
        ties: Ties = "separate",
        revert: bool = True,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base_estimator = base_estimator
        self.max_clusters = max_clusters
        self.clusterer = clusterer
        self.search = search
        self.refit = refit
        self.validation = validation
        self.ties = ties
        self.revert = revert
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        validation: tuple[Any, npt.ArrayLike] | None = None,
        labels: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Cluster the classes, search a configuration and fit the base estimator to it.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Columns of dtype "category" are nominal, all others numeric; NaN is missing.
        y : array-like of shape (n,)
            Classes.
        validation : (X, y), optional
            Rows for the search, in place of a share of `X`.
        labels : array-like of shape (n,), int, optional
            Clusters of the rows within their classes, 0, 1, ..., in place of clustering;
            `validation` must then be given, unless there is no search.
        sample_weight : array-like of shape (n,), optional
            For a base estimator that takes them, as `MixedNaiveBayes` does and
            `PairwiseLinearSVC` does not, and for the accuracy of the search. The clusters count
            rows as they are, but a row of weight 0 is left out.
        """
        self._validate_params()
        check_classifier(self._base())
        X, classes = check_rows(self, X, y)
        given = None if labels is None else np.asarray(labels)
        weights = check_weights(self._base(), sample_weight, X)
        self.training_rows_ = (
            np.arange(len(classes)) if weights is None else np.flatnonzero(weights)
        )
        self.classes_, codes = check_classes(classes[self.training_rows_])
        check_two_classes(self.classes_)
        train = WeightedRows(rows_at(X, self.training_rows_), codes)
        if weights is not None:
            train = train._replace(weights=weights[self.training_rows_])
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        held = None if validation is None else self._encode_held(*validation)
        if self.search != "none" and held is None:
            if given is not None:
                raise ConfigError("labels need validation=(X, y), or search='none'")
            train, held = self._hold_back(train, rng)
        self.clusters_ = self._cluster(train, len(classes), given, rng)
        self.n_clusters_ = cluster_counts(train.classes, self.clusters_)
        of_classes = weights_of_classes(self.class_weight, self.classes_, train.classes)
        train = train.by_class(of_classes)
        base = seeded(self._base(), self.random_state)
        self._keep(*self._search(base, train, None if held is None else held.by_class(of_classes)))
        self._fit_base(base, train, X)
        return self

    def _encode_held(self, X: Any, y: npt.ArrayLike) -> WeightedRows:
        """Return validation rows and their class ids, -1 for a class that is not fitted."""
        ids = {label: j for j, label in enumerate(self.classes_.tolist())}
        codes = [ids.get(label, -1) for label in np.asarray(y).tolist()]
        rows = check_rows(self, X, reset=False)
        check_consistent_length(rows, codes)
        return WeightedRows(rows, np.array(codes, dtype=np.int64))

    def _hold_back(
        self, rows: WeightedRows, rng: np.random.Generator
    ) -> tuple[WeightedRows, WeightedRows]:
        """Split the rows class by class: those to cluster, and those held out for the search."""
        held_out = hold_back(rows.classes, self.validation, rng)
        self.training_rows_ = self.training_rows_[~held_out]
        return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out))

    def _cluster(self, train: WeightedRows, n: int, given: Any, rng: np.random.Generator) -> Ints:
        """Return each training row's cluster within its class: the one given, or one found."""
        if given is not None:
            if given.shape != (n,):
                raise ConfigError(f"labels have shape {given.shape}; give one integer per row")
            return checked_labels(given[self.training_rows_], train.classes)
        rows = Columns.of(train.X).encode(train.X)
        options: Any = {"max_clusters": self.max_clusters, "clusterer": self.clusterer}
        clusters = decompose(rows, train.classes, rng=rng, n_jobs=self.n_jobs, **options)
        return labels_of(clusters, train.classes)

    def _search(
        self, base: BaseEstimator, train: WeightedRows, held: WeightedRows | None
    ) -> tuple[Found, ValidationAccuracy | None]:
        """Return the configuration, and the accuracy that chose it (None without a search)."""
        if self.search == "none" or held is None or not len(held.classes):
            return Found(separate(self.n_clusters_), np.nan, (), False), None
        data = Training(train.X, train.classes, self.clusters_, held.X, train.weights)
        asked = predictor(base, data, self.refit)
        accuracy = ValidationAccuracy(asked, held.classes, held.weights)
        if self.search == "exhaustive":
            return exhaustive(self.n_clusters_, accuracy), accuracy
        best = greedy(self.n_clusters_, accuracy, ties=self.ties, revert=self.revert)
        return best, accuracy

    def _keep(self, best: Found, accuracy: ValidationAccuracy | None) -> None:
        """Set the fitted attributes that describe the search."""
        self.configuration_, self.reverted_, self.steps_ = (
            best.configuration,
            best.reverted,
            best.steps,
        )
        self.merges_tried_ = len(best.steps)
        self.merges_taken_ = sum(step.taken for step in best.steps)
        curve = [] if accuracy is None else [accuracy(separate(self.n_clusters_))]
        curve += [step.accuracy for step in best.steps]
        curve += [] if accuracy is None else [best.accuracy]
        self.validation_accuracy_ = np.array(curve)
        self.n_configurations_ = accuracy.evaluated if accuracy else 0
        self.n_fits_ = accuracy.predictor.fitted if accuracy else 0
        self.n_fits_if_all_ = accuracy.discriminants if accuracy else 0

    def _fit_base(self, base: BaseEstimator, train: WeightedRows, X: Any) -> None:
        """Fit `estimator_` on the groups; set `subtypes_`, predicted for validation rows."""
        labels = group_labels(self.configuration_, train.classes, self.clusters_)
        self.estimator_ = fit_groups(base, train.X, labels, train.weights)
        self._class_of_group = class_of_group(self.configuration_)
        self.subtypes_ = np.empty(len(X), dtype=np.int64)
        self.subtypes_[self.training_rows_] = labels
        others = np.setdiff1d(np.arange(len(X)), self.training_rows_)
        if len(others):
            self.subtypes_[others] = self.estimator_.predict(rows_at(X, others))

    def _summary(self) -> str:
        if not hasattr(self, "subtypes_"):
            return ""
        groups = ", ".join(str(len(partition)) for partition in self.configuration_)
        counts = ", ".join(map(str, self.n_clusters_))
        return (
            f"{type(self).__name__}: {groups} groups of the classes "
            f"{', '.join(map(str, self.classes_))} ({counts} clusters before "
            f"{self.merges_taken_} merges) of {sizes(self.subtypes_)} rows"
        )
