"""What goes with the outcome inside each subtype, against plain references."""

import numpy as np
import pytest
from scipy import stats

from deepcac_study.report.subtypes.subtype_figures import profile_lines, subtype_figure
from deepcac_study.report.subtypes.subtype_numbers import SubtypeVariable
from deepcac_study.report.subtypes.subtype_tables import (
    UnseenRows,
    differing,
    risk_factors,
    same_everywhere,
    standardised,
)


def test_a_standardised_difference_is_the_t_test_in_other_units():
    rng = np.random.default_rng(0)
    values, cases = rng.normal(size=90), np.arange(90) < 30
    values[5] = np.nan
    effect, error = standardised(values, cases)
    t = stats.ttest_ind(values[:30], values[30:], nan_policy="omit").statistic
    assert effect == pytest.approx(t * np.sqrt(1 / 29 + 1 / 60))
    assert error == pytest.approx(np.sqrt(89 / (29 * 60) + effect**2 / (2 * 89)))


def test_too_few_cases_or_no_spread_give_no_effect():
    values = np.arange(40.0)
    assert np.isnan(standardised(values, np.arange(40) < 9)).all()
    assert np.isnan(standardised(np.ones(40), np.arange(40) < 20)).all()


def test_cochrans_q_by_hand():
    # Weights 100 and 100, mean 0.2, Q = 100 * (0.1**2 + 0.1**2) = 2 with one degree of freedom.
    p = same_everywhere(np.array([0.1, np.nan, 0.3]), np.array([0.1, np.nan, 0.1]))
    assert p == pytest.approx(stats.chi2.sf(2.0, 1))
    assert np.isnan(same_everywhere(np.array([0.1, np.nan]), np.array([0.1, np.nan])))


@pytest.fixture
def rows():
    """Two subtypes: `reversed` goes with the outcome in opposite ways, `same` alike, `noise` not."""
    rng = np.random.default_rng(1)
    cluster, label = np.repeat([0, 1], 400), np.tile([0, 1], 400)
    sign = np.where(cluster == 0, 1, -1) * label
    found = [
        SubtypeVariable("reversed", "", rng.normal(size=800) + sign),
        SubtypeVariable("same", "mmHg", rng.normal(size=800) + label + 2 * cluster),
        SubtypeVariable("noise", "", rng.normal(size=800)),
    ]
    return UnseenRows(cluster, label, rng.random(800), found, 2)


def test_reversed_factors_are_told_apart(rows):
    factors = {one.name: one for one in risk_factors(rows)}
    assert factors["reversed"].effect == pytest.approx([1, -1], abs=0.3)
    assert factors["reversed"].p < 0.001
    assert min(factors["same"].p, factors["noise"].p) > 0.05
    said = differing(list(factors.values()))
    assert said.startswith("One variable goes with the outcome differently")
    assert said.endswith("reversed.")
    assert "We found no variable, of 1," in differing([factors["noise"]])
    assert differing([]).startswith("Too few rows")


def test_no_row_of_a_patient_is_in_the_numbers_behind_the_picture(rows):
    figure = subtype_figure("one", "T", profile_lines(rows, rows.variables), synthetic=False)
    assert [row[0] for row in figure.data] == ["reversed", "same [mmHg]", "noise"]
    assert figure.data[1][2] > 1.5
