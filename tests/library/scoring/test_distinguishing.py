"""The features that set a cluster apart, by hand."""

import numpy as np
import pytest

from deepcac.scoring.subtypes import PERFECT, distinguishing_features


def test_a_column_that_splits_perfectly_comes_first():
    cluster = np.array([0, 0, 0, 1, 1, 1])
    X = np.column_stack([[1.0, 2, 3, 2, 3, 4], cluster, np.ones(6)])
    found = distinguishing_features(X, cluster, ("age", "sex", "constant"))
    assert [one["feature"] for one in found] == ["sex", "age", "sex", "age"]
    assert [one["effect"] for one in found] == [-PERFECT, -1.0, PERFECT, 1.0]


def test_an_effect_is_the_difference_in_pooled_deviations():
    cluster = np.array([0, 0, 1, 1])
    found = distinguishing_features(np.array([[0.0], [2.0], [5.0], [9.0]]), cluster, ("x",))
    assert found[0]["effect"] == pytest.approx((1 - 7) / np.sqrt((2 + 8) / 2), abs=1e-6)
