"""From trials to verdicts: choices, margins, power."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac.judging.choice import choose, open_to
from deepcac.judging.questions import QUESTIONS, pairs
from deepcac.judging.resample_scores import mean_scores, resample_scores
from deepcac.judging.trial_record import TEST, TrialRecord
from deepcac.judging.trial_scores import LOSSES, METRICS
from deepcac.judging.trials import Effort
from deepcac.judging.verdicts import half_detect, summary, verdicts
from deepcac.scoring.equivalence import difference, over_datasets, verdict
from deepcac.scoring.statistics import corrected_t_test
from deepcac_study.judge.power import oracle_gain, run_planted
from deepcac_study.judge.power_curve import power_curve
from deepcac_study.simulate.planted import planted

values = st.lists(st.floats(-0.1, 0.1), min_size=3, max_size=20).filter(lambda v: np.std(v) > 1e-6)


@given(values)
def test_the_interval_is_that_of_the_corrected_t_test(d):
    ours = difference(d, test_share=0.25, margin=0.01)
    theirs = corrected_t_test(d, n_train=3.0, n_test=1.0)
    assert ours.mean == pytest.approx(theirs.mean)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert ours.p == pytest.approx(theirs.p)
    assert ours.worse + ours.same + ours.better == pytest.approx(1)


@given(values)
def test_equivalence_is_that_the_90_percent_interval_lies_inside_the_margin(d):
    found = difference(d, test_share=0.25, margin=0.02)
    half = (
        (found.high - found.mean) * stats.t.ppf(0.95, len(d) - 1) / stats.t.ppf(0.975, len(d) - 1)
    )
    inside = found.mean - half > -0.02 and found.mean + half < 0.02
    assert (verdict(found, 1.0, found.p_equivalent) == "equivalent") == inside


def test_the_verdicts():
    def of(d, p=None, same=None):
        found = difference(d, test_share=0.25, margin=0.01)
        own = found.p_equivalent if same is None else same
        return verdict(found, found.p if p is None else p, own)

    assert of([0.03, 0.031, 0.029, 0.03]) == "better"
    assert of([-0.03, -0.031, -0.029, -0.03]) == "worse"
    assert of([0.001, -0.001, 0.0, 0.0005, -0.0008]) == "equivalent"
    assert of([0.05, -0.05, 0.04, -0.03]) == "undecided"
    # A difference that the correction for many tests takes away is no longer one.
    assert of([0.03, 0.031, 0.029, 0.03], p=0.2) == "undecided"
    assert of([0.001, -0.001, 0.0, 0.0005, -0.0008], same=0.2) == "undecided"
    assert of([0.0, 0.0, 0.0]) == "equivalent"


def test_the_detectable_difference_is_found_four_times_in_five():
    rng = np.random.default_rng(0)
    sd, n = 0.01, 10
    found = []
    for _ in range(4000):
        noise = rng.normal(0, sd, n)
        # Without correlation between resamples the test is that of independent values.
        one = difference(noise, test_share=0.0, margin=0.01)
        shift = one.detectable
        found.append(difference(noise + shift, test_share=0.0, margin=0.01).p < 0.05)
    assert 0.75 < np.mean(found) < 0.9


def test_one_of_many_tests_needs_a_larger_difference():
    d = [0.01, -0.004, 0.006, 0.002, -0.001]
    alone, among = (difference(d, test_share=0.25, margin=0.01, tests=n) for n in (1, 51))
    error = (alone.high - alone.mean) / stats.t.ppf(0.975, 4)
    assert among.detectable == pytest.approx(
        (stats.t.ppf(1 - 0.025 / 51, 4) + stats.t.ppf(0.8, 4)) * error
    )
    assert (among.low, among.high, among.p) == (alone.low, alone.high, alone.p)


def test_over_data_sets():
    assert over_datasets([0.05] * 9, 0.01)[2] > 0.99
    assert over_datasets([-0.05] * 9, 0.01)[0] > 0.99
    assert over_datasets([0.001, -0.002, 0.0, 0.001], 0.01)[1] > 0.99
    lower, same, upper = over_datasets([0.05, -0.05], 0.01)
    assert abs(lower - upper) < 0.05
    assert lower + same + upper == pytest.approx(1)


SIZES = {"n_train": 56, "n_validation": 19, "n_test": 25}


def record(name, scores, values=None, sizes=SIZES):
    """A record with one list of (validation, test) a resample, a pair a trial.

    A loss is 1 minus the score.
    """
    learner = name.split("_")[-1]
    pairs = np.array(scores)[..., None]
    return TrialRecord(
        contender=name,
        arm=name.partition("_")[0] if name != learner else "",
        learner=learner,
        values=values or [{} for _ in scores[0]],
        seeds=list(range(len(scores))),
        sizes=[sizes] * len(scores),
        scores=np.where([metric in LOSSES for metric in METRICS], 1 - pairs, pairs),
        seconds=np.full(pairs.shape[:2], 2.0),
    )


def test_the_trial_is_chosen_on_validation_rows_alone():
    given = record(
        "km_lr",
        [[(0.9, 0.5), (0.7, 0.8), (0.8, 0.6)], [(0.1, 0.5), (0.7, 0.8), (0.8, 0.6)]],
        [{"n_clusters": 1}, {"n_clusters": 2}, {"n_clusters": 3}],
    )
    assert choose(given, "default", "auroc").scores.tolist() == [0.5, 0.5]
    assert choose(given, "tuned", "auroc").trials == [0, 2]
    assert choose(given, "tuned", "auroc").scores.tolist() == [0.5, 0.6]
    assert choose(given, "clustered", "auroc").trials == [2, 2]


def test_an_arm_may_choose_its_learners_own_trials():
    arm = record("km_lr", [[(0.9, 0.5)], [(0.6, 0.7)]], [{"n_clusters": 2}])
    alone = record("lr", [[(0.7, 0.6), (0.8, 0.4)]] * 2, [{"C": 1}, {"C": 2}])
    found = {"km_lr": arm, "lr": alone}
    candidates = open_to(found, "km_lr")
    assert candidates.values == [{"n_clusters": 2}, {"C": 1}, {"C": 2}]
    assert choose(candidates, "tuned", "auroc").trials == [0, 2]
    assert choose(candidates, "tuned", "auroc").scores.tolist() == [0.5, 0.4]
    assert choose(candidates, "clustered", "auroc").scores.tolist() == [0.5, 0.7]
    assert choose(candidates, "default", "auroc").scores.tolist() == [0.5, 0.7]
    assert open_to(found, "lr") is alone
    assert open_to({"km_lr": arm}, "km_lr") is arm
    found["lr"] = replace(alone, seeds=[0, 7])
    with pytest.raises(DataError, match="km_lr and lr: .*same resamples"):
        open_to(found, "km_lr")


def test_rows_that_were_left_out_widen_the_intervals():
    whole = record("lr", [[(0.5, 0.5)]] * 3)
    assert whole.test_share == pytest.approx(0.25)
    capped = record("lr", [[(0.5, 0.5)]] * 3, sizes=SIZES | {"n_train": 6})
    assert capped.test_share == pytest.approx(0.5)


def test_the_smaller_loss_is_chosen():
    given = record("lr", [[(0.9, 0.5), (0.7, 0.8)], [(0.1, 0.5), (0.6, 0.4)]])
    chosen = choose(given, "tuned", "log_loss")
    assert chosen.trials == [0, 1]
    assert chosen.scores == pytest.approx([0.5, 0.6])
    assert given.score(TEST, "log_loss")[1].tolist() == pytest.approx([0.5, 0.6])


def test_questions_pair_an_arm_with_its_own_learner():
    present = ["cells_lr", "deepcac", "fnn", "hash_lr", "km_lr", "lgbm", "lr"]
    found = {question.id: list(pairs(question, present)) for question in QUESTIONS}
    assert found["help"] == [("km_lr", "lr")]
    assert found["any_partition"] == [("km_lr", "cells_lr"), ("km_lr", "hash_lr")]
    assert found["deep"] == [("deepcac", "fnn")]
    assert found["boosting"] == [("deepcac", "lgbm"), ("km_lr", "lgbm")]
    assert found["printed"] == [("deepcac", "lgbm")]
    assert found["negative_control"] == [("hash_lr", "lr")]
    assert found["cac"] == []
    boosted = {question.id: list(pairs(question, ["cac_lgbm", "km_lgbm", "lgbm"]))
               for question in QUESTIONS}  # fmt: skip
    assert boosted["cac"] == [("cac_lgbm", "km_lgbm")]
    assert boosted["help"] == [("cac_lgbm", "lgbm"), ("km_lgbm", "lgbm")]
    assert boosted["boosting"] == []


def test_scores_of_a_resample_are_those_of_the_trial_that_its_validation_rows_chose():
    alone = record("lr", [[(0.7, 0.60), (0.5, 0.9)], [(0.5, 0.61), (0.6, 0.62)]])
    # The last trial of the arm is one of the learner, made again.
    arm = record(
        "km_lr",
        [[(0.6, 0.50), (0.65, 0.51), (0.7, 0.60)], [(0.7, 0.52), (0.1, 0.53), (0.5, 0.61)]],
        [{"n_clusters": 2}, {"n_clusters": 3}, {"n_clusters": 1}],
    )
    table = resample_scores({"cic": {"lr": alone, "km_lr": arm}}).set_index(["contender", "seed"])
    chosen = [
        "auroc_default",
        "auroc_tuned",
        "auroc_tuned_k",
        "auroc_clustered",
        "auroc_clustered_k",
    ]
    # In the first resample a trial of the learner alone has the best validation score.
    assert table.loc[("km_lr", 0), chosen].tolist() == [0.50, 0.60, 1, 0.51, 3]
    assert table.loc[("km_lr", 1), chosen].tolist() == [0.52, 0.52, 2, 0.52, 2]
    assert table.loc["lr", "auroc_tuned"].tolist() == [0.60, 0.62]
    assert table.loc["lr", "auroc_clustered"].isna().all()
    assert table["trials"].tolist() == [2, 2, 2, 2]
    assert table["seconds"].tolist() == [4, 4, 6, 6]
    assert table.loc[("km_lr", 0), "log_loss"] == 1 - 0.60
    (lone, parted) = mean_scores(table.reset_index()).to_dict("records")
    assert (lone["contender"], lone["resamples"], lone["seconds"]) == ("lr", 2, 8)
    assert (lone["auroc_tuned"], parted["auroc_clustered"]) == (0.61, 0.515)


def test_contenders_of_other_resamples_are_not_compared():
    alone, arm = (record(name, [[(0.5, 0.6)]] * 3) for name in ("lr", "km_lr"))
    scores = resample_scores({"cic": {"lr": alone}, "other": {"km_lr": arm}})
    scores = scores.assign(dataset="cic", auroc_tuned_k=1, auroc_clustered=0.6, auroc_clustered_k=2)
    scores = scores.assign(auprc_tuned_k=1, auprc_clustered=0.6, auprc_clustered_k=2)
    assert len(verdicts(scores, 0.01, 0.005)) == 4  # two questions, two metrics
    with pytest.raises(DataError, match="km_lr and lr on cic: .*same resamples"):
        verdicts(scores.iloc[:-1], 0.01, 0.005)


def test_verdicts_of_a_gain_a_loss_and_nothing():
    rng = np.random.default_rng(1)
    n = 10
    base = 0.8 + 0.01 * rng.normal(size=n)

    def of(dataset, name, shift):
        test = base + shift + 0.0005 * rng.normal(size=n)
        return record(name, [[(0.5, t)] for t in test], [{"n_clusters": 2}])

    records = {
        name: {"lr": of(name, "lr", 0.0), "km_lr": of(name, "km_lr", shift)}
        for name, shift in (("a", 0.05), ("b", -0.05), ("c", 0.0))
    }
    table = verdicts(resample_scores(records), 0.01, 0.005)
    helped = table[(table["question"] == "help") & (table["metric"] == "auroc")]
    assert dict(zip(helped["dataset"], helped["verdict"], strict=True)) == {
        "a": "better",
        "b": "worse",
        "c": "equivalent",
    }
    assert (helped["p_holm"] >= helped["p"]).all()
    (counted,) = (
        one for one in summary(table, 0.01) if (one["question"], one["metric"]) == ("help", "auroc")
    )
    assert (counted["n"], counted["better"], counted["worse"], counted["equivalent"]) == (
        3,
        1,
        1,
        1,
    )
    assert counted["over_datasets"][0]["datasets"] == 3


def test_equivalence_is_adjusted_for_the_whole_family():
    base = np.linspace(0.79, 0.81, 10)
    spreads = {"a": 0.0001, "b": 0.001, "c": 0.008}

    def of(dataset, name, spread):
        test = base + spread * np.tile([1.0, -1.0], 5)
        return record(name, [[(0.5, t)] for t in test], [{"n_clusters": 2}])

    records = {
        name: {"lr": of(name, "lr", 0.0), "km_lr": of(name, "km_lr", spread)}
        for name, spread in spreads.items()
    }
    table = verdicts(resample_scores(records), 0.01, 0.005)
    own = table[(table["question"] == "help") & (table["metric"] == "auroc")].set_index("dataset")
    assert (own["test_share"] == 0.25).all()
    # Against a margin m = .01: t = m / error, error^2 = (1 / 10 + 1 / 3) * s^2 of nine degrees.
    error = {name: (13 / 30 * spread**2 * 10 / 9) ** 0.5 for name, spread in spreads.items()}
    p = {name: stats.t.sf(0.01 / error[name], 9) for name in spreads}
    assert own["p_equivalent"].to_dict() == pytest.approx(p)
    steps = {"a": 3 * p["a"], "b": 2 * p["b"], "c": p["c"]}
    assert own["p_equivalent_holm"].to_dict() == pytest.approx(steps)
    # The first of three of Holm's steps: 1 - .05 / 6, and 80 % power.
    wanted = (stats.t.ppf(1 - 0.05 / 6, 9) + stats.t.ppf(0.8, 9)) * error["c"]
    assert own.loc["c", "detectable"] == pytest.approx(wanted)
    assert half_detect(own) == pytest.approx(own["detectable"].median())


def test_where_no_score_differs_nothing_is_tested_and_no_family_grows():
    base = np.linspace(0.79, 0.81, 10)

    def of(dataset, name, spread, validation=0.5):
        test = base + spread * np.tile([1.0, -1.0], 5)
        trials = [{"n_clusters": 1 if name == "lr" else 2}]
        return record(name, [[(validation, t)] for t in test], trials)

    def table(**spreads):
        records = {
            name: {
                "lr": of(name, "lr", 0.0),
                "km_lr": of(name, "km_lr", spread, 0.4 if name == "never" else 0.6),
            }
            for name, spread in spreads.items()
        }
        found = verdicts(resample_scores(records), 0.01, 0.005)
        return found[(found["question"] == "help") & (found["metric"] == "auroc")].set_index(
            "dataset"
        )

    whole, alone = table(a=0.001, b=0.008, tie=0.0, never=0.1), table(a=0.001, b=0.008)
    untested = ["tie", "never"]
    for words in whole.loc[untested, ["verdict", "verdict_strict"]].T.to_numpy():
        assert words.tolist() == ["tied", "never chosen"]
    tested = ["low", "high", "p", "p_holm", "p_gain_excluded_holm", "detectable", "better"]
    assert whole.loc[untested, tested].isna().all(axis=None)
    assert (whole.loc[untested, "mean"] == 0).all()
    pd.testing.assert_frame_equal(whole.drop(untested), alone)
    assert half_detect(whole) == pytest.approx(alone["detectable"].mean())
    nothing = table(never=0.0)
    assert nothing["verdict"].tolist() == ["never chosen"]
    assert np.isnan(half_detect(nothing))
    counted = summary(whole.reset_index(), 0.01)
    assert counted[0]["over_datasets"][0]["datasets"] == 3  # a tie is a difference of 0


def test_gains_that_are_excluded_are_adjusted_in_their_family():
    """By hand: t = (m - mean) / error against a gain of m or more, two tests in the family."""
    base = np.linspace(0.79, 0.81, 10)
    shift = {"a": -0.004, "b": 0.002}

    def of(dataset, name, mean):
        test = base + mean + 0.002 * np.tile([1.0, -1.0], 5) * (name != "lr")
        return record(name, [[(0.5, t)] for t in test], [{"n_clusters": 2}])

    records = {
        name: {"lr": of(name, "lr", 0.0), "km_lr": of(name, "km_lr", mean)}
        for name, mean in shift.items()
    }
    table = verdicts(resample_scores(records), 0.01, 0.005)
    own = table[(table["question"] == "forced") & (table["metric"] == "auroc")].set_index("dataset")
    error = (13 / 30 * 0.002**2 * 10 / 9) ** 0.5
    p = {name: stats.t.sf((0.01 - mean) / error, 9) for name, mean in shift.items()}
    assert own["better"].to_dict() == pytest.approx(p)
    adjusted = {"a": 2 * p["a"], "b": max(p["b"], 2 * p["a"])}
    assert own["p_gain_excluded_holm"].to_dict() == pytest.approx(adjusted)


def test_files_that_disagree_on_a_planted_strength_are_refused():
    def result(mean):
        about = {"question": "help", "contender": "km_lr", "reference": "lr"}
        found = [
            about | {"cohort": c, "mean": mean, "verdict": "better", "p": p}
            for c, p in enumerate((0.0001, 0.01))
        ]
        return {"strength": 0.5, "rows": 3000, "gain": 0.1, "comparisons": found}

    (row,) = power_curve([result(0.02), result(0.02)])
    assert (row["cohorts"], row["mean"], row["detected"]) == (2, 0.02, 1.0)
    assert row["detected_holm"] == 0.5  # .01 is above .05 / 57
    # Another file has two cohorts more: the first two count once.
    more = result(0.02)
    more["comparisons"] += [one | {"cohort": one["cohort"] + 2} for one in more["comparisons"]]
    (row,) = power_curve([result(0.02) | {"gain": 0.2}, more])
    assert (row["cohorts"], row["detected_holm"], row["oracle_gain"]) == (4, 0.5, 0.1)
    with pytest.raises(DataError, match="strength 0.5: .*km_lr"):
        power_curve([result(0.02), result(0.03)])


def test_planted_subtypes_have_reversed_risks():
    matrix, subtype = planted(0.8, 20_000, 0)
    again, _ = planted(0.8, 20_000, 0)
    assert np.array_equal(matrix.X, again.X)
    y = matrix.label - matrix.label.mean()
    for one, sign in ((0, -1), (1, 1)):
        rows = subtype == one
        assert ((y[rows] @ matrix.X[rows, 5:]) * sign > 0).all()
        assert (y[rows] @ matrix.X[rows, 2:5] > 0).all()
    assert abs(np.corrcoef(matrix.X[:, 5], y)[0, 1]) < 0.03
    assert oracle_gain(0.8, 0) > 0.1
    assert abs(oracle_gain(0.0, 0)) < 0.001


@pytest.mark.long
@pytest.mark.slow
def test_a_strong_planted_effect_is_found_and_a_hash_is_not(tmp_path):
    results = []
    for strength in (0.0, 0.8):
        path = tmp_path / f"{strength}.json"
        run_planted(
            path,
            strength=strength,
            cohorts=2,
            rows=1500,
            contenders=["lr", "km_lr", "hash_lr", *(["lgbm"] if strength else [])],
            effort=Effort(6, 6, 0, 10_000, 5, 1),
            margin=0.01,
        )
        results.append(read_json(path))
    curve = {(r["strength"], r["contender"], r["reference"]): r for r in power_curve(results)}
    assert {keys: one["detected"] for keys, one in curve.items()} == {
        (0.0, "km_lr", "lr"): 0.0,
        (0.0, "hash_lr", "lr"): 0.0,
        (0.8, "km_lr", "lr"): 1.0,
        (0.8, "hash_lr", "lr"): 0.0,
        (0.8, "km_lr", "lgbm"): 1.0,
        (0.0, "told_lr", "lr"): 0.0,
        (0.8, "told_lr", "lr"): 1.0,
        (0.8, "told_lgbm", "lgbm"): curve[0.8, "told_lgbm", "lgbm"]["detected"],
    }
    assert curve[0.8, "told_lr", "lr"]["mean"] > 0.08
    assert curve[0.8, "told_lgbm", "lgbm"]["mean"] < curve[0.8, "told_lr", "lr"]["mean"]
    # Trees find reversed risks by themselves: clusters are worth less beside them.
    ahead = curve[0.8, "km_lr", "lgbm"]["mean"]
    assert 0 < ahead < curve[0.8, "km_lr", "lr"]["mean"]
