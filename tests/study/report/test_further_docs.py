"""The tables of the page on transfer, scorecards and richer labels, from rows by hand."""

import pandas as pd

from deepcac_study.judge.further.further_verdicts import decided
from deepcac_study.report.kept.further_docs import (
    card_gains,
    further_rows,
    label_gains,
    planted_cards,
    transfer_counts,
    transfer_gains,
)

BASE = {"cohort": "real", "metric": "log_loss", "freedom": 49, "error": 0.001}


def _cells(table):
    return [[cell.text for cell in row] for row in table.rows]


def _moves():
    own = {"contender": "fixed_km", "reference": "global", "question": "fixed", "learner": "lr"}
    rows = [
        {**BASE, **own, "move": "physionet2019_a_b", "labels": 50, "mean": 0.02},
        {**BASE, **own, "move": "physionet2019_a_b", "labels": 100, "mean": -0.0001},
        {**BASE, **own, "move": "physionet2012_ccu", "labels": 50, "mean": 0.0, "error": 0.0},
        {**BASE, **own, "move": "planted_1", "labels": 50, "mean": 0.5, "cohort": "planted_1"},
    ]
    return decided(pd.DataFrame(rows))


def test_gains_stand_by_move_and_number_of_labels_in_the_style_of_their_verdict():
    table = transfer_gains(_moves(), "fixed_km", "log_loss")
    assert table.head == ["target", "learner", "50 labels", "100 labels"]
    assert _cells(table) == [
        ["2019, A to B", "LR", "**+0.0200**", "-0.0001"],
        ["2012, CCU", "LR", "–", ""],
    ]


def test_verdicts_are_counted_without_planted_cohorts():
    (row,) = _cells(transfer_counts(_moves(), "log_loss"))
    assert row[:4] == ["fixed", "fixed k-means clusters less global", "LR", "3"]
    # better, equivalent, undecided, worse, never chosen; mean; gain excluded, after Holm
    assert row[4:9] == ["1", "1", "0", "0", "1"]
    assert row[9:] == ["+0.0066", "1", "1"]


def test_cards_stand_beside_one_card_of_as_many_items():
    own = {"question": "forced", "dataset": "cic", "items": 6, "reference_score": 0.8}
    pairs = [("km", "one"), ("km_2", "one"), ("km_2", "cells_2")]
    rows = [
        {**BASE, **own, "contender": ours, "reference": theirs, "mean": 0.05}
        for ours, theirs in pairs
    ]
    table = card_gains(decided(pd.DataFrame(rows)), "log_loss")
    row = dict(zip(table.head, _cells(table)[0], strict=True))
    assert row["one card"] == "0.800"
    assert row["2 cards in k-means clusters less one card"] == "**+0.0500**"
    assert row["3 cards in CAC clusters less one card"] == ""


def test_planted_cards_tell_in_how_many_cohorts_they_were_better():
    pairs = [(f"{arm}_{k}", "one") for arm in ("km", "cac") for k in (2, 3)]
    rows = [
        {**BASE, "cohort": "planted_0.5", "items": 12, "mean": 0.1, "found": 2, "cohorts": 3}
        | {"contender": ours, "reference": theirs}
        for ours, theirs in (*pairs, ("km_2", "cells_2"), ("hash", "one"))
    ]
    (row,) = _cells(planted_cards(pd.DataFrame(rows), "log_loss"))
    assert row == ["0.5", "12", *["+0.100, 2 of 3"] * 6]


def test_richer_labels_stand_with_their_intervals():
    own = {
        "question": "rival",
        "contender": "rich",
        "reference": "shuffled_rich",
        "learner": "lgbm",
    }
    rows = [{**BASE, **own, "mean": 0.02}]
    (row,) = _cells(label_gains(decided(pd.DataFrame(rows)), "log_loss"))
    assert row[1] == "a model in each rich cluster less a model in each rich cluster, shuffled"
    assert row[2:] == ["LightGBM", "**+0.0200** (+0.0180 to +0.0220)"]


def test_nothing_that_has_not_run_has_rows(tmp_path):
    assert all(table.empty for table in further_rows(tmp_path).values())
