"""Each deviation of the published DeepCAC program changes what its label says, and no more."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from catalogued import networks

from deepcac.cac import CACClassifier, KMClassifier
from deepcac.nn.dcn import DCNClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import CACDMNNClassifier, DMNNClassifier
from deepcac.nn.fitting.data import session
from deepcac.nn.fitting.losses import am_softmax, cluster_means, within
from deepcac.nn.fitting.stopping import macro_auprc
from deepcac.nn.idec import IDECClassifier
from deepcac.nn.km_z import KMZClassifier
from deepcac_study.catalogue.protocol import switches
from deepcac_study.published.deepcac_program import (
    DEVIATIONS,
    farthest,
    min_precision_specificity,
    published,
    within_norm,
)

# Two rows in cluster 0, one in cluster 1; one value a row, with squared errors 1, 4 and 0.
Z, MEMBERSHIP = torch.tensor([[2.0], [4.0], [10.0]]), torch.eye(2)[[0, 0, 1]]
Y = torch.tensor([0, 1, 1])


def network(**parts):
    known = {
        "autoencoder": SimpleNamespace(
            encode=lambda x: x,
            error=lambda x, z: torch.tensor([1.0, 4.0, 0.0]),
            entries=lambda x: torch.tensor(6.0),
            parameters=lambda: [],
        ),
        "membership": lambda z: MEMBERSHIP,
        "centroids": torch.tensor([[0.0], [1.0]]),
        "counts": torch.tensor([5000.0, 1.0]),
        "class_vectors": torch.tensor([[3.0], [-2.0]]),
    }
    return SimpleNamespace(**known | parts)


def rows(n=360, seed=0):
    """Three far subtypes; the sign of one feature means risk, and the reverse in subtype 1."""
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 6))
    X[:, :3] += 5.0 * np.eye(3)[subtype]
    return X, (np.where(subtype == 1, -1, 1) * X[:, 4] > 0).astype(int)


CPU = {"device": "cpu", "random_state": 0}


def fitted(estimator, *labels, **settings):
    (X, y), (X_val, y_val) = rows(), rows(120, seed=1)
    model = published(estimator, labels)(**{**CPU, "max_epochs": 15, **settings})
    return model.fit(X, y, validation=(X_val, y_val))


@pytest.fixture(scope="module", autouse=True)
def short_pretraining():
    patch = pytest.MonkeyPatch()
    patch.setattr("deepcac.nn.fitting.pretrain.MAX_EPOCHS", 10)
    yield
    patch.undo()


@pytest.mark.parametrize("estimator", [*networks().values(), CACClassifier, KMClassifier])
def test_users_see_no_switch(estimator):
    names = estimator().get_params()
    assert not {"switches", "protocol", "published"} & names.keys()
    assert not any(label in names for label in switches())


@pytest.mark.parametrize("estimator", networks().values())
def test_published_estimators_have_the_same_name_and_settings(estimator):
    every = published(estimator, switches())
    assert every.__name__ == estimator.__name__
    assert every().get_params() == estimator().get_params()
    assert published(estimator, ()) is estimator
    assert (every is estimator) == (estimator not in DEVIATIONS)


def test_every_deep_switch_has_its_deviation_or_adapter():
    deep = {label for label, switch in switches().items() if switch.stage == "deep"}
    assert deep == {label for own in DEVIATIONS.values() for label in own} | {"D5", "D14"}
    for own in DEVIATIONS.values():
        for label, deviation in own.items():
            assert deviation.__doc__.startswith(f"{label}: ")


def test_d6_class_vectors_are_raw_and_not_trained():
    sound, fixed = DeepCACClassifier(random_state=0), published(DeepCACClassifier, {"D6"})()
    given = network()
    margins = cluster_means(am_softmax(Z, Y, given.class_vectors), MEMBERSHIP)
    rest = sound.set_params(alpha=0.0).loss(given, Z, Y)
    assert float(fixed.loss(given, Z, Y)) == pytest.approx(float(rest + 5 * margins))
    sound.set_params(alpha=5.0)
    assert float(sound.loss(given, Z, Y)) != pytest.approx(float(fixed.loss(given, Z, Y)))
    unit = network(class_vectors=torch.tensor([[1.0], [-1.0]]))
    assert float(fixed.loss(unit, Z, Y)) == pytest.approx(float(sound.loss(unit, Z, Y)))
    assert len(sound._learned(unit)) == 1
    assert fixed._learned(unit) == []


def test_d8_deepcac_has_the_norm_over_the_size():
    z, mu = (
        torch.tensor([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [5.0, 1.0]]),
    )
    # Cluster 0: root of 1 + 1 over 2 rows; the lone row is on its centre.
    assert within_norm(z, mu, MEMBERSHIP).item() == pytest.approx(2**0.5 / 2, abs=1e-5)
    sound, program = DeepCACClassifier(random_state=0), published(DeepCACClassifier, {"D8"})()
    given = network()
    # Distances 4 and 16 to the first centre and 81 to the other; the AM-softmax is as it was.
    change = 5 / 6 - 5 / 3 + 20 * (20**0.5 / 2 + 9 - (20 / 2 + 81 / 1))
    difference = program.loss(given, Z, Y) - sound.loss(given, Z, Y)
    assert float(difference) == pytest.approx(change, rel=1e-5)


def test_d8_norm_has_a_gradient():
    inputs = [
        torch.tensor(np.random.default_rng(i).normal(size=shape), requires_grad=True)
        for i, shape in enumerate([(5, 3), (4, 3)])
    ]
    membership = torch.eye(4, dtype=torch.float64)[torch.tensor([0, 0, 1, 2, 0])]
    assert torch.autograd.gradcheck(lambda z, mu: within_norm(z, mu, membership), inputs)


def test_d8_dcn_has_squares_over_the_size():
    loss = published(DCNClassifier, {"D8"})(beta=3.0).loss(network(), Z)
    assert float(loss) == pytest.approx(5 / 6 + 3 * (20 / 3 + 81 / 2))
    expected = within(Z, network().centroids, MEMBERSHIP, delta=2.0)
    assert float(expected) == pytest.approx(20 / 3 + 81 / 2)


def test_d9_no_alpha_takes_the_within_term_along():
    given = network()
    sound, program = DeepCACClassifier(random_state=0), published(DeepCACClassifier, {"D9"})()
    assert torch.equal(sound.loss(given, Z, Y), program.loss(given, Z, Y))
    program.set_params(alpha=0.0)
    assert float(program.loss(given, Z, Y)) == pytest.approx(5 / 3)
    sound.set_params(alpha=0.0)
    assert float(sound.loss(given, Z, Y)) == pytest.approx(5 / 3 + 20 * 91)


def test_d10_deepcac_is_stopped_by_its_loss_and_else_learns_alike():
    sound, program = fitted(DeepCACClassifier), fitted(DeepCACClassifier, "D10")
    stage = program.history_["clustering_loss"]
    common = min(len(stage), len(sound.history_["clustering_loss"]))
    assert stage[:common] == sound.history_["clustering_loss"][:common]
    scores = program.history_["clustering_score"]
    assert max(scores) < 0 <= min(sound.history_["clustering_score"])
    # The network is that of the best epoch, so its validation loss is the best score.
    X, y = rows(120, seed=1)
    best = program._clustering_score(
        program.network_, None, program._rows(X, y, None, torch.device("cpu"))
    )
    assert best == pytest.approx(max(scores), rel=1e-5)


def test_d10_km_z_keeps_its_last_epoch():
    model = fitted(KMZClassifier, "D10", "D19", lr=0.05, max_epochs=50, patience=3)
    scores = model.history_["local_score"]
    assert scores[-1] < max(scores), "the last epoch must not be the best, or nothing is tested"
    X, y = rows(120, seed=1)
    assert model._measure(y, model.predict_proba(X)) == pytest.approx(scores[-1], abs=1e-6)
    assert not model.budget(100).restore


def test_d10_local_predictors_stop_together():
    answer = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]])
    y, membership = torch.tensor([0, 1, 0, 1]), torch.eye(2)[[0, 0, 1, 1]]
    # Cluster 0 ranks its two rows, cluster 1 has them the wrong way round.
    assert KMZClassifier(random_state=0)._local_scores(y, answer, membership) == [1.0, 0.5]
    together = published(KMZClassifier, {"D10"})()._local_scores(y, answer, membership)
    assert together == [macro_auprc(y.numpy(), answer.numpy())] * 2


def test_d19_the_length_of_latents_matters_to_the_program_alone():
    (X, y), cpu = rows(), torch.device("cpu")

    def answers(model, factor):
        with session(cpu, 0, 1):
            network = model._build()
            network.load_state_dict(model.network_.state_dict())
            network.predictors = model._make_predictors(3)
            last = network.autoencoder.encoder[-1]
            for values in (last.weight, last.bias, network.centroids):
                values.data *= factor
            model._train_predictors(network, model._rows(X, y, None, cpu), validation)
            return network.predict(validation.x).probability.detach()

    sound, program = (fitted(KMZClassifier, *on, max_epochs=3) for on in ((), ("D19",)))
    validation = sound._rows(*rows(120, seed=1), None, cpu)
    torch.testing.assert_close(answers(sound, 0.01), answers(sound, 1.0), atol=1e-4, rtol=0.0)
    assert (answers(program, 0.01) - answers(program, 1.0)).abs().max() > 0.1
    # A latent that is the same for all rows stays what it is.
    centre, spread = sound._latent_scale(torch.tensor([[1.0, 7.0], [5.0, 7.0]]))
    assert (centre.tolist(), spread.tolist()) == ([3.0, 7.0], [2.0, 1.0])


def test_d17_dmnn_shares_the_autoencoder():
    X, _ = rows(40)
    for label, linear in (("D17", False), ("D12", True)):
        model = fitted(DMNNClassifier, label, max_epochs=1)
        halves = model.embed(X[:20]) + model.embed(X[20:]) - model.embed(np.zeros((20, 6)))
        sums = model.embed(X[:20] + X[20:])
        assert np.allclose(halves, sums, atol=1e-4) == linear


def test_d10_measures_and_epochs():
    y = rows(120, seed=1)[1]
    score = np.random.default_rng(0).normal(size=(120, 2))
    epochs = {KMZClassifier: 50, DCNClassifier: 50, DMNNClassifier: 10, CACDMNNClassifier: 10}
    for estimator in (*epochs, IDECClassifier, DeepCACClassifier):
        model = published(estimator, {"D10"})()
        model._shape = (6,)
        assert model.budget(100).max_epochs == epochs.get(estimator, 100)
        assert model.budget(100).batch_size == estimator.budget(model, 100).batch_size
        by_precision = estimator in (DCNClassifier, IDECClassifier)
        expected = min_precision_specificity if by_precision else macro_auprc
        assert model._measure(y, score) == expected(y, score)


@pytest.mark.parametrize(
    ("estimator", "measure"),
    [(DCNClassifier, min_precision_specificity), (IDECClassifier, macro_auprc)],
)
def test_d10_scores_predictors_that_are_not_trained_yet(estimator, measure):
    sound, program = fitted(estimator, max_epochs=3), fitted(estimator, "D10", max_epochs=3)
    common = slice(0, 3)
    assert program.history_["clustering_loss"][common] == sound.history_["clustering_loss"]
    X, y = rows(120, seed=1)
    validation = program._rows(X, y, None, torch.device("cpu"))
    now = program._clustering_score(program.network_, None, validation)
    assert now == measure(y, program.logits(X).astype(np.float32))


def test_d11_is_tested_with_the_farthest_centre():
    mu = torch.tensor([[0.0], [2.0], [10.0]])
    assert farthest(torch.tensor([[1.0], [9.0]]), mu).tolist() == [2, 0]
    sound, program = fitted(KMZClassifier), fitted(KMZClassifier, "D11")
    assert program.history_ == sound.history_
    np.testing.assert_array_equal(program.subtypes_, sound.subtypes_)
    X = rows(200, seed=2)[0]
    np.testing.assert_array_equal(program.embed(X), sound.embed(X))
    assert (program.assign(X) != sound.assign(X)).all()
    for j in range(3):
        own = program.assign(X) == j
        scores = program.network_.predictors(torch.tensor(program.embed(X)[own]).float())[:, j]
        np.testing.assert_allclose(program.logits(X)[own], scores.detach(), atol=1e-5)


def test_d12_experts_see_the_labels_of_512_rows_and_nothing_else_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1300, 4)), rng.integers(0, 2, 1300)
    other = np.concatenate([y[:512], 1 - y[512:]])
    models = {
        name: published(DMNNClassifier, on)(max_epochs=3, **CPU).fit(
            X, labels, validation=(X[:200], y[:200])
        )
        for name, labels, on in (("sound", y, ()), ("D12", y, {"D12"}), ("other", other, {"D12"}))
    }
    answers = {name: model.predict_proba(X) for name, model in models.items()}
    np.testing.assert_array_equal(answers["D12"], answers["other"])
    assert not np.array_equal(answers["D12"], answers["sound"])
    program, sound = models["D12"], models["sound"]
    assert program.history_["gate_loss"] == sound.history_["gate_loss"]
    # Encoder and gate stay as they are.
    step, budget = program._mixture_step(
        program.network_, program._rows(X, y, None, torch.device("cpu"))
    )
    assert budget.batch_size == 512
    assert set(step.parameters) == set(program.network_.predictors.parameters())


def test_d13_dcn_centres_shrink():
    # Sums over 1 + rows are 6 / 3 and 10 / 2; the second centre is pulled in both turns.
    moved, counts = published(DCNClassifier, {"D13"})()._move(network(), Z, MEMBERSHIP)
    torch.testing.assert_close(moved, torch.tensor([[-2 / 102], [1 - 5 / 102 - 5 / 101]]))
    assert torch.equal(counts, network().counts)
    given = network(counts=torch.tensor([1.0, 1.0]))
    sound, _ = DCNClassifier(random_state=0)._move(given, Z, MEMBERSHIP)
    torch.testing.assert_close(sound, torch.tensor([[2.0], [5.5]]))
    loss = published(DCNClassifier, {"D13"})().loss(given, Z)
    assert torch.equal(loss, DCNClassifier(random_state=0).loss(given, Z))


@pytest.mark.parametrize("estimator", [DCNClassifier, IDECClassifier])
def test_d13_predictions_are_mixed_by_students_t(estimator):
    model = fitted(estimator, "D13", max_epochs=2)
    z, centroids = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    weights = model.network_.weigh(z, centroids)  # 1 / (1 + 1) and 1 / (1 + 4)
    torch.testing.assert_close(weights, torch.tensor([[5 / 7, 2 / 7]]))
    assert fitted(estimator, max_epochs=2).network_.weigh is None


def test_d13_idec_leaves_its_centres_and_every_second_target():
    start = fitted(KMZClassifier, max_epochs=2).network_.centroids
    sound, program = (
        fitted(IDECClassifier, max_epochs=2),
        fitted(IDECClassifier, "D13", max_epochs=2),
    )
    assert torch.equal(program.network_.centroids, start)
    assert not torch.equal(sound.network_.centroids, start)
    assert (sound.target_epochs, program.target_epochs) == (1, 2)


def test_d16_restarts_the_counts():
    moved, counts = published(DeepCACClassifier, {"D16"})()._move(network(), Z, MEMBERSHIP)
    torch.testing.assert_close(moved, torch.tensor([[6 / 101], [109 / 100]]))
    assert counts.tolist() == [101.0, 100.0]
    loss = published(DeepCACClassifier, {"D16"})().loss(network(), Z, Y)
    assert torch.equal(loss, DeepCACClassifier(random_state=0).loss(network(), Z, Y))


def test_all_deviations_of_a_program_work_together():
    for estimator in DEVIATIONS:
        assert fitted(estimator, *switches(), max_epochs=2).status_ == "ok"


def test_min_precision_specificity_by_hand():
    y = np.array([0, 0, 0, 1])
    score = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    # Class 0: precision 1, specificity 1. Class 1: precision 1/2, specificity 2/3.
    assert min_precision_specificity(y, score) == pytest.approx((1 + 1 / 2) / 2)
    y, score = np.array([0, 0, 0, 1, 1]), np.eye(2)[[0, 0, 1, 1, 0]]
    # Class 0: precision 2/3, specificity 1/2. Class 1: precision 1/2, specificity 2/3.
    assert min_precision_specificity(y, score) == pytest.approx(1 / 2)
