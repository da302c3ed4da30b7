import numpy as np
import pytest

from deepcac.task import Task
from deepcac_study.catalogue.methods import bases, classifiers, methods, parse_method
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.experiments.fit import Shared, fit
from deepcac_study.experiments.prepare import Setting

ARMS = ("skm", "cd", "cdk")


def task(k=2, seed=3):
    """A class in two clusters on both sides of the other one, which is rarer."""
    rng = np.random.default_rng(seed)
    place = rng.choice([-3.0, 0.0, 3.0], 300, p=[0.4, 0.2, 0.4])
    X = np.column_stack([place, np.zeros(300)]) + rng.normal(scale=0.5, size=(300, 2))
    y = (place == 0).astype(np.int64)
    return Task(X[:200], y[:200], X[:0], y[:0], X[200:], y[200:], 2, k, seed, names=("a", "b"))


def fitted(name, k=2, protocol=SOUND, shared=None):
    setting = Setting("toy", k, protocol, "cac")
    return fit(task(k), setting, parse_method(name), shared or Shared())


def test_each_arm_is_made_of_the_three_bases():
    for arm in ARMS:
        assert [m.classifier for m in methods().values() if m.arm == arm] == ["lr", "svm", "nb"]
    assert set(bases()) == {*classifiers(), "nb"}
    assert "nb" not in classifiers()
    assert parse_method("cdk_svm").label == "CD-KM+linear SVM"
    assert parse_method("cd_nb").clustered


@pytest.mark.parametrize("base", ["nb", "lr", "svm"])
@pytest.mark.parametrize("arm", ARMS)
def test_answers_have_the_shapes_of_the_task_and_are_the_same_twice(arm, base):
    one, two = fitted(f"{arm}_{base}"), fitted(f"{arm}_{base}")
    assert one.probability.shape == (100, 2)
    assert one.cluster.shape == (100,)
    assert one.train_cluster.shape == (200,)
    assert one.calibrated == (base != "svm")
    assert np.array_equal(one.probability, two.probability)
    assert one.hyperparameters == two.hyperparameters
    assert one.hyperparameters["class_weight"] == "balanced"
    assert (
        fitted(f"{arm}_{base}", protocol=Protocol.from_folder("switches/A1/")).hyperparameters[
            "class_weight"
        ]
        is None
    )


def test_clusters_of_classes_are_made_once_and_change_nothing(monkeypatch):
    shared = Shared()
    first = fitted("cd_nb", shared=shared)
    monkeypatch.setattr("deepcac.decomposition.classifier.decompose", None)
    second = fitted("cd_svm", shared=shared)
    monkeypatch.undo()
    for name, made in (("cd_nb", first), ("cd_svm", second)):
        alone = fitted(name)
        assert np.array_equal(made.probability, alone.probability)
        assert np.array_equal(made.train_cluster, alone.train_cluster)
        assert made.hyperparameters == alone.hyperparameters


@pytest.mark.parametrize("arm", ["cd", "cdk"])
@pytest.mark.parametrize("base", ["lr", "svm"])
def test_clusters_of_the_split_class_help_a_linear_base(arm, base):
    truth = task().y_test
    alone, split = fitted(base, 1), fitted(f"{arm}_{base}")
    assert np.mean(alone.predicted == truth) < 0.8 < 0.96 < np.mean(split.predicted == truth)
    assert split.hyperparameters["n_clusters_found"][0] == 2
    assert split.hyperparameters["configuration"][0] == [[0], [1]]
    # The clusters of rows are the groups that they are found in: two of one class, and of the other
    # as many as were not merged.
    groups = sum(len(part) for part in split.hyperparameters["configuration"])
    assert np.unique(split.cluster).tolist() == list(range(groups))


def test_the_metric_leaves_out_what_tells_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([2.0 * y - 1.0 + rng.normal(scale=0.4, size=300), rng.normal(size=300)])
    own = Task(X[:200], y[:200], X[:0], y[:0], X[200:], y[200:], 2, 3, 0, names=("a", "b"))
    found = fit(own, Setting("toy", 3, SOUND, "cac"), parse_method("skm_lr"), Shared())
    weights = found.hyperparameters["metric"]["weights"]
    assert weights[0] > 1.2 > 0.8 > weights[1]
    assert len(np.unique(found.train_cluster)) == 3
