"""Riley's minimum sample size, against the published example of the R package pmsampsize 1.1."""

import pytest

from deepcac.errors import ConfigError
from deepcac.scoring.sample_size import largest_r2, sample_size


def test_the_published_example():
    """24 parameters, Cox-Snell R2 .288, prevalence .174: 623, 662 and 221 patients."""
    found = sample_size(24, 0.174, 0.288)
    assert (found.shrinkage, found.optimism, found.overall) == (623, 662, 221)
    assert found.needed == max(662, found.average_error)


def test_the_largest_r2_of_a_half_is_three_quarters():
    assert largest_r2(0.5) == pytest.approx(0.75)


def test_fifteen_percent_of_the_largest_is_the_default():
    assert sample_size(10, 0.2).r2 == pytest.approx(0.15 * largest_r2(0.2))


def test_more_parameters_need_more_patients_and_the_average_error_ends_at_thirty():
    sizes = [sample_size(parameters, 0.1) for parameters in (5, 20, 30, 31)]
    assert [one.shrinkage for one in sizes] == sorted(one.shrinkage for one in sizes)
    assert sizes[2].average_error > sizes[0].average_error
    assert sizes[3].average_error is None


@pytest.mark.parametrize(
    ("parameters", "share", "r2"), [(0, 0.2, 0.1), (5, 1.0, 0.1), (5, 0.5, 0.8)]
)
def test_impossible_numbers_are_refused(parameters, share, r2):
    with pytest.raises(ConfigError):
        sample_size(parameters, share, r2)


@pytest.mark.parametrize("share", [0.01, 0.2, 0.37])
def test_an_outcome_and_its_opposite_need_as_many_patients(share):
    assert sample_size(10, share).needed == sample_size(10, 1 - share).needed
