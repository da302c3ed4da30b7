import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac.decomposition.configuration import (
    bell,
    configurations,
    n_configurations,
    partitions,
    separate,
    whole,
    with_merged,
)
from deepcac.decomposition.search import exhaustive, greedy
from deepcac.errors import ConfigError


class Table:
    """Accuracies by configuration; `default` for the others."""

    def __init__(self, known, default=0.5):
        self.known, self.default, self.asked = known, default, []

    def focus(self, configuration, active):
        pass

    def __call__(self, configuration):
        self.asked.append(configuration)
        return self.known.get(configuration, self.default)


def test_example_of_section_3_2():
    # Clusters 1 to 6 of the paper are 0 to 5: pairs {2,3}, {1,4}, {1,5} help in this order, and
    # {2,3,5} helps again; {1,5} is pruned, so the result is {2,3,5}, {1,4}, {6}.
    def only(*sets):
        return (with_merged(separate([6])[0], [frozenset(s) for s in sets]),)

    accuracy = Table(
        {
            only({1, 2}): 0.9,
            only({0, 3}): 0.8,
            only({0, 4}): 0.7,
            only({1, 2, 4}): 0.95,
            only({1, 2, 4}, {0, 3}): 0.97,
        }
    )
    found = greedy([6], accuracy)
    assert found.configuration == (((0, 3), (1, 2, 4), (5,)),)
    assert found.accuracy == 0.97
    assert not found.reverted
    assert {step.clusters for step in found.steps if step.taken} == {(0, 3), (1, 2, 4)}
    pairs, triples, fours = (sum(len(s.clusters) == i for s in found.steps) for i in (2, 3, 4))
    assert (pairs, triples, fours) == (15, 8, 3)
    assert {s.before for s in found.steps if s.clusters in {(1, 2, 4), (0, 1, 2)}} == {0.9}


def test_later_classes_start_from_the_earlier_ones():
    first = ((0, 1),), ((0,), (1,))
    accuracy = Table({first: 0.6, (((0, 1),), ((0, 1),)): 0.55})
    found = greedy([2, 2], accuracy)
    assert found.configuration == first
    assert [step.before for step in found.steps] == [0.5, 0.6]


def test_nothing_gained_restores_the_classes():
    accuracy = Table({whole([3, 1]): 0.5, separate([3, 1]): 0.4}, default=0.3)
    found = greedy([3, 1], accuracy)
    assert found.configuration == whole([3, 1])
    assert found.reverted
    assert not any(step.taken for step in found.steps)
    assert greedy([3, 1], accuracy, revert=False).configuration == separate([3, 1])


def test_ties():
    accuracy = Table({}, default=0.5)
    assert greedy([3], accuracy, revert=False).configuration == separate([3])
    assert greedy([3], accuracy, ties="merge", revert=False).configuration == whole([3])


@pytest.mark.parametrize(("count", "number"), [(1, 1), (3, 5), (5, 52), (6, 203)])
def test_bell_numbers(count, number):
    found = list(partitions(count))
    assert bell(count) == number == len(found) == len(set(found))
    assert (number > 2**count) == (count >= 5)
    for partition in found:
        assert sorted(c for group in partition for c in group) == list(range(count))
        assert partition == tuple(sorted(partition))


def test_exhaustive_takes_the_best_and_of_equal_ones_the_smallest():
    best = ((0, 2), (1,)), ((0,),)
    assert exhaustive([3, 1], Table({best: 0.9})).configuration == best
    assert exhaustive([3, 2], Table({})).configuration == whole([3, 2])
    assert len(set(configurations([3, 2]))) == n_configurations([3, 2]) == 10


def test_too_many_configurations():
    with pytest.raises(ConfigError, match="lower max_clusters"):
        exhaustive([9, 3], Table({}))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000))
def test_greedy_never_beats_exhaustive_nor_loses_to_the_classes(seed):
    rng = np.random.default_rng(seed)
    counts = [3, 2]
    accuracy = Table({c: float(rng.integers(0, 8)) / 8 for c in configurations(counts)})
    best, found = exhaustive(counts, accuracy), greedy(counts, accuracy)
    assert accuracy(whole(counts)) <= found.accuracy <= best.accuracy
    assert found.accuracy == accuracy(found.configuration)
