"""Calibration and net benefit in records of trials: what log loss chose, and whose trial it is."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_table
from deepcac.judging.contenders import parse_contender
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import VALIDATION
from deepcac.judging.trials import Effort
from deepcac_study.judge.tables.over_tables import mean_risks
from deepcac_study.judge.tables.table_trials import describe_risks
from deepcac_study.judge.trial_files import read_trials, run_trials
from deepcac_study.judge.trial_risks import chosen_risks
from deepcac_study.records.record import answers_path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judge") / "own"
    features = folder / "features.parquet"
    folder.mkdir()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    label = (X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(np.int64)
    write_features(features, FeatureMatrix(np.arange(300), label, X, tuple("abcd")))
    paths = {name: folder / f"{name}.json" for name in ("lr", "km_lr", "cac_lr")}
    for name, path in paths.items():
        effort = Effort(2, 3, 100, 10_000, 4, 2)
        run_trials(features, {parse_contender(name): path}, dataset="own", effort=effort)
    return paths


def by_hand(path, number, trial):
    """What the stored answers of one trial say, without the functions that are tested."""
    answers = read_table(answers_path(path)).to_pandas()
    seed = read_trials(path).seeds[number]
    rows = answers[(answers["seed"] == seed) & (answers["part"] == TEST)]
    return describe_risks(
        rows["label"].to_numpy(np.int64), rows[f"t{trial}_1"].to_numpy(np.float64)
    )


def losses(record, number):
    return record.score(VALIDATION, "log_loss")[number].tolist()


def test_own_trials_that_can_be_chosen_are_described_from_the_answers(study):
    record = read_trials(study["cac_lr"])
    parted = [t for t, values in enumerate(record.values) if values["n_clusters"] > 1]
    for number, risks in enumerate(record.risks):
        own = losses(record, number)
        assert set(risks) == {int(np.argmin(own)), min(parted, key=lambda t: own[t])}
        for trial, told in risks.items():
            assert told == by_hand(study["cac_lr"], number, trial)


def test_an_arm_that_chose_its_learner_has_the_risks_of_the_learner(study):
    records = {"own": {name: read_trials(path) for name, path in study.items()}}
    table = mean_risks(chosen_risks(records)).set_index(["contender", "choice"])
    assert set(table.index) == {
        ("lr", "tuned"),
        *((arm, way) for arm in ("km_lr", "cac_lr") for way in ("tuned", "clustered")),
    }
    own, alone = records["own"]["km_lr"], records["own"]["lr"]
    briers = []
    for number in range(len(own.seeds)):
        both = losses(own, number) + losses(alone, number)
        best, n = int(np.argmin(both)), len(own.values)
        source = (study["km_lr"], best) if best < n else (study["lr"], best - n)
        briers.append(by_hand(source[0], number, source[1])["brier"])
    assert table.loc[("km_lr", "tuned"), "brier"] == pytest.approx(np.mean(briers))


def test_older_records_say_nothing(study):
    record = replace(read_trials(study["lr"]), risks=[])
    assert mean_risks(chosen_risks({"own": {"lr": record}})).empty
    assert isinstance(mean_risks([]), pd.DataFrame)
