"""Algorithm 1 against the program with every constraint, and what section 5 says of its oracles."""

import numpy as np
import pytest
import similarity_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from deepcac.errors import ConfigError, DataError
from deepcac.similarity import (
    EqualWeights,
    ItemSet,
    PairSimilarity,
    Reading,
    SupervisedKMeans,
    published,
    workingset,
)
from deepcac.similarity.clusterers import objective, spectral
from deepcac.similarity.clustering import indicator
from deepcac.similarity.cutting import largest_number_of_cuts
from deepcac.similarity.workingset import WorkingSet

seeds = st.integers(0, 10_000)


def training_set(seed, *, n=2, m=6, k=2, **kind):
    rng = np.random.default_rng(seed)
    kind = kind or {"nodes": 2, "pairs": 2}
    items = [reference.random_items(rng, m, **kind) for _ in range(n)]
    return items, [reference.random_labels(rng, m, k) for _ in range(n)]


def topics(seed, n=3, m=24, k=3, noise=2.0):
    """Sets of items in which three features tell the clusters apart and five are loud noise."""
    rng = np.random.default_rng(seed)
    truths = [rng.permutation(np.arange(m) % k) for _ in range(n)]
    sets = [
        ItemSet(
            np.column_stack(
                [np.eye(k)[t] + 0.2 * rng.normal(size=(m, k)), noise * rng.normal(size=(m, 5))]
            )
        )
        for t in truths
    ]
    return sets, truths


@settings(max_examples=10, deadline=None)
@given(seed=seeds, C=st.sampled_from([0.1, 10.0]), weights=st.sampled_from(["free", "nonnegative"]))
def test_an_exact_oracle_reaches_the_optimum_of_all_constraints(seed, C, weights):
    items, truths = training_set(seed)
    model = SupervisedKMeans(
        C=C, oracle="iterative", n_restarts=400, epsilon=1e-4, weights=weights, random_state=0
    ).fit(items, truths)
    w, _, value = reference.primal(items, truths, C, nonnegative=weights == "nonnegative")
    planes = model.cutting_planes_
    assert planes.dual_objective == pytest.approx(value, rel=1e-4, abs=1e-3 * C)
    assert 0.0 <= model.duality_gap_ + 1e-6 * C <= 3e-4 * C + 2e-6 * value
    np.testing.assert_allclose(model.weights_, w, atol=0.05 * (1 + np.abs(w).max()))
    if weights == "nonnegative":
        assert model.weights_.min() >= 0.0


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_one_slack_has_the_same_optimum(seed):
    items, truths = training_set(seed, n=3)
    model = SupervisedKMeans(C=5.0, epsilon=1e-3)
    each = clone(model).fit(items, truths)
    joint = clone(model).set_params(slack="one").fit(items, truths)
    assert joint.slack_.shape == (1,)
    assert joint.cutting_planes_.dual_objective == pytest.approx(
        each.cutting_planes_.dual_objective, abs=5.0 * 1e-3
    )
    assert joint.slack_[0] == pytest.approx(each.slack_.mean(), abs=0.5)


def test_training_goes_on_from_a_smaller_slack_weight():
    items, truths = topics(1)
    cold = SupervisedKMeans(C=100.0, epsilon=1e-3).fit(items, truths)
    warm = SupervisedKMeans(C=50.0, epsilon=1e-3, warm_start=True).fit(items, truths)
    warm.set_params(C=100.0).fit(items, truths)
    # Half of the cuts are there already: .40 to .57 of them were left to find with 12 seeds.
    assert warm.n_cuts_ < 0.75 * cold.n_cuts_
    assert warm.cutting_planes_.dual_objective == pytest.approx(
        cold.cutting_planes_.dual_objective, abs=100.0 * 1e-3
    )
    np.testing.assert_allclose(warm.weights_, cold.weights_, atol=0.5)
    again = warm.fit(items, truths)
    assert (again.n_iter_, again.n_cuts_) == (1, 0)
    with pytest.raises(ConfigError, match="the last fit"):
        warm.fit(items[:2], truths[:2])
    with pytest.raises(ConfigError, match="weights='nonnegative'"):
        warm.set_params(weights="nonnegative").fit(items, truths)


def test_another_solver_is_asked_where_the_first_gives_up(monkeypatch):
    rng = np.random.default_rng(3)
    cuts = [(i % 3, rng.normal(size=8), rng.uniform(1, 80)) for i in range(12)]

    def solved():
        planes = WorkingSet(3, 8, cap=20.0)
        for cut in cuts:
            planes.add(*cut)
        planes.solve()
        return planes.weights

    expected, true_solver = solved(), workingset.solve_qp
    monkeypatch.setattr(
        workingset,
        "solve_qp",
        lambda *given, solver, **more: (
            None if solver == "piqp" else true_solver(*given, solver=solver, **more)
        ),
    )
    np.testing.assert_allclose(solved(), expected, atol=1e-4)
    monkeypatch.setattr(workingset, "solve_qp", lambda *given, **more: None)
    with pytest.raises(ConfigError, match="piqp and daqp"):
        solved()


@pytest.mark.parametrize(("nonnegative", "few"), [(False, 0), (True, 0), (True, 1000)])
def test_a_second_solver_finds_the_same_weights(nonnegative, few, monkeypatch):
    monkeypatch.setattr(workingset, "FEW_FEATURES", few)
    rng = np.random.default_rng(3)
    found = []
    cuts = [(i % 3, rng.normal(size=8), rng.uniform(1, 80)) for i in range(12)]
    for solver in ("piqp", "daqp"):
        planes = WorkingSet(3, 8, cap=20.0, nonnegative=nonnegative, solver=solver)
        for cut in cuts:
            planes.add(*cut)
            planes.solve()
        found.append(planes)
    np.testing.assert_allclose(found[0].weights, found[1].weights, atol=1e-4)
    np.testing.assert_allclose(found[0].slack, found[1].slack, atol=1e-3)
    primal = 0.5 * found[0].weights @ found[0].weights + 20.0 * found[0].slack.sum()
    assert primal == pytest.approx(found[0].dual_objective, rel=1e-6)


def test_inactive_planes_are_dropped_and_nothing_changes():
    items, truths = topics(0)
    full = SupervisedKMeans(C=100.0, epsilon=1e-3).fit(items, truths).cutting_planes_
    active = full.duals > 1e-6 * full.duals.max()
    short = WorkingSet(3, 8, cap=100.0 / 3, patience=1)
    for i, normal, loss in zip(full.owner, full.normals, full.losses, strict=True):
        short.add(i, normal, loss)
    short.solve()
    short.solve()
    assert len(short.owner) < len(full.owner)
    assert len(short.owner) >= active.sum() > 0
    np.testing.assert_allclose(short.weights, full.weights, atol=1e-3)


@pytest.mark.parametrize("oracle", ["spectral", "iterative", "discrete"])
def test_cutting_planes_end_within_the_bound(oracle):
    items, truths = training_set(1, n=3, m=6)
    C, epsilon = 0.01, 1.0
    model = SupervisedKMeans(C=C, oracle=oracle, epsilon=epsilon, random_state=0)
    model.fit(items, truths)
    radius = max(np.linalg.norm(model.cutting_planes_.normals, axis=1))
    bound = largest_number_of_cuts(3, C, epsilon, 100.0, radius)
    assert model.converged_
    assert 0 < model.n_cuts_ <= bound
    assert model.n_oracle_calls_ == 3 * model.n_iter_ == len(model.oracle_seconds_)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, C=st.sampled_from([0.1, 10.0]))
def test_slack_bounds_the_loss_for_the_spectral_oracle(seed, C):
    items, truths = training_set(seed, m=7, k=2)
    model = SupervisedKMeans(C=C, predictor="spectral", epsilon=0.01).fit(items, truths)
    for x, y, slack in zip(items, truths, model.slack_, strict=True):
        assert model.loss(x, y) <= slack + 0.01 + 1e-6
        _, exact = reference.best(model.similarity(x), 2)
        assert reference.delta(y, exact) <= slack + 0.01 + 1e-6
        worst = max(
            reference.violation(x, y, model.weights_, p) for p in reference.partitions(7, 2)
        )
        assert worst <= slack + 0.01 + 1e-6


def test_the_iterative_oracle_misses_violated_constraints():
    missed = 0
    for seed in range(10):
        items, truths = training_set(seed, n=1, m=8, k=3)
        model = SupervisedKMeans(
            C=1.0, oracle="iterative", n_restarts=1, epsilon=0.01, random_state=seed
        ).fit(items, truths)
        K, truth = model.similarity(items[0]), truths[0]
        right = reference.value(K, truth)
        worst = max(
            reference.delta(truth, p) + reference.value(K, p) - right
            for p in reference.partitions(8, 3)
        )
        missed += worst > model.slack_[0] + 0.02
    assert missed > 0


def test_slack_need_not_bound_the_loss_for_the_iterative_oracle():
    exceeded = 0
    for seed in range(8):
        items, truths = topics(seed, n=2, m=40, k=8, noise=0.1)
        model = SupervisedKMeans(
            C=100.0, oracle="iterative", n_restarts=1, epsilon=0.01, random_state=seed
        ).fit(items, truths)
        exceeded += sum(
            model.loss(x, y) > slack + 0.02
            for x, y, slack in zip(items, truths, model.slack_, strict=True)
        )
    assert exceeded > 0


def test_the_spectral_oracle_constrains_more():
    for seed in range(5):
        items, truths = training_set(seed)
        model = SupervisedKMeans(C=1.0, epsilon=1e-3).fit(items, truths)
        _, _, value = reference.primal(items, truths, 1.0)
        w = model.weights_
        assert 0.5 * w @ w + model.slack_.mean() >= value - 1e-3


@pytest.mark.parametrize("oracle", ["spectral", "iterative"])
@pytest.mark.parametrize("predictor", ["iterative", "spectral", "discrete"])
def test_learning_finds_clusters_that_equal_weights_do_not(oracle, predictor):
    items, truths = topics(5, n=4)
    model = SupervisedKMeans(C=100.0, oracle=oracle, predictor=predictor, random_state=0)
    learnt = model.fit(items[:3], truths[:3]).loss(items[3], truths[3])
    plain = EqualWeights(random_state=0).fit(items[:3]).loss(items[3], truths[3])
    assert learnt < 15 < 40 < plain


@pytest.mark.parametrize("reading", [Reading(), Reading(once=True)])
def test_large_sparse_sets_are_trained_without_their_similarities(reading):
    rng = np.random.default_rng(0)
    truth = np.arange(240) % 3
    X = np.where(rng.random((240, 30)) < 0.2, 1.0, 0.0) + np.eye(3)[truth].repeat(10, axis=1)
    X *= rng.random((240, 30)) < 0.5
    Model = published(SupervisedKMeans, reading)
    dense = Model(C=1.0, epsilon=0.01).fit([ItemSet(X)], [truth])
    compressed = Model(C=1.0, epsilon=0.01).fit([ItemSet(sparse.csr_array(X))], [truth])
    np.testing.assert_allclose(compressed.weights_, dense.weights_, atol=0.02)
    assert compressed.slack_ == pytest.approx(dense.slack_, abs=0.05)


def test_fits_and_predictions_are_repeatable():
    items, truths = topics(2)
    models = [
        SupervisedKMeans(C=10.0, oracle="iterative", random_state=4).fit(items, truths)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    np.testing.assert_array_equal(models[0].predict(items[0], 3), models[0].predict(items[0], 3))
    assert clone(models[0]).get_params() == models[0].get_params()


def test_a_linear_kernel_is_no_kernel():
    items, truths = training_set(7, n=2, m=6, nodes=2, pairs=1)
    model = SupervisedKMeans(C=1.0, epsilon=1e-3)
    plain = clone(model).fit(items, truths)
    mapped = clone(model).set_params(kernel="linear").fit(items, truths)
    np.testing.assert_allclose(mapped.similarity(items[0]), plain.similarity(items[0]), atol=1e-2)
    assert mapped.slack_.mean() == pytest.approx(plain.slack_.mean(), abs=1e-2)


def test_a_kernel_learns_what_no_weights_can():
    """Pairs of one cluster have two features of one sign; others of different signs (XOR)."""
    rng = np.random.default_rng(0)
    items, truths = [], []
    for _ in range(3):
        y = np.arange(14) % 2
        edges = np.stack(np.triu_indices(14, 1), axis=1)
        sign = rng.choice([-1.0, 1.0], len(edges))
        same = np.where(y[edges[:, 0]] == y[edges[:, 1]], 1.0, -1.0)
        pairs = np.stack([sign, sign * same], axis=1)
        items.append(ItemSet(edges=edges, pairs=pairs, n_items=14))
        truths.append(y)
    linear = SupervisedKMeans(C=100.0, random_state=0).fit(items[:2], truths[:2])
    curved = SupervisedKMeans(C=100.0, kernel="rbf", gamma=0.5, random_state=0)
    curved.fit(items[:2], truths[:2])
    assert curved.loss(items[2], truths[2]) < 1e-6 < 20 < linear.loss(items[2], truths[2])


def test_a_factor_of_psi_is_its_square_in_c():
    items, truths = training_set(3, nodes=0, pairs=4)
    sound = SupervisedKMeans(C=2.0, epsilon=1e-4).fit(items, truths)
    divided = published(SupervisedKMeans, Reading(divided=True))(C=2.0 * 4**2, epsilon=1e-4)
    divided.fit(items, truths)
    np.testing.assert_allclose(divided.slack_, sound.slack_, atol=0.05)
    np.testing.assert_allclose(divided.similarity(items[0]), sound.similarity(items[0]), atol=0.05)
    assert divided.get_params().keys() == sound.get_params().keys()


@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_pair_is_a_linear_svm_of_all_pairs(seed):
    items, truths = training_set(seed, n=2, m=6, nodes=2, pairs=1)
    C = 3.0
    model = PairSimilarity(C=C, epsilon=1e-5).fit(items, truths)
    features, targets = [], []
    for x, y in zip(items, truths, strict=True):
        for i in range(6):
            for j in range(i):
                features.append(np.append(reference.pair_vector(x, i, j), 1.0))
                targets.append(1.0 if y[i] == y[j] else -1.0)
    features, targets = np.array(features), np.array(targets)

    def value(w):
        return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - targets * (features @ w)).mean()

    w = np.append(model.weights_, model.bias_)
    assert value(w) == pytest.approx(model.cutting_planes_.dual_objective, abs=2e-4)
    assert model.slack_[0] == pytest.approx(
        np.maximum(0.0, 1.0 - targets * (features @ w)).mean(), abs=1e-4
    )


ITEMS = ItemSet(np.arange(8.0).reshape(4, 2))


@pytest.mark.parametrize(
    ("item_sets", "clusterings", "message"),
    [
        ([], [], "no item set"),
        ([ITEMS], [], "1 item sets, but 0 clusterings"),
        ([ITEMS], [[0, 1, 0]], "clustering 0 has shape"),
        ([ITEMS], [[2, 2, 2, 2]], "one cluster"),
        ([ITEMS, ItemSet([[1.0], [2.0]])], [[0, 0, 1, 1], [0, 1]], "item set 1 has"),
        ([np.eye(2)], [[0, 1]], "no ItemSet"),
    ],
)
@pytest.mark.parametrize("model", [SupervisedKMeans(), PairSimilarity()])
def test_bad_training_sets_are_refused(model, item_sets, clusterings, message):
    with pytest.raises(DataError, match=message):
        model.fit(item_sets, clusterings)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "'C' parameter of SupervisedKMeans"),
        ({"C": "large"}, "Got 'large' instead"),
        ({"epsilon": -1.0}, "'epsilon' parameter"),
        ({"oracle": "batch"}, "'oracle' parameter .* Got 'batch'"),
        ({"slack": "two"}, "'slack' parameter"),
        ({"weights": "positive"}, "'weights' parameter"),
        ({"weights": "nonnegative", "kernel": "rbf"}, "weights='free'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SupervisedKMeans(**parameters).fit([ITEMS], [[0, 0, 1, 1]])


def test_bad_predictions_are_refused():
    with pytest.raises(NotFittedError):
        SupervisedKMeans(2).predict(ITEMS)
    model = SupervisedKMeans(C=0.1).fit([ITEMS], [[0, 0, 1, 1]])
    with pytest.raises(ConfigError, match="give n_clusters"):
        model.predict(ITEMS)
    with pytest.raises(DataError, match="5 clusters of 4 items"):
        model.predict(ITEMS, 5)
    with pytest.raises(DataError, match="3 features, .* 2"):
        model.predict(ItemSet(np.ones((4, 3))), 2)
    with pytest.raises(ConfigError, match="predictor is 'batch'"):
        model.set_params(predictor="batch").predict(ITEMS, 2)


def test_training_that_does_not_end_says_so():
    items, truths = topics(0)
    with pytest.warns(ConvergenceWarning, match="no end after 2 passes"):
        model = SupervisedKMeans(C=1000.0, max_iter=2).fit(items, truths)
    assert not model.converged_
    if hasattr(BaseEstimator, "_html_repr"):  # scikit-learn 1.6 draws the diagram alone
        told = f"SupervisedKMeans: 8 weights from {model.n_cuts_} constraints in 2 passes; not conv"
        assert told in model._repr_html_()
        assert "constraints" not in clone(model)._repr_html_()


def test_too_many_pairs_for_a_kernel_are_refused():
    many = ItemSet(np.ones((100, 1)))
    with pytest.raises(DataError, match="5050 pairs"):
        SupervisedKMeans(kernel="rbf").fit([many], [np.arange(100) % 2])


def test_the_bias_of_pairs_moves_relaxed_clusters_and_no_real_ones():
    """By hand: K + b has other eigenvectors than K, but b adds m b to every real clustering."""
    items, truths = training_set(3, n=2, m=12)
    model = PairSimilarity(C=1.0, random_state=0).fit(items, truths)
    K = items[0].similarity(model.weights_)
    np.testing.assert_allclose(model.similarity(items[0]), K + model.bias_)
    other = clone(model).set_params(predictor="spectral").fit(items, truths)
    Y = other.predict(items[0], 2)
    assert objective(K + model.bias_, Y) >= objective(K + model.bias_, spectral(K, 2)) - 1e-9
    assert abs(model.bias_) > 1e-3
    for labels in (truths[0], np.arange(12) % 2):
        whole = indicator(labels)
        gained = objective(model.similarity(items[0]), whole) - objective(K, whole)
        assert gained == pytest.approx(12 * model.bias_)


@pytest.mark.parametrize("model", [SupervisedKMeans(), PairSimilarity()])
def test_features_whose_powers_overflow_are_refused(model):
    with pytest.raises(DataError, match=r"nodes .*1e\+70"):
        model.fit([ItemSet(1e150 * np.eye(4))], [[0, 0, 1, 1]])
    large = [ItemSet(1e70 * np.eye(4))]
    assert np.isfinite(model.fit(large, [[0, 0, 1, 1]]).weights_).all()
