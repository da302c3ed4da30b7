"""Probabilities and decision values rank rows alike, whatever the base classifier."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from deepcac.cac import CACClassifier, KMClassifier
from deepcac.cac.given_clusters import local_scores
from deepcac.decomposition import ClassDecompositionClassifier
from deepcac.linear.base_classifiers import (
    boosted_trees,
    class_log_odds,
    nearest_neighbours,
    perceptron,
)

BASES = [
    LogisticRegression(),
    GaussianNB(),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    nearest_neighbours(0),
    boosted_trees(0),
]


def one_class_clusters(n_classes=2, n=400, seed=0):
    """Three far clusters: one of the first class alone, one of the last, and a mixed one."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 12.0 * side
    y = np.digitize(X[:, 1] + rng.normal(size=n), np.linspace(-0.7, 0.7, n_classes - 1))
    return X, np.where(side == 0, 0, np.where(side == 2, n_classes - 1, y))


@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decision_values_are_log_odds_of_the_probabilities(base, n_classes):
    (X, y), (new, truth) = one_class_clusters(n_classes), one_class_clusters(n_classes, seed=1)
    model = KMClassifier(base, n_clusters=3, random_state=0).fit(X, y)
    assert min(model.class_counts_.astype(bool).sum(axis=1)) == 1
    probability, values = model.predict_proba(new), model.decision_function(new)
    assert np.isfinite(values).all()
    if n_classes == 2:
        assert expit(values) == pytest.approx(probability[:, 1])
        ranked = roc_auc_score(truth, probability[:, 1])
        assert get_scorer("roc_auc")(model, new, truth) == pytest.approx(ranked)
    else:
        assert expit(values) == pytest.approx(probability)
        assert np.array_equal(model.classes_[values.argmax(axis=1)], model.predict(new))


@pytest.mark.parametrize("base", [LinearSVC(), SVC(), RidgeClassifier(), perceptron(0)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_and_one_class_clusters_are_on_one_scale(base, n_classes):
    (X, y), (new, truth) = one_class_clusters(n_classes), one_class_clusters(n_classes, seed=1)
    model = KMClassifier(base, n_clusters=3, random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    values = model.decision_function(new)
    predicted = values > 0 if n_classes == 2 else values.argmax(axis=1)
    assert np.array_equal(predicted, model.predict(new))
    # A cluster of n rows of one class: n + 1 of n + n_classes for it, in every row.
    for j in np.flatnonzero(model.class_counts_.astype(bool).sum(axis=1) == 1):
        size, own = model.class_counts_[j].sum(), model.class_counts_[j].argmax()
        odds = np.log((size + 1) / (n_classes - 1))
        inside = values[model.assign(new) == j]
        if n_classes == 2:
            assert inside == pytest.approx(odds if own == 1 else -odds)
        else:
            assert inside[:, own] == pytest.approx(odds)
    # With one margin a side and plus or minus one in pure clusters, the pure ones lay in between.
    if n_classes == 2:
        old = local_scores(model, new)[:, 1]
        # Rows whose values are equal but for rounding may change places.
        assert roc_auc_score(truth, values) >= roc_auc_score(truth, old) - 1e-3


def test_pure_clusters_rank_by_how_sure_they_are():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(300, 2)), rng.normal(size=(4, 2)) + 30]
    model = KMClassifier(random_state=0).fit(X, np.r_[np.zeros(300), np.ones(4)])
    low, high = model.predict_proba([[0.0, 0.0], [30.0, 30.0]])[:, 1]
    assert low == pytest.approx(1 / 302)
    assert high == pytest.approx(5 / 6)


def test_an_answer_does_not_depend_on_the_other_rows():
    X, y = one_class_clusters(3)
    model = CACClassifier(LinearSVC(), n_clusters=3, random_state=0).fit(X, y)
    alone = np.vstack([model.decision_function(row[None]) for row in X[:40]])
    assert model.decision_function(X)[:40] == pytest.approx(alone)


def test_log_odds_by_hand():
    two = class_log_odds(np.array([[0.25, 0.75], [1.0, 0.0]]))
    assert two[0] == pytest.approx(np.log(3.0))
    assert two[1] < -700
    three = class_log_odds(np.array([[0.5, 0.3, 0.2]]))
    assert three[0] == pytest.approx(np.log([1.0, 3 / 7, 0.25]))


def test_class_decomposition_ranks_alike_too():
    X, y = one_class_clusters(3)
    model = ClassDecompositionClassifier(random_state=0).fit(X, y)
    assert expit(model.decision_function(X)) == pytest.approx(model.predict_proba(X), abs=1e-9)
    pair = ClassDecompositionClassifier(random_state=0).fit(X[y != 1], y[y != 1])
    assert expit(pair.decision_function(X)) == pytest.approx(pair.predict_proba(X)[:, 1])
