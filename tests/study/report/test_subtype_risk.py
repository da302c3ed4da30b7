"""What goes with the outcome inside each subtype, against plain references."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from deepcac_study.report.subtypes.subtype_figures import subtype_figure
from deepcac_study.report.subtypes.subtype_numbers import (
    UnseenRows,
    mean_differences,
    risk_factors,
    same_everywhere,
    standardised,
)
from deepcac_study.report.subtypes.subtype_tables import differing


def test_a_standardised_difference_is_the_t_test_in_other_units():
    rng = np.random.default_rng(0)
    values, cases = rng.normal(size=90), np.arange(90) < 30
    values[5] = np.nan
    (effect,), (error,) = standardised(pd.DataFrame({0: values}), cases)
    t = stats.ttest_ind(values[:30], values[30:], nan_policy="omit").statistic
    assert effect == pytest.approx(t * np.sqrt(1 / 29 + 1 / 60))
    assert error == pytest.approx(np.sqrt(89 / (29 * 60) + effect**2 / (2 * 89)))


def test_too_few_cases_or_no_spread_give_no_effect():
    values = pd.DataFrame({"few": np.arange(40.0), "none": np.ones(40)})
    assert np.isnan(standardised(values, np.arange(40) < 9)).all(axis=None)
    assert np.isnan(standardised(values[["none"]], np.arange(40) < 20)).all(axis=None)


def test_cochrans_q_by_hand():
    # Weights 100 and 100, mean 0.2, Q = 100 * (0.1**2 + 0.1**2) = 2 with one degree of freedom.
    effect = pd.DataFrame([[0.1, np.nan, 0.3], [0.1, np.nan, np.nan]])
    p = same_everywhere(effect, effect * 0 + 0.1)
    assert p[0] == pytest.approx(stats.chi2.sf(2.0, 1))
    assert np.isnan(p[1])


@pytest.fixture
def rows():
    """Two subtypes: `reversed` goes with the outcome in opposite ways, `same` alike, `noise` not."""
    rng = np.random.default_rng(1)
    cluster, label = np.repeat([0, 1], 400), np.tile([0, 1], 400)
    sign = np.where(cluster == 0, 1, -1) * label
    values = {
        "reversed": rng.normal(size=800) + sign,
        "same": rng.normal(size=800) + label + 2 * cluster,
        "noise": rng.normal(size=800),
    }
    about = pd.DataFrame({"name": values.keys(), "unit": "", "share": False}, index=[*values])
    return UnseenRows(cluster, label, rng.random(800), pd.DataFrame(values), about, 2)


def test_reversed_factors_are_told_apart(rows):
    factors = risk_factors(rows)
    assert factors.effect.loc["reversed"].to_numpy() == pytest.approx([1, -1], abs=0.3)
    assert factors.p["reversed"] < 0.001
    assert factors.p[["same", "noise"]].min() > 0.05
    assert set(factors.p.index[:2]) == {"reversed", "same"}
    said = differing(factors.p)
    assert said.startswith("One variable ")
    assert said.endswith("reversed.")
    assert "no variable, of 1," in differing(factors.p[["noise"]])
    assert differing(factors.p[:0]).startswith("Too few rows")


def test_no_row_of_a_patient_is_in_the_numbers_behind_the_picture(rows):
    figure = subtype_figure("one", "T", mean_differences(rows), synthetic=False)
    assert [row[0] for row in figure.data] == ["reversed", "same", "noise"]
    assert figure.data[1][2] > 1.5
