"""What agreement is worth: by pairs, by cell, and its interval by run."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac_study.papers.null_rate import null_rate

CELLS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 5), st.integers(0, 5)), min_size=1
)


def test_pairs_and_cells_by_hand():
    found = null_rate(["a", "a", "b", "c"], [1, 1, 8, 0], [2, 2, 20, 0])
    assert found.rate == pytest.approx(10 / 24)
    assert found.by_cell == pytest.approx((0.5 + 0.5 + 0.4) / 3)
    # Two runs: both of the one, both of the other, or one of each.
    assert (found.low, found.high) == pytest.approx((0.4, 0.5))


def test_cells_of_one_run_have_no_interval_and_none_without_rivals_a_rate():
    one = null_rate(["a"] * 3, [1, 0, 2], [4, 4, 4])
    assert one.rate == one.by_cell == 0.25
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    assert all(math.isnan(value) for value in vars(null_rate(["a"], [0], [0])).values())


def test_cells_that_come_and_go_together_have_a_wider_interval():
    agree, rivals = [3] * 20 + [0] * 20, [6] * 40
    alone = null_rate([f"run{i}" for i in range(40)], agree, rivals)
    together = null_rate([f"run{i // 10}" for i in range(40)], agree, rivals)
    assert alone.rate == together.rate == 0.25
    assert together.high - together.low > 2 * (alone.high - alone.low)


@given(CELLS)
def test_the_interval_is_that_of_a_slow_bootstrap(cells):
    cells = [(run, min(agree, rivals), rivals) for run, agree, rivals in cells]
    found = null_rate(*zip(*cells, strict=True))
    by_run = {}
    for run, agree, rivals in cells:
        if rivals:
            by_run.setdefault(run, []).append((agree, rivals))
    if not by_run:
        assert math.isnan(found.rate)
        return
    rng, runs, rates = np.random.default_rng(1), sorted(by_run), []
    for _ in range(300):
        drawn = [pair for i in rng.integers(len(runs), size=len(runs)) for pair in by_run[runs[i]]]
        rates.append(sum(a for a, _ in drawn) / sum(r for _, r in drawn))
    own = [pair for run in runs for pair in by_run[run]]
    assert found.rate == pytest.approx(sum(a for a, _ in own) / sum(r for _, r in own))
    assert found.by_cell == pytest.approx(np.mean([a / r for a, r in own]))
    low, high = (found.low, found.high) if found.low == found.low else (found.rate, found.rate)
    assert min(rates) - 1e-9 <= low <= np.quantile(rates, 0.2) + 1e-9
    assert np.quantile(rates, 0.8) - 1e-9 <= high <= max(rates) + 1e-9
