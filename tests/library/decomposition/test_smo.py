import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from deepcac.decomposition import PairwiseLinearSVC
from deepcac.decomposition.smo_kernel import cached_products, product_row, solve
from deepcac.errors import ConfigError


def objective(plane, points, sign, C):
    margins = sign * (points @ plane[:-1] + plane[-1])
    return 0.5 * plane[:-1] @ plane[:-1] + C * np.maximum(0.0, 1.0 - margins).sum()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(1, 8), st.sampled_from([0.1, 1, 10]))
def test_solution_is_that_of_libsvm(seed, n, d, C):
    rng = np.random.default_rng(seed)
    sign = np.where(rng.permutation(n) < max(1, n // 3), 1.0, -1.0)
    points = rng.random((n, d)) + 0.3 * sign[:, None]
    plane = np.empty(d + 1)
    plane[-1] = solve(points, sign, C, 1e-6, 1_000_000, plane[:-1])
    theirs = SVC(kernel="linear", C=C, tol=1e-6).fit(points, sign)
    reference = np.append(theirs.coef_[0], theirs.intercept_)
    ours, known = (objective(p, points, sign, C) for p in (plane, reference))
    assert ours == pytest.approx(known, rel=1e-4)
    assert plane[:-1] == pytest.approx(reference[:-1], abs=1e-3)


def test_two_points_by_hand():
    # Points 0 and 2 on a line: w = 1 and b = -1 reach both margins; C = 1 is enough for that.
    plane = np.empty(2)
    points, sign = np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])
    plane[1] = solve(points, sign, 1.0, 1e-9, 100, plane[:1])
    assert plane == pytest.approx([1.0, -1.0])


def test_products_leave_the_cache_and_come_back():
    X = np.random.default_rng(0).random((5, 3))
    rows, slot, owner = np.empty((2, 5)), np.full(5, -1), np.full(2, -1)
    for turn, i in enumerate([0, 1, 2, 0, 3, 2]):
        at = cached_products(X, i, rows, slot, owner, turn % 2)
        assert rows[at] == pytest.approx(X @ X[i])
        assert owner[at] == i
    expected = np.empty(5)
    product_row(X, 2, expected)
    assert expected == pytest.approx(X @ X[2])


def test_classes_vote_as_in_libsvm():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 6, 400)
    X = rng.random((400, 5)) + 0.3 * rng.random((6, 5))[y]
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    theirs = SVC(kernel="linear", tol=1e-6).fit(scaled, y)
    ours = PairwiseLinearSVC(tolerance=1e-6).fit(X, y)
    assert (ours.predict(X) == theirs.predict(scaled)).mean() > 0.995
    assert np.array_equal(ours.decision_function(X).argmax(axis=1).shape, (400,))


def test_coordinates_of_a_table():
    X = pd.DataFrame(
        {
            "n": [2.0, 4.0, np.nan, 6.0],
            "two": pd.Categorical(["p", "q", "q", None]),
            "three": pd.Categorical(["a", "b", "c", "b"]),
            "one": pd.Categorical(["k", "k", "k", "k"]),
        }
    )
    model = PairwiseLinearSVC().fit(X, [0, 0, 1, 1])
    points = model._design.points(model._columns.encode(X))
    assert points.tolist() == [
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.5, 1.0, 0.0, 1.0, 0.0],
        [0.5, 1.0, 0.0, 0.0, 1.0],
        [1.0, 1.0, 0.0, 1.0, 0.0],
    ]


def test_cost_must_be_positive():
    with pytest.raises(ConfigError, match="must be above 0"):
        PairwiseLinearSVC(C=0.0).fit(np.eye(2), [0, 1])
