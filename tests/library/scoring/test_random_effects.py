"""Pooling sites: a case by hand, numbers of statsmodels, and what must hold for all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deepcac.scoring.random_effects import pool_sites

# statsmodels 0.15.0, combine_effects(method_re="iterated", use_t=True): effects, errors, tau
# squared, mean and error of "random effect" (that of Hartung and Knapp differs where tau is 0).
STATSMODELS = [
    (
        [0.012, -0.004, 0.031, 0.0, 0.018], [0.006, 0.009, 0.011, 0.004, 0.02],
        0.0001021888038824759, 0.008677425016855995, 0.006016224515697863,
    ),
    ([0.01, 0.011, 0.009], [0.01, 0.02, 0.015], 0.0, 0.009885245901639344, 0.007682212795973758),
    (
        [-0.05, 0.08, 0.02, 0.15], [0.02, 0.01, 0.03, 0.04],
        0.0063446447447263925, 0.04695869708176001, 0.041983566166115795,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("y", "errors", "tau2", "mean", "error"), STATSMODELS)
def test_it_agrees_with_statsmodels(y, errors, tau2, mean, error):
    found = pool_sites(y, errors)
    assert found.tau**2 == pytest.approx(tau2, rel=1e-4, abs=1e-12)
    assert found.mean == pytest.approx(mean, rel=1e-4)
    assert found.error == pytest.approx(error, rel=1e-5)
    half = stats.t.ppf(0.975, len(y) - 2) * np.hypot(found.tau, found.error)
    assert found.new_high - found.mean == pytest.approx(half)


def test_two_sites_by_hand():
    """Mean .05; squares .005 / (.001 + tau squared) are 1 at .004; the error is .05."""
    found = pool_sites([0.0, 0.1], [0.001**0.5] * 2)
    assert (found.mean, found.freedom) == (pytest.approx(0.05), 1)
    assert found.tau**2 == pytest.approx(0.004)
    assert found.error == pytest.approx(0.05)
    assert np.isnan([found.new_low, found.new_high]).all()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(0.002, 0.1)), min_size=3, max_size=8),
    st.floats(-0.1, 0.1),
)
def test_what_holds_for_all(sites, shift):
    y, errors = map(np.array, zip(*sites, strict=True))
    found, moved = pool_sites(y, errors), pool_sites(y + shift, errors)
    assert y.min() - 1e-12 <= found.mean <= y.max() + 1e-12
    assert moved.mean == pytest.approx(found.mean + shift, abs=1e-6)
    assert found.error >= (1 / errors**2).sum() ** -0.5 - 1e-12
    weight = 1 / (errors**2 + found.tau**2)
    squares = weight @ (y - np.average(y, weights=weight)) ** 2
    assert squares <= len(y) - 1 + 1e-6
    assert found.tau == 0 or squares == pytest.approx(len(y) - 1, rel=1e-6)
