import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.errors import DataError
from deepcac_study.experiments.relatives.decomposition_runs import bias_variance


def test_by_hand():
    """Two rows of class 0, three samples: always 1; then 0, 0, 1.

    Row 1: error 1, shares (0, 1), no variance. Row 2: error 1/3, shares (2/3, 1/3), variance
    (1 - 5/9) / 2 = 2/9, and 3/2 of that without bias.
    """
    found = bias_variance([[1, 0], [1, 0], [1, 1]], [0, 0])
    assert found.error == pytest.approx(4 / 6)
    assert found.variance == pytest.approx((0 + 3 / 2 * 2 / 9) / 2)
    assert found.bias == pytest.approx(4 / 6 - 1 / 6)


def test_the_same_answers_are_all_bias_and_coin_tosses_all_variance():
    truth = np.zeros(10)
    assert bias_variance(np.ones((5, 10)), truth) == (1.0, 1.0, 0.0)
    tosses = bias_variance(np.random.default_rng(0).integers(0, 2, (400, 2000)), np.zeros(2000))
    assert tosses.variance == pytest.approx(0.25, abs=1e-3)
    # The average of the tosses is half wrong: (1 / 2) (1 / 4 + 1 / 4).
    assert tosses.bias == pytest.approx(0.25, abs=2e-3)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_parts_are_those_of_the_formula(seed, samples):
    rng = np.random.default_rng(seed)
    predicted, truth = rng.integers(0, 3, (samples, 8)), rng.integers(0, 3, 8)
    found = bias_variance(predicted, truth)
    bias = spread = 0.0
    for row, right in zip(predicted.T, truth, strict=True):
        shares = [np.mean(row == c) for c in range(3)]
        bias += sum(((c == right) - share) ** 2 for c, share in enumerate(shares)) / 16
        spread += (1 - sum(share**2 for share in shares)) / 16
    assert found.error == pytest.approx(bias + spread)
    assert found.variance == pytest.approx(spread * samples / (samples - 1))


def test_it_does_not_depend_on_the_number_of_samples():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 20_000)
    found = [
        bias_variance(np.where(rng.random((r, 20_000)) < 0.7, truth, 0), truth) for r in (2, 40)
    ]
    assert found[0].variance == pytest.approx(found[1].variance, abs=0.01)


def test_one_sample_is_too_few():
    with pytest.raises(DataError, match="two samples"):
        bias_variance([[0, 1]], [0, 1])
