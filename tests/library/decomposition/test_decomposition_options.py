"""Weights, jobs, tables and pictures of the decomposed classifier."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes, PairwiseLinearSVC
from deepcac.displays import SubtypeProfileDisplay
from deepcac.errors import ConfigError


def rows(n=240, seed=0):
    """Rows of a class at both ends of a line and one in the middle."""
    rng = np.random.default_rng(seed)
    place = rng.integers(0, 3, n)
    X = rng.normal(scale=0.5, size=(n, 2))
    X[:, 0] += 4 * place
    return X, np.where(place == 1, "middle", "ends")


def decomposed(base=None, **options):
    return ClassDecompositionClassifier(base, max_clusters=3, random_state=0, **options)


@pytest.mark.parametrize("refit", ["all", "one_class"])
@pytest.mark.parametrize("search", ["greedy", "none"])
def test_a_row_of_weight_0_is_left_out(search, refit):
    X, y = rows()
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    kept = np.flatnonzero(weights)
    model = decomposed(search=search, refit=refit).fit(X, y, sample_weight=weights)
    without = decomposed(search=search, refit=refit)
    without.fit(X[kept], y[kept], sample_weight=weights[kept])
    assert np.array_equal(model.predict_proba(X), without.predict_proba(X))
    assert set(model.training_rows_) <= set(kept)
    assert np.array_equal(model.training_rows_, kept[without.training_rows_])
    assert len(model.subtypes_) == len(y)


def test_row_weights_multiply_those_of_the_classes_and_reach_base_and_search():
    class Weighed(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):
            self.classes_, self.weights_ = np.unique(y), sample_weight
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[-1])

    X, y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = ClassDecompositionClassifier(
        Weighed(), 1, clusterer="kmeans", class_weight={"middle": 3.0}, random_state=0
    ).fit(X, y, sample_weight=weights)
    factor = np.where(y == "middle", 3.0, 1.0)
    train = model.training_rows_
    assert np.allclose(model.estimator_.weights_, (weights * factor)[train])
    held = np.setdiff1d(np.arange(len(y)), train)
    right = np.average(y[held] == "middle", weights=(weights * factor)[held])
    assert model.validation_accuracy_[-1] == pytest.approx(right)


def test_a_base_without_row_weights_refuses_them():
    X, y = rows()
    with pytest.raises(ConfigError, match="PairwiseLinearSVC takes no sample_weight; leave it out"):
        decomposed(PairwiseLinearSVC()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="[Nn]egative"):
        decomposed().fit(X, y, sample_weight=-np.ones(len(y)))


def test_jobs_change_nothing():
    X, y = rows()
    one, two = (decomposed(n_jobs=n).fit(X, y) for n in (None, 2))
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.n_clusters_ == two.n_clusters_ == (2, 1)


def test_every_row_of_fit_has_a_group():
    X, y = rows()
    model = decomposed(search="none").fit(X, y)
    assert model.configuration_ == (((0,), (1,)), ((0,),))
    assert np.array_equal(model.subtypes_ == 2, y == "middle")
    assert np.bincount(model.subtypes_[y == "ends"]).min() > 60
    searched = decomposed().fit(X, y)
    held = np.setdiff1d(np.arange(len(y)), searched.training_rows_)
    assert len(held) == pytest.approx(len(y) / 3, abs=1)
    assert np.array_equal(searched.subtypes_[held], searched.assign(X[held]))
    assert np.array_equal(searched.classes_[[0, 0, 1]][searched.assign(X)], searched.predict(X))


@pytest.mark.parametrize(
    "base",
    [None, LogisticRegression(), LinearSVC(), RidgeClassifier(), PairwiseLinearSVC()],
    ids=str,
)
def test_tables_in_and_out(base):
    X, y = rows()
    table = pd.DataFrame(X, columns=["age", "pulse"])
    model = decomposed(base).set_output(transform="pandas").fit(table, y)
    out = model.transform(table)
    assert out.columns.tolist() == [f"classdecompositionclassifier{j}" for j in range(3)]
    assert np.array_equal(out.to_numpy().argmax(axis=1), model.assign(table))
    if base is None:
        two = np.column_stack([out.to_numpy()[:, :2].sum(axis=1), out.to_numpy()[:, 2]])
        assert model.predict_proba(table) == pytest.approx(two)


def test_two_groups_have_two_columns_and_a_base_with_answers_alone_marks_its_group():
    class Answers(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.model_ = MixedNaiveBayes().fit(X, y)
            self.classes_ = self.model_.classes_
            return self

        def predict(self, X):
            return self.model_.predict(X)

    X, y = rows()
    two = ClassDecompositionClassifier(LinearSVC(), 1, clusterer="kmeans", random_state=0).fit(X, y)
    values = two.transform(X)
    assert np.allclose(values[:, 1], two.decision_function(X))
    assert np.allclose(values[:, 0], -values[:, 1])
    plain = decomposed(Answers(), search="none").fit(X, y)
    assert plain.transform(X).sum(axis=1).tolist() == [1.0] * len(y)
    assert np.array_equal(plain.transform(X).argmax(axis=1), plain.assign(X))
    assert not hasattr(plain, "decision_function")


@pytest.mark.skipif(
    not hasattr(BaseEstimator, "_html_repr"), reason="scikit-learn 1.6 draws the diagram alone"
)
def test_the_picture_in_a_notebook_says_what_was_found():
    X, y = rows()
    model = decomposed(search="none")
    assert "groups" not in model._repr_html_()
    shown = model.fit(X, y)._repr_html_()
    sizes = ", ".join(map(str, np.bincount(model.subtypes_)))
    told = "2, 1 groups of the classes ends, middle (2, 1 clusters before 0 merges)"
    assert f"ClassDecompositionClassifier: {told} of {sizes} rows" in shown


def test_its_groups_can_be_drawn():
    X, y = rows()
    drawn = SubtypeProfileDisplay.from_estimator(decomposed(search="none").fit(X, y), X, y)
    assert drawn.difference.shape == (3, 2)
    assert drawn.names[0] == "column 0"
