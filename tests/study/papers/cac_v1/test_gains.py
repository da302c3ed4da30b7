import pytest

from deepcac_study.papers.rules.gain import Gain, all_positive, from_to, largest, near, within


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
    assert near(4.63, 0.5)({"CAC over KM": gain(low, high)}) == expected


def test_gains_from_one_data_set_to_another():
    judge = from_to(("titanic", 3.26), ("diabetes", 91.5))

    def verdict(titanic, cic, diabetes):
        return judge({"titanic": gain(*titanic), "cic": gain(*cic), "diabetes": gain(*diabetes)})

    assert verdict([2.9], [10.0], [91.4]) == "holds"
    assert verdict([2.9], [1.0], [91.4]) == "partly"  # cic gains least
    assert verdict([6.0], [10.0], [91.4]) == "partly"  # too far from 3.26
    assert verdict([-1.0], [10.0], [91.4]) == "fails"
    assert verdict([-1.0, 4.0], [10.0], [91.4]) == "undecided"
    assert verdict([-1.0, 1.0], [10.0], [91.4]) == "fails"  # no end is near
    assert judge({"cic": gain(1.0), "diabetes": gain(91.4)}) == "data not rebuildable"


def test_gains_within_a_range_and_gains_above_zero():
    assert within(0.6, 78.0)({"a": gain(0.7), "b": gain(77.0)}) == "holds"
    assert within(0.6, 78.0)({"a": gain(0.5), "b": gain(77.0)}) == "partly"
    assert within(0.6, 78.0)({"a": gain(-0.5), "b": gain(77.0)}) == "fails"
    assert within(0.6, 78.0)({"a": gain(-0.5, 1.0), "b": gain(77.0)}) == "undecided"
    assert all_positive({"a": gain(1.0), "b": gain(2.0)}) == "holds"
    assert all_positive({"a": gain(1.0), "b": gain(2.0), "c": gain(-1.0)}) == "partly"
    assert all_positive({"a": gain(1.0), "b": gain(-2.0)}) == "fails"
    assert all_positive({"a": gain(1.0), "b": gain(-1.0, 2.0)}) == "undecided"


def test_the_largest_gain():
    assert largest("a")({"a": gain(5.0, 6.0), "b": gain(1.0, 4.0)}) == "holds"
    assert largest("a")({"a": gain(3.0, 6.0), "b": gain(1.0, 4.0)}) == "undecided"
    assert largest("a")({"a": gain(0.0, 0.5), "b": gain(1.0, 4.0)}) == "fails"
