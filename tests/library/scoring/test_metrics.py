import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepcac.cac.collapse import pure, purity
from deepcac.scoring.metrics import (
    expected_calibration_error,
    min_sensitivity_precision,
    one_against_rest,
    score,
)
from deepcac.scoring.subtypes import describe
from deepcac.task import Fitted, Task


def make(y_test, probability, cluster, calibrated=True):
    y_test = np.array(y_test)
    probability = np.array(probability, dtype=float)
    n_classes = probability.shape[1]
    X_test = np.linspace(0, 1, 2 * len(y_test)).reshape(-1, 2)
    task = Task(
        X_test, y_test, X_test[:0], y_test[:0], X_test, y_test, n_classes, 2, 0,
        names=("a", "b"),
    )  # fmt: skip
    fitted = Fitted(
        probability, probability.argmax(axis=1), np.array(cluster), np.array(cluster), {},
        calibrated=calibrated,
    )  # fmt: skip
    return task, fitted


def test_scores_of_four_rows_by_hand():
    p = np.array([0.9, 0.6, 0.4, 0.2])
    task, fitted = make([1, 0, 1, 0], np.c_[1 - p, p], [0, 0, 1, 1])
    scores = score(task, fitted)
    # Of the four (positive, negative) pairs three are in order.
    assert scores["auroc"] == pytest.approx(0.75)
    # Precision at the two positives: 1/1 and 2/3.
    assert scores["auprc"] == pytest.approx((1 + 2 / 3) / 2)
    # Predicted positive: rows 0 and 1, one of them right; one positive is missed.
    assert scores["f1"] == pytest.approx(0.5)
    assert scores["accuracy"] == pytest.approx(0.5)
    assert scores["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.04) / 4)
    # At threshold 0.4: sensitivity 1, precision 2/3.
    assert scores["min_se_pp"] == pytest.approx(2 / 3)
    # Each row is alone in its bin.
    assert scores["ece"] == pytest.approx((0.1 + 0.6 + 0.6 + 0.2) / 4)
    assert scores["nmi"] == pytest.approx(0.0, abs=1e-12)


def test_macro_auprc_averages_both_classes():
    p = np.array([0.9, 0.6, 0.4, 0.2])
    task, fitted = make([1, 0, 1, 0], np.c_[1 - p, p], [0, 0, 1, 1])
    negative = (1 + 2 / 3) / 2  # by symmetry of this example
    assert score(task, fitted)["auprc_macro"] == pytest.approx((negative + 5 / 6) / 2)


def test_decision_values_have_no_calibration():
    task, fitted = make([1, 0], [[0.0, 3.0], [0.0, -8.0]], [0, 1], calibrated=False)
    scores = score(task, fitted)
    assert scores["auroc"] == 1.0
    assert scores["brier"] is scores["ece"] is scores["log_loss"] is None


def test_one_class_in_the_test_part_gives_none_not_a_crash():
    task, fitted = make([0, 0], [[0.8, 0.2], [0.6, 0.4]], [0, 0])
    scores = score(task, fitted)
    assert scores["auroc"] is None
    assert scores["silhouette"] is None
    assert scores["accuracy"] == 1.0


def test_three_classes_are_averaged_one_against_rest():
    y = np.array([0, 1, 2])
    task, fitted = make(y, np.eye(3) * 0.8 + 0.1, [0, 1, 1])
    scores = score(task, fitted)
    assert scores["auroc"] == 1.0
    assert scores["f1"] == scores["f1_macro"] == 1.0
    assert "min_se_pp" not in scores
    assert np.isnan(one_against_rest(y[:2], np.eye(3)[:2], 3, "auroc")[2])


@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
def test_calibration_error_and_event_score_are_shares(seed, n):
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, n), rng.random(n)
    y[0] = 1
    assert 0 <= expected_calibration_error(y, p) <= 1
    assert 0 <= min_sensitivity_precision(y, p) <= 1
    # A forecast of the truth itself is perfect on both.
    assert expected_calibration_error(y, y.astype(float)) == 0
    assert min_sensitivity_precision(y, y.astype(float)) == 1


def test_purity_and_collapse():
    assert purity([[50, 0], [0, 50]]) == 1.0
    assert pure([[50, 0], [0, 50]])
    assert purity([[49, 1], [1, 49]]) == 0.98  # two rows pinned
    assert not pure([[49, 1], [1, 49]])
    assert not pure([[99, 0], [0, 1]])  # a majority of 0.99 is not a collapse


def test_description_names_the_feature_that_splits_the_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    cluster = np.repeat([0, 1], 30)
    X[cluster == 1, 1] += 5
    y = rng.integers(0, 2, 60)
    task = Task(X, y, X[:0], y[:0], X, y, 2, 2, 0, names=("noise", "shifted"))
    fitted = Fitted(np.c_[1 - y, y] * 1.0, y, cluster, cluster, {})
    summary = describe(task, fitted, task.names)
    assert summary["sizes_train"] == [
        [int(((cluster == j) & (y == c)).sum()) for c in (0, 1)] for j in (0, 1)
    ]
    first = next(row for row in summary["features"] if row["cluster"] == 1)
    assert first["feature"] == "shifted"
    assert first["effect"] > 3
    assert first.keys() == {"cluster", "feature", "effect"}
