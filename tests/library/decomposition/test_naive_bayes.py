import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from deepcac.decomposition import MixedNaiveBayes
from deepcac.decomposition.mixtures.naive_bayes import spacing
from deepcac.errors import DataError


def phi(z):
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def small_table():
    X = pd.DataFrame(
        {
            "x": [1.0, 2.0, 3.0, 7.0, 9.0, np.nan],
            "c": pd.Categorical(["a", "b", None, "b", "b", "a"], categories=["a", "b", "z"]),
        }
    )
    return X, np.array(["low", "low", "low", "high", "high", "high"])


def test_probabilities_by_hand():
    X, y = small_table()
    model = MixedNaiveBayes().fit(X, y)
    assert model.widths_.tolist() == [2.0]  # (9 - 1) / 4 steps between five values
    # Rounded to the width: 0 (1 is halfway, to the even), 2, 4 of low; 8 (7, halfway), 8 of high.
    assert model.densities_[1].mean[0] == pytest.approx(2.0)
    assert model.densities_[1].sd[0] == pytest.approx(math.sqrt(8 / 3))
    assert model.densities_[0].sd[0] == pytest.approx(2.0 / 6.0)  # both 8: the least deviation
    new = pd.DataFrame({"x": [6.2], "c": pd.Categorical(["a"])})
    sd = math.sqrt(8 / 3)
    low = 4 / 8 * (phi((7 - 2) / sd) - phi((5 - 2) / sd)) * (1 + 1) / (2 + 3)
    high = 4 / 8 * (phi((7 - 8) * 3) - phi((5 - 8) * 3)) * (1 + 1) / (3 + 3)
    expected = [high / (high + low), low / (high + low)]
    assert model.predict_proba(new)[0] == pytest.approx(expected, rel=1e-9)


def test_missing_values_and_unknown_levels_are_skipped():
    X, y = small_table()
    model = MixedNaiveBayes().fit(X, y)
    nothing = pd.DataFrame({"x": [np.nan], "c": pd.Categorical(["never seen"])})
    assert model.predict_proba(nothing)[0] == pytest.approx([0.5, 0.5])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_fine_numbers_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 3)) + y[:, None]
    ours, theirs = MixedNaiveBayes().fit(X, y), GaussianNB(var_smoothing=0.0)
    theirs.fit(np.rint(X / ours.widths_) * ours.widths_, y)
    near = X[np.abs(X).max(axis=1) < 3]
    # The mass of an interval against the density at its middle; priors of n + 1 against n.
    assert np.abs(ours.predict_proba(near) - theirs.predict_proba(near)).max() < 0.02


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_categories_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    codes = np.vstack([rng.integers(0, 4, (60, 3)), np.repeat(np.arange(4), 3).reshape(4, 3)])
    y = rng.permutation(np.arange(64) % 2)  # equal classes: the same prior
    X = pd.DataFrame({f"c{f}": pd.Categorical(codes[:, f]) for f in range(3)})
    theirs = CategoricalNB(alpha=1.0).fit(codes, y)
    ours = MixedNaiveBayes().fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(codes))


def test_spacing_of_one_value():
    assert spacing(np.array([[3.0, np.nan], [3.0, np.nan]])).tolist() == [0.01, 0.01]


def test_plain_array_of_a_fitted_table():
    X, y = small_table()
    model = MixedNaiveBayes().fit(X, y)
    assert np.array_equal(model.predict_proba(X.to_numpy(dtype=object)), model.predict_proba(X))
    turned = X[["c", "x"]]
    assert np.array_equal(model.predict_proba(turned), model.predict_proba(X))


def test_errors_name_the_column():
    X, y = small_table()
    model = MixedNaiveBayes().fit(X, y)
    with pytest.raises(DataError, match="'x' is missing"):
        model.predict(X[["c"]])
    with pytest.raises(DataError, match="'x' holds inf"):
        model.predict(X.assign(x=np.inf))
    with pytest.raises(DataError, match="'t'"):
        MixedNaiveBayes().fit(X.assign(t="word"), y)
    with pytest.raises(DataError, match=r"such as 0, are no texts.*astype\(str\)"):
        MixedNaiveBayes().fit(X.set_axis([0, 1], axis=1), y)
    with pytest.raises(ValueError, match="Negative values"):
        MixedNaiveBayes().fit(X, y, sample_weight=np.full(len(y), -1.0))
