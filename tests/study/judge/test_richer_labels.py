"""Labels of training rows alone: no row's cluster knows its own, and planted ones help."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.storage import write_table
from deepcac.judging.resamples import Resample
from deepcac.judging.trial_scores import score_trial
from deepcac.judging.trials import Effort, study_resamples
from deepcac_study.judge.further.auxiliary_labels import (
    LabelledSample,
    memberships,
    predictions,
    rich_clusters,
)
from deepcac_study.judge.further.richer_labels import (
    ALONE,
    ARMS,
    CLUSTERINGS,
    SHUFFLED,
    STACKED,
    _best,
    days_of,
    fits,
    richer,
    shuffled,
)

EFFORT = Effort(1, 1, 0, 10_000, 1, 1)


def _sample(n: int = 1200, seed: int = 0) -> tuple[Resample, np.ndarray]:
    """Draw rows whose label is the sign of a sum that training rows are told without noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30))
    true = X[:, :15].sum(axis=1) / np.sqrt(15)
    label = (true + 2 * rng.normal(size=n) > 0).astype(np.int64)
    matrix = FeatureMatrix(np.arange(n), label, X, tuple(f"x{j}" for j in range(30)))
    return next(study_resamples(matrix, EFFORT)), true


def test_outcomes_are_found_by_record_whatever_their_order(tmp_path):
    path = tmp_path / "outcomes.parquet"
    table = {"record_id": [30, 10, 20], "Survival": [-23, 5, 7], "Length_of_stay": [3, -1, 9]}
    write_table(path, pa.table(table))
    days = days_of(path, np.array([10, 30]))
    assert days == pytest.approx(np.array([[5, np.nan], [np.nan, 3]]), nan_ok=True)
    for wrong in ([10, 40], [30, 10]):
        with pytest.raises(DataError, match="not the outcomes of these rows"):
            days_of(path, np.array(wrong))


def test_richer_labels_by_hand():
    days = np.expm1(np.array([[1.0, 2.0], [3.0, np.nan], [np.nan, 6.0]]))
    sd = np.sqrt(8 / 9), np.sqrt(8 / 3)
    expected = [[(1 - 7 / 3) / sd[0], -2 / sd[1]], [2 / 3 / sd[0], 0], [2 / 3 / sd[0], 2 / sd[1]]]
    assert richer(days) == pytest.approx(np.array(expected))


def test_shuffled_labels_stay_with_their_outcome():
    rng, y = np.random.default_rng(0), np.array([0, 1] * 50)
    labels = np.column_stack([np.arange(100), y])
    found = shuffled(labels, y, rng)
    assert (found[:, 1] == y).all()
    assert sorted(found[:, 0]) == list(range(100))
    assert (found[:, 0] != np.arange(100)).mean() > 0.9


def test_no_row_is_assigned_with_its_own_labels():
    """Labels of nothing: clusters of them cannot be told from the predictors."""
    sample, _ = _sample()
    noise = np.random.default_rng(5).normal(size=(len(sample.train), 2))
    found = rich_clusters(LabelledSample(sample, noise), 2, 0.9)
    rows = noise[:, 0], noise[:, 1]
    for label in rows:
        means = [label[found.train == j].mean() for j in range(2)]
        assert abs(means[0] - means[1]) < 0.25
    more = predictions(LabelledSample(sample, noise), "lr")
    for label, own in zip(rows, more.train.T, strict=True):
        assert abs(np.corrcoef(label, own)[0, 1]) < 0.15


def test_further_predictors_of_new_rows_come_from_predictors_alone():
    sample, true = _sample()
    told = LabelledSample(sample, np.column_stack([true[sample.train.row_id]] * 2))
    other = sample.test.take(np.arange(len(sample.test)))
    for more in (memberships(told, 3, 0.9), predictions(told, "lr"), predictions(told, "lgbm")):
        assert more.of(sample.test).shape == (len(sample.test), 2)
        assert np.array_equal(more.of(other), more.of(sample.test))
        assert abs(more.train.mean()) < 1e-8
        line = LinearRegression().fit(more.of(sample.test), true[sample.test.row_id])
        assert line.score(more.of(sample.test), true[sample.test.row_id]) > 0.3


def test_a_label_without_noise_helps_when_predicted_and_its_shuffle_does_not():
    sample, true = _sample(seed=2)
    labels = np.column_stack([true[sample.train.row_id]] * 2)
    rng = np.random.default_rng(0)
    told = {
        "": LabelledSample(sample, labels),
        SHUFFLED: LabelledSample(sample, shuffled(labels, sample.train.y, rng)),
    }
    found = {
        arm: _best(fits(arm, "lgbm", told), sample)["auroc"][1]
        for arm in (ALONE, STACKED, SHUFFLED + STACKED)
    }
    assert found[STACKED] > found[ALONE] + 0.01
    assert found[STACKED] > found[SHUFFLED + STACKED] + 0.01


def test_every_contender_has_as_many_trials_and_the_best_is_chosen_by_validation():
    sample, true = _sample(400)
    labels = np.column_stack([true[sample.train.row_id]] * 2)
    told = {"": LabelledSample(sample, labels), SHUFFLED: LabelledSample(sample, labels)}
    for arm in ARMS:
        assert len(list(fits(arm, "lr", told))) == len(CLUSTERINGS)
    scores = [
        score_trial(*(rows.y for rows in both), *(predict(rows) for rows in both))
        for both in [(sample.validation, sample.test)]
        for predict in (fit() for fit in fits("rich", "lr", told))
    ]
    best = max(scores, key=lambda one: one["validation"]["auroc"])
    found = _best(fits("rich", "lr", told), sample)
    assert found["auroc"] == [best["validation"]["auroc"], best["test"]["auroc"]]
