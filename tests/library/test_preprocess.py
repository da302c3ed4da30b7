import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from deepcac.feature_matrix import FeatureMatrix
from deepcac.preprocess import SequenceScaler, TableScaler, standardise_alone
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

nan = np.nan


def test_scaler_by_hand():
    train = np.array([[1.0, nan, 5.0], [3.0, 2.0, 5.0], [nan, 4.0, 5.0]])
    scaler = TableScaler().fit(train)
    # Medians 2 and 3; flags for both columns; the constant third column is left out.
    assert list(scaler.get_feature_names_out(["a", "b", "c"])) == [
        "a",
        "b",
        "a_missing",
        "b_missing",
    ]
    out = scaler.transform(np.array([[nan, 3.0, 9.0]]))
    sd = np.sqrt(2 / 3)
    flag_mean, flag_sd = 1 / 3, np.sqrt(2) / 3
    np.testing.assert_allclose(
        out, [[0.0 / sd, 0.0, (1 - flag_mean) / flag_sd, (0 - flag_mean) / flag_sd]], atol=1e-12
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 6))
def test_scaled_training_rows_have_zero_mean_unit_variance(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, 10, size=(n, d))
    X[rng.random((n, d)) < 0.3] = nan
    out = TableScaler().fit(X).transform(X)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(out.std(axis=0), 1, atol=1e-9)


def test_the_test_part_does_not_change_the_scaler():
    rng = np.random.default_rng(0)
    features = FeatureMatrix(
        np.arange(20), np.arange(20) % 2, rng.normal(size=(20, 3)), ("a", "b", "c")
    )
    split = Split(0, np.arange(10), np.arange(10, 14), np.arange(14, 20))
    setting = Setting("toy", 2, SOUND, "deep")
    before = make_task(features, split, setting)
    features.X[14:] += 100
    after = make_task(features, split, setting)
    np.testing.assert_array_equal(before.X_train, after.X_train)
    np.testing.assert_array_equal(before.X_validation, after.X_validation)
    published = make_task(features, split, Setting("toy", 2, Protocol(frozenset({"D4"})), "deep"))
    np.testing.assert_allclose(published.X_test.mean(axis=0), 0, atol=1e-12)


def test_cac_learns_from_training_and_validation_rows():
    features = FeatureMatrix(np.arange(8), np.arange(8) % 2, np.arange(8.0)[:, None] ** 2, ("a",))
    split = Split(0, np.array([0, 3]), np.array([1, 2]), np.array([4, 5, 6, 7]))
    task = make_task(features, split, Setting("toy", 2, SOUND, "cac"))
    assert task.y_train.tolist() == [0, 1, 0, 1]
    assert len(task.X_validation) == 0
    assert task.X_train[0, 0] < task.X_train[-1, 0]


def test_published_sets_are_standardised_one_by_one():
    X = np.array([[0.0], [2.0], [100.0], [300.0], [nan], [1.0]])
    group = np.array(["a", "a", "b", "b", "a", "b"])
    features = FeatureMatrix(np.arange(6), np.array([0, 1, 0, 1, 0, 1]), X, ("x",), group)
    split = Split(108, np.array([0, 1, 2, 3]), np.array([], int), np.array([4, 5]))
    setting = Setting("cic", 2, Protocol(frozenset({"A4"})), "cac")
    task = make_task(features, split, setting)
    # Each set alone: a is (-1, 1); b is (100, 300, 1) standardised. Then the part is, again.
    b = (np.array([100.0, 300.0]) - 401 / 3) / np.std([100, 300, 1])
    pooled = np.r_[-1.0, 1.0, b]
    np.testing.assert_allclose(task.X_train[:, 0], (pooled - pooled.mean()) / pooled.std())


def test_groups_of_other_sources_are_not_standardised_one_by_one():
    X = np.array([[0.0], [2.0], [100.0], [300.0], [nan], [1.0]])
    split = Split(108, np.array([0, 1, 2, 3]), np.array([], int), np.array([4, 5]))
    hospitals = FeatureMatrix(
        np.arange(6), np.array([0, 1, 0, 1, 0, 1]), X, ("x",), np.array(list("AABBAB"))
    )
    setting = Setting("sepsis_signature", 2, Protocol(frozenset({"A4"})), "cac")
    task = make_task(hospitals, split, setting)
    np.testing.assert_allclose(task.X_train, (X[:4] - X[:4].mean()) / X[:4].std())


@pytest.mark.parametrize(
    ("dataset", "scaled"), [("cic_los", False), ("demo_cic_los", False), ("cic", True)]
)
def test_the_published_length_of_stay_task_is_not_scaled(dataset, scaled):
    X = np.array([[1.0], [3.0], [nan], [5.0]])
    features = FeatureMatrix(np.arange(4), np.array([0, 1, 0, 1]), X, ("x",))
    split = Split(0, np.array([0, 1]), np.array([2]), np.array([3]))
    for labels in ((), ("L3",)):
        setting = Setting(dataset, 2, Protocol(frozenset(labels)), "deep")
        task = make_task(features, split, setting)
        as_they_are = bool(labels) and not scaled
        assert task.X_train.tolist() == ([[1.0], [3.0]] if as_they_are else [[-1.0], [1.0]])
        assert task.X_validation.tolist() == [[0.0]]


def test_sequences_are_scaled_by_measured_values_and_zero_where_missing():
    X = np.array([[[1.0, nan], [3.0, nan]], [[nan, nan], [5.0, nan]]])
    scaler = SequenceScaler.fit(X)
    out = scaler.transform(X)
    sd = np.sqrt(8 / 3)
    np.testing.assert_allclose(out[..., 0], [[-2 / sd, 0], [0, 2 / sd]])
    assert (out[..., 1] == 0).all()


def test_sequence_columns_are_read_variable_by_variable():
    names = tuple(f"{v}@{h:02d}" for v in ("hr", "map", "temp") for h in range(2))
    features = FeatureMatrix(np.arange(2), np.array([0, 1]), np.arange(12.0).reshape(2, 6), names)
    assert features.sequences().shape == (2, 2, 3)
    np.testing.assert_array_equal(features.sequences()[0], [[0, 2, 4], [1, 3, 5]])


def test_standardise_alone_keeps_constant_and_empty_columns_finite():
    out = standardise_alone(np.array([[1.0, nan], [1.0, nan]]))
    np.testing.assert_array_equal(out, 0)


def test_feature_matrix_names_its_faults():
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="row id 4 occurs twice"):
        FeatureMatrix(np.array([4, 4]), np.array([0, 1]), X, ("a",))
    with pytest.raises(ValueError, match="infinite"):
        FeatureMatrix(np.array([4, 5]), np.array([0, 1]), X + np.inf, ("a",))
    with pytest.raises(ValueError, match="label"):
        FeatureMatrix(np.array([4, 5]), np.array([0, 1]), X, ("label",))


@parametrize_with_checks([TableScaler()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("unit", [1e-13, 1.0, 1e13])
def test_the_unit_of_a_column_does_not_matter(unit):
    column = unit * np.array([[1.0], [2.0], [4.0]])
    scaled = TableScaler().fit_transform(column)
    assert scaled.ravel() == pytest.approx([-1.0690, -0.2673, 1.3363], abs=1e-4)


@pytest.mark.parametrize("value", [0.1, 1e-13, 1e13 / 3])
def test_a_constant_column_is_dropped_in_any_unit(value):
    X = np.column_stack([np.full(1000, value), np.arange(1000.0)])
    assert TableScaler().fit(X).kept_.tolist() == [False, True]
    scaler = SequenceScaler.fit(X.reshape(100, 10, 2))
    assert scaler.scale[0] == 1.0
    assert scaler.scale[1] == pytest.approx(X[:, 1].std())
