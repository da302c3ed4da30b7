import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.errors import DataError
from deepcac.similarity import ClassMetric
from deepcac.similarity.class_metric import stratified_subsets


@pytest.mark.slow
@parametrize_with_checks([ClassMetric(3, 30)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def planted(n=400, seed=0):
    """Two classes that lie apart in the third column only, which is not the loudest."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 1.0]
    X[:, 2] += 2.0 * y - 1.0
    return X, y


def test_the_column_that_tells_the_classes_apart_has_the_weight():
    X, y = planted()
    model = ClassMetric(random_state=0).fit(X, y)
    assert model.weights_.sum() == pytest.approx(4.0)
    assert model.weights_.argmax() == 2
    assert model.weights_[2] > 3.0
    assert model.weights_.min() >= 0.0
    assert model.converged_
    assert model.loss_ < 20.0


def test_distances_are_those_of_the_metric():
    X, y = planted(100)
    model = ClassMetric(random_state=0).fit(X, y)
    Z = model.transform(X)
    gap = X[0] - X[1]
    assert ((Z[0] - Z[1]) ** 2).sum() == pytest.approx((model.weights_ * gap**2).sum())


def test_one_class_is_refused():
    X, _ = planted(50)
    with pytest.raises(DataError, match="one class"):
        ClassMetric().fit(X, np.ones(50))


def test_sets_have_the_class_shares_of_all():
    codes = np.repeat([0, 1], [300, 100])
    sets = stratified_subsets(codes, 10, 100, np.random.default_rng(0))
    assert len(sets) == 4
    assert sorted(np.concatenate(sets).tolist()) == list(range(400))
    assert [int(codes[own].sum()) for own in sets] == [25, 25, 25, 25]


def test_few_rows_are_one_set_and_a_set_of_one_class_is_left_out():
    (only,) = stratified_subsets(np.array([0, 1, 1]), 10, 100, np.random.default_rng(0))
    assert len(only) == 3
    codes = np.zeros(400, dtype=np.int64)
    codes[:2] = 1
    sets = stratified_subsets(codes, 4, 100, np.random.default_rng(0))
    assert len(sets) == 2
    assert all(codes[own].sum() == 1 for own in sets)


def test_a_rare_class_that_was_not_drawn_is_added_to_one_set():
    codes = np.zeros(10_000, dtype=np.int64)
    codes[7] = 1
    for seed in range(5):
        (rows,) = stratified_subsets(codes, 2, 100, np.random.default_rng(seed))
        assert len(np.unique(rows)) == len(rows) == 100
        assert 7 in rows
