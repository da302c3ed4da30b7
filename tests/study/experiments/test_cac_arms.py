from dataclasses import replace

import numpy as np
import pytest
from catalogued import make_base

from deepcac.cac import CACClassifier
from deepcac.cac.path import (
    FULL,
    GRID,
    START,
    alpha_path,
    draw_folds,
)
from deepcac.errors import ConfigError
from deepcac.linear.base_classifiers import fit_weighted
from deepcac.task import Task
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.experiments import cac_arms
from deepcac_study.experiments.cac_arms import alphas_needed, shared_clusterings
from deepcac_study.experiments.prepare import Setting
from deepcac_study.published.cac_program import printed_alpha


def fit_task(task, setting, arm, name, path=None):
    method = parse_method(name if arm == "base" else f"{arm}_{name}")
    return cac_arms.fit_task(task, setting, method, path)


def xor_rows(n, seed):
    """Two subtypes, far apart in the first feature, in which the second means the opposite."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(side == 1, 4.0, -4.0)
    y = ((X[:, 1] > 0) ^ (side == 1)).astype(np.int64)
    return X, y


def xor_task(k=2):
    X, y = xor_rows(300, 0)
    X_test, y_test = xor_rows(200, 1)
    return Task(X, y, X[:0], y[:0], X_test, y_test, 2, k, 0)


def asked(*labels, dataset="demo_cic", k=2):
    return Setting(dataset, k, Protocol(frozenset(labels)), "cac")


def accuracy(task, fitted):
    return (fitted.predicted == task.y_test).mean()


def test_planted_subtypes_are_found_by_km_and_cac_but_not_by_lr():
    task = xor_task()
    alone, km, cac = (fit_task(task, asked(), arm, "lr") for arm in ("base", "km", "cac"))
    assert accuracy(task, alone) < 0.65
    assert accuracy(task, km) > 0.9
    assert accuracy(task, cac) > 0.9
    assert cac.tuned == ("alpha",)
    assert cac.history["cost"] == sorted(cac.history["cost"], reverse=True)
    assert len(cac.history["cost"]) == len(cac.history["moves"]) + 1


@pytest.mark.parametrize(
    "name", ["lr", "svm", "lda", "perceptron", "rf", "knn", "sgd", "ridge", "xgb"]
)
@pytest.mark.parametrize("arm", ["base", "km", "cac"])
def test_every_arm_of_every_classifier_scores_each_test_row(name, arm):
    fitted = fit_task(xor_task(), asked("A11"), arm, name)
    assert fitted.hyperparameters["classifier"] == name
    assert fitted.probability.shape == (200, 2)
    assert np.isfinite(fitted.probability).all()
    assert fitted.predicted.shape == fitted.cluster.shape == (200,)
    assert len(fitted.train_cluster) == 300
    # The scores stand on their own rows (A3): they rank as the predictions say.
    assert np.array_equal(fitted.probability.argmax(axis=1), fitted.predicted)


def test_shared_clusterings_change_nothing():
    task = xor_task()
    methods = [parse_method("lr"), parse_method("cac_lr")]
    path = shared_clusterings(task, asked(), methods)
    assert shared_clusterings(task, asked(), methods[:1]) is None
    shared = fit_task(task, asked(), "cac", "lr", path)
    alone = fit_task(task, asked(), "cac", "lr")
    assert np.array_equal(shared.probability, alone.probability)
    assert shared.hyperparameters == alone.hyperparameters
    assert path.whole.keys() == {START, *GRID}
    assert len(path.labels) == 6 * (len(GRID) + 1)
    assert (path.labels[FULL, START] >= 0).all()
    folds = draw_folds(task.y_train, task.seed)
    for fold in range(5):
        assert np.array_equal(path.labels[fold, START] < 0, folds == fold)


def test_a_shared_clustering_is_taken_over_as_it_is():
    task = xor_task()
    path = alpha_path(task.X_train, task.y_train, 2, task.seed, GRID)
    fitted = fit_task(task, asked(), "cac", "lr", path)
    found = path.whole[fitted.hyperparameters["alpha"]]
    assert fitted.history["cost"] == found.cost.tolist()
    assert np.array_equal(fitted.train_cluster, found.labels)
    # A run that clusters by itself comes to the same.
    model = CACClassifier(
        make_base("lr", seed=0), 2, alpha=fitted.hyperparameters["alpha"], class_weight="balanced"
    ).fit(task.X_train, task.y_train, labels=path.labels[FULL, START])
    assert np.array_equal(model.predict_proba(task.X_test), fitted.probability)
    assert model.cost_history_.tolist() == fitted.history["cost"]


def test_class_weights_of_the_published_program():
    def weight(arm, name, *labels):
        return fit_task(xor_task(), asked(*labels), arm, name).hyperparameters["class_weight"]

    for arm, name in (("base", "lr"), ("km", "lr"), ("km", "ridge")):
        assert weight(arm, name) == "balanced"
    assert weight("base", "lr", "A1") is None
    assert weight("km", "lr", "A1") == "balanced_in_clusters"
    assert weight("km", "ridge", "A1") is None
    for arm, expected in (("base", "balanced"), ("cac", "balanced_in_clusters")):
        assert weight(arm, "ridge", "W1") == expected


def test_published_random_state_of_the_classifiers():
    task = replace(xor_task(), seed=7)
    sound, published = (fit_task(task, asked(*on), "base", "rf") for on in ((), ("A14",)))
    of_zero = fit_task(replace(task, seed=0), asked(), "base", "rf")
    assert np.array_equal(published.probability, of_zero.probability)
    assert not np.array_equal(published.probability, sound.probability)
    assert published.hyperparameters == sound.hyperparameters


def test_printed_alphas():
    assert printed_alpha("cic", "lr") == 0.05
    assert printed_alpha("diabetes", "xgb") == 3.0
    assert printed_alpha("magic", "svm") == 0.04
    assert printed_alpha("demo_titanic", "lr") == 0.8
    assert printed_alpha("my_table", "lr") is None
    assert printed_alpha("credit", "xgb") == 0.04
    assert printed_alpha("adult", "cac_dmnn") == 0.8
    assert printed_alpha("adult", "lr", v2=True) == 0.1
    fitted = fit_task(xor_task(), asked("A11"), "cac", "ridge")
    assert fitted.hyperparameters["alpha"] == 0.5
    assert fitted.tuned == ()


def test_the_protocol_of_cac_v2_takes_its_own_alphas():
    v2 = Protocol.from_folder("as_published_v2/")
    assert v2.name == "as_published_v2"
    assert alphas_needed("titanic", v2) == ((100.0,), False)
    assert alphas_needed("diabetes", v2) == ((2.0,), False)


def test_what_is_clustered_suffices_for_every_run():
    published = Protocol(frozenset({"A11"}))
    for dataset in ("titanic", "credit", "adult", "diabetes", "cic", "magic", "wid_mortality"):
        alphas, tuned = alphas_needed(dataset, published)
        assert alphas
        assert all(0.01 <= alpha <= 3 or alpha == 100 for alpha in alphas)
        assert not tuned
    assert alphas_needed("cic", SOUND) == (GRID, True)
    task, setting = xor_task(), asked("A11", dataset="my_table")  # nothing is printed for it
    alphas, tuned = alphas_needed("my_table", published)
    path = alpha_path(task.X_train, task.y_train, 2, 0, alphas, full_only=not tuned)
    assert fit_task(task, setting, "cac", "lr", path).tuned == ("alpha",)


def test_more_clusters_than_their_labels_can_tell_apart_are_refused():
    task = xor_task()
    with pytest.raises(ConfigError, match="128 is the largest"):
        alpha_path(task.X_train, task.y_train, 129, 0, (), full_only=True)


def test_folds_are_stratified_where_they_can_be():
    y = np.repeat([0, 1], [40, 10])
    folds = draw_folds(y, 3)
    assert [(y[folds == fold] == 1).sum() for fold in range(5)] == [2] * 5
    assert sorted(np.bincount(draw_folds(np.repeat([0, 1], [12, 3]), 3))) == [3] * 5


def test_a_class_absent_from_training_has_a_column():
    task = xor_task()
    three = Task(
        task.X_train, task.y_train * 2, task.X_validation, task.y_validation,
        task.X_test, task.y_test * 2, 3, 2, 0,
    )  # fmt: skip
    for arm, name in (("base", "lr"), ("km", "ridge"), ("cac", "lr"), ("cac", "xgb")):
        fitted = fit_task(three, asked(), arm, name)
        assert fitted.probability.shape == (200, 3)
        assert set(fitted.predicted) == {0, 2}
        assert (fitted.probability.argmax(axis=1) == fitted.predicted).mean() > 0.99


@pytest.mark.parametrize("name", ["lr", "lda", "rf", "knn", "ridge", "xgb"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1.0, 1: 5.0, 2: 2.0}])
def test_a_cluster_that_lacks_the_middle_class_is_fitted(name, class_weight):
    X, y = xor_rows(200, 0)
    gap = fit_weighted(make_base(name), X, 2 * y, class_weight)
    assert gap.classes_.tolist() == [0, 2]
    weights = class_weight if class_weight in (None, "balanced") else {0: 1.0, 1: 2.0}
    plain = fit_weighted(make_base(name), X, y, weights)
    assert np.array_equal(gap.predict(X), 2 * plain.predict(X))
    if hasattr(plain, "predict_proba"):
        np.testing.assert_allclose(gap.predict_proba(X), plain.predict_proba(X), rtol=1e-6)


def test_unknown_classifier_is_named():
    with pytest.raises(ConfigError, match="'tree'"):
        fit_task(xor_task(), asked(), "base", "tree")
