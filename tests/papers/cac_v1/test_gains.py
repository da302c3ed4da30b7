import pytest

from deepcac.papers.cac_v1.gains import all_positive, from_to, near, within


@pytest.mark.parametrize(
    ("gain", "expected"), [(4.2, "holds"), (6.2, "partly"), (0.1, "partly"), (-0.1, "fails")]
)
def test_a_gain_near_a_value(gain, expected):
    assert near(4.63, 0.5)({"CAC over KM": gain}) == expected


def test_gains_from_one_data_set_to_another():
    judge = from_to(("titanic", 3.26), ("diabetes", 91.5))
    assert judge({"titanic": 2.9, "cic": 10.0, "diabetes": 91.4}) == "holds"
    assert judge({"titanic": 2.9, "cic": 1.0, "diabetes": 91.4}) == "partly"  # cic gains least
    assert judge({"titanic": 6.0, "cic": 10.0, "diabetes": 91.4}) == "partly"  # too far from 3.26
    assert judge({"titanic": -1.0, "cic": 10.0, "diabetes": 91.4}) == "fails"


def test_gains_within_a_range_and_gains_above_zero():
    assert within(0.6, 78.0)({"a": 0.7, "b": 77.0}) == "holds"
    assert within(0.6, 78.0)({"a": 0.5, "b": 77.0}) == "partly"
    assert within(0.6, 78.0)({"a": -0.5, "b": 77.0}) == "fails"
    assert all_positive({"a": 1.0, "b": 2.0}) == "holds"
    assert all_positive({"a": 1.0, "b": 2.0, "c": -1.0}) == "partly"
    assert all_positive({"a": 1.0, "b": -2.0}) == "fails"
