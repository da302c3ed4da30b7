"""Whole tables in one job: parts without some classes, the bag of trees, risks, and the record."""

import numpy as np
import pytest
import torch

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_json
from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import Contender, parse_contender
from deepcac.judging.deep_learners import bag, shared_cases, shared_trees
from deepcac.judging.fitting import fit_trial, in_parts
from deepcac.judging.partitions import Partition
from deepcac.judging.resamples import resamples
from deepcac.judging.trial_record import VALIDATION
from deepcac.judging.trials import Effort, run_resample
from deepcac.nn.fitting import data
from deepcac.subtyping.subtype_classifier import SubtypeClassifier
from deepcac_study.judge.tables.over_tables import (
    over_tables,
    table_means,
    table_scores,
    table_verdicts,
)
from deepcac_study.judge.tables.table_trials import (
    THRESHOLDS,
    describe_risks,
    read_table_record,
    run_table,
)

EFFORT = Effort(3, 3, 100, 10_000, 4, 1)
NAMES = ["lr", "km_lr", "lgbm", "km_lgbm", "bag"]


def table(n=400, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    risk = X[:, 0] + rng.normal(size=n)
    label = np.digitize(risk, np.quantile(risk, np.arange(1, n_classes) / n_classes))
    return FeatureMatrix(np.arange(n), label.astype(np.int64), X, tuple("abc"))


def one_resample(matrix):
    return next(resamples(matrix, 1, 10_000))


def test_a_part_without_a_class_has_a_model_of_the_others():
    sample = one_resample(table(600, n_classes=3))
    # Part 0 holds no row of class 2, part 1 is class 2 alone.
    place = (sample.train.y == 2).astype(np.int64)
    found = Partition(place, lambda rows: (rows.y == 2).astype(np.int64))
    seen = {}

    def fit(values, train, validation, _):
        seen["classes"] = np.unique(train.y).tolist(), np.unique(validation.y).tolist()
        return lambda rows: np.tile([0.75, 0.25, 0.0], (len(rows), 1))

    answer = in_parts(fit, {}, sample, found, 2)(sample.test)
    assert seen["classes"] == ([0, 1], [0, 1])
    n = np.bincount(sample.train.y, minlength=3)
    own, overall = n[0] + n[1], n / n.sum()
    expected = (own * np.array([0.75, 0.25, 0.0]) + overall) / (own + 1)
    assert answer[sample.test.y < 2] == pytest.approx(
        np.tile(expected, (sum(sample.test.y < 2), 1))
    )
    shares = (np.array([0, 0, n[2]]) + overall) / (n[2] + 1)  # one class: no model
    assert answer[sample.test.y == 2][0] == pytest.approx(shares)
    assert answer.sum(axis=1) == pytest.approx(np.ones(len(sample.test)))


def test_of_two_classes_a_part_that_lacks_one_has_the_shares_as_before():
    sample = one_resample(table())
    found = Partition(sample.train.y, lambda rows: rows.y)
    answer = in_parts(lambda *_: pytest.fail("fitted"), {}, sample, found, 2)(sample.test)
    n, share = np.bincount(sample.train.y), sample.train.y.mean()
    assert answer[sample.test.y == 1][0, 1] == pytest.approx((n[1] + share) / (n[1] + 1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bag_is_the_mean_of_the_trees_of_the_folds(n_classes):
    sample = one_resample(table(n_classes=n_classes))
    answer = bag({}, sample.train, sample.validation, sample)(sample.test)
    trees = shared_trees(sample, shared_cases(sample, SubtypeClassifier(random_state=0).folds))
    each = [one.outputs(sample.test.raw, trees.folds.n_outputs) for one in trees.folds.trees]
    assert len(each) == 5
    odds = np.mean(each, axis=0)
    if n_classes == 2:
        assert answer[:, 1] == pytest.approx(1 / (1 + np.exp(-odds[:, 0])))
    else:
        powers = np.exp(odds)
        assert answer == pytest.approx(powers / powers.sum(axis=1, keepdims=True))


def test_a_learner_of_fixed_settings_has_one_trial_and_no_arms():
    assert parse_contender("bag").trials(20) == [{}]
    with pytest.raises(ConfigError, match="km_bag"):
        parse_contender("km_bag")


def test_risks_by_hand():
    y, risk = np.array([0, 0, 1, 1]), np.array([0.1, 0.3, 0.3, 0.9])
    found = describe_risks(y, risk)
    assert found["brier"] == pytest.approx((0.01 + 0.09 + 0.49 + 0.01) / 4)
    assert found["observed_expected"] == pytest.approx(0.5 / 0.4)
    # At .2 two events and one other are treated; at .5 one event alone.
    benefit = dict(zip(THRESHOLDS.tolist(), found["net_benefit"], strict=True))
    assert benefit[0.2] == pytest.approx(2 / 4 - 1 / 4 * 0.25)
    assert benefit[0.5] == pytest.approx(1 / 4)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_features(folder / "two.parquet", table())
    path = folder / "tables" / "two.json"
    path.parent.mkdir()
    run_table(folder / "two.parquet", path, dataset="two", contenders=NAMES, effort=EFFORT)
    return path


def test_a_record_holds_every_trial_of_every_contender(record):
    found = read_table_record(record)
    assert list(found["contenders"]) == sorted(NAMES)
    assert found["machine"]["begun"].startswith("20")
    for name, one in found["contenders"].items():
        drawn = parse_contender(name).trials(EFFORT.trials_of(Contender("lr")))
        assert one.values == drawn
        assert one.scores.shape[:2] == (3, len(drawn))
        assert one.score(VALIDATION, "brier").min() > 0
    written = read_json(record)["contenders"]["lr"]["resamples"][2]["trials"][1]["test"]["brier"]
    assert found["contenders"]["lr"].score("test", "brier")[2, 1] == written
    other = record.with_name("other.json")
    other.write_bytes(record.read_bytes())
    with pytest.raises(DataError, match=r"two\.json"):
        read_table_record(other)


def test_the_risks_are_those_of_the_trial_that_log_loss_chose(record):
    found = read_table_record(record)
    contenders = found["contenders"]
    sample = one_resample(table())
    for name in ("km_lr", "lgbm"):
        one = parse_contender(name)
        own = contenders[name].values
        for choice in (TUNED, CLUSTERED) if one.arm else (TUNED,):
            trial = choose(open_to(contenders, name), choice, "log_loss").trials[0]
            source, values = (one, own) if trial < len(own) else (parse_contender("lr"), None)
            values = values or contenders["lr"].values
            answers = run_resample(sample, source, values).answers[0].table
            test = answers["part"].to_numpy() == 2
            column = f"t{trial if source is one else trial - len(own)}_1"
            risk = answers[column].to_numpy()[test].astype(np.float64)
            told = describe_risks(answers["label"].to_numpy()[test].astype(np.int64), risk)
            kept = found["risks"][0][name][choice]
            assert kept.pop("net_benefit") == pytest.approx(told.pop("net_benefit"), abs=1e-5)
            assert kept == pytest.approx(told, abs=1e-5)


def test_tables_of_a_record_and_what_they_say_of_a_new_table(record):
    records = {"two": read_table_record(record)}
    scores = table_scores(records)
    means = table_means(records, scores).set_index("contender")
    first = scores[scores["contender"] == "km_lr"]
    assert means.loc["km_lr", "auroc_tuned"] == pytest.approx(first["auroc_tuned"].mean())
    assert means.loc["lr", ["n_rows", "n_classes", "resamples", "trials"]].tolist() == [
        400,
        2,
        3,
        4,
    ]
    compared = table_verdicts(scores)
    assert set(compared["metric"]) == {"auroc", "auprc", "log_loss", "brier"}
    pairs = compared[(compared["question"] == "bag") & (compared["metric"] == "brier")]
    assert pairs["contender"].tolist() == ["bag"]
    wide = scores.pivot(index="seed", columns="contender", values="brier_tuned")
    assert pairs["mean"].iloc[0] == pytest.approx((wide["lgbm"] - wide["bag"]).mean())
    older = compared.assign(dataset="one")
    over = over_tables(older, compared).set_index(["scope", "question", "contender"])
    assert over.loc[("all", "help", "km_lr"), "tables"] == 2
    assert over.loc[("new", "forced", "km_lgbm"), "tables"] == 1
    sides = over[
        [f"{kind}_{side}" for kind in ("rank", "new") for side in ("worse", "same", "better")]
    ]
    assert sides.sum(axis=1).to_numpy() == pytest.approx(np.full(len(over), 2.0))


def test_networks_of_the_judge_run_where_their_records_say(monkeypatch):
    """A record says cpu, also where there is a GPU."""
    asked = []
    monkeypatch.setattr(data, "find_device", lambda name: asked.append(name) or torch.device("cpu"))
    contender = parse_contender("fnn")
    fit_trial(contender, contender.trials(1)[0], one_resample(table(200)))
    assert len(asked) > 1
    assert set(asked) == {"cpu"}
