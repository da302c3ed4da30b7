import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest

from deepcac.scoring.statistics import corrected_error, corrected_t_test, holm, reliability, wilson


def test_corrected_t_test_by_hand():
    # mean 0.02, variance 1e-4, J = 3, n_test / n_train = 1/2: error = sqrt((1/3 + 1/2) 1e-4).
    result = corrected_t_test([0.01, 0.02, 0.03], n_train=200, n_test=100)
    error = np.sqrt(5 / 6) * 0.01
    assert result.mean == pytest.approx(0.02)
    assert result.t == pytest.approx(0.02 / error)
    assert result.p == pytest.approx(2 * stats.t.sf(0.02 / error, 2))
    assert result.high == pytest.approx(0.02 + 4.302652729911275 * error)


def test_corrected_test_is_wider_than_the_plain_one():
    differences = [0.01, 0.03, -0.01, 0.02, 0.04]
    plain = stats.ttest_1samp(differences, 0)
    assert corrected_t_test(differences, n_train=75, n_test=25).p > plain.pvalue
    assert corrected_t_test(differences, n_train=75, n_test=0).p == pytest.approx(plain.pvalue)


@pytest.mark.parametrize("difference", [0.0, 0.1, 0.5])
def test_where_nothing_varies_nothing_is_tested(difference):
    result = corrected_t_test([difference] * 3, n_train=3, n_test=1)
    assert result.mean == pytest.approx(difference)
    assert np.isnan([result.low, result.high, result.t, result.p]).all()


def test_one_split_has_no_test():
    result = corrected_t_test([0.1], n_train=3, n_test=1)
    assert result.mean == 0.1
    assert np.isnan([result.low, result.high, result.t, result.p]).all()


def test_holm_by_hand():
    # Ordered .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, then the running maximum.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_leaves_out_tests_not_made():
    adjusted = holm([0.01, np.nan, 0.04])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_and_keeps_order(p_values):
    adjusted = holm(p_values)
    assert (adjusted >= np.array(p_values) - 1e-15).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_reliability_by_hand():
    label = np.array([0, 1, 1, 1])
    predicted, observed, count = reliability(label, np.array([0.1, 0.2, 0.9, 1.0]), bins=2)
    assert predicted == pytest.approx([0.15, 0.95])
    assert observed == pytest.approx([0.5, 1.0])
    assert count.tolist() == [2, 2]


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (3, 10), (10, 10), (499, 1000)])
def test_wilson_is_scipys(hits, n):
    low, high = wilson(np.array([hits / n]), np.array([n]))
    reference = binomtest(hits, n).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((reference.low, reference.high))
    assert low[0] <= hits / n <= high[0]


def test_one_value_has_no_error_and_no_warning():
    assert np.isnan(corrected_error(np.array([0.3]), 1 / 3))
