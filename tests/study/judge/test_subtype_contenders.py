"""The classifier with subtypes in the judge, on a small generated table."""

import numpy as np
from sklearn.metrics import roc_auc_score

from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.judging.contenders import parse_contender
from deepcac.judging.deep_learners import subtypes
from deepcac.judging.questions import SUBTYPES, pairs
from deepcac.judging.resamples import resamples
from deepcac.judging.trials import Effort
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac_study.judge.trial_files import read_trials, run_trials
from deepcac_study.records.record import answers_path


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
    assert records[0].values == records[1].values


def test_its_rivals_are_boosting_and_the_network():
    present = ["fnn", "lgbm", "lr", "subtypes", "subtypes_gbm"]
    assert set(pairs(SUBTYPES, present)) == {
        (name, rival) for name in ("subtypes", "subtypes_gbm") for rival in ("fnn", "lgbm")
    }
    assert parse_contender("subtypes_gbm").network
