"""Published divisions: who is tested on what, and the challenge's score by hand."""

import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_json, read_table, write_json, write_table
from deepcac.judging.contenders import parse_contender
from deepcac.judging.trial_answers import ROWS, TrialAnswers
from deepcac.judging.trials import Effort
from deepcac_study.judge.division_scores import (
    event_one,
    event_threshold,
    mean_answer,
    opened,
    score_division,
    scored,
)
from deepcac_study.judge.public_protocols import PublishedDivision, divided, run_division
from deepcac_study.judge.study_files import answers_path
from deepcac_study.judge.trial_files import read_trials
from deepcac_study.records.record import file_digest


def matrix(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return FeatureMatrix(
        X=X,
        label=(X[:, 0] + rng.normal(size=n) > 1).astype(np.int64),
        row_id=np.arange(n, dtype=np.int64),
        group=np.repeat(["a", "b", "c"], n // 3),
        names=("v", "w", "x", "y"),
    )


def test_the_test_part_is_whole_and_never_learnt_from():
    rows = matrix()
    draws = list(divided(rows, PublishedDivision(["a", "b"], "c"), 3))
    assert [draw.seed for draw in draws] == [0, 1, 2]
    for draw in draws:
        np.testing.assert_array_equal(draw.test.row_id, np.arange(400, 600))
        learnt = np.sort(np.concatenate([draw.train.row_id, draw.validation.row_id]))
        np.testing.assert_array_equal(learnt, np.arange(400))
        assert len(draw.validation) == 100
    assert not np.array_equal(draws[0].train.row_id, draws[1].train.row_id)


def test_an_unknown_group_is_named():
    with pytest.raises(ConfigError, match="no rows of group 'd'; known: a, b, c"):
        next(divided(matrix(), PublishedDivision(["a", "d"], "c"), 1))


def test_event_one_by_hand():
    label, called = np.array([1, 1, 1, 0, 0, 0]), np.array([1, 1, 0, 1, 1, 0])
    once = np.ones((6, 1), dtype=np.uint8)
    # Sensitivity 2 / 3, precision 2 / 4.
    assert event_one(label, called, once) == pytest.approx([0.5])
    # Without the two false alarms precision is 1.
    weights = np.array([[1, 1, 1, 0, 0, 1]], dtype=np.uint8).T
    assert event_one(label, called, weights) == pytest.approx([2 / 3])
    assert event_one(label, np.zeros(6, dtype=int), once) == pytest.approx([0.0])


def test_the_threshold_is_that_of_the_best_lesser_share():
    label, risk = pd.Series([0, 1, 0, 1]), pd.Series([0.1, 0.4, 0.35, 0.8])
    assert event_threshold(label, risk) == 0.4  # both 1 there


def test_the_mean_of_the_chosen_trials_is_scored():
    def sample(seed, scores):
        return {
            "seed": seed,
            "trials": [{"validation": {"auroc": v}, "test": {"auroc": 0.0}} for v in scores],
        }

    found = {"trials": [{}, {}], "resamples": [sample(0, [0.9, 0.5]), sample(1, [0.1, 0.2])]}
    label = [1, 0, 1, 0]
    answers = pa.table(
        {
            "seed": np.repeat([0, 1], 8),
            "part": np.tile(np.repeat([1, 2], 4), 2),
            "row_id": np.tile(np.arange(8), 2),
            "label": label * 4,
            "t0_1": [0.9, 0.1, 0.8, 0.2, 0.6, 0.7, 0.9, 0.1, *[0.5] * 8],
            "t1_1": [*[0.5] * 8, 0.9, 0.1, 0.8, 0.2, 0.8, 0.1, 0.7, 0.3],
        }
    )
    score = scored(mean_answer(found, TrialAnswers(answers), "auroc"))
    mean = [(0.6 + 0.8) / 2, (0.7 + 0.1) / 2, 0.8, 0.2]
    assert score["chosen"] == [0, 1]
    assert score["auroc"][0] == pytest.approx(roc_auc_score(label, mean))
    assert (score["n_test"], score["events"]) == (4, 2)
    # Both validation parts are told apart from .8 on; one of two deaths has that risk.
    assert score["min_se_pp"][0] == pytest.approx(0.5)


def run(tmp_path, name):
    run_division(
        tmp_path / "rows.parquet",
        tmp_path / f"{name}.json",
        parse_contender(name),
        PublishedDivision(["a", "b"], "c"),
        dataset="demo_cic",
        draws=2,
        effort=Effort(1, 1, 0, 10_000, 3, 2),
        synthetic=True,
    )


def test_a_division_from_features_to_record(tmp_path):
    write_features(tmp_path / "rows.parquet", matrix())
    run(tmp_path, "lr")
    record = read_json(tmp_path / "lr.json")
    assert len(record["resamples"]) == 2
    assert len(record["resamples"][0]["trials"]) == 3
    assert read_table(answers_path(tmp_path / "lr.json")).num_rows == 2 * 300
    (one,) = score_division([tmp_path / "lr.json"])["contenders"]
    value, low, high = one["scores"]["auprc"]["auroc"]
    assert 0.6 < low <= value <= high


def test_an_arm_may_choose_its_learners_own_trial_on_a_division(tmp_path):
    write_features(tmp_path / "rows.parquet", matrix())
    for name in ("lr", "hash_lr"):
        run(tmp_path, name)
    paths = [tmp_path / "hash_lr.json", tmp_path / "lr.json"]
    records = {path.stem: read_trials(path) for path in paths}
    answers = {path.stem: TrialAnswers(read_table(answers_path(path))) for path in paths}
    both = opened(records, answers, "hash_lr")
    assert both.table.column_names == [*ROWS, *(f"t{t}_1" for t in range(6))]
    assert (both.risk(4) == answers["lr"].risk(1)).all()
    assert opened(records, answers, "lr") is answers["lr"]
    for trial in records["lr"]["resamples"]:  # the learner's second trial is the best on every draw
        trial["trials"][1]["validation"] = {"auroc": 1.0, "auprc": 1.0}
    write_json(tmp_path / "lr.json", records["lr"])
    content = score_division(paths)
    arm, alone = content["contenders"]
    assert arm["scores"]["auroc"]["chosen"] == [4, 4]
    assert alone["scores"]["auroc"]["chosen"] == [1, 1]
    assert arm["scores"]["auroc"]["auroc"] == alone["scores"]["auroc"]["auroc"]
    same = {"mean": 0.0, "low": 0.0, "high": 0.0}
    about = {"contender": "hash_lr", "reference": "lr"}
    assert content["pairs"] == [about | {"metric": m} | same for m in ("auroc", "auprc")]
    write_table(answers_path(paths[1]), answers["lr"].table.slice(1))
    with pytest.raises(DataError, match=r"lr\.parquet: not the answers of its record; delete both"):
        score_division(paths)
    digest = {"answers": file_digest(answers_path(paths[1]))}
    write_json(tmp_path / "lr.json", records["lr"] | digest)
    with pytest.raises(DataError, match="hash_lr and lr: answers to different rows; run both"):
        score_division(paths)


def test_contenders_are_compared_on_the_same_test_rows(tmp_path):
    write_features(tmp_path / "rows.parquet", matrix())
    for name in ("lr", "centroid"):
        run(tmp_path, name)
    assert score_division(tmp_path.glob("*.json"))["pairs"] == []
    own = {
        "contender": "subtypes_gbm",
        "learner": "subtypes_gbm",
    }  # stands for a run of the boosted classifier
    write_json(tmp_path / "subtypes_gbm.json", read_json(tmp_path / "lr.json") | own)
    shutil.copy(tmp_path / "lr.parquet", tmp_path / "subtypes_gbm.parquet")
    content = score_division(tmp_path.glob("*.json"))
    found = {(row["reference"], row["metric"]): row for row in content["pairs"]}
    assert set(found) == {(n, m) for n in ("lr", "centroid") for m in ("auroc", "auprc")}
    alike = found["lr", "auroc"]
    assert (alike["mean"], alike["low"], alike["high"]) == (0.0, 0.0, 0.0)
    by_name = {one["contender"]: one["scores"]["auroc"] for one in content["contenders"]}
    scores = [by_name[name]["auroc"] for name in ("lr", "centroid")]
    ahead = found["centroid", "auroc"]
    assert ahead["mean"] == pytest.approx(scores[0][0] - scores[1][0])
    # Paired, so narrower than the two intervals beside each other.
    assert 0 < ahead["high"] - ahead["low"] < max(high - low for _, low, high in scores)
