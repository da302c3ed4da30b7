import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score, log_loss
from sklearn.neighbors import NearestCentroid

from deepcac.cac import CACClassifier, CollapseWarning, KMClassifier
from deepcac.cac.given_clusters import local_scores
from deepcac.errors import DataError
from deepcac.linear import base_classifiers
from deepcac.linear.base_classifiers import class_scores, cluster_weights, fit_weighted

WEIGHTED = (
    base_classifiers.logistic_regression,
    base_classifiers.linear_svm,
    base_classifiers.random_forest,
    base_classifiers.stochastic_gradient,
    base_classifiers.ridge,
    base_classifiers.perceptron,
    base_classifiers.boosted_trees,
)


def xor_rows(n, seed):
    """Two subtypes, far apart in the first feature, in which the second means the opposite."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(side == 1, 4.0, -4.0)
    return X, ((X[:, 1] > 0) ^ (side == 1)).astype(np.int64), side


def test_planted_subtypes_are_found():
    X, y, side = xor_rows(400, 0)
    X_new, y_new, side_new = xor_rows(400, 1)
    plain = LogisticRegression().fit(X, y).score(X_new, y_new)
    for model in (KMClassifier(random_state=0), CACClassifier(alpha=0.05, random_state=0)):
        model.fit(X, y)
        assert model.score(X_new, y_new) > 0.9 > 0.65 > plain
        agreement = (model.assign(X_new) == side_new).mean()
        assert max(agreement, 1 - agreement) > 0.98
        assert (model.subtypes_ == side).mean() in (0.0, 1.0)
        assert not model.collapsed_


def test_cac_at_its_start_is_km():
    X, y, _ = xor_rows(200, 2)
    km = KMClassifier(random_state=3).fit(X, y)
    start = CACClassifier(alpha=0.0, max_iter=0, random_state=3).fit(X, y)
    np.testing.assert_allclose(km.predict_proba(X), start.predict_proba(X), rtol=1e-9)
    assert km.n_iter_ == 0


def test_probabilities_stand_on_their_own_rows():
    X, y, _ = xor_rows(300, 4)
    model = CACClassifier(alpha=0.1, n_clusters=3, random_state=0).fit(X, y)
    whole = model.predict_proba(X)
    assert whole.sum(axis=1) == pytest.approx(np.ones(300))
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_allclose(model.predict_proba(X[order]), whole[order], rtol=1e-9)
    for i in (0, 7, 299):
        local = model.estimators_[model.assign(X[i : i + 1])[0]]
        assert whole[i] == pytest.approx(local.predict_proba(X[i : i + 1])[0])
    assert np.array_equal(model.classes_[whole.argmax(axis=1)], model.predict(X))


def test_a_large_alpha_collapses_to_the_nearest_class_centroid():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    X[:, 0] += 2.0 * y
    with pytest.warns(CollapseWarning, match="lower alpha"):
        model = CACClassifier(alpha=20.0, random_state=0).fit(X, y)
    assert model.collapsed_
    assert model.purity_ > 0.99
    # One row of the other class is held in each cluster by the rule.
    assert sorted(model.class_counts_.min(axis=1)) == [1, 1]
    assert (NearestCentroid().fit(X, y).predict(X) == model.predict(X)).mean() > 0.95


def test_one_class_clusters_are_constant():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.1], [9.0, 9.0], [9.1, 9.0], [9.2, 9.3]])
    y = np.array(["a", "a", "a", "b", "c", "b"])
    model = KMClassifier(RidgeClassifier(), random_state=0).fit(X, y)
    j = model.assign([[0.0, 0.0]])[0]
    assert model.predict([[0.1, 0.1]]) == ["a"]
    # Three rows of "a" and one more of each class: 4, 1 and 1 of 6.
    odds = np.log([4 / 2, 1 / 5, 1 / 5])
    assert model.decision_function([[0.1, 0.1]])[0] == pytest.approx(odds)
    assert local_scores(model, [[0.1, 0.1]])[0].tolist() == [1.0, -1.0, -1.0]
    assert model.class_counts_[j].tolist() == [3, 0, 0]
    assert set(model.predict(X[3:])) <= {"b", "c"}
    with pytest.raises(AttributeError):
        model.predict_proba(X)


def test_given_labels_are_the_start_and_empty_clusters_are_dropped():
    X, y, side = xor_rows(100, 5)
    model = CACClassifier(alpha=0.0, n_clusters=4).fit(X, y, labels=3 * side)
    assert model.n_clusters_found_ == len(model.cluster_centers_) == len(model.estimators_)
    assert set(model.subtypes_) == set(range(model.n_clusters_found_))
    assert len(model.cost_history_) == model.n_iter_ + 1 == len(model.moves_) + 1
    means = [X[model.subtypes_ == j].mean(axis=0) for j in range(model.n_clusters_found_)]
    assert np.allclose(model.cluster_centers_, means)


@pytest.mark.parametrize("base", [LogisticRegression(), RidgeClassifier()])
def test_the_best_pass_is_kept(base):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    X_val, y_val = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    labels = rng.integers(0, 2, 200)

    def fit(selection, max_iter=30):
        model = CACClassifier(base, alpha=0.3, selection=selection, max_iter=max_iter)
        held_out = (X_val, y_val) if selection == "best_validation" else None
        return model.fit(X, y, labels=labels, validation=held_out)

    best = f1_score(y_val, fit("best_validation").predict(X_val))
    passes = fit("final").n_iter_
    scores = [f1_score(y_val, fit("final", t).predict(X_val)) for t in range(passes + 1)]
    assert passes > 3
    assert best == pytest.approx(max(scores))
    kept = fit("best_validation")
    assert kept.kept_pass_ == int(np.argmax(scores))
    same = fit("final", kept.kept_pass_)
    assert np.array_equal(kept.subtypes_, same.subtypes_)
    for name in ("cost_history_", "within_history_", "separation_history_", "moves_"):
        assert np.array_equal(getattr(kept, name), getattr(same, name)), name
    assert kept.n_iter_ == passes


def test_the_least_training_loss_is_kept():
    rng = np.random.default_rng(2)
    X, y, labels = rng.normal(size=(200, 3)), rng.integers(0, 2, 200), rng.integers(0, 2, 200)

    def loss(selection, max_iter=30):
        model = CACClassifier(alpha=0.3, selection=selection, max_iter=max_iter)
        model.fit(X, y, labels=labels)
        return log_loss(y, model.predict_proba(X)), model.n_iter_

    _, passes = loss("final")
    assert loss("best_train_loss")[0] == pytest.approx(
        min(loss("final", t)[0] for t in range(passes + 1))
    )


def test_balanced_weights_reach_every_base_that_can_take_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] + rng.normal(size=600) > 2.0).astype(np.int64)
    takes_none = (base_classifiers.linear_discriminant, base_classifiers.nearest_neighbours)
    for base in (*WEIGHTED, *takes_none):
        plain = fit_weighted(base(0), X, y, None)
        weighted = fit_weighted(base(0), X, y, "balanced")
        same = np.array_equal(plain.predict(X), weighted.predict(X))
        assert same == (base in takes_none), base


@pytest.mark.parametrize(
    "base",
    [
        base_classifiers.logistic_regression,
        base_classifiers.random_forest,
        base_classifiers.ridge,
        base_classifiers.boosted_trees,
    ],
    ids=["lr", "rf", "ridge", "xgb"],
)
def test_balanced_weights_leave_clusters_their_risk(base):
    # Two far clusters with 10 % and 60 % positives and nothing else to learn.
    rng = np.random.default_rng(0)
    cluster = np.repeat([0, 1], 500)
    X = rng.normal(size=(1000, 2)) + 50 * cluster[:, None]
    y = (rng.random(1000) < np.where(cluster, 0.6, 0.1)).astype(np.int64)
    called = {}
    for weight in ("balanced", "balanced_in_clusters"):
        model = KMClassifier(base(0), class_weight=weight, random_state=0).fit(X, y)
        called[weight] = [model.predict(X[cluster == j]).mean() for j in (0, 1)]
    assert called["balanced"][0] < 0.2
    assert called["balanced"][1] > 0.6
    assert called["balanced_in_clusters"][0] > called["balanced"][0]


def test_weights_of_clusters_by_hand():
    # 3 of 4 rows are of class 0: weights 4 / (2 * 3) and 4 / (2 * 1).
    y = np.array([0, 0, 1, 0])
    assert cluster_weights("balanced", y) == pytest.approx({0: 2 / 3, 1: 2.0})
    assert cluster_weights("balanced_in_clusters", y) == "balanced"
    assert cluster_weights({0: 1.0}, y) == {0: 1.0}
    assert cluster_weights(None, y) is None


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(DataError, match="n_clusters=9, but n_samples=4"):
        CACClassifier(n_clusters=9).fit(np.eye(4), [0, 1, 0, 1])


def test_the_nearest_class_mean_is_scored_by_the_distances_that_decide():
    rows, classes = np.array([[-1.0], [1.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])
    model = base_classifiers.nearest_class_mean(0).fit(rows, classes)
    # The means are 0 and 2. 0.5 lies 0.5 and 1.5 away: 0.25 - 2.25 = -2; 3.0 has 9 - 1 = 8.
    assert model.decision_function(np.array([[0.5], [3.0]])).tolist() == [-2.0, 8.0]
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) * [1.0, 3.0, 0.1, 1.0] + y[:, None]
    scores = class_scores(base_classifiers.nearest_class_mean(0).fit(X, y), X, 3)
    assert (scores.argmax(axis=1) == NearestCentroid().fit(X, y).predict(X)).all()
