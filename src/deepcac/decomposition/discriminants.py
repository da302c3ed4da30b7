"""Validation accuracy of a configuration, by fitting all of it or only what has changed.

The second is section 3.3 of Vilalta, Achari & Eick (2003): while clusters of one class are
regrouped, the discriminants of the other classes stay. That is exact wherever the discriminant of
a group is learnt without looking at how the other rows are grouped: in naive Bayes, one against
rest, and one against one, where only the machines that involve the class change.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import has_fit_parameter

from deepcac.decomposition.configuration import Configuration, Group
from deepcac.decomposition.smo import PairwiseLinearSVC
from deepcac.errors import ConfigError
from deepcac.linear.base_classifiers import check_learnt
from deepcac.numeric_table import check_class_weight
from deepcac.types import Floats, Ints

Name = tuple[int, Group]
ClassWeight = Literal["balanced"] | Mapping[Any, float] | None


def weights_of_classes(
    given: ClassWeight, labels: npt.NDArray[Any], classes: Ints
) -> Floats | None:
    """Return the weight of a row of each class (n_classes,), or None.

    Every row of a group has the weight of its class, however many groups the class has. So the
    total weight of a class is that without decomposition, n / n_classes if "balanced"; weights
    that balance the groups themselves would favour classes with many groups.

    Parameters
    ----------
    given : {"balanced"}, mapping or None
        As `class_weight` in scikit-learn; a class that is not named has 1. Must be positive.
    labels : ndarray of shape (n_classes,)
        Class labels.
    classes : ndarray of shape (n,)
        Class id of each row.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        check_class_weight(given, labels)
        weights = np.array([float(given.get(label, 1.0)) for label in labels.tolist()])
        if not (weights > 0).all():
            label = labels[~(weights > 0)].tolist()[0]
            raise ConfigError(
                f"class_weight of class {label!r} is {given[label]}; give a weight above 0, or "
                "leave its rows out"
            )
        return weights
    return np.asarray(compute_class_weight(given, classes=np.arange(len(labels)), y=classes))


def fit_groups(base: Any, X: Any, groups: Ints, weights: Floats | None) -> Any:
    """Fit a clone of `base` to groups of rows, with row weights (n,) if it accepts them."""
    model = clone(base)
    if weights is None or not has_fit_parameter(model, "sample_weight"):
        model = model.fit(X, groups)
    else:
        model = model.fit(X, groups, sample_weight=weights)
    check_learnt(model)
    return model


class ClusterGroups:
    """Rows of each group of clusters.

    Parameters
    ----------
    classes, clusters : ndarray of shape (n,)
        Class id of each row and its cluster within the class.
    """

    def __init__(self, classes: Ints, clusters: Ints) -> None:
        self._rows = [
            [np.flatnonzero((classes == j) & (clusters == c)) for c in range(count)]
            for j, count in enumerate(cluster_counts(classes, clusters))
        ]
        self._stored: dict[Name, Ints] = {}

    def rows(self, name: Name) -> Ints:
        """Return the positions of the rows of a group, ascending."""
        if name not in self._stored:
            j, group = name
            self._stored[name] = np.sort(np.concatenate([self._rows[j][c] for c in group]))
        return self._stored[name]


def cluster_counts(classes: Ints, clusters: Ints) -> tuple[int, ...]:
    """Return the number of clusters of each class."""
    return tuple(int(clusters[classes == j].max()) + 1 for j in range(classes.max() + 1))


def group_names(configuration: Configuration) -> list[Name]:
    """Return (class, clusters) of each group, in order."""
    return [(j, group) for j, partition in enumerate(configuration) for group in partition]


def group_labels(configuration: Configuration, classes: Ints, clusters: Ints) -> Ints:
    """Return the group of each row, numbered in the order of `group_names`."""
    lookup = {(j, c): g for g, (j, group) in enumerate(group_names(configuration)) for c in group}
    pairs = zip(classes.tolist(), clusters.tolist(), strict=True)
    return np.array([lookup[pair] for pair in pairs], dtype=np.int64)


def class_of_group(configuration: Configuration) -> Ints:
    """Return the class of each group, to map labels back (section 3.4)."""
    return np.array([j for j, _ in group_names(configuration)], dtype=np.int64)


class Predictor(Protocol):
    """Class predictions under a configuration."""

    fitted: int

    def focus(self, configuration: Configuration, active: int) -> None:
        """Fix all classes but one."""

    def predict(self, configuration: Configuration) -> Ints:
        """Return the class of each validation row."""

    def size(self, configuration: Configuration) -> int:
        """Return how many discriminants the configuration has."""


class ValidationAccuracy:
    """Accuracy on validation rows, weighted if they have weights; a configuration counts once.

    Attributes
    ----------
    evaluated : int
        Configurations.
    discriminants : int
        How many discriminants would be fitted without reuse between configurations.
    """

    def __init__(self, predictor: Predictor, classes: Ints, weights: Floats | None = None) -> None:
        self.predictor, self._classes, self._weights = predictor, classes, weights
        self._stored: dict[Configuration, float] = {}
        self._focus: tuple[Configuration, int] | None = None
        self.evaluated = self.discriminants = 0

    def focus(self, configuration: Configuration, active: int) -> None:
        """Announce which class will change; passed on before the next new configuration."""
        self._focus = configuration, active

    def __call__(self, configuration: Configuration) -> float:
        """Return the accuracy."""
        if configuration not in self._stored:
            if self._focus is not None:
                self.predictor.focus(*self._focus)
                self._focus = None
            self.evaluated += 1
            self.discriminants += self.predictor.size(configuration)
            right = self.predictor.predict(configuration) == self._classes
            self._stored[configuration] = float(np.average(right, weights=self._weights))
        return self._stored[configuration]


class Training(NamedTuple):
    """Rows, their class ids and clusters, the validation rows, and weights of the rows."""

    X: Any
    classes: Ints
    clusters: Ints
    X_validation: Any
    weights: Floats | None = None


class Refit:
    """Predictor that fits the base classifier anew for each configuration."""

    def __init__(self, base: Any, data: Training) -> None:
        self._base, self._data, self.fitted = base, data, 0

    def focus(self, configuration: Configuration, active: int) -> None:
        """Do nothing: everything is fitted anyway."""

    def predict(self, configuration: Configuration) -> Ints:
        """Return the class of each validation row."""
        self.fitted += self.size(configuration)
        data = self._data
        labels = group_labels(configuration, data.classes, data.clusters)
        model = fit_groups(self._base, data.X, labels, data.weights)
        return class_of_group(configuration)[model.predict(data.X_validation)]

    def size(self, configuration: Configuration) -> int:
        """Return the number of groups, or of pairs of groups for a pairwise base."""
        n = len(group_names(configuration))
        return n * (n - 1) // 2 if isinstance(self._base, PairwiseLinearSVC) else n


class OneAgainstRest:
    """Scores of a base classifier fitted to tell one group from all other rows."""

    def __init__(self, base: Any, data: Training) -> None:
        if not (hasattr(base, "decision_function") or hasattr(base, "predict_proba")):
            raise ConfigError(
                f"refit='one_class' compares scores, and {type(base).__name__} has none; use "
                "refit='all'"
            )
        self._base, self._data = base, data

    def score(self, members: Ints) -> Floats:
        """Return the score (m,) of the validation rows for the group of some rows."""
        data = self._data
        inside = np.zeros(len(data.classes), dtype=np.int64)
        inside[members] = 1
        if inside.all():
            return np.zeros(len(data.X_validation))
        model = fit_groups(self._base, data.X, inside, data.weights)
        if hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(data.X_validation), dtype=np.float64)
        return model.predict_proba(data.X_validation)[:, 1]


class ByScore:
    """Predictor that caches a score per group, independent of other groups; the highest wins."""

    def __init__(self, scorer: Any, groups: ClusterGroups) -> None:
        self._scorer, self._groups, self.fitted = scorer, groups, 0
        self._stored: dict[Name, Floats] = {}
        self._others: dict[int, Floats] = {}

    def focus(self, configuration: Configuration, active: int) -> None:
        """Cache the best score of each other class, and drop the groups of the previous class."""
        names = set(group_names(configuration))
        self._stored = {name: score for name, score in self._stored.items() if name in names}
        self._others = {
            j: self._best(j, partition) for j, partition in enumerate(configuration) if j != active
        }

    def predict(self, configuration: Configuration) -> Ints:
        """Return the class with the best group."""
        best = [
            self._others[j] if j in self._others else self._best(j, partition)
            for j, partition in enumerate(configuration)
        ]
        return np.argmax(best, axis=0)

    def size(self, configuration: Configuration) -> int:
        """Return the number of groups."""
        return len(group_names(configuration))

    def _best(self, j: int, partition: Sequence[Group]) -> Floats:
        """Return each row's highest score over the groups of class `j`."""
        return np.max([self._score((j, group)) for group in partition], axis=0)

    def _score(self, name: Name) -> Floats:
        """Return the scores of a group's discriminant, fitted once and stored."""
        if name not in self._stored:
            self._stored[name] = self._scorer.score(self._groups.rows(name))
            self.fitted += 1
        return self._stored[name]
