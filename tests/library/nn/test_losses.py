import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from deepcac.nn.fitting import losses
from deepcac.nn.fitting.stopping import auprc, average_precision, probe
from deepcac.nn.layers.centroids import move_online, nearest, one_hot
from deepcac.nn.layers.networks import LocalPredictors


def double(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def random(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), requires_grad=True)


LABELS = torch.tensor([0, 1, 1, 0, 1])
# Cluster 0 has three rows, 1 has one, 2 has one, 3 is empty.
MEMBERSHIP = torch.eye(4, dtype=torch.float64)[torch.tensor([0, 0, 1, 2, 0])]


def test_am_softmax_by_hand():
    # cos to class 0 is 0.6 and to class 1 is 0.8; s = 2, m = 0.1.
    z, w = double([3.0, 4.0]), double([1.0, 0.0], [0.0, 1.0])
    for y, own, other in ((0, 0.6, 0.8), (1, 0.8, 0.6)):
        up = np.exp(2 * (own - 0.1))
        expected = -np.log(up / (up + np.exp(2 * other)))
        loss = losses.am_softmax(z, torch.tensor([y]), w, s=2.0, m=0.1)
        assert loss.item() == pytest.approx(expected, rel=1e-9)


def test_am_softmax_ignores_the_length_of_a_row_but_not_of_a_class_vector():
    z, w = random(5, 3), random(2, 3, seed=1)
    loss = losses.am_softmax(z, LABELS, w)
    assert torch.allclose(loss, losses.am_softmax(7 * z, LABELS, w))
    assert not torch.allclose(loss, losses.am_softmax(z, LABELS, 2 * w))


def test_within_by_hand():
    z, mu = double([0.0], [2.0], [5.0]), double([1.0], [4.0], [9.0])
    membership = torch.eye(3, dtype=torch.float64)[torch.tensor([0, 0, 1])]
    # Cluster 0: (1 + 1) / (2 - 1 + 0.5); cluster 1: 1 / (1 - 1 + 0.5); cluster 2 is empty.
    expected = 2 / 1.5 + 1 / 0.5
    assert losses.within(z, mu, membership, 0.5).item() == pytest.approx(expected)


def test_class_distances_by_hand():
    # Cluster 0: means (1, 0) and (1, 4); cluster 1 has one class only; cluster 2 is empty.
    z = double([0.0, 0.0], [2.0, 0.0], [1.0, 4.0], [9.0, 9.0])
    membership = torch.eye(3, dtype=torch.float64)[torch.tensor([0, 0, 0, 1])]
    classes = torch.eye(2, dtype=torch.float64)[torch.tensor([0, 0, 1, 1])]
    assert losses.class_distances(z, classes, membership).item() == pytest.approx(16.0)
    # Three classes in one cluster: pairs at 1, 4 and 5.
    z, all_in_one = double([0.0, 0.0], [1.0, 0.0], [0.0, 2.0]), torch.ones(3, 1).double()
    assert losses.class_distances(z, torch.eye(3).double(), all_in_one).item() == pytest.approx(10)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 3))
def test_scatter_bounds_the_distance_of_class_means(seed, n, k):
    rng = np.random.default_rng(seed)
    z, mu = torch.tensor(rng.normal(size=(n, 3)) * 5), torch.tensor(rng.normal(size=(k, 3)))
    membership = torch.eye(k, dtype=torch.float64)[torch.tensor(rng.integers(0, k, n))]
    classes = torch.eye(2, dtype=torch.float64)[torch.tensor(rng.integers(0, 2, n))]
    for j in range(k):
        own, rows = torch.zeros_like(membership), membership[:, j]
        own[:, j] = rows
        p = float((classes[:, 1] * rows).sum() / rows.sum().clamp(min=1))
        least = p * (1 - p) * losses.class_distances(z, classes, own)
        assert float(losses.within(z, mu, own, 1.0)) >= float(least) * (1 - 1e-9)


def test_cluster_means_by_hand():
    values = double(1.0, 2.0, 4.0, 8.0, 6.0)
    assert losses.cluster_means(values, MEMBERSHIP).item() == pytest.approx(3.0 + 4.0 + 8.0)


def test_student_t_and_target_by_hand():
    # Squared distances 0 and 1 from the first row, 4 and 1 from the second.
    q = losses.student_t(double([0.0], [2.0]), double([0.0], [1.0]))
    raw = np.array([[1.0, 0.5], [0.2, 0.5]])
    expected = raw / raw.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(q, expected)
    sharp = expected**2 / expected.sum(axis=0)
    target = sharp / sharp.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(losses.target_distribution(q), target)
    weight, twice = torch.ones(len(q)), torch.cat([q, q[:1]])
    weight[0] = 2.0
    torch.testing.assert_close(
        losses.target_distribution(q, weight), losses.target_distribution(twice)[: len(q)]
    )
    kl = (target * np.log(target / expected)).sum(axis=1).mean()
    assert losses.divergence(torch.tensor(target), q).item() == pytest.approx(kl)


def test_mixture_cross_entropy_by_hand():
    # Gate 0.25 / 0.75; the experts give class 1 the probabilities 0.5 and 0.8.
    gate = double([0.25, 0.75]).log()
    logits = double([0.0, 0.0], [0.0, np.log(4.0)]).unsqueeze(0)
    loss = losses.mixture_cross_entropy(gate, logits, torch.tensor([1]))
    assert loss.item() == pytest.approx(-np.log(0.25 * 0.5 + 0.75 * 0.8))


def test_actor_critic_terms_by_hand():
    p = np.array([[0.9, 0.1], [0.3, 0.7]])
    weights, log_p = double([0.25, 0.75], [1.0, 0.0]), torch.tensor(p).log()
    first = losses.expected_cross_entropy(weights, log_p, torch.tensor([1, 0]))
    by_hand = [0.25 * np.log(0.1) + 0.75 * np.log(0.7), np.log(0.9)]
    assert first.item() == pytest.approx(-np.mean(by_hand))
    expected = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75)) / 2
    assert losses.entropy(weights.clamp(min=1e-300).log()).item() == pytest.approx(expected)
    pairs = -(p[0] @ np.log(p[1])) - (p[1] @ np.log(p[0]))
    assert losses.embedding_separation(log_p).item() == pytest.approx(-pairs / 2)
    assert losses.embedding_separation(log_p[:1]).item() == 0.0


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda z, w: losses.am_softmax(z, LABELS, w, 3.0, 0.4), [(5, 3), (2, 3)]),
        (lambda z, mu: losses.within(z, mu, MEMBERSHIP, 0.5), [(5, 3), (4, 3)]),
        (lambda v: losses.cluster_means(v, MEMBERSHIP), [(5,)]),
        (losses.student_t, [(5, 3), (4, 3)]),
        (
            lambda z, mu: losses.divergence(
                torch.full((5, 4), 0.25, dtype=torch.float64), losses.student_t(z, mu)
            ),
            [(5, 3), (4, 3)],
        ),
        (
            lambda g, e: losses.mixture_cross_entropy(g.log_softmax(1), e, LABELS),
            [(5, 4), (5, 4, 2)],
        ),
        (
            lambda g, e: losses.expected_cross_entropy(g.softmax(1), e.log_softmax(1), LABELS),
            [(5, 4), (4, 2)],
        ),
        (lambda g: losses.entropy(g.log_softmax(1)), [(5, 4)]),
        (lambda e: losses.embedding_separation(e.log_softmax(1)), [(4, 2)]),
    ],
)
def test_gradient(function, inputs):
    tensors = [random(*shape, seed=i) for i, shape in enumerate(inputs)]
    assert torch.autograd.gradcheck(function, tensors)


def test_nearest_with_ties():
    mu = double([0.0], [2.0], [10.0])
    assert nearest(double([1.0], [9.0]), mu).tolist() == [0, 2]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5)), max_size=30),
    st.lists(st.integers(0, 50), min_size=4, max_size=4),
)
def test_closed_form_centroids_are_the_sequential_rule(rows, start):
    mu, c = np.array([[1.0], [-1.0], [3.0], [0.5]]), np.array(start, float)
    z = np.array([[v] for _, v in rows]).reshape(-1, 1)
    labels = torch.tensor([j for j, _ in rows], dtype=torch.int64)
    z_, mu_, c_ = torch.tensor(z), torch.tensor(mu), torch.tensor(c)
    moved, counts = move_online(mu_, c_, z_, one_hot(labels, 4, z_))
    for j, value in rows:
        c[j] += 1
        mu[j] -= (mu[j] - value) / c[j]
    np.testing.assert_allclose(moved, mu, atol=1e-12)
    np.testing.assert_array_equal(counts, c)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=40))
def test_average_precision_is_scikit_learns(rows):
    y, score = np.array([a for a, _ in rows]), np.array([b / 4 for _, b in rows])
    if y.any():
        expected = average_precision_score(y, score)
        assert average_precision(y, score) == pytest.approx(expected, abs=1e-12)


def test_auprc_of_two_and_three_classes():
    y = np.array([0, 1, 2, 1])
    score = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    each = [average_precision_score(y == c, score[:, c]) for c in range(3)]
    assert auprc(y, score) == pytest.approx(np.mean(each))
    two = np.array([0, 1, 0, 1])
    assert auprc(two, score[:, :2]) == pytest.approx(average_precision_score(two, score[:, 1]))
    # A part that lacks a class gives a finite score.
    assert auprc(np.zeros(4, int), score[:, :2]) == 0.0


def test_local_predictors_are_separate_networks():
    torch.manual_seed(0)
    both = LocalPredictors(2, 4, 3, 2)
    z = torch.randn(5, 4)
    for j in range(2):
        hidden = (
            z @ both.first.weight[3 * j : 3 * j + 3].T + both.first.bias[3 * j : 3 * j + 3]
        ).relu()
        expected = hidden @ both.weight[j] + both.bias[j]
        torch.testing.assert_close(both(z)[:, j], expected)


def test_probe_solves_each_cluster_on_its_own():
    rng = np.random.default_rng(0)
    z = torch.tensor(rng.normal(size=(200, 2)))
    cluster = torch.tensor(np.arange(200) % 2)
    y = ((z[:, 0] > 0) ^ (cluster == 1)).long()
    membership = one_hot(cluster, 2, z)
    scores = probe(z, one_hot(y, 2, z), membership, z, membership)
    assert auprc(y.numpy(), scores.numpy()) > 0.99
    together = torch.ones(200, 1, dtype=z.dtype)
    assert auprc(y.numpy(), probe(z, one_hot(y, 2, z), together, z, together).numpy()) < 0.7


def test_probe_with_empty_cluster_is_finite():
    z = torch.randn(6, 3)
    membership = one_hot(torch.tensor([0, 0, 0, 0, 0, 2]), 4, z)
    classes = one_hot(torch.tensor([0, 1, 0, 1, 0, 1]), 2, z)
    assert torch.isfinite(probe(z, classes, membership, z, membership.roll(1, 1))).all()
