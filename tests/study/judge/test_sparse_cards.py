"""Cards of few items: by hand, against the plain definition, and where several must win."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from deepcac.judging.resamples import Rows
from deepcac.judging.trials import Effort, study_resamples
from deepcac_study.judge.further.scorecards import (
    ARMS,
    CARDS,
    ONE,
    Trial,
    fit,
    judged,
    scored,
    trials,
)
from deepcac_study.judge.further.sparse_card import BINNED, STANDARDISED, greedy, items
from deepcac_study.simulate.planted import planted

EFFORT = Effort(1, 1, 0, 10_000, 1, 1)


def _rows(X: np.ndarray) -> Rows:
    return Rows(X, X, np.zeros(len(X), dtype=np.int64), np.arange(len(X)))


def test_items_above_quartiles_by_hand():
    X = np.column_stack([np.arange(8.0) / 4, [0.0] * 7 + [1.0], [0.0] + [1.0] * 7, np.ones(8)])
    found = items(_rows(X), BINNED)
    assert found.column.tolist() == [0, 0, 0, 1, 2]  # the constant column has none
    assert found.of(_rows(X)).sum(axis=0).tolist() == [6, 4, 2, 1, 7]
    assert items(_rows(X), STANDARDISED).column.tolist() == [0, 1, 2]


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_next_item_is_the_one_with_the_largest_score_test(seed):
    """Given the items before it, by the projection that defines the test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 6))
    y = (rng.random(120) < 1 / (1 + np.exp(-X[:, 1] - 0.5 * X[:, 4]))).astype(np.int64)
    path = greedy(X, y, 3)
    for step in range(3):
        before = X[:, path[:step]]
        risk = np.full(120, y.mean())
        if step:
            model = LogisticRegression(C=1.0, solver="newton-cholesky").fit(before, y)
            risk = model.predict_proba(before)[:, 1]
        root = np.sqrt(risk * (1 - risk))
        known = np.column_stack([np.ones(120), before]) * root[:, None]
        tests = []
        for j in range(6):
            own = X[:, j] * root
            left = own - known @ np.linalg.lstsq(known, own, rcond=None)[0]
            tests.append((X[:, j] @ (y - risk)) ** 2 / (left @ left))
        tests = np.where(np.isin(np.arange(6), path[:step]), -1, tests)
        assert path[step] == int(np.argmax(tests))


def test_a_column_that_repeats_another_is_never_chosen():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1))
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(np.int64)
    assert len(greedy(np.hstack([x, 2 * x, np.ones((200, 1))]), y, 3)) == 1


def test_a_card_has_no_more_items_than_it_may():
    sample = next(study_resamples(planted(0.5, 2600, 0)[0], EFFORT))
    predict = fit(Trial(ONE, 1, 6, STANDARDISED), sample)
    d, base = sample.test.scaled.shape[1], sample.test.take(np.arange(1))
    moved = np.repeat(base.scaled, d, axis=0) + np.eye(d) * (0.5 - base.scaled[0])
    asked = Rows(moved, moved, np.zeros(d, dtype=np.int64), np.arange(d))
    assert (predict(asked)[:, 1] != predict(base)[0, 1]).sum() == 6


def test_two_cards_win_where_risks_are_reversed_and_nowhere_else():
    found = {}
    for strength in (0.0, 1.0):
        sample = next(study_resamples(planted(strength, 4000, 1)[0], EFFORT))
        cards = {(row["arm"], row["k"]): row for row in judged(sample, [12])["cards"]}
        assert set(cards) == {(ONE, 1), *((arm, k) for arm in ARMS for k in CARDS)}
        found[strength] = {name: row["auroc"][1] for name, row in cards.items()}
    assert found[1.0]["km", 2] > found[1.0][ONE, 1] + 0.1
    assert found[1.0]["km", 2] > found[1.0]["hash", 2] + 0.1
    assert found[0.0]["km", 2] < found[0.0][ONE, 1] + 0.02


def test_all_contenders_have_the_same_draws():
    drawn = list(trials([6]))
    alone = {one.kind for one in drawn if one.arm == ONE}
    for arm in ARMS:
        for k in CARDS:
            own = [one for one in drawn if (one.arm, one.k) == (arm, k)]
            assert {one.kind for one in own} == alone
            assert len(own) == len(alone) * (2 if arm == "cac" else 1)


def test_a_score_is_better_where_it_is_higher():
    sample = next(study_resamples(planted(0.0, 2600, 0)[0], EFFORT))
    certain, even = (
        scored(sample.test, lambda rows, s=share: np.column_stack([1 - s * rows.y, s * rows.y]))
        for share in (1.0, 0.0)
    )
    assert certain == pytest.approx({"auroc": 1.0, "auprc": 1.0, "log_loss": 0.0}, abs=1e-5)
    assert all(even[name] < certain[name] for name in certain)
