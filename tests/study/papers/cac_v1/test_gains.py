import pytest

from deepcac_study.papers.rules.compared_scores import all_positive, from_to, largest, near, within
from deepcac_study.papers.rules.gain import Gain
from deepcac_study.papers.rules.rule import ClaimRule


def rule(threshold=""):
    return ClaimRule("CAC1-02", threshold=threshold)


def gain(low, high=None):
    high = low if high is None else high
    return Gain((low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (4.2, 4.2, "holds"),
        (6.2, 6.2, "partly"),
        (0.1, 0.1, "partly"),
        (-0.1, -0.1, "fails"),
        (1.0, 4.2, "holds"),
        (1.0, 4.0, "partly"),
        (-1.0, 5.0, "undecided"),
        (-1.0, 3.0, "fails"),
    ],
)
def test_a_gain_near_a_value(low, high, expected):
    assert near({"CAC over KM": gain(low, high)}, rule("4.63 0.5")) == expected


def test_gains_from_one_data_set_to_another():
    claimed = rule("titanic:3.26 diabetes:91.5")

    def verdict(titanic, cic, diabetes):
        gains = {"titanic": gain(*titanic), "cic": gain(*cic), "diabetes": gain(*diabetes)}
        return from_to(gains, claimed)

    assert verdict([2.9], [10.0], [91.4]) == "holds"
    assert verdict([2.9], [1.0], [91.4]) == "partly"  # cic gains least
    assert verdict([6.0], [10.0], [91.4]) == "partly"  # too far from 3.26
    assert verdict([-1.0], [10.0], [91.4]) == "fails"
    assert verdict([-1.0, 4.0], [10.0], [91.4]) == "undecided"
    assert verdict([-1.0, 1.0], [10.0], [91.4]) == "fails"  # no end is near
    lost = {"cic": gain(1.0), "diabetes": gain(91.4)}
    assert from_to(lost, claimed) == "data not rebuildable"


def test_gains_within_a_range_and_gains_above_zero():
    assert within({"a": gain(0.7), "b": gain(77.0)}, rule("0.6 78")) == "holds"
    assert within({"a": gain(0.5), "b": gain(77.0)}, rule("0.6 78")) == "partly"
    assert within({"a": gain(-0.5), "b": gain(77.0)}, rule("0.6 78")) == "fails"
    assert within({"a": gain(-0.5, 1.0), "b": gain(77.0)}, rule("0.6 78")) == "undecided"
    assert all_positive({"a": gain(1.0), "b": gain(2.0)}, rule()) == "holds"
    assert all_positive({"a": gain(1.0), "b": gain(2.0), "c": gain(-1.0)}, rule()) == "partly"
    assert all_positive({"a": gain(1.0), "b": gain(-2.0)}, rule()) == "fails"
    assert all_positive({"a": gain(1.0), "b": gain(-1.0, 2.0)}, rule()) == "undecided"


def test_the_largest_gain():
    assert largest({"a": gain(5.0, 6.0), "b": gain(1.0, 4.0)}, rule("a")) == "holds"
    assert largest({"a": gain(3.0, 6.0), "b": gain(1.0, 4.0)}, rule("a")) == "undecided"
    assert largest({"a": gain(0.0, 0.5), "b": gain(1.0, 4.0)}, rule("a")) == "fails"
