import numpy as np
import pytest
import torch
from planted_subtypes import planted
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, roc_auc_score

from deepcac.cac import cluster
from deepcac.errors import ConfigError, DataError
from deepcac.nn.ac_tpc import ACTPCClassifier
from deepcac.nn.clustered import OwnBest, cluster_scores
from deepcac.nn.dcn import DCNClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import CACDMNNClassifier, DMNNClassifier, principal_autoencoder
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.grasp import GRASPClassifier
from deepcac.nn.idec import IDECClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.networks import LocalPredictors
from deepcac.task import rounded

CENTROID = [KMZClassifier, DCNClassifier, IDECClassifier, DeepCACClassifier]
SUBTYPED = [*CENTROID, DMNNClassifier, CACDMNNClassifier, ACTPCClassifier, GRASPClassifier]
ALL = [FNNClassifier, *SUBTYPED]
SEQUENCE = [DeepCACClassifier, GRASPClassifier, ACTPCClassifier]
QUICK = {"max_epochs": 2, "device": "cpu", "preprocess": None, "random_state": 0}


@pytest.fixture(scope="module")
def parts():
    X, y, subtype = planted()
    return {
        "fit": {"X": X[:600], "y": y[:600], "validation": (X[600:750], y[600:750])},
        "X": X[750:],
        "y": y[750:],
        "subtype": subtype[750:],
    }


def test_predictors_trained_on_scaled_latents_read_raw_ones():
    predictors = LocalPredictors(2, latent=3, hidden=4, n_classes=2).double()
    rng = np.random.default_rng(0)
    z, centre = (torch.from_numpy(rng.normal(size=shape)) for shape in ((5, 3), 3))
    spread = torch.tensor([0.01, 1.0, 200.0], dtype=torch.float64)
    expected = predictors((z - centre) / spread)
    predictors.unscale(centre, spread)
    torch.testing.assert_close(predictors(z), expected)


def small(n=60, seed=1, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.arange(n) % classes


def assert_sound_answers(model, X, n_classes=2):
    probability = model.predict_proba(X)
    assert probability.shape == (len(X), n_classes)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-5)
    assert np.isfinite(model.logits(X)).all()
    assert np.isfinite(model.embed(X)).all()


@pytest.mark.parametrize("method", CENTROID)
def test_finds_planted_subtypes_and_their_risks(method, parts):
    model = method(max_epochs=40, random_state=0).fit(**parts["fit"])
    assert adjusted_rand_score(parts["subtype"], model.assign(parts["X"])) > 0.9
    before = model.predict_proba(parts["X"])
    assert roc_auc_score(parts["y"], before[:, 1]) > 0.93
    # A row that is sent to another subtype's predictor gets another risk.
    network = model.network_
    network.centroids.data = network.centroids.roll(1, 0)
    assert np.abs(model.predict_proba(parts["X"]) - before).max() > 0.3


@pytest.mark.parametrize("method", [DMNNClassifier, CACDMNNClassifier])
def test_gate_keeps_subtypes_of_other_risk_apart(method, parts):
    model = method(max_epochs=40, random_state=0).fit(**parts["fit"])
    # Subtypes 0 and 2 have one risk, so the gate may merge them; subtype 1 stays apart.
    assigned, reverse = model.assign(parts["X"]), parts["subtype"] == 1
    pure = [max(np.bincount(reverse[assigned == j])) for j in np.unique(assigned)]
    assert sum(pure) / len(assigned) > 0.9
    before = model.predict_proba(parts["X"])
    assert roc_auc_score(parts["y"], before[:, 1]) > 0.93
    model.network_.gate.weight.data = model.network_.gate.weight.roll(1, 0)
    model.network_.gate.bias.data = model.network_.gate.bias.roll(1, 0)
    assert np.abs(model.predict_proba(parts["X"]) - before).max() > 0.3


def test_cac_starts_the_gate_from_class_separated_clusters():
    rng = np.random.default_rng(0)
    z, y = torch.as_tensor(rng.normal(size=(200, 2))) + 0.0, np.arange(200) % 2
    z[:, 0] += 3.0 * torch.as_tensor(rng.integers(0, 2, 200))
    z[:, 1] += 2.0 * torch.as_tensor(y)
    plain = (
        DMNNClassifier(n_clusters=2, random_state=0)._start_labels(z, torch.as_tensor(y)).numpy()
    )
    model = CACDMNNClassifier(n_clusters=2, alpha=3.0, random_state=0)
    found = model._start_labels(z, torch.as_tensor(y)).numpy()
    np.testing.assert_array_equal(found, cluster(z.numpy(), y, plain, 3.0).labels)
    assert adjusted_rand_score(plain, found) < 0.9


def test_fnn_learns_without_clusters(parts):
    model = FNNClassifier(max_epochs=60, random_state=0).fit(**parts["fit"])
    assert roc_auc_score(parts["y"], model.predict_proba(parts["X"])[:, 1]) > 0.93
    assert not model.assign(parts["X"]).any()


def test_ac_tpc_clusters_by_outcome(parts):
    model = ACTPCClassifier(n_clusters=2, max_epochs=60, random_state=0).fit(**parts["fit"])
    risk = model.predict_proba(parts["X"])[:, 1]
    assert roc_auc_score(parts["y"], risk) > 0.9
    assigned = model.assign(parts["X"])
    shares = [parts["y"][assigned == j].mean() for j in range(2)]
    assert abs(shares[0] - shares[1]) > 0.6


def test_grasp_answers_through_its_clusters(parts):
    model = GRASPClassifier(max_epochs=60, preprocess=None, random_state=0).fit(**parts["fit"])
    before = model.predict_proba(parts["X"])
    assert roc_auc_score(parts["y"], before[:, 1]) > 0.85  # .66 by one line
    # Its clusters serve the risk: which subtypes they join varies with the seed.
    assert len(np.unique(model.assign(parts["X"]))) > 1
    model.network_.centres.zero_()
    assert np.abs(model.predict_proba(parts["X"]) - before).max() > 0.05


@pytest.mark.parametrize(("epochs", "linked"), [(1, False), (2, True)])
def test_grasp_links_its_centres_after_the_first_epoch(epochs, linked):
    X, y = small()
    model = GRASPClassifier(max_epochs=epochs, lr=0.05, device="cpu", random_state=0).fit(
        X, y, validation=(X, y)
    )
    best = int(np.argmax(model.history_["train_score"]))
    assert bool(model.network_.linked) == (best > 0)
    if not linked:
        assert best == 0


def test_grasp_leaves_out_half_of_an_embedding_in_training():
    network = GRASPClassifier(max_epochs=1, device="cpu", random_state=0).fit(*small()).network_
    assert network.dropout.p == 0.5


def test_dmnn_starts_from_the_principal_components(parts):
    X = parts["fit"]["X"]
    model = DMNNClassifier(
        latent=3, hidden=5, lr=1e-12, max_epochs=1, preprocess=None, device="cpu", random_state=0
    ).fit(**parts["fit"])
    centred = X - X.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    spread = np.linalg.svd(model.embed(X) - model.embed(X).mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(spread, values[:3], rtol=1e-4)
    rows = torch.tensor(X).float()
    with torch.no_grad():
        network = model.network_.autoencoder
        error = network.error(rows, network.encode(rows)).sum()
    assert float(error) == pytest.approx((values[3:] ** 2).sum(), rel=1e-4)


def test_principal_autoencoder_with_more_units_than_columns():
    x = torch.tensor(small()[0]).float()
    found = principal_autoencoder(x, 16, 8)
    torch.testing.assert_close(found.decoder(found.encode(x)), x, atol=1e-4, rtol=0)


def test_principal_autoencoder_with_fewer_units_than_latents_and_columns():
    x = torch.tensor(np.random.default_rng(0).normal(size=(50, 6))).float()
    with torch.no_grad():
        narrow, wide = principal_autoencoder(x, 2, 4), principal_autoencoder(x, 2, 2)
        assert narrow.encode(x).shape == (50, 4)
        torch.testing.assert_close(narrow.decoder(narrow.encode(x)), wide.decoder(wide.encode(x)))


def test_a_row_of_weight_2_is_two_rows_to_the_components():
    x = torch.tensor(np.random.default_rng(0).normal(size=(40, 3))).float()
    weight = torch.where(torch.arange(40) % 3 == 0, 2.0, 1.0)
    twice = x.repeat_interleave(weight.long(), dim=0)
    with torch.no_grad():
        weighted, repeated = (
            principal_autoencoder(x, 2, 2, weight),
            principal_autoencoder(twice, 2, 2),
        )
        torch.testing.assert_close(weighted.encode(x), repeated.encode(x), atol=1e-5, rtol=1e-4)


def test_each_local_predictor_keeps_its_own_best_epoch():
    predictors = LocalPredictors(2, 3, 4, 2)
    best, states = OwnBest(predictors), []
    for scores in ([0.3, 0.9], [0.7, 0.5], [0.6, 0.5]):
        with torch.no_grad():
            for value in predictors.parameters():
                value.add_(1.0)
        states.append([[v.clone() for v in predictors.member(j)] for j in range(2)])
        mean = best.update(scores)
    assert mean == pytest.approx((0.7 + 0.9) / 2)
    best.restore()
    for j, epoch in ((0, 1), (1, 0)):
        for now, then in zip(predictors.member(j), states[epoch][j], strict=True):
            torch.testing.assert_close(now, then)


def test_a_cluster_of_one_class_is_stopped_by_all_rows():
    y, cluster = torch.tensor([0, 1, 1, 1]), torch.tensor([0, 0, 1, 1])
    answer = torch.tensor([0.1, 0.2, 0.3, 0.4])

    def mean(labels, scores):
        return float(scores.mean())

    expected = [0.15, 0.25, 0.25]  # cluster 1 has one class, cluster 2 no row
    assert cluster_scores(mean, y, answer, cluster, 3) == pytest.approx(expected)


def test_grasp_does_not_depend_on_the_other_rows(parts):
    model = GRASPClassifier(**QUICK).fit(**parts["fit"])
    whole = model.predict_proba(parts["X"])
    alone = np.vstack([model.predict_proba(parts["X"][i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(whole[:5], alone, atol=1e-6)


@pytest.mark.parametrize("method", ALL)
def test_more_than_two_classes_by_name(method):
    X, y = small(90, classes=3)
    names = np.array(["short", "medium", "long"])[y]
    model = method(**QUICK).fit(X, names)
    assert model.classes_.tolist() == ["long", "medium", "short"]
    assert set(model.predict(X)) <= set(names)
    assert_sound_answers(model, X, n_classes=3)


@pytest.mark.parametrize("method", ALL)
def test_batches_of_one_row(method):
    X, y = small(12)
    model = method(batch_size=1, **QUICK)
    assert_sound_answers(model.fit(X, y), X)
    assert model.status_ == "ok"


@pytest.mark.parametrize("method", SUBTYPED)
def test_one_cluster_and_ten_clusters(method):
    X, y = small(200)
    for k in (1, 10):
        model = method(n_clusters=k, **QUICK).fit(X, y)
        assert_sound_answers(model, X)
        assert model.status_ == "ok"
        assert model.assign(X).max() < k


@pytest.mark.parametrize("method", SUBTYPED)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_empty_clusters(method):
    X = np.repeat([[0.0, 0.0, 1.0], [2.0, 1.0, 0.0]], 20, axis=0)
    y = np.arange(40) % 2
    model = method(n_clusters=4, **QUICK).fit(X, y, validation=(X, y))
    assert_sound_answers(model, X)
    assert model.status_ == "ok"


@pytest.mark.parametrize("method", SUBTYPED)
def test_clusters_of_one_class(method):
    X, y, subtype = planted(240)
    y = np.where(subtype == 0, 0, np.where(subtype == 1, 1, y))
    model = method(**QUICK).fit(X, y)
    assert_sound_answers(model, X)
    assert model.status_ == "ok"


@pytest.mark.parametrize("method", ALL)
def test_diverging_run_says_so_and_still_answers(method):
    X, y = small(80)
    model = method(lr=1e30, max_epochs=3, device="cpu", random_state=0).fit(X, y)
    assert model.status_ == "diverged"
    assert_sound_answers(model, X)


@pytest.mark.parametrize("method", ALL)
def test_same_seed_same_bytes_and_saved_model_answers_alike(method, tmp_path):
    X, y = small(80)
    state = torch.get_rng_state()
    first, second = method(**QUICK).fit(X, y), method(**QUICK).fit(X, y)
    assert torch.equal(state, torch.get_rng_state())
    first.save(tmp_path / "first")
    assert set(first.seconds_) == set(second.seconds_)
    second.seconds_ = first.seconds_  # only these differ
    second.save(tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    loaded = method.load(tmp_path / "first", device="cpu")
    np.testing.assert_array_equal(loaded.predict_proba(X), first.predict_proba(X))
    np.testing.assert_array_equal(loaded.class_counts_, rounded(first.class_counts_))
    assert not {"subtypes_", "held_out_"} & vars(loaded).keys()
    for name in ("seconds_", "history_", "best_epoch_", "status_", "n_clusters_found_"):
        assert getattr(loaded, name) == getattr(first, name)
    assert loaded.get_params() == first.get_params()
    other = method(**{**QUICK, "random_state": 1}).fit(X, y)
    assert not np.array_equal(other.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize("method", ALL)
def test_clone_keeps_parameters(method):
    model = method(lr=0.5)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("method", SEQUENCE)
def test_sequences_with_a_mask(method):
    """The risk is the last measured value of variable 0; what is not measured is noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6, 3))
    mask = rng.random(X.shape) < 0.7
    mask[:, -1, 0] = True
    y = (X[:, -1, 0] > 0).astype(int)
    model = method(n_clusters=2, lr=5e-3, max_epochs=40, random_state=1).fit(X, y, mask=mask)
    probability = model.predict_proba(X, mask)
    assert roc_auc_score(y, probability[:, 1]) > 0.85
    noise = np.where(mask, X, rng.normal(size=X.shape))
    np.testing.assert_array_equal(model.predict_proba(noise, mask), probability)


def test_soft_assignment_mixes_the_predictors():
    X, y = small(120)
    hard = DeepCACClassifier(**QUICK).fit(X, y)
    soft = DeepCACClassifier(assignment="soft", temperature=1e-6, **QUICK).fit(X, y)
    np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-5)
    wide = DeepCACClassifier(assignment="soft", temperature=1e9, **QUICK).fit(X, y)
    network = wide.network_
    with torch.no_grad():
        z = network.autoencoder.encode(torch.as_tensor(X, dtype=torch.float32))
        even = network.predictors(z).softmax(dim=2).mean(dim=1)
    np.testing.assert_allclose(wide.predict_proba(X), even, atol=1e-5)


def test_bad_input_is_one_clear_line():
    X, y = small(40)
    with pytest.raises(DataError, match="one class"):
        FNNClassifier(random_state=0).fit(X, np.zeros(40))
    with pytest.raises(ConfigError, match="n_clusters=50 exceeds the 30 training rows"):
        KMZClassifier(n_clusters=50, **QUICK).fit(X, y)
    with pytest.raises(ConfigError, match="unknown device 'tpu9x'"):
        FNNClassifier(device="tpu9x", random_state=0).fit(X, y)
    with pytest.raises(DataError, match="mask"):
        FNNClassifier(random_state=0).fit(X, y, mask=np.ones(X.shape, bool))


def test_a_file_of_another_estimator_is_refused(tmp_path):
    X, y = small(40)
    FNNClassifier(**QUICK).fit(X, y).save(tmp_path / "model")
    with pytest.raises(DataError, match="holds FNNClassifier, not KMZClassifier"):
        KMZClassifier.load(tmp_path / "model")
    (tmp_path / "broken").write_bytes(b"not a model")
    with pytest.raises(DataError, match="broken: "):
        FNNClassifier.load(tmp_path / "broken")
