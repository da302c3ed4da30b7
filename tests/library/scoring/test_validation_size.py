"""The size of a validation study, against pmvalsampsize and by hand."""

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import norm

from deepcac.errors import ConfigError
from deepcac.scoring.validation_size import validation_size


@pytest.mark.parametrize(
    ("mean", "sd", "auroc", "threshold", "wanted"),
    [
        (-1.6, 0.8, 0.7, 0.2, (1593, 5102, 663, 872)),
        (-3.0, 1.0, 0.75, 0.08, (5162, 7641, 1405, 1963)),
        (0.2, 1.2, 0.8, 0.5, (330, 2209, 304, 414)),
    ],
)
def test_it_is_that_of_pmvalsampsize(mean, sd, auroc, threshold, wanted):
    """pmvalsampsize 0.2.1 for Python, which simulates a million normal log odds and rounds errors.

    Our log odds are the quantiles of the same distribution.
    """
    odds = norm.ppf((np.arange(100_000) + 0.5) / 100_000) * sd + mean
    found = validation_size(odds, auroc, threshold)
    ours = (found.ratio, found.slope, found.statistic, found.benefit)
    assert ours == pytest.approx(wanted, rel=0.004)
    assert found.needed == max(ours)


def test_observed_by_expected_by_hand():
    """Half of the patients have the event: the log of O/E has a variance of 1 / n."""
    odds = logit(np.array([0.2, 0.8]))
    found = validation_size(odds, 0.8)
    error = np.log(np.sqrt(1.01) + 0.1) / 1.96  # exp(1.96 e) - exp(-1.96 e) = .2
    assert found.ratio == np.ceil(1 / error**2)
    assert found.events == np.ceil(found.needed / 2)
    assert found.benefit is None


@pytest.mark.parametrize("auroc", [0.998, 0.999, 0.9999, 1.0])
def test_an_almost_perfect_ranking_needs_the_fewest_patients_for_its_auroc(auroc):
    odds = np.r_[np.full(50, -4.0), np.full(50, 4.0)] + np.linspace(0, 1, 100)
    found = validation_size(odds, auroc)
    assert 4 <= found.statistic < 10
    assert found.needed == max(found.ratio, found.slope) > 100


def test_a_model_without_a_rank_cannot_be_planned_for():
    with pytest.raises(ConfigError, match="AUROC 0.5"):
        validation_size(np.array([0.1, 0.2]), 0.5)
    with pytest.raises(ConfigError, match="no validation study"):
        validation_size(np.zeros(5), 0.7)
