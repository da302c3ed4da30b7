"""Weights of rows and classes, and what a fit says that did not converge."""

import warnings

import numpy as np
import pytest
import torch
from catalogued import networks
from sklearn.exceptions import ConvergenceWarning

from deepcac.errors import ConfigError, DataError
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import DMNNClassifier
from deepcac.nn.fitting.training import batches
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.grasp import lloyd, means
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.centroids import kmeans_start
from deepcac.nn.persistence import read_tensors, write_tensors

QUICK = {"max_epochs": 3, "pretrain_epochs": 3, "device": "cpu", "random_state": 0}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@quiet
@pytest.mark.parametrize("method", networks().values())
def test_a_row_of_weight_0_is_absent_and_equal_weights_change_nothing(method):
    X, y = rows()
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 2.5)
    weighted = method(**QUICK).fit(X, y, sample_weight=weight)
    without = method(**QUICK).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(weighted.subtypes_[weight > 0], without.subtypes_)
    assert len(weighted.subtypes_) == 120
    assert (weight[weighted.held_out_] > 0).all()
    np.testing.assert_array_equal(X[weighted.held_out_], X[weight > 0][without.held_out_])
    same = method(**QUICK).fit(X, y, sample_weight=np.full(120, 0.3))
    plain = method(**QUICK).fit(X, y)
    np.testing.assert_array_equal(same.predict_proba(X), plain.predict_proba(X))


@quiet
def test_classes_are_balanced_by_what_their_rows_weigh():
    X, y = rows()
    weight = np.where((np.arange(120) % 3 == 0) & (y == 1), 0.0, 2.5)
    weighted = FNNClassifier(class_weight="balanced", **QUICK).fit(X, y, sample_weight=weight)
    without = FNNClassifier(class_weight="balanced", **QUICK).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))
    uneven = np.where(y == 1, 9.0, np.arange(120) % 2 + 1.0)
    factor = uneven * FNNClassifier(class_weight="balanced")._class_weights(y, uneven)
    assert factor[y == 0].sum() == pytest.approx(factor[y == 1].sum())


def test_clusters_count_rows_by_their_weights():
    h, labels = torch.tensor([[0.0], [1.0], [10.0]]), torch.tensor([0, 0, 2])
    centres = torch.full((3, 1), -1.0)
    assert means(h, labels, centres).tolist() == [[0.5], [-1.0], [10.0]]
    weight = torch.tensor([0.03, 0.01, 0.01])
    torch.testing.assert_close(
        means(h, labels, centres, weight), torch.tensor([[0.25], [-1.0], [10.0]])
    )
    start = torch.tensor([[0.0], [6.0]])
    rows, heavy = torch.tensor([[0.0], [2.9], [3.1], [9.0]]), torch.tensor([100.0, 1.0, 1.0, 1.0])
    assert lloyd(rows, start).tolist() == [0, 0, 0, 1]
    assert lloyd(rows, start, heavy).tolist() == [0, 0, 1, 1]


def test_parts_of_one_class_are_refused():
    X, y = rows()
    healthy = y == 0
    with pytest.raises(DataError, match="validation rows .*class 0"):
        FNNClassifier(**QUICK).fit(X, y, validation=(X[healthy], y[healthy]))
    with pytest.raises(DataError, match="training rows .*class 0"):
        FNNClassifier(**QUICK).fit(X[healthy], y[healthy], validation=(X, y))
    alone = np.append(y[healthy], 1)
    with pytest.raises(DataError, match=r"class 0; .*validation=\(X, y\)"):
        FNNClassifier(**QUICK).fit(np.vstack([X[healthy], X[:1]]), alone)


def test_what_a_running_fit_needs_is_no_parameter():
    assert not {"_weight", "_progress"} & set(DMNNClassifier().get_params())


@quiet
def test_the_time_of_the_components_counts_as_pretraining(monkeypatch):
    X, y = rows()
    clock = iter(range(1000))
    monkeypatch.setattr("deepcac.nn.base.time.perf_counter", lambda: next(clock))
    assert DMNNClassifier(**QUICK).fit(X, y).seconds_["pretrain"] == 2


@quiet
@pytest.mark.parametrize("method", [
    pytest.param(one, marks=[pytest.mark.long] * (name not in ("deepcac", "fnn", "ac_tpc")))
    for name, one in networks().items()
])  # fmt: skip
def test_weights_move_the_risk_towards_the_heavy_rows(method):
    """A column that says nothing, and a class that is drawn nine times as often."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), np.arange(600) % 2
    options = {"max_epochs": 15, "pretrain_epochs": 3, "device": "cpu", "lr": 5e-3}
    options["random_state"] = 0
    plain = method(**options).fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = method(class_weight={0: 1.0, 1: 9.0}, **options).fit(X, y)
    rare = np.where(np.arange(600) % 20 == 1, 1.0, 0.0) + np.where(y == 0, 1.0, 0.0)
    balanced = method(class_weight="balanced", **options)
    by_rows = balanced.fit(X[rare > 0], y[rare > 0]).predict_proba(X)[:, 1].mean()
    assert abs(plain - 0.5) < 0.15
    assert heavy.predict_proba(X)[:, 1].mean() > 0.75
    assert by_rows > 0.3  # without weights .09


def test_a_row_is_drawn_as_often_as_its_weight_says():
    weight = torch.tensor([1.0, 3.0, 0.5, 2.0, 0.0, 1.5])
    torch.manual_seed(0)
    share = weight * 6 / weight.sum()
    count = torch.zeros(6)
    for _ in range(2000):
        drawn = torch.cat(list(batches(6, 4, torch.device("cpu"), weight)))
        own = torch.bincount(drawn, minlength=6)
        assert len(drawn) == 6
        assert ((own >= share.floor()) & (own <= share.ceil())).all()
        count += own
    np.testing.assert_allclose(count / 2000, share, atol=0.05)


def test_equal_weights_deal_every_row_once():
    weight = torch.full((7,), 0.3)
    drawn = torch.cat(list(batches(7, 3, torch.device("cpu"), weight)))
    assert sorted(drawn.tolist()) == list(range(7))


def test_rounding_deals_no_row_minus_once(monkeypatch):
    weight = torch.tensor([2.0**25, 1.0, 1.0])  # whose sum in single precision is 2**25
    monkeypatch.setattr(torch, "rand", lambda *_, dtype: torch.tensor(1 - 2.0**-53, dtype=dtype))
    assert torch.cat(list(batches(3, 3, torch.device("cpu"), weight))).tolist() == [0, 0, 0]


@quiet
@pytest.mark.parametrize("unit", [2.0**140, 2.0**-160])
def test_only_ratios_of_weights_count(unit):
    X, y = rows()
    weight = np.where(y == 1, 1.0, 2.0)
    plain = FNNClassifier(**QUICK).fit(X, y, sample_weight=weight)
    scaled = FNNClassifier(**QUICK).fit(X, y, sample_weight=unit * weight)
    np.testing.assert_array_equal(scaled.predict_proba(X), plain.predict_proba(X))


def test_the_start_of_the_centroids_heeds_weights():
    z = torch.tensor([[0.0], [1.0], [10.0]])
    centroids, _ = kmeans_start(z, 2, 0, torch.tensor([3.0, 1.0, 1.0]))
    assert sorted(centroids.squeeze(1).tolist()) == [0.25, 10.0]


def test_bad_weights_are_refused_in_one_line():
    X, y = rows()
    with pytest.raises(DataError, match="class_weight leaves no row"):
        FNNClassifier(class_weight={0: 0, 1: 0}, **QUICK).fit(X, y)
    with pytest.raises(ConfigError, match="class_weight .*'0', .* 0, 1"):
        FNNClassifier(class_weight={"0": 1, "1": 2}, **QUICK).fit(X, y)
    with pytest.raises(ValueError, match="non-zero"):
        FNNClassifier(**QUICK).fit(X, y, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match="Negative values"):
        FNNClassifier(**QUICK).fit(X, y, sample_weight=np.full(120, -1.0))
    with pytest.raises(ValueError, match=r"sample_weight\.shape"):
        FNNClassifier(**QUICK).fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="'class_weight' parameter of FNNClassifier must be"):
        FNNClassifier(class_weight="balance", **QUICK).fit(X, y)


def told(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(one.category is ConvergenceWarning for one in caught)
    return [str(one.message) for one in caught]


def test_a_capped_stage_is_told_by_name_and_one_that_stopped_is_not():
    X, y = rows()
    (line,) = told(KMZClassifier(n_clusters=2, max_epochs=2, device="cpu", random_state=0), X, y)
    assert "pretrain and local" in line
    assert line.endswith("raise max_epochs")
    short = KMZClassifier(
        n_clusters=2,
        max_epochs=400,
        pretrain_epochs=2,
        patience=2,
        lr=0.05,
        device="cpu",
        random_state=0,
    )
    (line,) = told(short, X, y)
    assert "pretrain" in line
    assert line.endswith("raise pretrain_epochs")
    assert len(short.history_["local_loss"]) < 400
    assert told(short.set_params(pretrain_epochs=400), X, y) == []


def test_lost_clusters_and_divergence_are_told():
    X, y = rows()
    model = DeepCACClassifier(lr=1e30, max_epochs=3, device="cpu", random_state=0)
    lines = told(model, X, y)
    assert model.status_ == "diverged"
    assert any("diverged" in line for line in lines)
    X = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0]]), 60, axis=0)
    lost = KMZClassifier(n_clusters=3, preprocess=None, **(QUICK | {"pretrain_epochs": None}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lost.fit(X, y)
    assert lost.n_clusters_found_ == 2
    lines = told(lost, X, y)
    assert any("found 2 of n_clusters=3 clusters" in line for line in lines)
    assert (lost.class_counts_.sum(axis=1) > 0).sum() == 2


@quiet
@pytest.mark.parametrize("method", networks().values())
def test_counts_of_classes_are_those_of_the_subtypes(method):
    X, y = rows()
    names = np.array(["no", "yes"])[y]
    model = method(**QUICK).fit(X, names)
    k = getattr(model, "n_clusters", 1)
    expected = [
        [np.sum((model.subtypes_ == j) & (names == c)) for c in ("no", "yes")] for j in range(k)
    ]
    assert model.class_counts_.tolist() == expected
    assert model.n_clusters_found_ == len(set(model.subtypes_))


@quiet
def test_files_keep_weights_of_classes_and_older_files_are_read(tmp_path):
    X, y = rows()
    names = np.array(["no", "yes"])[y]
    model = DeepCACClassifier(class_weight={"no": 1, "yes": 2.5}, **QUICK).fit(X, names)
    model.save(tmp_path / "new")
    loaded = DeepCACClassifier.load(tmp_path / "new", device="cpu")
    assert loaded.class_weight == {"no": 1.0, "yes": 2.5}
    assert loaded.seconds_ == model.seconds_
    plain = DeepCACClassifier(**QUICK).fit(X, names)
    plain.save(tmp_path / "plain")
    header, tensors = read_tensors(tmp_path / "plain")
    del header["seconds_"]
    del header["parameters"]["class_weight"]
    header["parameters"] |= {"_weight": None, "_progress": None}
    write_tensors(tmp_path / "old", tensors, header)
    old = DeepCACClassifier.load(tmp_path / "old", device="cpu")
    np.testing.assert_array_equal(old.predict_proba(X), plain.predict_proba(X))
    assert (old.seconds_, old.class_weight) == ({}, None)
    assert old.n_clusters_found_ == plain.n_clusters_found_


@quiet
@pytest.mark.parametrize(
    "edit",
    [
        {"class_counts_": [[1, 2], [3, 4], [5, 6]]},
        {"class_counts_": [[-1]]},
        {"class_counts_": "many"},
        {"seconds_": {"local": "long"}},
        {"seconds_": {"local": -1.0}},
        {"seconds_": [1.0]},
    ],
)
def test_impossible_entries_of_a_file_are_refused(edit, tmp_path):
    X, y = rows()
    DeepCACClassifier(**QUICK).fit(X, y).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    write_tensors(tmp_path / "model", tensors, header | edit)
    with pytest.raises(DataError, match="model: "):
        DeepCACClassifier.load(tmp_path / "model")
