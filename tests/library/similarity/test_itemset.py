"""Item sets: Psi and K against sums over pairs, the readings, and what is refused."""

import numpy as np
import pytest
import similarity_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from deepcac.errors import DataError
from deepcac.similarity import ItemSet, Reading, indicator

KINDS = {
    "dense nodes": {"nodes": 3},
    "sparse nodes": {"nodes": 3, "sparse_nodes": sparse.csr_array},
    "pairs": {"nodes": 0, "pairs": 2},
    "both": {"nodes": 2, "pairs": 3, "sparse_nodes": sparse.csr_matrix},
}
seeds = st.integers(0, 10_000)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(seed=seeds)
def test_psi_and_similarity_are_the_sums_over_pairs(kind, seed):
    rng = np.random.default_rng(seed)
    items = reference.random_items(rng, 6, **KINDS[kind])
    labels = reference.random_labels(rng, 6, 3)
    weights = rng.normal(size=items.n_features)
    np.testing.assert_allclose(items.psi(indicator(labels)), reference.psi(items, labels))
    np.testing.assert_allclose(items.similarity(weights), reference.similarity(items, weights))
    np.testing.assert_allclose(
        items.operator(weights) @ np.eye(6), items.similarity(weights), atol=1e-12
    )
    np.testing.assert_allclose(
        items.self_similarity(weights), np.diag(items.similarity(weights)), atol=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(seed=seeds)
def test_similarity_and_weighted_sum_are_adjoint(kind, seed):
    rng = np.random.default_rng(seed)
    items = reference.random_items(rng, 5, **KINDS[kind])
    B = rng.normal(size=(5, 5))
    B = B + B.T
    weights = rng.normal(size=items.n_features)
    assert weights @ items.weighted_sum(B) == pytest.approx(
        (B * items.similarity(weights)).sum(), abs=1e-9
    )
    Y, _ = np.linalg.qr(rng.normal(size=(5, 2)))
    np.testing.assert_allclose(items.psi(Y), items.weighted_sum(Y @ Y.T), atol=1e-12)


@pytest.mark.parametrize(
    "reading",
    [Reading(), Reading(once=True), Reading(diagonal=False), Reading(once=True, divided=True)],
)
@settings(deadline=None)
@given(seed=seeds)
def test_readings_keep_psi_and_similarity_together(reading, seed):
    rng = np.random.default_rng(seed)
    items = reference.random_items(rng, 6, nodes=2, pairs=2, sparse_nodes=sparse.csr_array)
    labels = reference.random_labels(rng, 6, 2)
    weights = rng.normal(size=items.n_features)
    K, Y = reading.similarity(items, weights), indicator(labels)
    np.testing.assert_allclose(reading.operator(items, weights) @ np.eye(6), K, atol=1e-12)
    assert weights @ reading.psi(items, Y) == pytest.approx(np.trace(Y.T @ K @ Y), abs=1e-9)


def test_rare_and_common_columns_are_one_matrix():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 30)) < np.linspace(0.02, 1, 30), rng.normal(size=(40, 30)), 0.0)
    dense, compressed = ItemSet(X), ItemSet(sparse.coo_array(X))
    weights, B = rng.normal(size=30), rng.normal(size=(40, 40))
    np.testing.assert_allclose(
        compressed.similarity(weights), dense.similarity(weights), atol=1e-12
    )
    np.testing.assert_allclose(
        compressed.weighted_sum(B + B.T), dense.weighted_sum(B + B.T), atol=1e-10
    )


def test_once_is_equation_15():
    items = ItemSet([[1.0], [2.0], [4.0]])
    Y = indicator([0, 0, 1])
    # One pair in the cluster of two: 1/2 of 1 * 2; both ways with the squares: 1/2 (1 + 2)^2 + 4^2.
    np.testing.assert_allclose(Reading(once=True).psi(items, Y), [1.0])
    np.testing.assert_allclose(Reading(diagonal=False).psi(items, Y), [2.0])
    np.testing.assert_allclose(Reading().psi(items, Y), [20.5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "no features"),
        ({"nodes": np.empty((0, 2))}, "empty"),
        ({"nodes": np.empty((2, 0))}, "no feature columns"),
        ({"nodes": [1.0, 2.0]}, "axes"),
        ({"nodes": [[np.nan]]}, "not finite"),
        ({"nodes": sparse.csr_array([[np.inf]])}, "not finite"),
        ({"nodes": [[1.0]], "n_items": 2}, "n_items is 2"),
        ({"edges": [[0, 1]], "pairs": [[1.0]]}, "needs n_items"),
        ({"nodes": [[1.0]], "edges": [[0, 0]]}, "go together"),
        ({"edges": [[0, 1]], "pairs": [[1.0], [2.0]], "n_items": 2}, "1 rows"),
        ({"edges": [[0, 2]], "pairs": [[1.0]], "n_items": 2}, "outside 0 to 1"),
        ({"edges": [[0, 1], [1, 0]], "pairs": [[1.0], [2.0]], "n_items": 2}, "twice"),
    ],
)
def test_bad_item_sets_are_refused(parameters, message):
    with pytest.raises(DataError, match=message):
        ItemSet(**parameters)
