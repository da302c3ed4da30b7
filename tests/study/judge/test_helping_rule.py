"""When do clusters help? Rules and points, by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepcac_study.judge.tables.helping import (
    best_threshold,
    candidate_rules,
    planted_points,
    table_points,
    try_rule,
)


def test_the_threshold_is_the_middle_of_the_widest_gap_without_errors():
    x = np.array([0.0, 0.01, 0.05, 0.06])
    assert best_threshold(x, x > 0.03) == pytest.approx(0.03)
    # One error above 1.5 and above 4.5: the first gap is the wider.
    x = np.array([0.0, 3.0, 4.0, 5.0])
    assert best_threshold(x, np.array([False, True, False, True])) == pytest.approx(1.5)
    # One error above 3.5, and one where it never helps, which goes first.
    assert best_threshold(x, np.array([False, False, True, False])) == np.inf


def test_nothing_helps_and_everything_helps():
    x = np.array([1.0, 2.0, 3.0])
    assert best_threshold(x, np.zeros(3, dtype=bool)) == np.inf
    assert best_threshold(x, np.ones(3, dtype=bool)) == -np.inf


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=9))
def test_no_other_threshold_errs_less(points):
    x = np.array([float(one) for one, _ in points])
    helped = np.array([two for _, two in points])
    own = np.count_nonzero((x > best_threshold(x, helped)) != helped)
    for t in [-1.0, *(x - 0.5), *(x + 0.5)]:
        assert own <= np.count_nonzero((x > t) != helped)


def test_a_rule_is_tried_on_tables_that_did_not_choose_it():
    x = np.array([1.0, 2.0, 3.0, 6.0, 7.0])
    gain = np.array([0.0, 0.0, 0.0, 0.02, 0.03])
    found = try_rule(x, gain, 0.01, list("abcde"))
    assert found.threshold == pytest.approx(4.5)
    assert (found.errors, found.never_errors) == (0, 2)
    assert found.p == pytest.approx(0.25)  # right on both of two discordant tables
    assert found.low == 0
    # The mean of the others, by hand: .0125 for each of the first three, .0075 and .005.
    errors = [0.0125, 0.0125, 0.0125, 0.0125, 0.025]
    assert found.mean_error == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_sources_are_left_out_together():
    x = np.array([1.0, 2.0, 3.0, 6.0, 7.0])
    gain = np.array([0.0, 0.0, 0.0, 0.02, 0.03])
    found = try_rule(x, gain, 0.01, ["a", "b", "c", "d", "d"])
    # Without both that were helped the others say "never", so both are missed.
    assert (found.errors, found.never_errors, found.p) == (2, 2, 1.0)


def scores(dataset, gains):
    """Two resamples: the line at .7, trees ahead by the given, CAC by half of it."""
    rows = []
    for seed, ahead in enumerate(gains):
        for name, add in (("lr", 0), ("lgbm", 1), ("cac_lr", 0.5), ("km_lr", 0.25)):
            score = 0.7 + add * ahead
            rows.append({"dataset": dataset, "contender": name, "seed": seed, "auroc_tuned": score})
    return pd.DataFrame(rows)


def test_points_by_hand_and_tables_without_the_line_are_no_points():
    lacking = scores("cic_ts", [0.1, 0.1]).query("contender != 'lr'")
    both = pd.concat([scores("cic", [0.02, 0.06]), scores("magic", [0.1, 0.1]), lacking])
    points = table_points(both).set_index("dataset")
    assert list(points.index) == ["cic", "magic"]
    cic = points.loc["cic"]
    assert cic["gain"] == pytest.approx(0.02)
    assert cic["gain_km"] == pytest.approx(0.01)
    assert cic["advantage"] == pytest.approx(0.04)
    assert (cic["gain_even"], cic["advantage_odd"]) == pytest.approx((0.01, 0.06))
    assert (cic["source"], points.loc["magic", "source"]) == ("physionet2012", "magic")


def test_planted_cohorts_need_both_learners():
    row = {
        "strength": 0.3,
        "rows": 3000,
        "question": "help",
        "contender": "cac_lr",
        "reference": "lr",
        "cohort": 0,
    }
    found = pd.DataFrame(
        [
            {**row, "mean": 0.03},
            {**row, "question": "boosting", "reference": "lgbm", "mean": 0.02},
            {**row, "cohort": 1, "mean": 0.5},  # without trees
            {**row, "strength": 0.1, "mean": 0.001},
        ]
    )
    points = planted_points(found)
    assert len(points) == 1
    assert points.loc[0, ["gain", "advantage"]].tolist() == pytest.approx([0.03, 0.01])


def test_the_rule_is_tried_in_every_way():
    x = np.concatenate([np.linspace(0, 0.4, 6), np.linspace(0.7, 1, 6)])
    points = pd.DataFrame(
        {
            "dataset": [f"t{j}" for j in range(12)],
            "source": [f"t{j}" for j in range(12)],
            "gain": np.where(x > 0.5, 0.03, 0.0),
            "gain_km": np.where(x > 0.5, 0.03, 0.0),
            "gain_even": np.where(x > 0.5, 0.03, 0.0),
            "advantage_odd": x,
            "advantage": x,
        }
    )
    found = candidate_rules(points).set_index("way")
    right = found.loc["tables"]
    assert (right["errors"], right["never_errors"], right["helped"]) == (0, 6, 6)
    assert right["p"] == pytest.approx(1 / 64)
    assert list(found.index) == ["tables", "sources", "halves", "k-means"]
