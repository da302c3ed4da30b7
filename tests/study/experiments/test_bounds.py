import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from deepcac.cac import cluster
from deepcac_study.experiments.theory import bounds as theory


@st.composite
def labelled_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 6))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    y = rng.integers(0, 2, n)
    return X, y, rng.normal(size=d), rng.normal(size=(2, d))


@settings(max_examples=80, deadline=None)
@given(labelled_rows())
def test_log_loss_lies_between_its_bounds(rows):
    X, y, beta, _ = rows
    found = theory.log_loss_sandwich(X, y, beta)
    slack = 1e-9 * max(found.upper, 1.0)
    assert found.lower - slack <= found.loss <= found.upper + slack
    # The bounds are those of the theorem, constant by constant.
    pos, neg = y == 1, y == 0
    pull = 0.5 * (X[pos] @ beta).sum() - 0.5 * (X[neg] @ beta).sum()
    c = np.abs(X @ beta).max()
    assert found.lower == pytest.approx(len(y) * np.log(2) - pull)
    assert found.upper == pytest.approx(len(y) * (np.logaddexp(0, c) - c / 2) - pull)


def test_log_loss_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    found = theory.log_loss_sandwich(X, y, model.coef_[0])
    assert found.loss == pytest.approx(80 * log_loss(y, model.predict_proba(X)))


@settings(max_examples=80, deadline=None)
@given(labelled_rows())
def test_am_softmax_lies_between_its_bounds(rows):
    Z, y, _, W = rows
    found = theory.am_softmax_sandwich(Z, y, W, s=8.0, m=0.3)
    slack = 1e-9 * max(abs(found.upper), 1.0)
    assert found.lower - slack <= found.loss <= found.upper + slack
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    cosine = unit @ (W / np.linalg.norm(W, axis=1, keepdims=True)).T
    own, other = cosine[np.arange(len(y)), y], cosine[np.arange(len(y)), 1 - y]
    direct = -np.log(np.exp(8 * (own - 0.3)) / (np.exp(8 * (own - 0.3)) + np.exp(8 * other))).sum()
    assert found.loss == pytest.approx(direct)


def test_printed_am_softmax_bounds_fail_where_the_docstring_says():
    Z = np.array([[1.0, 0.0], [-1.0, 0.0]])
    W = np.array([[-1.0, 0.0], [1.0, 0.0]])
    well, badly = np.array([1, 0]), np.array([0, 1])
    loss = theory.am_softmax_sandwich(Z, well, W).loss
    assert theory.printed_am_softmax_bounds(Z, well, W)[1] < loss
    loss = theory.am_softmax_sandwich(Z, badly, W, m=0.0).loss
    assert theory.printed_am_softmax_bounds(Z, badly, W, m=0.0)[0] > loss


def test_cost_curve_and_growth():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    found = cluster(X, y, rng.integers(0, 3, 300), 0.4)
    assert theory.largest_rise(found.cost) == 0.0
    assert theory.largest_rise(np.array([3.0, 2.0, 2.5, 1.0])) == 0.5
    sizes = np.array([1e3, 2e3, 4e3])
    assert theory.growth_exponent(sizes, 5.0 * sizes**1.5) == pytest.approx(1.5)


def test_rademacher_complexity_of_three_rows_by_enumeration():
    X = np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    signs = np.array(list(itertools.product([-1, 1], repeat=3)))
    exact = 2.0 * np.linalg.norm(signs @ X, axis=1).mean() / 3
    estimate = theory.rademacher_linear(X, 2.0, 20_000, np.random.default_rng(0))
    assert estimate == pytest.approx(exact, rel=0.02)


def test_theorem_1_trades_training_loss_for_sample_size():
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 2))
    X[:, 0] += np.where(side == 1, 4.0, -4.0)
    y = ((X[:, 1] > 0) ^ (side == 1)).astype(np.int64)
    whole = theory.risk_bound(X, y, np.zeros(2000, dtype=int), np.zeros((1, 2)), norm=3.0)
    betas = np.array([[0.0, 3.0], [0.0, -3.0]])
    parts = theory.risk_bound(X, y, side, betas, norm=3.0)
    assert whole.training == pytest.approx(np.log(2))
    assert parts.training < 0.5 * whole.training
    assert parts.confidence > whole.confidence
    assert parts.total == pytest.approx(parts.training + parts.complexity + parts.confidence)
