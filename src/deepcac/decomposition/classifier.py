"""Class decomposition as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_random_state

from deepcac.base_classifiers import log_odds
from deepcac.decomposition.configuration import separate
from deepcac.decomposition.decompose import Clusterer, checked_labels, decompose, labels_of
from deepcac.decomposition.discriminants import (
    ClassWeight,
    Training,
    ValidationAccuracy,
    class_of_group,
    cluster_counts,
    fit_groups,
    group_labels,
    weights_of_classes,
)
from deepcac.decomposition.mixed import Columns, Floats, Ints
from deepcac.decomposition.naive_bayes import MixedNaiveBayes
from deepcac.decomposition.predictors import RefitMode, predictor
from deepcac.decomposition.search import Found, Ties, exhaustive, greedy
from deepcac.decomposition.validation import check_rows, rows_at
from deepcac.errors import ConfigError
from deepcac.numeric_table import check_classes, check_two_classes, hold_back

Search = Literal["greedy", "none", "exhaustive"]


def _has_probabilities(self: "ClassDecompositionClassifier") -> bool:
    return hasattr(self._base(), "predict_proba")


def _has_scores(self: "ClassDecompositionClassifier") -> bool:
    return hasattr(self._base(), "decision_function") or _has_probabilities(self)


class ClassDecompositionClassifier(ClassifierMixin, BaseEstimator):
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
        The most clusters a class that EM tries; the number of clusters a class of k-means.
    clusterer : {"em", "kmeans"}
        EM chooses the number of clusters by cross-validated likelihood.
    search : {"greedy", "none", "exhaustive"}
        Algorithm 2 of the paper; all clusters as found; or every configuration.
    refit : {"all", "one_class"}
        Whether each configuration is fitted as a whole, or only the discriminants of the class
        that changes (section 3.3): the same result for naive Bayes and linear machines, one
        against one or one against rest; another base estimator is searched one against rest.
    validation : float
        Share of the rows of each class kept for the search, unless `fit` is given others; a class
        of one row has none. Without a search nothing is kept back.
    ties : {"separate", "merge"}
        What happens to a merge that changes nothing.
    revert : bool
        Restore the original classes where the greedy search finds nothing better.
    class_weight : {"balanced"}, dict or None
        Weights of the rows by class, in training as far as the base estimator takes row weights,
        and in the accuracy of the search. A class weighs the same however many clusters it has.
    random_state : int, RandomState or None
        Of the validation rows and the clustering.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
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
        Configurations of which the accuracy was asked.
    n_fits_, n_fits_if_all_ : int
        Discriminants fitted by the search, and what it takes with ``refit="all"``; a pairwise
        base has one a pair of groups, others one a group.
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
        "random_state": ["random_state"],
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
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        validation: tuple[Any, npt.ArrayLike] | None = None,
        clusters: npt.ArrayLike | None = None,
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
        clusters : array-like of shape (n,), int, optional
            Clusters of the rows within their classes, 0, 1, ..., in place of clustering;
            `validation` must then be given, unless there is no search.
        """
        self._validate_params()
        X, y = check_rows(self, X, y)
        self.classes_, classes = check_classes(y)
        check_two_classes(self.classes_)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        held = None if validation is None else self._encode_held(*validation)
        self.training_rows_ = np.arange(len(classes))
        if self.search != "none" and held is None:
            if clusters is not None:
                raise ConfigError("clusters need validation=(X, y), or search='none'")
            kept = hold_back(classes, self.validation, rng)
            held = rows_at(X, np.flatnonzero(kept)), classes[kept]
            self.training_rows_ = np.flatnonzero(~kept)
            X, classes = rows_at(X, self.training_rows_), classes[~kept]
        self.clusters_ = self._cluster(X, classes, clusters, rng)
        self.n_clusters_ = cluster_counts(classes, self.clusters_)
        weights = weights_of_classes(self.class_weight, self.classes_, classes)
        self._keep(*self._search(X, classes, held, weights))
        self._fit_base(X, classes, weights)
        return self

    def _encode_held(self, X: Any, y: npt.ArrayLike) -> tuple[Any, Ints]:
        """Return validation rows and their class ids, -1 for a class that is not fitted."""
        ids = {label: j for j, label in enumerate(self.classes_.tolist())}
        codes = [ids.get(label, -1) for label in np.asarray(y).tolist()]
        return check_rows(self, X, reset=False), np.array(codes, dtype=np.int64)

    def _cluster(self, X: Any, classes: Ints, given: Any, rng: np.random.Generator) -> Ints:
        if given is not None:
            return checked_labels(np.asarray(given), classes)
        rows = Columns.of(X).encode(X)
        found = decompose(
            rows, classes, max_clusters=self.max_clusters, clusterer=self.clusterer, rng=rng
        )
        return labels_of(found, classes)

    def _search(
        self, X: Any, classes: Ints, held: tuple[Any, Ints] | None, weights: Floats | None
    ) -> tuple[Found, ValidationAccuracy | None]:
        if self.search == "none" or held is None or not len(held[1]):
            return Found(separate(self.n_clusters_), np.nan, (), False), None
        of_rows = of_held = None
        if weights is not None:
            of_rows = weights[classes]
            of_held = np.append(weights, 1.0)[held[1]]  # the last for a class that is not fitted
        data = Training(X, classes, self.clusters_, held[0], of_rows)
        accuracy = ValidationAccuracy(predictor(self._base(), data, self.refit), held[1], of_held)
        if self.search == "exhaustive":
            return exhaustive(self.n_clusters_, accuracy), accuracy
        found = greedy(self.n_clusters_, accuracy, ties=self.ties, revert=self.revert)
        return found, accuracy

    def _keep(self, found: Found, accuracy: ValidationAccuracy | None) -> None:
        self.configuration_, self.reverted_, self.steps_ = (
            found.configuration,
            found.reverted,
            found.steps,
        )
        self.merges_tried_ = len(found.steps)
        self.merges_taken_ = sum(step.taken for step in found.steps)
        curve = [] if accuracy is None else [accuracy(separate(self.n_clusters_))]
        curve += [step.accuracy for step in found.steps]
        curve += [] if accuracy is None else [found.accuracy]
        self.validation_accuracy_ = np.array(curve)
        self.n_configurations_ = accuracy.evaluated if accuracy else 0
        self.n_fits_ = accuracy.predictor.fitted if accuracy else 0
        self.n_fits_if_all_ = accuracy.discriminants if accuracy else 0

    def _fit_base(self, X: Any, classes: Ints, weights: Floats | None) -> None:
        labels = group_labels(self.configuration_, classes, self.clusters_)
        of_rows = None if weights is None else weights[classes]
        self.estimator_ = fit_groups(self._base(), X, labels, of_rows)
        self._class_of_group = class_of_group(self.configuration_)

    def _base(self) -> Any:
        return MixedNaiveBayes() if self.base_estimator is None else self.base_estimator

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of the group that the base estimator predicts (section 3.4)."""
        rows = self._rows(X)
        groups = self.estimator_.predict(rows)
        return self.classes_[self._class_of_group[groups]]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities (n, n_classes): the sums over the groups of each class."""
        rows = self._rows(X)
        shares = self.estimator_.predict_proba(rows)
        return shares @ np.eye(len(self.classes_))[self._class_of_group]

    @available_if(_has_scores)
    def decision_function(self, X: Any) -> Floats:
        """Return log-odds of `predict_proba`, (n,) for two classes, else (n, n_classes).

        A base without probabilities gives the highest value among the groups of each class; of
        two classes the second less the first.
        """
        if _has_probabilities(self):
            return log_odds(self.predict_proba(X))
        rows = self._rows(X)
        values = np.asarray(self.estimator_.decision_function(rows), dtype=np.float64)
        if values.ndim == 1 and len(self.classes_) == 2:
            return values
        if values.ndim == 1:
            values = np.column_stack([-values, values])
        best = [values[:, self._class_of_group == j].max(axis=1) for j in range(len(self.classes_))]
        return best[1] - best[0] if len(best) == 2 else np.column_stack(best)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._base()).input_tags.allow_nan
        return tags
