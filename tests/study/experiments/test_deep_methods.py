import numpy as np
import pytest
import torch
from catalogued import networks
from sklearn.metrics import roc_auc_score

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.nn.fitting.pretrain import read_pretrained
from deepcac.task import Task
from deepcac_study.catalogue.methods import parse_method
from deepcac_study.catalogue.protocol import Protocol
from deepcac_study.experiments.networks import deep_methods
from deepcac_study.experiments.networks.deep_methods import pretrain_tasks
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

N_TRAIN, N_VALIDATION = 400, 120


def fit_task(task, setting, method, pretrained=None, settings=None):
    return deep_methods.fit_task(task, setting, parse_method(method), pretrained, settings)


def make_estimator(task, setting, method):
    return deep_methods.make_estimator(task, setting, parse_method(method))


def task(seed=0, k=3, n_classes=2):
    """Three far subtypes whose risk depends on the sign of one feature, reversed in one."""
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_VALIDATION + 150
    subtype = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 6))
    X[:, :3] += 5.0 * np.eye(3)[subtype]
    y = (np.where(subtype == 1, -1, 1) * X[:, 4] > 0).astype(np.int64)
    a, b = N_TRAIN, N_TRAIN + N_VALIDATION
    return Task(
        *(part for s in (slice(0, a), slice(a, b), slice(b, n)) for part in (X[s], y[s])),
        n_classes=n_classes,
        k=k,
        seed=seed,
    )


def asked(*labels, dataset="cic", k=3):
    return Setting(dataset, k, Protocol(frozenset(labels)), "deep")


def auroc(task, fitted):
    return roc_auc_score(task.y_test, fitted.probability[:, 1])


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    path = tmp_path_factory.mktemp("pretrained") / "cic.safetensors"
    pretrain_tasks([task(seed=0), task(seed=1)], asked(), path)
    return path


@pytest.fixture(scope="module")
def sound(pretrained):
    return fit_task(task(), asked(), "deepcac", pretrained)


def test_fitted_is_complete(sound):
    given = task()
    assert sound.status == "ok"
    assert auroc(given, sound) > 0.93
    np.testing.assert_array_equal(sound.predicted, sound.probability.argmax(axis=1))
    assert sound.cluster.shape == given.y_test.shape
    assert sound.train_cluster.shape == given.y_train.shape
    assert sound.embedding_test.shape == (len(given.y_test), 32)
    assert sound.hyperparameters["alpha"] == 5.0
    assert sound.hyperparameters["n_clusters"] == 3
    assert {"clustering_loss", "clustering_score", "local_score"} <= set(sound.history)
    assert {"pretrain", "clustering", "local", "predict"} == set(sound.seconds)
    assert "pretrain_loss" not in sound.history


def test_same_task_same_bytes(sound, pretrained):
    again = fit_task(task(), asked(), "deepcac", pretrained)
    assert again.probability.tobytes() == sound.probability.tobytes()
    assert again.history == sound.history


@pytest.mark.parametrize(
    "method",
    [pytest.param(name, marks=[pytest.mark.long] * (name != "deepcac")) for name in networks()],
)
def test_a_user_gets_what_the_study_gets(method, tmp_path):
    given = task(k=2)
    # Cubes reach beyond 5 standard deviations.
    features = np.concatenate([given.X_train, given.X_validation, given.X_test]) ** 3
    labels = np.concatenate([given.y_train, given.y_validation, given.y_test])
    train, validation, test = np.split(np.arange(len(labels)), [N_TRAIN, N_TRAIN + N_VALIDATION])
    matrix = FeatureMatrix(np.arange(len(labels)), labels, features, tuple("abcdef"))
    made = make_task(matrix, Split(4, train, validation, test), asked(k=2))
    assert np.abs(made.X_test).max() == 5.0
    pretrain_tasks([made], asked(k=2), tmp_path / "autoencoder")
    study = fit_task(made, asked(k=2), method, tmp_path / "autoencoder")
    # Another number of threads may end in another last digit.
    model = networks()[method](random_state=4, n_threads=torch.get_num_threads())
    if method != "fnn":
        model.set_params(n_clusters=2)
    X_val, y_val = features[validation], labels[validation]
    own = model.fit(features[train], labels[train], validation=(X_val, y_val))
    np.testing.assert_array_equal(own.predict_proba(features[test]), study.probability)
    np.testing.assert_array_equal(own.subtypes_, study.train_cluster)


@pytest.mark.parametrize("method", networks())
def test_every_method_answers_with_one_cluster_and_an_absent_class(method, pretrained):
    given = task(k=1, n_classes=3)
    fitted = fit_task(given, asked(k=1), method, pretrained)
    assert fitted.probability.shape == (150, 3)
    assert not fitted.probability[:, 2].any()
    assert not fitted.cluster.any()


def test_pretrained_file_is_the_same_bytes_and_holds_every_split(pretrained, tmp_path):
    again = tmp_path / "again"
    pretrain_tasks(iter([task(seed=0), task(seed=1)]), asked(), again)
    assert again.read_bytes() == pretrained.read_bytes()
    first, second = (read_pretrained(pretrained, seed, (6,)).state_dict() for seed in (0, 1))
    assert not all(bool((first[name] == second[name]).all()) for name in first)


def test_pretrained_file_for_other_rows_is_refused(pretrained):
    with pytest.raises(DataError, match=r"split 7"):
        read_pretrained(pretrained, 7, (6,))
    with pytest.raises(DataError, match=r"rows of shape \(5,\)"):
        read_pretrained(pretrained, 0, (5,))


def test_unknown_method():
    with pytest.raises(ConfigError, match="unknown method 'dec'"):
        make_estimator(task(), asked(), "dec")


def test_raw_logits(pretrained):
    raw = fit_task(task(), asked("D2"), "deepcac", pretrained)
    plain = fit_task(task(), asked(), "deepcac", pretrained)
    assert not raw.calibrated
    odds = np.log(plain.probability[:, 1] / plain.probability[:, 0])
    np.testing.assert_allclose(raw.probability[:, 1] - raw.probability[:, 0], odds, atol=1e-3)
    np.testing.assert_array_equal(raw.predicted, plain.predicted)


@pytest.mark.parametrize(
    ("label", "dataset", "alpha"),
    [
        ("D5", "diabetes", 50.0),
        ("D5", "demo_diabetes", 50.0),
        ("D5", "uci_diabetes", 5.0),
        ("D5", "cic", 5.0),
        (None, "diabetes", 5.0),
        (None, "sepsis", 5.0),
    ],
)
def test_weight_of_the_am_softmax(label, dataset, alpha):
    setting = asked(*([label] if label else []), dataset=dataset)
    assert make_estimator(task(), setting, "deepcac").alpha == alpha


def test_sequences_have_their_own_weights():
    model = make_estimator(task(), asked(dataset="sepsis_ts"), "deepcac_ts")
    assert (model.alpha, model.beta) == (20.0, 5.0)


def test_cac_dmnn_takes_the_printed_alpha():
    assert make_estimator(task(), asked(dataset="adult"), "cac_dmnn").alpha == 0.8
    assert make_estimator(task(), asked(dataset="sepsis"), "cac_dmnn").alpha == 0.05


def test_one_autoencoder_for_all_splits(pretrained, tmp_path):
    only = tmp_path / "only"
    pretrain_tasks([task(seed=s) for s in (0, 1)], asked("D14"), only)
    with pytest.raises(DataError, match="split 1"):
        read_pretrained(only, 1, (6,))
    shared = read_pretrained(only, None, (6,)).state_dict()
    first = read_pretrained(pretrained, 0, (6,)).state_dict()
    assert all(bool((shared[name] == first[name]).all()) for name in first)
    fitted = fit_task(task(seed=1), asked("D14"), "km_z", only)
    assert not np.array_equal(
        fitted.embedding_test, fit_task(task(seed=1), asked(), "km_z", pretrained).embedding_test
    )
    with pytest.raises(ConfigError, match="D14"):
        fit_task(task(), asked("D14"), "km_z", None)
