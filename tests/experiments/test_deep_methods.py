import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from deepcac.catalogue.protocol import SOUND, Protocol, switches
from deepcac.errors import ConfigError, DataError
from deepcac.experiments.deep_methods import ESTIMATORS, fit_task, make_estimator, pretrain_tasks
from deepcac.nn.pretrain import read_pretrained
from deepcac.task import Task

N_TRAIN, N_VALIDATION = 400, 120


def task(protocol=SOUND, dataset="cic", seed=0, k=3, n_classes=2):
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
        dataset=dataset,
        protocol=protocol,
    )


def on(*labels):
    return Protocol(frozenset(labels))


def auroc(task, fitted):
    return roc_auc_score(task.y_test, fitted.probability[:, 1])


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    path = tmp_path_factory.mktemp("pretrained") / "cic.safetensors"
    pretrain_tasks([task(seed=0), task(seed=1)], path)
    return path


@pytest.fixture(scope="module")
def sound(pretrained):
    return fit_task(task(), "deepcac", pretrained)


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
    again = fit_task(task(), "deepcac", pretrained)
    assert again.probability.tobytes() == sound.probability.tobytes()
    assert again.history == sound.history


@pytest.mark.parametrize("method", ESTIMATORS)
def test_every_method_answers_with_one_cluster_and_an_absent_class(method, pretrained):
    given = task(k=1, n_classes=3)
    fitted = fit_task(given, method, pretrained)
    assert fitted.probability.shape == (150, 3)
    assert not fitted.probability[:, 2].any()
    assert not fitted.cluster.any()


def test_pretrained_file_is_the_same_bytes_and_holds_every_split(pretrained, tmp_path):
    again = tmp_path / "again"
    pretrain_tasks(iter([task(seed=0), task(seed=1)]), again)
    assert again.read_bytes() == pretrained.read_bytes()
    first, second = (read_pretrained(pretrained, seed, (6,)).state_dict() for seed in (0, 1))
    assert not all(bool((first[name] == second[name]).all()) for name in first)


def test_pretrained_file_for_other_rows_is_refused(pretrained):
    with pytest.raises(DataError, match=r"no autoencoder for split 7"):
        read_pretrained(pretrained, 7, (6,))
    with pytest.raises(DataError, match=r"rows of shape \(5,\)"):
        read_pretrained(pretrained, 0, (5,))


def test_unknown_method():
    with pytest.raises(ConfigError, match="unknown deep method 'dec'"):
        make_estimator(task(), "dec")


def test_raw_logits(pretrained):
    given = task(on("D2"))
    raw = fit_task(given, "deepcac", pretrained)
    plain = fit_task(task(), "deepcac", pretrained)
    assert not raw.calibrated
    odds = np.log(plain.probability[:, 1] / plain.probability[:, 0])
    np.testing.assert_allclose(raw.probability[:, 1] - raw.probability[:, 0], odds, atol=1e-3)
    np.testing.assert_array_equal(raw.predicted, plain.predicted)


@pytest.mark.parametrize(
    ("label", "dataset", "alpha"),
    [
        ("D5", "diabetes", 50.0),
        ("D5", "cic", 5.0),
        (None, "diabetes", 5.0),
        (None, "sepsis", 5.0),
    ],
)
def test_weight_of_the_am_softmax(label, dataset, alpha):
    given = task(on(label) if label else SOUND, dataset)
    assert make_estimator(given, "deepcac").alpha == alpha


def test_sequences_have_their_own_weights():
    model = make_estimator(task(dataset="sepsis_ts"), "deepcac_ts")
    assert (model.alpha, model.beta) == (20.0, 5.0)


@pytest.mark.parametrize("label", ["D6", "D8", "D10", "D16"])
def test_switch_changes_deepcac(label, sound, pretrained):
    fitted = fit_task(task(on(label)), "deepcac", pretrained)
    assert fitted.status == "ok"
    assert not np.array_equal(fitted.probability, sound.probability)


def test_farthest_centre_switch_reverses_the_planted_risk(pretrained):
    assert auroc(task(), fit_task(task(), "km_z", pretrained)) > 0.93
    wrong = fit_task(task(on("D11")), "km_z", pretrained)
    assert auroc(task(), wrong) < 0.8
    right = fit_task(task(), "km_z", pretrained)
    np.testing.assert_array_equal(wrong.train_cluster, right.train_cluster)
    assert (wrong.cluster != right.cluster).all()


def test_first_512_rows_switch():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1300, 4)), rng.integers(0, 2, 1300)
    other = np.concatenate([y[:512], 1 - y[512:]])
    answers = {}
    for name, labels, switched in (
        ("sound", y, ()),
        ("D12", y, ("D12",)),
        ("D12 other", other, ("D12",)),
    ):
        model = ESTIMATORS["dmnn"](switches=switched, max_epochs=3, device="cpu")
        answers[name] = model.fit(X, labels, X_val=X[:200], y_val=y[:200]).predict_proba(X)
    # The experts see no label after the first 512 rows.
    np.testing.assert_array_equal(answers["D12"], answers["D12 other"])
    assert not np.array_equal(answers["D12"], answers["sound"])


def test_dcn_centre_switch_by_hand():
    z, membership = torch.tensor([[2.0], [4.0], [10.0]]), torch.eye(2)[[0, 0, 1]]
    # Sums over 1 + rows are 6 / 3 and 10 / 2; the second centre is pulled in both turns.
    expected = {(): [[2.0], [5.5]], ("D13",): [[0.0 - 2 / 102], [1.0 - 5 / 102 - 5 / 101]]}
    for label, centres in expected.items():
        model = ESTIMATORS["dcn_z"](switches=label)
        network = SimpleNamespace(
            centroids=torch.tensor([[0.0], [1.0]]), counts=torch.tensor([1.0, 1.0])
        )
        moved, _ = model._move(network, z, membership)
        torch.testing.assert_close(moved, torch.tensor(centres))


def test_published_dcn_loss_by_hand():
    # One value a row: errors 1, 4 and 0; distances 4 and 16 to the first centre, 81 to the other.
    z, membership = torch.tensor([[2.0], [4.0], [10.0]]), torch.eye(2)[[0, 0, 1]]
    network = SimpleNamespace(
        autoencoder=SimpleNamespace(
            encode=lambda x: x,
            error=lambda x, z: torch.tensor([1.0, 4.0, 0.0]),
            entries=lambda x: torch.tensor(3.0),
        ),
        membership=lambda z: membership,
        centroids=torch.tensor([[0.0], [1.0]]),
    )
    published = ESTIMATORS["dcn_z"](switches=("D8",)).loss(network, z)
    assert float(published) == pytest.approx(5 / 3 + 2 * (20 / 3 + 81 / 2))
    assert float(ESTIMATORS["dcn_z"]().loss(network, z)) == pytest.approx((5 + 101) / 3)


@pytest.mark.parametrize("name", ["dcn_z", "idec_z"])
def test_published_mixture_by_students_t(name, pretrained):
    fitted = fit_task(task(on("D13")), name, pretrained)
    model = make_estimator(task(on("D13")), name).fit(task().X_train, task().y_train)
    z, centroids = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    weights = model.network_.weigh(z, centroids)  # 1 / (1 + 1) and 1 / (1 + 4)
    torch.testing.assert_close(weights, torch.tensor([[5 / 7, 2 / 7]]))
    assert fitted.status == "ok"
    sound = fit_task(task(), name, pretrained)
    assert not np.array_equal(fitted.probability, sound.probability)


def test_published_idec_leaves_its_centres(pretrained):
    given = task()
    for label, moved in (((), True), (("D13",), False)):
        model = make_estimator(given, "idec_z").set_params(switches=label, max_epochs=2)
        model.fit(given.X_train, given.y_train)
        start = make_estimator(given, "km_z").fit(given.X_train, given.y_train)
        same = torch.equal(model.network_.centroids, start.network_.centroids)
        assert same != moved


def test_cac_dmnn_takes_the_printed_alpha():
    assert make_estimator(task(dataset="adult"), "cac_dmnn").alpha == 0.8
    assert make_estimator(task(dataset="sepsis"), "cac_dmnn").alpha == 0.05


def test_restarted_counts_by_hand():
    z, membership = torch.tensor([[2.0], [4.0], [10.0]]), torch.eye(2)[[0, 0, 1]]
    model = ESTIMATORS["deepcac"](switches=("D16",))
    network = SimpleNamespace(
        centroids=torch.tensor([[0.0], [1.0]]), counts=torch.tensor([5000.0, 1.0])
    )
    moved, counts = model._move(network, z, membership)
    torch.testing.assert_close(moved, torch.tensor([[6 / 101], [109 / 100]]))
    assert counts.tolist() == [101.0, 100.0]


def test_switched_off_alpha_takes_the_within_term_along_only_as_published():
    given = task()
    x, y = given.X_train[:50], given.y_train[:50]
    losses = {}
    for label in ((), ("D9",)):
        for beta in (0.0, 20.0):
            model = make_estimator(given, "deepcac")
            model.set_params(switches=label, alpha=0.0, beta=beta, max_epochs=1).fit(x, y)
            losses[label, beta] = model.history_["clustering_loss"][0]
    assert losses[(), 0.0] != losses[(), 20.0]
    assert losses[("D9",), 0.0] == losses[("D9",), 20.0]


def test_one_autoencoder_for_all_splits(pretrained, tmp_path):
    only = tmp_path / "only"
    pretrain_tasks([task(on("D14"), seed=s) for s in (0, 1)], only)
    with pytest.raises(DataError, match="split 1"):
        read_pretrained(only, 1, (6,))
    shared = read_pretrained(only, None, (6,)).state_dict()
    first = read_pretrained(pretrained, 0, (6,)).state_dict()
    assert all(bool((shared[name] == first[name]).all()) for name in first)
    fitted = fit_task(task(on("D14"), seed=1), "km_z", only)
    assert not np.array_equal(
        fitted.embedding_test, fit_task(task(seed=1), "km_z", pretrained).embedding_test
    )
    with pytest.raises(ConfigError, match="D14"):
        fit_task(task(on("D14")), "km_z", None)


def test_published_stopping_ends_early_and_keeps_the_last_km_z(pretrained):
    fitted = fit_task(task(on("D10")), "dmnn", pretrained)
    assert len(fitted.history["train_score"]) <= 10
    given = dataclasses.replace(task(on("D10")), k=2)
    assert fit_task(given, "dcn_z", pretrained).status == "ok"
    assert fit_task(given, "idec_z", pretrained).status == "ok"


def test_every_deep_switch_is_read_somewhere():
    """Each is tried by name above; this fails when the list grows."""
    deep = {label for label, switch in switches().items() if switch.stage == "deep"}
    assert deep == {"D5", "D6", "D8", "D9", "D10", "D11", "D12", "D13", "D14", "D16"}
