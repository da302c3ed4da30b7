"""What a table with known margins may show of few patients."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deepcac.scoring.small_cells import FEW, few_rows, few_steps


def test_by_hand():
    assert few_rows([[50, 20], [30, 10]]).tolist() == [False, False]
    assert few_rows([[100], [3], [97]]).tolist() == [False, True, True]
    assert few_rows([[100], [0], [97]]).tolist() == [False, False, False]
    assert few_rows([[40, 2], [30, 9], [50, 20]]).tolist() == [True, True, False]
    assert few_rows([[40, 2]]).tolist() == [True]
    assert few_rows([[3], [0], [97], [50]]).tolist() == [True, False, False, True]
    assert few_rows([[3], [0]]).tolist() == [True, True]


@given(
    arrays(np.int64, st.tuples(st.integers(2, 5), st.integers(1, 4)), elements=st.integers(0, 30))
)
def test_no_small_cell_is_shown_and_no_group_hidden_alone(counts):
    hidden, small = few_rows(counts), ((counts > 0) & (counts < FEW)).any(axis=1)
    assert hidden[small].all()
    assert hidden.sum() != 1
    withheld = counts[hidden].sum(axis=0)
    assert hidden.all() or not ((withheld > 0) & (withheld < FEW)).any()
    assert small.any() or not hidden.any()


def test_a_part_that_overlaps_another_tells_by_itself_of_no_few_patients():
    y, row = np.repeat([1, 0], [43, 140]), np.arange(183)
    first, second = row < 60, (row < 3) | ((row >= 70) & (row < 130))  # the three of its events
    assert few_steps(np.stack([first, second]), y, row).tolist() == [False, True]
    assert few_steps(second[None], y, row).tolist() == [True]
