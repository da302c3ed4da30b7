"""The hierarchical model over data sets: against plain integration, by symmetry, at its ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from deepcac.scoring import hierarchical as module
from deepcac.scoring.equivalence import over_datasets
from deepcac.scoring.hierarchical import hierarchical

# Differences, and what the signed-rank test of baycomp 1.0.3 says of them: worse, same, better.
# SignedRankTest.sample(0, d, rope=.01, prior=1, nsamples=50000, random_state=0), the winners.
BAYCOMP = [
    ([0.0275, 0.0509, -0.0007, -0.0008, -0.0023, -0.0011, 0.012, 0, 0], (0.0, 0.7681, 0.2319)),
    (
        [0.0045, -0.012, 0.031, -0.0212, 0.0113, 0.0022, -0.0151, 0.0187, 0.0254, -0.0013, 0.0164],
        (0.0026, 0.82816, 0.16924),
    ),
    ([-0.0213, -0.0112, -0.0131, 0.0014, -0.0303, -0.0096, 0.0041], (0.5012, 0.4988, 0.0)),
]


@pytest.mark.parametrize(("differences", "said"), BAYCOMP)
def test_the_signed_rank_test_says_what_baycomp_does(differences, said):
    assert over_datasets(differences, 0.01) == pytest.approx(said, abs=0.01)


@pytest.mark.parametrize("freedom", [2, 16])
def test_the_likelihood_is_that_of_plain_integration(freedom):
    d, errors = np.array([0.02, -0.004, 0.0]), np.array([0.006, 0.01, 0.003])
    means, spreads = np.array([-0.01, 0.005]), np.array([0.004, 0.02])
    found = module._log_likelihood(d, errors**2, means, spreads, freedom)
    for i, mean in enumerate(means):
        for j, spread in enumerate(spreads):
            own = 0.0
            for one, error in zip(d, errors, strict=True):

                def both(true, one=one, error=error, mean=mean, spread=spread):
                    student = stats.t.pdf(true, freedom, loc=mean, scale=spread)
                    return student * stats.norm.pdf(one, true, error)

                own += np.log(integrate.quad(both, -1, 1, points=[one, mean], limit=400)[0])
            assert found[i, j] == pytest.approx(own, abs=1e-4)


def test_the_posterior_is_that_of_draws_from_the_prior():
    d, errors = np.array([0.03, 0.01, -0.002, 0.02]), np.full(4, 0.008)
    rng = np.random.default_rng(0)
    n = 40_000
    mean, spread = rng.uniform(-0.03, 0.03, n), rng.uniform(0, 0.03, n)
    freedom = rng.choice(module.FREEDOMS, n)
    true = mean[:, None] + spread[:, None] * rng.standard_t(freedom[:, None], size=(n, 5))
    weight = np.exp(stats.norm.logpdf(d, true[:, :4], errors).sum(axis=1))
    new = true[:, 4]
    plain = [np.average(one, weights=weight) for one in (new < -0.01, new > 0.01)]
    found = hierarchical(d, errors, 0.01)
    assert [found.worse, found.better] == pytest.approx(plain, abs=0.02)
    assert found.mean == pytest.approx(np.average(mean, weights=weight), abs=0.002)


# Nine gains of a linear model in clusters, some of which were never chosen; their errors.
GAINS = [0.0275, 0.0509, 0.0, 0.0, -0.0007, -0.0008, -0.0023, -0.0011, 0.0]
ERRORS = [0.004, 0.006, 0.0, 0.0, 0.002, 0.003, 0.002, 0.003, 0.0]


def test_the_probabilities_are_near_those_of_baycomp():
    """baycomp 1.0.3 (pystan 3.10), HierarchicalTest.sample(0, d, .01, runs=2.5), 2,000 draws.

    Nine data sets of ten resamples, a quarter of the rows tested. Its prior of the spread is a
    thousand times as wide and its degrees of freedom are continuous, so that it says less of a new
    data set.
    """
    means = [-0.00387, -0.00943, -0.00382, 0.02748, -0.00144, 0.05094, -0.0059, -0.00267, -0.00223]
    errors = [0.00063, 0.00235, 0.00189, 0.00216, 0.0017, 0.00183, 0.00479, 0.00493, 0.00751]
    found = hierarchical(means, errors, 0.01)
    assert found[1:] == pytest.approx((0.263, 0.370, 0.367), abs=0.1)


@pytest.mark.parametrize("finer", ["_MIXED", "_MEANS", "_SPREADS"])
@pytest.mark.parametrize("gains", [GAINS, [0.0] * 14 + [0.0002, -0.0065, -0.0179, 0.0011]])
def test_twice_as_many_points_change_nothing(monkeypatch, finer, gains):
    errors = (ERRORS * 2)[: len(gains)]
    plain = hierarchical(gains, errors, 0.01)
    monkeypatch.setattr(module, finer, 2 * getattr(module, finer))
    assert hierarchical(gains, errors, 0.01) == pytest.approx(plain, abs=0.002)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.floats(-0.05, 0.05), min_size=2, max_size=6))
def test_the_other_way_round_worse_is_better(differences):
    errors = np.full(len(differences), 0.005)
    one = hierarchical(differences, errors, 0.01)
    other = hierarchical([-d for d in differences], errors, 0.01)
    assert one.worse == pytest.approx(other.better, abs=1e-6)
    assert one.mean == pytest.approx(-other.mean, abs=1e-9)
    assert one.worse + one.same + one.better == pytest.approx(1)


def test_many_like_tables_leave_no_doubt_and_never_chosen_is_the_same():
    assert hierarchical([0.05] * 12, [0.004] * 12, 0.01).better > 0.95
    assert hierarchical([-0.05] * 12, [0.004] * 12, 0.01).worse > 0.95
    assert hierarchical([0.0] * 12, [0.0] * 12, 0.01).same > 0.95


def test_one_table_says_little_of_the_next():
    found = hierarchical([0.03], [0.002], 0.01)
    assert 0.3 < found.better < 0.9
    assert found.worse > 0.02
