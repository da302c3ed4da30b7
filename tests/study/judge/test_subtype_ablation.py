"""The classifier with subtypes in the judge, and its ablation, on a small generated table."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_json
from deepcac.judging.contenders import parse_contender
from deepcac.judging.deep_learners import subtypes
from deepcac.judging.questions import SUBTYPES, pairs
from deepcac.judging.resamples import resamples
from deepcac.judging.trials import Effort
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac_study.judge import subtype_ablation
from deepcac_study.judge.study_files import answers_path
from deepcac_study.judge.subtype_ablation import CLUSTERS, run_ablation
from deepcac_study.judge.trial_files import read_trials, run_trials


def cohort(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random((n, 4)) < 0.1] = np.nan
    label = (np.nan_to_num(X[:, 0]) + 0.5 * rng.normal(size=n) > 0).astype(np.int64)
    return FeatureMatrix(np.arange(n) * 7 + 3, label, X, tuple("abcd"))


def test_what_the_judge_fits_sees_neither_validation_nor_test_rows():
    sample = next(resamples(cohort(), 1, 10_000))
    values = {"n_clusters": 2, "max_epochs": 3, "members": 2, "folds": 2, "hidden": 8, "lr": 0.02}
    answers = [
        subtypes(values, sample.train, validation, sample)(sample.test)
        for validation in (sample.validation, sample.test)
    ]
    np.testing.assert_array_equal(*answers)
    assert roc_auc_score(sample.test.y, answers[0][:, 1]) > 0.7
    with_trees = subtypes(values, sample.train, sample.validation, sample, boosting=True)
    assert (with_trees(sample.test) != answers[0]).any()
    assert ("trees", 2) in sample.shared


def test_what_is_shared_is_what_a_fit_of_its_own_finds():
    sample = next(resamples(cohort(), 1, 10_000))
    values = {"max_epochs": 3, "members": 2, "folds": 2, "hidden": 8, "lr": 0.02}
    for boosting in (False, True):
        shared = subtypes(values, sample.train, sample.validation, sample, boosting=boosting)
        own = SubtypeClassifier(**values, boosting=boosting, random_state=sample.seed, device="cpu")
        own.fit(sample.train.raw, sample.train.y)
        np.testing.assert_array_equal(shared(sample.test), own.predict_proba(sample.test.raw))
    assert sum(key[0] == "networks" for key in sample.shared) == 1


def test_contenders_that_are_run_together_answer_as_alone(tmp_path, monkeypatch):
    quick = dict(SubtypeClassifier.__init__.__kwdefaults__, members=2, folds=2, max_epochs=3)
    monkeypatch.setattr(SubtypeClassifier.__init__, "__kwdefaults__", quick)
    write_features(tmp_path / "features", cohort())
    effort, pair = Effort(1, 1, 0, 10_000, 3, 2), ("subtypes", "subtypes_gbm")
    together = {parse_contender(name): tmp_path / "own" / f"{name}.json" for name in pair}
    run_trials(tmp_path / "features", together, dataset="own", effort=effort)
    for contender, path in together.items():
        alone = tmp_path / "alone.json"
        run_trials(tmp_path / "features", {contender: alone}, dataset="own", effort=effort)
        assert answers_path(alone).read_bytes() == answers_path(path).read_bytes()
    records = [read_trials(path) for path in together.values()]
    assert records[0]["trials"] == records[1]["trials"]


def test_its_rivals_are_boosting_and_the_network():
    present = ["fnn", "lgbm", "lr", "subtypes", "subtypes_gbm"]
    assert set(pairs(SUBTYPES, present)) == {
        (name, rival) for name in ("subtypes", "subtypes_gbm") for rival in ("fnn", "lgbm")
    }
    assert parse_contender("subtypes_gbm").network


def test_every_part_is_changed_on_the_same_backbone(tmp_path, monkeypatch):
    small = {"max_epochs": 5, "members": 2, "folds": 2, "hidden": 8, "lr": 0.02}
    plain = subtype_ablation.SubtypeClassifier
    monkeypatch.setattr(
        subtype_ablation, "SubtypeClassifier", lambda **given: plain(**{**given, **small})
    )
    write_features(tmp_path / "features", cohort())
    effort = Effort(2, 2, 0, 10_000, 3, 2)
    run_ablation(tmp_path / "features", tmp_path / "record", dataset="own", effort=effort)
    record = read_json(tmp_path / "record")
    for part in ("networks", "with_trees"):
        arms = [row for row in record[part]["arms"] if row["arm"] != "trees"]
        assert len(arms) == 2 * (1 + len(CLUSTERS) + 5)
        one = [row for row in arms if row["seed"] == 0]
        assert len({row["log_loss"] for row in one if row["arm"] in ("permuted", "hard")}) == 2
        assert all(0.5 < row["auroc"] <= 1 for row in one)
        assert all(row["log_loss"] > 0 < row["brier"] for row in one)
        rows = len(cohort().label)
        sizes = {(row["n_train"], row["n_test"]) for row in one}
        assert [size / rows for size in sizes.pop()] == pytest.approx([0.56, 0.25], abs=0.01)
        assert not sizes
        strata = next(row for row in one if row["arm"] == "risk")
        assert strata["smallest"] == pytest.approx(1 / 3, abs=0.01)
        assert strata["risk_auroc"] > 0.6
        alone = next(row for row in one if (row["arm"], row["k"]) == ("soft", 1))
        assert alone["risk_auroc"] == 0.5
    bags = [row for row in record["with_trees"]["arms"] if row["arm"] == "trees"]
    assert [row["seed"] for row in bags] == [0, 1]
    assert all(0.5 < row["auroc"] < 1 for row in bags)
    pairs_of = {(row["method"], row["k"]) for row in record["stability"]}
    assert pairs_of == {(m, k) for m in ("subtypes", "risk", "km", "cac") for k in CLUSTERS[1:]}
    assert all(-1 <= row["ari"] <= 1 for row in record["stability"])


def test_strata_hold_as_many_training_rows_each():
    training = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert subtype_ablation.strata(training, training, 3).tolist() == [0, 0, 1, 1, 2, 2]
    assert subtype_ablation.strata(training, np.array([0.0, 0.35, 0.99]), 2).tolist() == [0, 1, 1]
