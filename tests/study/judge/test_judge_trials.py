"""Spaces, resamples, partitions, and the trials that are stored."""

import json
import shutil

import numpy as np
import pytest

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_table, write_json, write_table
from deepcac.judging.contenders import parse_contender
from deepcac.judging.fitting import fit_trial
from deepcac.judging.partitions import beside, part
from deepcac.judging.resamples import resamples
from deepcac.judging.spaces import learners, trials
from deepcac.judging.trial_record import TEST, VALIDATION, to_content
from deepcac.judging.trial_scores import LOSSES, best_threshold, score_trial
from deepcac.judging.trials import Effort, judge_rows
from deepcac.sequence_summary import SUMMARIES
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.trial_files import read_trials, run_trials
from deepcac_study.records.record import answers_path

EFFORT = Effort(2, 3, 100, 10_000, 3, 2)


def cohort(n=400, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random((n, 4)) < 0.1] = np.nan
    risk = np.nan_to_num(X[:, 0]) + 0.5 * rng.normal(size=n)
    label = np.digitize(risk, np.quantile(risk, np.arange(1, n_classes) / n_classes))
    return FeatureMatrix(np.arange(n) * 7 + 3, label.astype(np.int64), X, tuple("abcd"))


@pytest.fixture(scope="module")
def sample():
    return next(resamples(cohort(), 1, 10_000))


@pytest.mark.parametrize("learner", sorted(learners()))
def test_draws_stay_in_their_space_and_do_not_depend_on_how_many_are_made(learner):
    few, many = trials(learner, 4), trials(learner, 40)
    assert many[:4] == few
    for name, dimension in learners()[learner].space.items():
        assert few[0][name] == dimension.default
        values = [one[name] for one in many[1:]]
        ends = dimension.uniform or dimension.log
        if dimension.choice is not None:
            assert set(values) == set(dimension.choice)
        else:
            assert all(v == 0 or ends[0] <= v <= ends[1] for v in values)
            assert len(set(values)) > 1
        assert not dimension.int or all(isinstance(v, int) for v in values)


def test_every_whole_number_of_a_range_is_drawn():
    drawn = [one["n_clusters"] for one in trials("partition", 200)]
    assert set(drawn) == {1, 2, 3, 4, 5}


def test_the_arms_of_a_learner_differ_in_the_partition_alone():
    alone, cac = parse_contender("lr").trials(6), parse_contender("cac_lr").trials(6)
    km = parse_contender("km_lr").trials(6)
    for a, c, k in zip(alone, cac, km, strict=True):
        assert {name: c[name] for name in a} == a
        assert c["n_clusters"] == k["n_clusters"]
        assert "alpha" in c
        assert "alpha" not in k


def test_an_arm_does_not_make_the_trials_of_its_learner_again():
    alone, arm, drawn = parse_contender("lr").trials(30), parse_contender("km_lr").trials(30), 0
    for values, own in zip(alone, trials("partition", 30), strict=True):
        if own["n_clusters"] > 1:
            assert arm[drawn] == values | {"n_clusters": own["n_clusters"]}
            drawn += 1
    assert 0 < drawn < 30
    assert len(arm) == drawn


@pytest.mark.parametrize("name", ["lgb", "km_deepcac", "cac", "xx_lr"])
def test_an_unknown_contender_is_named(name):
    with pytest.raises(ConfigError, match=name):
        parse_contender(name)


def test_resamples_are_stratified_apart_and_capped():
    matrix = cohort(1000)
    for sample in resamples(matrix, 2, 200):
        ids = [set(rows.row_id) for rows in (sample.train, sample.validation, sample.test)]
        assert not (ids[0] & ids[1])
        assert not (ids[0] & ids[2])
        assert not (ids[1] & ids[2])
        assert [len(one) for one in ids] == [200, 188, 250]
        for rows in (sample.train, sample.validation, sample.test):
            assert abs(rows.y.mean() - 0.5) < 0.01
        assert np.allclose(sample.train.scaled.mean(axis=0), 0, atol=1e-9)


def test_only_training_rows_say_how_rows_are_scaled():
    matrix = cohort()
    sample = next(resamples(matrix, 1, 10_000))
    changed = matrix.X.copy()
    changed[np.isin(matrix.row_id, sample.test.row_id)] *= 100
    again = next(
        resamples(FeatureMatrix(matrix.row_id, matrix.label, changed, matrix.names), 1, 10_000)
    )
    assert np.array_equal(sample.train.scaled, again.train.scaled)


def test_hashed_parts_know_nothing_and_are_about_equal(sample):
    found = part(sample, "hash", 3, 0.0)
    sizes = np.bincount(found.train, minlength=3)
    assert sizes.min() > 0.2 * len(sample.train)
    reordered = sample.train.take(np.arange(len(sample.train))[::-1])
    assert np.array_equal(found.assign(reordered), found.train[::-1])


@pytest.mark.parametrize("arm", ["km", "cac", "cells"])
def test_training_rows_of_centred_parts_are_those_of_the_nearest_centre(sample, arm):
    found = part(sample, arm, 3, 0.0)
    assert np.mean(found.assign(sample.train) == found.train) > 0.99
    assert part(sample, arm, 3, 0.0).train is found.train  # made once a resample


def test_distances_are_standardised_on_the_training_rows(sample):
    found = beside(sample, "dist", 3)(sample.train)
    assert found.shape == (len(sample.train), 3)
    assert np.allclose(found.mean(axis=0), 0, atol=1e-9)
    assert np.allclose(found.std(axis=0), 1)


@pytest.mark.parametrize("arm", ["km", "cac", "dist", "cells", "hash"])
def test_one_cluster_is_the_learner_alone(sample, arm):
    alone, clustered = parse_contender("lr"), parse_contender(f"{arm}_lr")
    values = clustered.trials(1)[0] | {"n_clusters": 1}
    one = fit_trial(alone, alone.trials(1)[0], sample)(sample.test)
    other = fit_trial(clustered, values, sample)(sample.test)
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_part_without_a_class_answers_its_smoothed_share():
    matrix = cohort(200)
    label = (np.arange(200) % 2).astype(np.int64)
    X = np.zeros((200, 1))
    X[:, 0] = np.where(np.arange(200) < 100, -5.0, 5.0) + np.linspace(0, 0.1, 200)
    label[:100] = 0
    sample = next(resamples(FeatureMatrix(matrix.row_id, label, X, ("a",)), 1, 10_000))
    contender = parse_contender("km_lr")
    answer = fit_trial(contender, contender.trials(1)[0], sample)(sample.test)
    low = sample.test.raw[:, 0] < 0
    n = int((sample.train.raw[:, 0] < 0).sum())
    assert np.allclose(answer[low, 1], sample.train.y.mean() / (n + 1))
    assert np.allclose(answer.sum(axis=1), 1)


@pytest.mark.parametrize(
    "name", ["lgbm", "xgb", "catboost", "rf", "centroid", "fnn", "deepcac", "dmnn", "km_z", "grasp"]
)
def test_learners_answer_probabilities_that_rank_the_rows(name):
    matrix = cohort(500)
    found = judge_rows(matrix, parse_contender(name), Effort(1, 1, 0, 10_000, 1, 1))
    assert found.score(TEST, "auroc")[0, 0] > 0.7


@pytest.mark.parametrize("name", ["lr", "lgbm", "xgb", "km_catboost", "dist_fnn"])
def test_three_classes(name):
    found = judge_rows(
        cohort(500, n_classes=3), parse_contender(name), Effort(1, 1, 0, 10_000, 1, 1)
    )
    assert {"t0_1", "t0_2"} <= set(found.answers[0].table.column_names)
    assert found.score(TEST, "auroc")[0, 0] > 0.65


def test_scores_by_hand():
    validation = np.array([0.1, 0.4, 0.6, 0.9])
    y = np.array([0, 1, 0, 1])
    # At 0.4: precision 2/3, recall 1, F1 0.8; at 0.9: 1, 1/2, 2/3.
    assert best_threshold(y, validation) == 0.4
    both = np.column_stack([1 - validation, validation])
    found = score_trial(y, y, both, both)["test"]
    assert found["auroc"] == 0.75
    assert found["auprc"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-6)
    assert found["f1"] == pytest.approx(0.8)
    assert found["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4, abs=1e-6)
    assert found["log_loss"] == pytest.approx(-np.log([0.9, 0.4, 0.4, 0.9]).mean(), abs=1e-6)


def test_what_is_stored_gives_the_scores_again(tmp_path):
    write_features(tmp_path / "cohort.parquet", cohort())
    path = tmp_path / "cohort" / "km_lr.json"
    contender = parse_contender("km_lr")
    run_trials(tmp_path / "cohort.parquet", {contender: path}, dataset="cohort", effort=EFFORT)
    record, table = read_trials(path), read_table(answers_path(path)).to_pandas()
    assert record.seeds == [0, 1]
    assert len(record.values) == 3
    for j, seed in enumerate(record.seeds):
        rows = table[table["seed"] == seed]
        parts = [rows[rows["part"] == p] for p in (1, 2)]
        for t in range(3):
            risks = [p[f"t{t}_1"].to_numpy().astype(float) for p in parts]
            again = score_trial(
                *(p["label"].to_numpy().astype(int) for p in parts),
                *(np.column_stack([1 - r, r]) for r in risks),
            )
            for metric, score in again["test"].items():
                assert record.score(TEST, metric)[j, t] == pytest.approx(score, abs=1e-6)
    again = tmp_path / "again.json"
    run_trials(tmp_path / "cohort.parquet", {contender: again}, dataset="cohort", effort=EFFORT)
    assert answers_path(again).read_bytes() == answers_path(path).read_bytes()


def test_a_record_is_read_as_it_was_written_and_its_losses_are_positive(tmp_path):
    write_features(tmp_path / "cohort.parquet", cohort(120))
    path = tmp_path / "cohort" / "cells_lr.json"
    several = {parse_contender("cells_lr"): path}
    effort = EFFORT._replace(partitions=3)
    run_trials(tmp_path / "cohort.parquet", several, dataset="cohort", effort=effort)
    record = read_trials(path)
    assert to_content(record) == json.loads(path.read_text())
    for loss in LOSSES:
        assert record.score(VALIDATION, loss).min() > 0
        assert record.score(TEST, loss).min() > 0
    assert all(draws.min() > 0 for sample in record.partitions for draws in sample.values())
    assert min(told["brier"] for told in record.risks[0].values()) > 0


@pytest.mark.parametrize("part", ["trials", "resamples", "arm"])
def test_a_record_that_lacks_a_part_is_refused_in_one_line(tmp_path, part):
    write_features(tmp_path / "cohort.parquet", cohort(120))
    path = tmp_path / "cohort" / "lr.json"
    several = {parse_contender("lr"): path}
    run_trials(tmp_path / "cohort.parquet", several, dataset="cohort", effort=EFFORT)
    content = json.loads(path.read_text())
    content[part] = content[part][:-1] if part == "trials" else 0
    del content["digest"]
    write_json(path, content)
    with pytest.raises(DataError, match="run it again"):
        read_trials(path)


def test_an_edited_record_is_refused(tmp_path):
    write_features(tmp_path / "cohort.parquet", cohort(120))
    path = tmp_path / "cohort" / "lr.json"
    run_trials(
        tmp_path / "cohort.parquet", {parse_contender("lr"): path}, dataset="cohort", effort=EFFORT
    )
    record = json.loads(path.read_text())
    record["resamples"][0]["trials"][0]["test"]["auroc"] = 0.99
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="build it again"):
        read_trials(path)


def test_a_record_of_other_trials_or_beside_other_answers_is_refused(tmp_path):
    write_features(tmp_path / "cohort.parquet", cohort(120))
    contender, path = parse_contender("lr"), tmp_path / "cohort" / "lr.json"
    run_trials(tmp_path / "cohort.parquet", {contender: path}, dataset="cohort", effort=EFFORT)
    for other in ("cohort/cac_lr.json", "other/lr.json"):
        (tmp_path / other).parent.mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / other)
        with pytest.raises(DataError, match="'cohort/lr.json'"):
            read_trials(tmp_path / other)
    answers = read_table(answers_path(path))
    write_table(answers_path(path), answers.slice(1))
    with pytest.raises(DataError, match="the answers"):
        read_trials(path)


def test_hourly_sequences_are_judged_by_their_summary(tmp_path):
    rng = np.random.default_rng(0)
    heart = np.where(rng.random((300, 3)) < 0.3, np.nan, rng.normal(size=(300, 3)))
    age = np.repeat(rng.normal(size=(300, 1)), 3, axis=1)
    names = tuple(f"{name}@{hour:02d}" for name in ("HR", "Age") for hour in range(3))
    label = (age[:, 0] > 0.5).astype(np.int64)
    hourly = FeatureMatrix(np.arange(300), label, np.hstack([heart, age]), names)
    write_features(tmp_path / "hourly.parquet", hourly)
    rows = read_rows(tmp_path / "hourly.parquet")
    # The summaries of an age are the age, its count is 3 and it never changes.
    assert rows.names == (*(f"HR_{kind}" for kind in SUMMARIES), "Age_first")
    np.testing.assert_array_equal(rows.X[:, -1], age[:, 0])
    np.testing.assert_array_equal(rows.X[:, 6], (~np.isnan(heart)).sum(axis=1))
    record = tmp_path / "h" / "lr.json"
    run_trials(
        tmp_path / "hourly.parquet", {parse_contender("lr"): record}, dataset="h", effort=EFFORT
    )
    assert read_trials(record).about["n_features"] == 9


def test_a_table_is_judged_as_it_is(tmp_path):
    write_features(tmp_path / "table.parquet", cohort())
    rows = read_rows(tmp_path / "table.parquet")
    assert rows.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(rows.X, cohort().X)
