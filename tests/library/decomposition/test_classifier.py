import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from deepcac.decomposition import ClassDecompositionClassifier, MixedNaiveBayes, PairwiseLinearSVC
from deepcac.decomposition.configuration import configurations, separate, whole
from deepcac.decomposition.discriminants import Refit, Training, ValidationAccuracy
from deepcac.errors import ConfigError
from deepcac_study.simulate.merging_case import merging_case

TOP_MERGED = (((0, 1), (2,)), ((0,),))


def blobs(seed, n=240, classes=3, clusters=3, spread=0.8):
    """Rows of classes whose clusters are strewn over a square, with their clusters."""
    rng = np.random.default_rng(seed)
    y, own = rng.integers(0, classes, n), rng.integers(0, clusters, n)
    centres = rng.uniform(-3, 3, (classes, clusters, 2))
    X = centres[y, own] + rng.normal(scale=spread, size=(n, 2))
    half = n // 2
    own[: classes * clusters] = np.tile(np.arange(clusters), classes)
    y[: classes * clusters] = np.repeat(np.arange(classes), clusters)
    return (X[:half], y[:half], own[:half]), (X[half:], y[half:])


def test_figure_4_merging_some_clusters_beats_all_and_none():
    X, y, clusters = merging_case()
    accuracy = ValidationAccuracy(Refit(PairwiseLinearSVC(), Training(X, y, clusters, X)), y)
    scores = {c: accuracy(c) for c in configurations([3, 1])}
    assert scores[whole([3, 1])] == 0.75
    assert scores[separate([3, 1])] == pytest.approx(108 / 128)
    assert scores[TOP_MERGED] == 1.0
    assert sorted(scores.values())[-2] < 0.85


@pytest.mark.parametrize("refit", ["all", "one_class"])
@pytest.mark.parametrize("search", ["greedy", "exhaustive"])
def test_figure_4_is_found(search, refit):
    X, y, clusters = merging_case()
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), search=search, refit=refit)
    model.fit(X, y, validation=(X, y), labels=clusters)
    assert model.configuration_ == TOP_MERGED
    assert model.score(X, y) == 1.0
    if search == "greedy":
        assert (model.merges_tried_, model.merges_taken_) == (4, 1)
        assert model.validation_accuracy_[[0, -1]] == pytest.approx([108 / 128, 1.0])


def test_figure_4_from_the_rows_alone():
    X, y, _ = merging_case()
    rng = np.random.default_rng(0)
    X = X + rng.normal(scale=0.02, size=X.shape)
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), max_clusters=3, clusterer="kmeans")
    model.set_params(random_state=0).fit(X, y, validation=(X, y))
    assert model.n_clusters_ == (3, 3)
    assert model.score(X, y) > 0.95 > 0.8 > PairwiseLinearSVC().fit(X, y).score(X, y)


@pytest.mark.parametrize(
    "base", [MixedNaiveBayes(), PairwiseLinearSVC(), LinearSVC(dual=False, random_state=0)]
)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1_000))
def test_the_shortcut_changes_no_accuracy(base, seed):
    (X, y, clusters), held = blobs(seed)
    models = [
        ClassDecompositionClassifier(base, refit=refit, revert=False).fit(
            X, y, validation=held, labels=clusters
        )
        for refit in ("all", "one_class")
    ]
    full, short = models
    assert short.steps_ == full.steps_
    assert short.configuration_ == full.configuration_
    assert np.array_equal(short.predict(held[0]), full.predict(held[0]))
    assert full.n_fits_ == full.n_fits_if_all_ == short.n_fits_if_all_
    assert short.n_fits_ < full.n_fits_


def test_greedy_is_seldom_worse_than_exhaustive():
    lost = []
    for seed in range(30):
        (X, y, clusters), held = blobs(seed, classes=2)
        scores = {}
        for search in ("greedy", "exhaustive"):
            model = ClassDecompositionClassifier(search=search, refit="one_class")
            model.fit(X, y, validation=held, labels=clusters)
            scores[search] = model.validation_accuracy_[-1]
        lost.append(scores["exhaustive"] - scores["greedy"])
    assert min(lost) == 0.0
    assert np.count_nonzero(lost) <= 10  # 8 of 30 when this was written
    assert max(lost) < 0.05


def test_probabilities_add_up_over_the_groups():
    (X, y, clusters), (X_new, _) = blobs(3)
    names = np.array(["a", "b", "c"])[y]
    model = ClassDecompositionClassifier(search="none").fit(X, names, labels=clusters)
    shares = model.predict_proba(X_new)
    assert shares.shape == (120, 3)
    assert shares.sum(axis=1) == pytest.approx(np.ones(120))
    groups = model.estimator_.predict_proba(X_new)
    assert shares[:, 1] == pytest.approx(groups[:, 3:6].sum(axis=1))
    best = groups.argmax(axis=1) // 3
    assert np.array_equal(model.predict(X_new), np.array(["a", "b", "c"])[best])


def test_decision_values_are_the_best_of_the_groups():
    (X, y, clusters), (X_new, _) = blobs(4, classes=2)
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), search="none")
    model.fit(X, y, labels=clusters)
    values = model.estimator_.decision_function(X_new)
    expected = values[:, 3:].max(axis=1) - values[:, :3].max(axis=1)
    assert model.decision_function(X_new) == pytest.approx(expected)
    assert not hasattr(model, "predict_proba")


def test_a_table_with_categories():
    rng = np.random.default_rng(0)
    side, y = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    X = pd.DataFrame(
        {
            "x": np.where(y == 1, 5.0 * side, 2.5) + rng.normal(scale=0.4, size=400),
            "c": pd.Categorical(np.where(side == 1, "u", "v")),
        }
    )
    X.loc[::17, "x"] = np.nan
    model = ClassDecompositionClassifier(PairwiseLinearSVC(), random_state=0, refit="one_class")
    model.fit(X, y)
    assert model.score(X, y) > 0.9 > 0.75 > PairwiseLinearSVC().fit(X, y).score(X, y)
    again = model.predict(X.to_numpy(dtype=object))
    assert np.array_equal(again, model.predict(X))


def test_rows_held_back_are_of_every_class():
    (X, y, _), _ = blobs(1)
    model = ClassDecompositionClassifier(validation=0.25, random_state=0).fit(X, y)
    kept = np.delete(y, model.training_rows_)
    assert np.bincount(kept).tolist() == [round(0.25 * n) for n in np.bincount(y)]
    assert len(model.clusters_) == len(model.training_rows_)
    assert model.validation_accuracy_.shape == (model.merges_tried_ + 2,)


def test_any_base_is_searched_one_against_rest():
    (X, y, clusters), held = blobs(2)
    base = LogisticRegression()
    model = ClassDecompositionClassifier(base, refit="one_class")
    model.fit(X, y, validation=held, labels=clusters)
    assert model.n_fits_ < model.n_fits_if_all_
    assert model.score(*held) > base.fit(X, y).score(*held)


class AnswersOnly(ClassifierMixin, BaseEstimator):
    """A classifier that gives no score."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_base_without_scores_is_not_searched_one_against_rest():
    (X, y, clusters), held = blobs(2)
    model = ClassDecompositionClassifier(AnswersOnly(), refit="one_class")
    with pytest.raises(ConfigError, match="AnswersOnly has none; use refit='all'"):
        model.fit(X, y, validation=held, labels=clusters)
    model.set_params(refit="all").fit(X, y, validation=held, labels=clusters)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": "best"}, "'search' parameter .* Got 'best'"),
        ({"refit": "some"}, "'refit' parameter"),
        ({"validation": 1.0}, r"range \(0.0, 1.0\)"),
        ({"max_clusters": 0}, "'max_clusters' parameter"),
        ({"max_clusters": "ten"}, "Got 'ten' instead"),
        ({"clusterer": "kmeans", "max_clusters": None}, "needs max_clusters"),
        ({"search": "exhaustive", "max_clusters": 9, "clusterer": "kmeans"}, "configurations of"),
    ],
)
def test_unusable_settings(options, message):
    (X, y, _), _ = blobs(0)
    with pytest.raises(ValueError, match=message):
        ClassDecompositionClassifier(**options).fit(X, y)


def test_unusable_clusters():
    (X, y, clusters), held = blobs(0)
    model = ClassDecompositionClassifier()
    with pytest.raises(ConfigError, match="labels need validation"):
        model.fit(X, y, labels=clusters)
    with pytest.raises(ConfigError, match="use 0, 1"):
        model.fit(X, y, labels=clusters + 1, validation=held)
    with pytest.raises(ConfigError, match="per row"):
        model.fit(X, y, labels=clusters[:-1], validation=held)
