"""What a task leaves out of a second run, by hand."""

import numpy as np
import pytest

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix
from deepcac_study.catalogue.judge_plan import KnownThen
from deepcac_study.features.available_columns import keep_available

NAN = np.nan
FEATURES = FeatureMatrix(
    row_id=np.arange(4),
    label=np.array([0, 1, 0, 1]),
    X=np.array([[0.0, 1, 0, 5], [70, 0, 1, NAN], [80, 1, 0, 7], [0, 0, 0, 9]]),
    names=("weight", "ward=icu", "ward=er", "creatinine"),
)


def test_columns_go_with_their_levels_and_codes_and_gaps_are_as_the_rule_says():
    rule = KnownThen(without=["ward"], missing={"weight": 0}, filled=["creatinine"])
    kept = keep_available(FEATURES, rule)
    assert kept.names == ("weight", "creatinine")
    expected = [[NAN, 5], [70, 7], [80, 7], [NAN, 9]]  # 7 is the median of 5, 7 and 9
    np.testing.assert_array_equal(kept.X, expected)
    np.testing.assert_array_equal(kept.label, FEATURES.label)
    assert FEATURES.X[0, 0] == 0  # the features that were read are as before


def test_one_level_goes_alone():
    kept = keep_available(FEATURES, KnownThen(without=["ward=icu"]))
    assert kept.names == ("weight", "ward=er", "creatinine")


@pytest.mark.parametrize(
    "rule", [{"without": ["sofa"]}, {"missing": {"sofa": 1}}, {"filled": ["ward"]}]
)
def test_a_column_that_the_task_lacks_is_named(rule):
    with pytest.raises(ConfigError, match="'(sofa|ward)'"):
        keep_available(FEATURES, KnownThen(**rule))
