"""Recalibration from a few labels: by hand, against a plain minimiser, and by its properties."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from deepcac_study.judge.further import recalibrating as recalibration
from deepcac_study.judge.further.crossed import METRICS, Crossed, score
from deepcac_study.judge.further.recalibrating import (
    PENALTIES,
    SHIFT_PENALTY,
    SLOPE_PENALTY,
    Choice,
    best,
    candidates,
    deal,
    fit_many,
    log_loss,
    recalibrated,
)
from deepcac_study.judge.further.transfer import balls, directions


def _drawn(seed: int, m: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1, 1.5, m)
    y = (rng.random(m) < expit(0.5 + 0.7 * odds)).astype(np.int64)
    return odds, y, deal(y, rng), rng.integers(3, size=m)


def test_a_shift_by_hand(monkeypatch):
    """Without a penalty the log odds of 10 patients at even risk move to those of 3 events."""
    monkeypatch.setattr(recalibration, "SHIFT_PENALTY", 0.0)
    odds, y = np.zeros(10), np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    shift = candidates(odds, y, deal(y, np.random.default_rng(0)), 0.0)[0]
    assert shift.choice == Choice(False)
    assert shift.weights == pytest.approx([logit(0.3)])
    assert expit(recalibrated(shift, odds, 0.0)) == pytest.approx(0.3)


def test_two_clusters_by_hand():
    """Nearly without a penalty each cluster has the rate that was seen in it."""
    y = np.array([1, 0, 0, 0, 1, 1, 1, 0])
    member = np.eye(2)[[0] * 4 + [1] * 4]
    weights = fit_many(member, np.zeros(8), y, np.ones((1, 8), dtype=bool), np.full((1, 2), 1e-9))
    assert expit(weights[0]) == pytest.approx([0.25, 0.75])


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(PENALTIES))
@example(522, True, 1.0)  # on which whole Newton steps go back and forth
@settings(max_examples=25, deadline=None)
def test_every_candidate_is_the_minimum_that_a_plain_minimiser_finds(seed, slope, penalty):
    odds, y, fold, cluster = _drawn(seed)
    middle = float(odds.mean())
    found = candidates(odds, y, fold, middle, {3: np.eye(3)[cluster]})
    own = next(one for one in found if one.choice == Choice(slope, 3, penalty))

    def changed(w: np.ndarray) -> np.ndarray:
        change = w[0] + w[1 + slope : 4 + slope][cluster]
        if slope:
            change = change + (w[1] + w[5:][cluster]) * (odds - middle)
        return change

    def cost(w: np.ndarray) -> float:
        common = SHIFT_PENALTY * w[0] ** 2 + (SLOPE_PENALTY * w[1] ** 2 if slope else 0.0)
        penalised = common + penalty * (w[1 + slope :] ** 2).sum()
        return float(log_loss(odds + changed(w), y).sum() + penalised / 2)

    start = np.zeros(8 if slope else 4)
    reference = minimize(cost, start, method="BFGS", options={"gtol": 1e-8}).x
    assert len(own.weights) == len(reference)
    assert cost(own.weights) <= cost(reference) + 1e-6
    assert recalibrated(own, odds, middle, np.eye(3)[cluster]) == pytest.approx(
        odds + changed(reference), abs=1e-3
    )


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_loss_of_a_candidate_is_that_of_folds_fitted_one_by_one(seed):
    odds, y, fold, _ = _drawn(seed)
    slope = candidates(odds, y, fold, 0.0)[1]
    X, total = np.column_stack([np.ones(len(y)), odds]), 0.0
    for one in np.unique(fold):
        kept = fold != one
        alone = np.ones((1, kept.sum()), dtype=bool)
        ridge = np.array([[SHIFT_PENALTY, SLOPE_PENALTY]])
        weights = fit_many(X[kept], odds[kept], y[kept], alone, ridge)[0]
        total += log_loss((odds + X @ weights)[~kept], y[~kept]).sum()
    assert slope.loss == pytest.approx(total / len(y))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_clusters_that_hold_everyone_are_the_global_way(seed):
    """One cluster of all rows, penalised much more than the global shift, changes nothing."""
    odds, y, fold, _ = _drawn(seed)
    alike = candidates(odds, y, fold, 0.0)
    everyone = candidates(odds, y, fold, 0.0, {2: np.eye(2)[np.zeros(len(y), dtype=np.int64)]})
    cautious = [one for one in everyone if one.choice.penalty == max(PENALTIES)]
    for ours, theirs in zip(cautious, alike, strict=True):
        own = recalibrated(ours, odds, 0.0, np.eye(2)[np.zeros(len(y), dtype=np.int64)])
        # The shift may be split between the two, so that it is a little less penalised.
        assert own == pytest.approx(recalibrated(theirs, odds, 0.0), abs=0.05)
        assert roc_auc_score(y, own) == pytest.approx(
            roc_auc_score(y, recalibrated(theirs, odds, 0.0))
        )


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_labels_without_an_event_leave_finite_risks(seed):
    odds, _, _, cluster = _drawn(seed)
    y = np.zeros(len(odds), dtype=np.int64)
    fold = deal(y, np.random.default_rng(seed))
    member = np.eye(3)[cluster]
    for groups in (None, {3: member}):
        for one in candidates(odds, y, fold, 0.0, groups):
            own = recalibrated(one, odds, 0.0, member if groups else None)
            assert np.isfinite(own).all()
            assert one.weights[0] < 0


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_folds_hold_equal_shares_of_rows_and_events(seed, events):
    y = np.r_[np.ones(events, dtype=np.int64), np.zeros(60, dtype=np.int64)]
    fold = deal(y, np.random.default_rng(seed))
    for rows in (fold, fold[y == 1]):
        counts = np.bincount(rows, minlength=5)
        assert counts.max() - counts.min() <= 1


def test_clusters_with_rates_of_their_own_are_chosen():
    rng = np.random.default_rng(1)
    odds, cluster = rng.normal(-1, 1, 2000), rng.integers(2, size=2000)
    y = (rng.random(2000) < expit(odds + np.where(cluster, 1.0, -1.0))).astype(np.int64)
    fold = deal(y, rng)
    alike = best(candidates(odds, y, fold, 0.0))
    ours = best(candidates(odds, y, fold, 0.0, {2: np.eye(2)[cluster]}))
    assert ours.loss < alike.loss - 0.05
    own = recalibrated(ours, np.zeros(2), 0.0, np.eye(2))
    assert own == pytest.approx([-1, 1], abs=0.25)


def test_rows_are_scored_as_scikit_learn_scores_them():
    odds, y, _, _ = _drawn(3)
    odds = odds.round(1)  # ties
    found = score(odds, y)
    assert found.value["auroc"] == pytest.approx(roc_auc_score(y, odds))
    assert found.value["brier"] == pytest.approx(-((expit(odds) - y) ** 2).mean())
    certain = np.where(y == 1, expit(odds), 1 - expit(odds))
    assert found.value["log_loss"] == pytest.approx(np.log(certain).mean())
    # Components of DeLong: their mean is the area in either class.
    assert found.rows["auroc"][y == 0].mean() == pytest.approx(found.value["auroc"])


def test_the_error_of_crossed_draws_by_hand():
    """Two draws, four rows; the second draw has the first two rows alone in its test part."""
    y = np.array([1, 0, 0, 1])
    crossed, zero = Crossed(y), np.zeros(4)

    def told(rows: list[float]) -> object:
        values = np.array(rows)
        return score(zero[: len(rows)], y[: len(rows)])._replace(
            value=dict.fromkeys(METRICS, float(values.mean())), rows=dict.fromkeys(METRICS, values)
        )

    crossed.add(np.array([0, 1, 2, 3]), told([0.3, 0.1, 0.2, 0.2]), told([0.0] * 4))
    crossed.add(np.array([0, 1]), told([0.5, 0.1]), told([0.0, 0.0]))
    mean, by_rows, by_draws = crossed.estimates()["log_loss"]
    assert mean == pytest.approx((0.2 + 0.3) / 2)
    assert by_rows == pytest.approx(np.sqrt(np.var([0.4, 0.1, 0.2, 0.2], ddof=1) / 4))
    assert by_draws == pytest.approx(np.sqrt(np.var([0.2, 0.3], ddof=1) / 2))


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_components_have_the_variance_of_two_resampled_classes(seed):
    """The error by rows of one draw's AUROC is DeLong's: here from the plain double loop."""
    odds, y, _, _ = _drawn(seed, 40)
    if not 2 <= y.sum() <= 38:
        return
    events, others = odds[y == 1], odds[y == 0]
    above = (events[:, None] > others).astype(float) + (events[:, None] == others) / 2
    expected = above.mean(axis=1).var(ddof=1) / len(events)
    expected += above.mean(axis=0).var(ddof=1) / len(others)
    crossed = Crossed(y)
    nothing = score(np.zeros(len(y)), y)
    for _ in range(2):
        crossed.add(np.arange(len(y)), score(odds, y), nothing)
    assert crossed.estimates()["auroc"][1] == pytest.approx(np.sqrt(expected))


def test_directions_are_the_principal_components():
    points = np.random.default_rng(0).normal(size=(300, 7)) * np.arange(1, 8)
    found = directions(points)
    expected = PCA(4).fit_transform(points)
    assert [own.shape[1] for own in found.values()] == [1, 2, 3, 4]
    for own, theirs in zip(found[5].T, expected.T, strict=True):
        assert abs(np.corrcoef(own, theirs)[0, 1]) == pytest.approx(1)
        assert own.std() == pytest.approx(1)


def test_random_cells_have_the_sizes_of_the_clusters_and_hold_near_rows():
    points = np.random.default_rng(0).normal(size=(500, 2))
    sizes = np.array([50, 150, 300])
    label = balls(points, sizes, np.random.default_rng(1))
    assert np.bincount(label).tolist() == sizes.tolist()
    spread = sum(points[label == j].var(axis=0).sum() * n for j, n in enumerate(sizes))
    assert spread < 0.9 * points.var(axis=0).sum() * 500
