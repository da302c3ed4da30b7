"""Trees as arrays say what their library says, and only possible ones are taken."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier

from deepcac.errors import DataError
from deepcac.tree_arrays import TreeArrays, read_booster, read_histogram_trees

lightgbm = pytest.importorskip("lightgbm")


def table(seed, n=400, d=6):
    """Rows with missing values, exact and tiny zeros, ties and infinite values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    X[:, 1] = rng.integers(-2, 3, n)
    X[rng.random(X.shape) < 0.1] = 0.0
    X[rng.random(X.shape) < 0.02] = 1e-36
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.integers(0, 3, n)


@pytest.mark.parametrize("seed", range(12))
def test_arrays_say_what_lightgbm_says(seed):
    X, y = table(seed)
    n_outputs = (1, 3)[seed % 2]
    settings = {
        "objective": "multiclass" if n_outputs == 3 else "binary",
        "num_leaves": 3 + 4 * seed,
        "min_data_in_leaf": 2,
        "use_missing": seed % 3 != 1,
        "zero_as_missing": seed % 3 == 2,
        "verbose": -1,
        "num_threads": 1,
    } | ({"num_class": 3} if n_outputs == 3 else {})
    codes = y if n_outputs == 3 else y > 0
    booster = lightgbm.train(settings, lightgbm.Dataset(X, codes), 15)
    trees = read_booster(booster.model_to_string()).check(X.shape[1], n_outputs)
    fresh = np.vstack([table(seed + 100)[0], np.full((1, 6), np.inf), np.full((1, 6), -np.inf)])
    said = booster.predict(fresh, raw_score=True).reshape(len(fresh), n_outputs)
    assert np.abs(trees.outputs(fresh, n_outputs) - said).max() < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_arrays_say_what_scikit_learn_says(seed):
    X, y = table(seed)
    codes, n_outputs = (y, 3) if seed % 2 else ((y > 0).astype(int), 1)
    model = HistGradientBoostingClassifier(
        max_iter=12, max_leaf_nodes=3 + 3 * seed, min_samples_leaf=2, early_stopping=False
    ).fit(X, codes)
    trees = read_histogram_trees(model).check(X.shape[1], n_outputs)
    fresh = np.vstack([table(seed + 100)[0], np.full((1, 6), np.nan)])
    said = model.predict_proba(fresh)
    outputs = trees.outputs(fresh, n_outputs)
    risks = softmax(outputs if n_outputs == 3 else np.hstack([0 * outputs, outputs]), axis=1)
    assert np.abs(risks - said).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_plain_thresholds_part_rows_as_before_and_are_no_value(seed):
    X, y = table(seed)
    X = np.where(np.abs(X) < 1e-30, np.nan, X)
    settings = {"objective": "binary", "num_leaves": 8, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y > 0), 20)
    trees = read_booster(booster.model_to_string())
    plain = trees.plain(X).check(6, 1)
    assert np.array_equal(trees.outputs(X, 1), plain.outputs(X, 1))
    for feature, threshold in zip(plain.feature, plain.threshold, strict=True):
        assert not (X[:, feature] == threshold).any()
    assert len(str(plain.threshold[0])) < 9


def test_patients_of_leaves_are_counted_once():
    rows = np.array([[-1.0, 1.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 2.0], [2.0, 0.0]])
    assert two_splits().patients(rows, np.array([5, 7, 5, 5, 9])).tolist() == [1, 1, 2]


def test_a_tree_without_a_split_is_its_leaf():
    X, _ = table(0)
    booster = lightgbm.train(
        {"objective": "binary", "verbose": -1, "min_data_in_leaf": 400},
        lightgbm.Dataset(X, np.arange(400) % 2),
        3,
    )
    trees = read_booster(booster.model_to_string()).check(6, 1)
    assert np.allclose(trees.outputs(X, 1)[:, 0], booster.predict(X, raw_score=True))


def two_splits() -> TreeArrays:
    """x0 <= 0 ? (x1 <= 1 ? 10 : 20) : 30, missing x0 goes right."""
    ints = {
        "feature": [0, 1],
        "left": [1, -1],
        "right": [-3, -2],
        "missing": [2, 0],
        "default": [0, 0],
    }
    own = {name: np.array(values) for name, values in ints.items()}
    floats = {"threshold": np.array([0.0, 1.0]), "leaf": np.array([10.0, 20.0, 30.0])}
    return TreeArrays(root=np.array([0]), **own, **floats)


def test_a_tree_by_hand():
    rows = np.array([[-1.0, 1.0], [-1.0, 2.0], [1.0, 0.0], [np.nan, 0.0], [0.0, np.nan]])
    assert two_splits().check(2, 1).outputs(rows, 1)[:, 0].tolist() == [10, 20, 30, 30, 10]


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("left", [0, -1], "twice or never"),
        ("left", [1, 10**12], "twice or never"),
        ("right", [-2, -3], ""),
        ("root", [1], "twice or never"),
        ("root", [], "shape|trees for"),
        ("feature", [0, 2], "no column, of 2"),
        ("feature", [0, -1], "no column"),
        ("missing", [3, 0], "no kind"),
        ("default", [0, 2], "no kind"),
        ("threshold", [0.0, np.nan], "not finite"),
        ("threshold", [0, 1], "int64"),
        ("leaf", [10.0, 20.0], "twice or never"),
        ("leaf", [10.0, 20.0, np.inf], "not finite"),
    ],
)
def test_an_impossible_tree_is_refused(name, values, message):
    kind = np.int64 if not values else None
    trees = two_splits()._replace(**{name: np.array(values, dtype=kind)})
    if not message:
        assert trees.check(2, 1).outputs(np.array([[1.0, 0.0]]), 1)[0, 0] == 20.0
        return
    with pytest.raises(DataError, match=message):
        trees.check(2, 1)


def test_splits_that_lead_to_each_other_are_refused():
    trees = two_splits()
    cycle = trees._replace(root=np.array([-1]), left=np.array([1, 0]), right=np.array([-3, -2]))
    with pytest.raises(DataError, match="leads back"):
        cycle.check(2, 1)
