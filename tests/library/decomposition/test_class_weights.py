import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from deepcac.cac import KMClassifier
from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes, PairwiseLinearSVC
from deepcac.decomposition.discriminants import ValidationAccuracy, weights_of_classes
from deepcac.errors import ConfigError


class Weighed(ClassifierMixin, BaseEstimator):
    """Keeps the weight of each label."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.totals_ = np.bincount(y, weights)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def uneven(n=120):
    """Rows of a class of 90 in three clusters and one of 30."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    clusters = np.concatenate([np.repeat([0, 1, 2], [60, 20, 10]), np.zeros(30, int)])
    X = rng.normal(size=(n, 2)) + 3 * np.column_stack([clusters, y])
    return X, y, clusters


@pytest.mark.parametrize(
    ("weight", "first", "second"),
    [("balanced", 60.0, 60.0), (None, 90.0, 30.0), ({0: 2.0}, 180.0, 30.0)],
)
def test_a_class_weighs_the_same_however_many_clusters_it_has(weight, first, second):
    X, y, clusters = uneven()
    for own in (clusters, np.zeros_like(clusters)):
        model = ClassDecompositionClassifier(Weighed(), search="none", class_weight=weight)
        totals = model.fit(X, y, labels=own).estimator_.totals_
        assert totals[:-1].sum() == pytest.approx(first)
        assert totals[-1] == pytest.approx(second)


def test_weights_by_hand():
    classes = np.array([0, 0, 0, 1])
    labels = np.array(["a", "b"])
    assert weights_of_classes("balanced", labels, classes).tolist() == [4 / 6, 2.0]
    assert weights_of_classes({"b": 5.0}, labels, classes).tolist() == [1.0, 5.0]
    assert weights_of_classes(None, labels, classes) is None


def test_weights_of_no_class_and_weights_that_are_none_are_refused():
    X, y, _ = uneven()
    with pytest.raises(ConfigError, match="class_weight .*'1', .* 0, 1"):
        ClassDecompositionClassifier(class_weight={"1": 2.0}).fit(X, y)
    with pytest.raises(ConfigError, match="class_weight of class 1 is 0"):
        ClassDecompositionClassifier(class_weight={1: 0}).fit(X, y)
    with pytest.raises(ConfigError, match="class_weight .*'0', .* 0, 1"):
        KMClassifier(class_weight={"0": 1.0, "1": 2.0}).fit(X, y)


@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC(dual=False, random_state=0)])
def test_without_clusters_it_is_the_weighted_base(base):
    X, y, clusters = uneven()
    model = ClassDecompositionClassifier(base, search="none", class_weight="balanced")
    model.fit(X, y, labels=np.zeros_like(clusters))
    base.set_params(class_weight="balanced").fit(X, y)
    assert np.array_equal(model.predict(X), base.predict(X))


def test_the_search_weighs_its_rows():
    class Fixed:
        fitted = 0

        def predict(self, configuration):
            return np.zeros(4, dtype=np.int64)

        def size(self, configuration):
            return 1

    truth = np.array([0, 0, 0, 1])
    assert ValidationAccuracy(Fixed(), truth)((((0,),),)) == 0.75
    weights = np.array([2 / 3, 2 / 3, 2 / 3, 2.0])
    assert ValidationAccuracy(Fixed(), truth, weights)((((0,),),)) == pytest.approx(0.5)


@pytest.mark.parametrize("refit", ["all", "one_class"])
def test_both_searches_weigh_alike(refit):
    X, y, clusters = uneven()
    model = ClassDecompositionClassifier(refit=refit, class_weight="balanced", revert=False)
    model.fit(X, y, validation=(X, y), labels=clusters)
    other = ClassDecompositionClassifier(refit="all", class_weight="balanced", revert=False)
    other.fit(X, y, validation=(X, y), labels=clusters)
    assert model.steps_ == other.steps_


def test_a_base_that_takes_no_weights_is_fitted_without():
    X, y, clusters = uneven()
    plain, weighed = (
        ClassDecompositionClassifier(PairwiseLinearSVC(), search="none", class_weight=weight).fit(
            X, y, labels=clusters
        )
        for weight in (None, "balanced")
    )
    assert np.array_equal(plain.estimator_.planes_, weighed.estimator_.planes_)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_weight_of_naive_bayes_is_a_repetition(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X = pd.DataFrame(
        {
            "x": np.where(rng.random(40) < 0.1, np.nan, rng.normal(size=40) + y),
            "c": pd.Categorical(rng.choice(["a", "b", "z"], 40), categories=["a", "b", "z"]),
        }
    )
    weights = rng.integers(0, 4, 40)
    weights[:2] = 1
    weighted = MixedNaiveBayes().fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(40), weights)
    repeated = MixedNaiveBayes().fit(X.iloc[rows], y[rows])
    assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), rel=1e-9)
