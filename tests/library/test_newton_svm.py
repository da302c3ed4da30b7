"""The linear SVM by Newton's method, against liblinear and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.errors import DataError
from deepcac.linear.newton_svm import NewtonSVC


def rows(n, d, seed, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    y = (X @ rng.normal(size=d) + rng.normal(size=n) > 0.5).astype(int)
    y[:classes] = np.arange(classes)
    return X, y


def objective(model, X, y, cost):
    w = np.append(model.coef_[0], model.intercept_)
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ model.coef_[0] + model.intercept_[0]))
    return 0.5 * w @ w + cost @ slack**2


@given(
    n=st.integers(4, 80),
    d=st.integers(1, 12),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    weight=st.sampled_from([None, "balanced", {0: 0.2, 1: 3.0}]),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=60, deadline=None)
def test_no_point_is_lower_than_the_one_that_is_found(n, d, C, weight, seed):
    X, y = rows(n, d, seed)
    ours = NewtonSVC(C=C, class_weight=weight).fit(X, y)
    theirs = LinearSVC(C=C, class_weight=weight, dual=False, tol=1e-10, max_iter=10_000)
    theirs.fit(X, y)
    shares = {None: (1.0, 1.0), "balanced": n / 2 / np.bincount(y)}
    shares = weight if isinstance(weight, dict) else shares[weight]
    cost = C * np.array([shares[c] for c in y])
    assert objective(ours, X, y, cost) <= objective(theirs, X, y, cost) * (1 + 1e-9)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert ours.n_iter_ < 50


def test_two_rows_by_hand():
    # min (w^2 + b^2) / 2 + 2 (1 - w)^2: the rows -1 and 1 have the same slack 1 - w, and b = 0.
    model = NewtonSVC().fit([[-1.0], [1.0]], [0, 1])
    assert model.coef_[0, 0] == pytest.approx(0.8)
    assert model.intercept_[0] == pytest.approx(0.0)


def test_a_start_changes_the_steps_and_not_the_plane():
    X, y = rows(400, 6, 1)
    cold = NewtonSVC().fit(X, y)
    model = NewtonSVC(warm_start=True).fit(X[:380], y[:380])
    warm = model.fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert np.allclose(warm.coef_, cold.coef_, atol=1e-6)
    other = model.fit(X[:, :3], y)  # of another shape: from zero
    assert np.allclose(other.coef_, NewtonSVC().fit(X[:, :3], y).coef_, atol=1e-12)


def test_one_far_row_does_not_keep_it_from_ending():
    X, y = rows(500, 8, 2)
    y[:] = 0
    X[0], y[0] = 1e6, 1
    assert NewtonSVC().fit(X, y).n_iter_ < 20


def test_several_classes_are_told_one_from_the_rest():
    X, _ = rows(300, 5, 3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    ours = NewtonSVC().fit(X, y)
    theirs = LinearSVC(dual=False, tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_one_class_is_refused():
    with pytest.raises(DataError, match="1 class: 3"):
        NewtonSVC().fit([[0.0], [1.0]], [3, 3])


@parametrize_with_checks([NewtonSVC()])
def test_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(8))
def test_scales_of_rows_and_columns_do_not_stop_it_early(seed):
    """Scaled by 1e5, some stopped at up to 50 times the least objective."""
    rng = np.random.default_rng(seed)
    X, y = rows(150, 3, seed)
    X, y = X / np.abs(X).max(axis=0), y
    scale = [1e5 * np.ones((1, 3)), np.array([[1e5, 1.0, 1.0]])][seed % 2]
    cost = np.full(len(X), 10.0 ** rng.integers(-3, 3))
    found = NewtonSVC(C=cost[0]).fit(X * scale, y)
    # Column scaling is another penalty: minimised over the unscaled rows, it is the same problem.
    value = objective(found, X * scale, y, cost)
    start = np.append(found.coef_[0] * scale[0], found.intercept_)
    penalty = np.append(1 / scale[0] ** 2 * np.ones(3), 1.0)
    extended, sign = np.column_stack([X, np.ones(len(X))]), np.where(y == 1, 1.0, -1.0)

    def aim(w):
        left = np.maximum(0, 1 - sign * (extended @ w))
        return 0.5 * penalty @ w**2 + cost @ left**2, penalty * w - 2 * extended.T @ (
            cost * sign * left
        )

    least = min(minimize(aim, w, jac=True, options={"gtol": 1e-12}).fun for w in (start, 0 * start))
    assert value <= least * (1 + 1e-6)


def test_steps_that_end_too_soon_are_told():
    X, y = rows(200, 5, 0)
    with pytest.warns(ConvergenceWarning, match="no minimum after 1 Newton steps"):
        NewtonSVC(max_iter=1).fit(X, y)


def test_scales_too_far_apart_are_refused():
    X, y = rows(50, 3, 0)
    X = np.column_stack([X[:, 0] * 1e12, X[:, 0] * 1e12, X[:, 1]])
    with pytest.raises(DataError, match="scales"):
        NewtonSVC(C=100.0).fit(X, y)
