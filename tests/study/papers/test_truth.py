"""Verdicts from answers that are true, false or open."""

import pytest

from deepcac_study.papers.claim_verdicts import all_hold, either_way, settled, together


@pytest.mark.parametrize(
    ("true", "false", "still_open", "wanted", "verdict"),
    [
        (4, 0, 0, 1.0, "holds"),
        (3, 1, 0, 1.0, "partly"),
        (2, 2, 0, 1.0, "fails"),
        (3, 0, 1, 1.0, "undecided"),
        (2, 1, 1, 1.0, "cannot hold"),  # partly or fails
        (2, 17, 26, 0.75, "cannot hold"),  # at most 28 of 45
        (1, 17, 1, 0.75, "fails"),
        (8, 4, 9, 0.75, "undecided"),  # 17 of 21 would be enough
    ],
)
def test_answers_settle_a_claim(true, false, still_open, wanted, verdict):
    answers = [True] * true + [False] * false + [None] * still_open
    assert settled(answers, wanted) == verdict


def test_parts_of_a_claim():
    assert together([True, None]) == "undecided"
    assert together([False, None]) == "cannot hold"
    assert together([True, False]) == together([True, False, None]) == "partly"


@pytest.mark.parametrize(
    ("verdicts", "whole", "one"),
    [
        (("holds", "holds"), "holds", "holds"),
        (("holds", "fails"), "partly", "undecided"),
        (("partly", "fails"), "partly", "cannot hold"),
        (("holds", "undecided"), "undecided", "undecided"),
        (("fails", "undecided"), "cannot hold", "undecided"),
        (("holds", "cannot hold"), "cannot hold", "undecided"),
        (("fails", "cannot hold"), "cannot hold", "cannot hold"),
    ],
)
def test_verdicts_that_all_count_and_verdicts_of_which_one_counts(verdicts, whole, one):
    assert all_hold(verdicts) == whole
    assert either_way(verdicts) == one
