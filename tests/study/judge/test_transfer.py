"""A model at another hospital: subtypes that shift there must be found, and nothing else."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from deepcac.judging.contenders import CELLS, HASH, KM
from deepcac_study.judge.further import transfer
from deepcac_study.judge.further.moves import source_odds
from deepcac_study.judge.further.planted_moves import shifted
from deepcac_study.judge.further.recalibrating import deal
from deepcac_study.judge.further.transfer import (
    COMPARED,
    FORCED,
    GLOBAL,
    Target,
    partitions,
    transferred,
    updated,
)


@pytest.fixture(scope="module")
def found():
    """What two draws of 500 labels say where subtypes shift by 1, and where they do not."""
    rows, told = 3000, {}
    for shift in (0.0, 1.0):
        matrix = shifted(shift, rows)
        odds = source_odds(matrix, np.arange(rows), np.arange(rows, 2 * rows), "lr", 10_000)
        target = Target(matrix.label[rows:], {"lr": odds}, matrix.X[rows:])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(transfer, "SOURCES", 2)
            patch.setattr(transfer, "DRAWS", 1)
            patch.setattr(transfer, "LABELS", (500, 2000))
            told[shift] = transferred(target)["lr"]
    return told


def test_labels_above_half_of_the_target_are_left_out(found):
    assert [entry["labels"] for entry in found[1.0]] == [500]
    assert all(one["draws"] == 2 for one in found[1.0][0]["comparisons"])


def test_shifted_subtypes_are_found_by_clusters_and_not_by_controls(found):
    scores = {way: own["log_loss"] for way, own in found[1.0][0]["scores"].items()}
    assert scores[KM] > scores[GLOBAL] + 0.03
    assert scores[FORCED + KM] > scores[FORCED + HASH] + 0.03
    assert scores[FORCED + KM] > scores[FORCED + CELLS] + 0.01
    assert found[1.0][0]["clustered"][KM] == 2


def test_a_ridge_update_leaves_the_source_as_it_is_without_events_and_learns_a_new_predictor():
    rng = np.random.default_rng(0)
    odds, points = rng.normal(size=1000), rng.normal(size=(1000, 5))
    y = (rng.random(1000) < expit(odds + 2 * points[:, 0])).astype(np.int64)
    labelled = np.arange(500)
    none = updated(odds, points, np.zeros(500, dtype=np.int64), labelled, labelled % 5)
    assert np.array_equal(none, odds)
    found = updated(odds, points, y[:500], labelled, deal(y[:500], rng))
    test = slice(500, None)
    assert roc_auc_score(y[test], found[test]) > roc_auc_score(y[test], odds[test]) + 0.1


def test_nothing_is_gained_where_nothing_shifts(found):
    scores = {way: own["log_loss"] for way, own in found[0.0][0]["scores"].items()}
    assert abs(scores[FORCED + KM] - scores[GLOBAL]) < 0.01


def test_a_shift_leaves_the_order_of_risks_as_it_is(found):
    scores = found[0.0][0]["scores"]
    assert scores["intercept"]["auroc"] == scores["none"]["auroc"]


def test_every_comparison_has_its_mean_and_both_errors(found):
    entry = found[1.0][0]
    assert [
        (one["question"], one["contender"], one["reference"]) for one in entry["comparisons"]
    ] == [*COMPARED]
    for one in entry["comparisons"]:
        ours, theirs = (entry["scores"][one[side]]["brier"] for side in ("contender", "reference"))
        mean, by_rows, by_draws = one["brier"]
        assert mean == pytest.approx(ours - theirs, abs=1e-6)
        assert by_rows > 0
        assert by_draws > 0


def test_the_source_of_a_planted_cohort_does_not_shift():
    still, moved = (shifted(shift, 20_000) for shift in (0.0, 1.0))
    assert np.array_equal(still.label[:20_000], moved.label[:20_000])
    far = moved.X[20_000:, 0] + moved.X[20_000:, 1] > np.sqrt(8)
    rates = [own.label[20_000:][far == side].mean() for own in (still, moved) for side in (0, 1)]
    assert rates[0] == pytest.approx(rates[1], abs=0.02)
    assert rates[2] == pytest.approx(expit(-2), abs=0.04)
    assert rates[3] == pytest.approx(0.5, abs=0.03)


def test_controls_have_the_sizes_of_the_clusters():
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2], [10, 20, 30])
    found = partitions({3: label}, rng.normal(size=(60, 2)), rng)
    for own in found.values():
        assert own[3].sum(axis=0).tolist() == [10, 20, 30]
    assert (found[HASH][3] != found[KM][3]).any()
