"""The loss Delta and the clusterers, against every partition of few items."""

import numpy as np
import pytest
import similarity_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from deepcac.errors import ConfigError, DataError
from deepcac.similarity import delta, indicator, rand_loss
from deepcac.similarity.clusterers import clusterer, discrete, iterative, objective, spectral

seeds = st.integers(0, 10_000)
labels = st.lists(st.integers(0, 3), min_size=8, max_size=8)


@given(labels, labels)
def test_delta_is_equation_18_symmetric_and_blind_to_names(truth, found):
    loss = delta(truth, found)
    assert loss == pytest.approx(reference.delta(truth, found), abs=1e-9)
    assert loss == pytest.approx(delta(found, truth), abs=1e-9)
    assert loss == pytest.approx(delta([9 - c for c in truth], found), abs=1e-9)
    assert delta(truth, truth) == pytest.approx(0.0, abs=1e-9)


@given(labels)
def test_one_cluster_for_all_costs_k_minus_1_over_k(truth):
    k = len(set(truth))
    assert delta(truth, np.zeros(8)) == pytest.approx(100.0 * (k - 1) / k)


def test_delta_of_a_relaxed_clustering():
    # Columns turned within the space of the right clustering cost nothing (equation 16).
    Y = indicator([0, 0, 1, 1])
    turned = Y @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert delta(Y, turned) == pytest.approx(0.0, abs=1e-9)


def test_rand_loss_forgives_errors_in_small_clusters_and_delta_does_not():
    truth = np.repeat([0, 1, 2, 3], [40, 40, 4, 4])
    large, small = truth.copy(), truth.copy()
    large[:20], small[80:82] = 1, 3  # half of a large cluster, half of a small one
    assert rand_loss(truth, large) > 10 * rand_loss(truth, small)
    assert delta(truth, small) == pytest.approx(delta(truth, large))


@given(labels, labels)
def test_rand_loss_counts_pairs(truth, found):
    pairs = [(i, j) for i in range(8) for j in range(i)]
    wrong = sum((truth[i] == truth[j]) != (found[i] == found[j]) for i, j in pairs)
    assert rand_loss(truth, found) == pytest.approx(100.0 * wrong / len(pairs))


@settings(max_examples=25, deadline=None)
@given(seed=seeds, m=st.integers(4, 8), k=st.integers(2, 3))
def test_clusterers_against_every_partition(seed, m, k):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m))
    K = K + K.T
    best, _ = reference.best(K, k)
    found = {
        name: clusterer(name, "oracle")(K, k, rng, n_restarts=50)
        for name in ("iterative", "spectral", "discrete")
    }
    assert objective(K, found["iterative"]) <= best + 1e-9
    assert objective(K, found["discrete"]) <= best + 1e-9
    assert objective(K, found["spectral"]) >= best - 1e-9
    np.testing.assert_allclose(found["spectral"].T @ found["spectral"], np.eye(k), atol=1e-9)


def test_many_climbs_nearly_always_find_the_best_partition():
    reached = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        K = rng.normal(size=(7, 7))
        K = K + K.T
        best, _ = reference.best(K, 3)
        reached.append(objective(K, iterative(K, 3, rng, n_restarts=50)) >= best - 1e-9)
    assert np.mean(reached) > 0.9


@settings(deadline=None)
@given(seed=seeds)
def test_one_climb_ends_where_no_single_move_gains(seed):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(7, 7))
    K = K + K.T
    Y = iterative(K, 3, rng, n_restarts=1)
    found = Y.argmax(axis=1)
    here = reference.value(K, found)
    for i in range(7):
        for c in range(3):
            moved = found.copy()
            moved[i] = c
            if len(set(moved)) == 3:
                assert reference.value(K, moved) <= here + 1e-9


def test_restarts_begin_at_different_places():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(30, 30))
    K = K + K.T
    values = [
        objective(K, iterative(K, 4, np.random.default_rng(1), n_restarts=r)) for r in (1, 5, 40)
    ]
    assert values[0] < values[1] < values[2]


def test_large_matrices_give_the_same_eigenvectors_as_small_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)) * np.linspace(1, 4, 12)
    K = X @ X.T - 5.0 * np.eye(300)
    values = np.linalg.eigvalsh(K)
    start = spectral(K + 0.01 * np.diag(rng.normal(size=300)), 5)
    for Y in (spectral(K, 5), spectral(aslinearoperator(K), 5), spectral(K, 5, start=start)):
        assert objective(K, Y) == pytest.approx(values[-5:].sum(), rel=1e-7)
        np.testing.assert_allclose(Y.T @ Y, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(spectral(K, 5), spectral(K, 5))


def test_discrete_rounds_a_relaxed_clustering_back():
    truth = np.repeat([0, 1, 2], [5, 7, 9])
    Y = indicator(truth)
    assert delta(truth, discrete(Y @ Y.T, 3, np.random.default_rng(0))) < 1e-9


def test_clusterers_refuse():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="3 clusters of 2 items"):
        iterative(np.eye(2), 3, rng)
    with pytest.raises(ConfigError, match="n_clusters is 0"):
        spectral(np.eye(2), 0)
    with pytest.raises(ConfigError, match="oracle .*'batch'; .*'iterative'"):
        clusterer("batch", "oracle")
    with pytest.raises(DataError, match="2 items, the other 3"):
        delta([0, 1], [0, 1, 1])
    with pytest.raises(DataError, match="one item"):
        delta([], [])


def test_the_loss_of_a_perfect_clustering_is_not_below_zero():
    rng = np.random.default_rng(0)
    for m in range(6, 60):
        labels = rng.integers(0, 5, m)
        assert 0.0 <= delta(labels, labels) < 1e-10
