"""Clinical tasks: small families, what decides, and the estimate pooled over cohorts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.trial_scores import METRICS
from deepcac.scoring.random_effects import pool_sites
from deepcac.scoring.statistics import holm
from deepcac_study.catalogue.judge_plan import Clinical
from deepcac_study.judge.clinical_tasks import (
    by_cohort,
    clinical_tables,
    clinical_verdicts,
    decisions,
    pooled,
)

RNG = np.random.default_rng(3)
SCORES = {"lr": 0.70, "km_lr": 0.75, "dist_lr": 0.70, "spline_lr": 0.71, "mean_of_cells_lr": 0.702}


def scores_of(tasks, **changed):
    rows = []
    for dataset in tasks:
        for contender, mean in (SCORES | changed).items():
            for seed in range(10):
                row = {"dataset": dataset, "contender": contender, "seed": seed, "test_share": 0.25}
                for metric in ("auroc", "auprc", "log_loss", "brier"):
                    for choice in ("tuned", "clustered", "default"):
                        row[f"{metric}_{choice}"] = mean + 0.0005 * RNG.normal()
                        row[f"{metric}_{choice}_k"] = 2
                rows.append(row)
    return pd.DataFrame(rows)


def test_clusters_help_only_if_they_beat_all_three():
    table = clinical_verdicts(scores_of(["a", "b"]), 0.005)
    found = decisions(table).set_index(["dataset", "contender"])
    assert found.loc[("a", "km_lr"), "helps"] == "true"
    assert found.loc[("a", "dist_lr"), "helps"] == "false"
    bent = clinical_verdicts(scores_of(["a", "b"], spline_lr=0.76), 0.005)
    own = decisions(bent).set_index(["dataset", "contender"]).loc[("a", "km_lr")]
    assert (own["help"], own["random"], own["bent"], own["helps"]) == (
        "better",
        "better",
        "worse",
        "false",
    )
    cells = clinical_verdicts(scores_of(["a", "b"], mean_of_cells_lr=0.76), 0.005)
    assert decisions(cells).set_index(["dataset", "contender"]).loc[("a", "km_lr"), "helps"] == (
        "false"
    )


def test_without_a_reference_nothing_is_decided():
    scores = scores_of(["a"])
    table = clinical_verdicts(scores[scores["contender"] != "spline_lr"], 0.005)
    own = decisions(table).set_index("contender")
    assert own.loc["km_lr", "helps"] == ""


def test_a_family_is_one_pair_over_the_tasks():
    table = clinical_verdicts(scores_of(["a", "b", "c"]), 0.005)
    own = table[(table["question"] == "help") & (table["metric"] == "auroc")]
    assert sorted(own["contender"].unique()) == ["dist_lr", "km_lr"]
    for _, family in own.groupby("contender"):
        p = np.sort(family["p"].to_numpy())
        holm = np.maximum.accumulate(np.minimum(1, p * np.arange(3, 0, -1)))
        assert np.allclose(np.sort(family["p_holm"].to_numpy()), holm)


def test_a_task_on_which_clusters_were_chosen_once_does_not_weigh_most():
    """Nine of its ten differences are 0: with its own error it would have all the weight."""
    rows = pd.DataFrame(
        {
            "dataset": ["a", "b", "c", "d"],
            "question": "help",
            "mean": [-0.02, 0.01, 0.03, 0.0001],
            "low": [-0.04, -0.02, 0.01, 0.0],
            "high": [0.0, 0.04, 0.05, 0.0002],
            "resamples": 10,
            "clustered": [10, 9, 8, 1],
        }
    )
    t = 2.262157
    plain, floored = by_cohort(rows, {}), by_cohort(rows, {}, floor=True)
    assert plain.loc["d", "error"] == pytest.approx(0.0001 / t, rel=1e-5)
    assert floored["error"].to_numpy() == pytest.approx(
        np.array([0.02, 0.03, 0.02, 0.02]) / t, rel=1e-5
    )
    # A model with clusters beside splines differs in every resample.
    for question in ("bend", "rivals"):
        pd.testing.assert_frame_equal(
            by_cohort(rows.assign(question=question), {}, floor=True), plain
        )
    # With an alpha of 0 CAC is k-means, though both have clusters in every resample.
    always = rows.assign(question="cac", clustered=10)
    pd.testing.assert_frame_equal(by_cohort(always, {}, floor=True), floored)
    bent = by_cohort(rows.assign(question="bent"), {}, floor=True)
    assert bent["error"].to_numpy() == pytest.approx(plain["error"].to_numpy())


def test_two_tasks_of_a_cohort_enter_as_their_mean_and_a_tie_with_the_median_error():
    rows = pd.DataFrame(
        {
            "dataset": ["a1", "a2", "b", "c"],
            "mean": [0.02, 0.04, 0.01, 0.0],
            "low": [0.0, 0.02, -0.02, np.nan],
            "high": [0.04, 0.06, 0.04, np.nan],
            "resamples": [10, 10, 10, 10],
        }
    )
    t = 2.262157
    sites = by_cohort(rows, {"a1": "a", "a2": "a"})
    assert sites.loc["a", "mean"] == pytest.approx(0.03)
    assert sites.loc["a", "error"] == pytest.approx(0.02 / t, rel=1e-5)
    assert sites.loc["b", "error"] == pytest.approx(0.03 / t, rel=1e-5)
    assert sites.loc["c", "error"] == pytest.approx(0.02 / t, rel=1e-5)
    pair = {
        "question": "help",
        "metric": "auroc",
        "contender": "km_lr",
        "alpha": "",
        "reference": "lr",
    }
    cohorts = {"a1": "a", "a2": "a", "b": "b", "c": "c"}
    found = pooled(rows.assign(**pair), cohorts).iloc[0]
    plain = pool_sites([0.03, 0.01, 0.0], np.array([0.02, 0.03, 0.02]) / t)
    assert found["cohorts"] == 3
    assert found["mean"] == pytest.approx(plain.mean, abs=1e-8)
    # A task that no cohort is given for does not count.
    without = pooled(rows.assign(**pair), {"a1": "a", "a2": "a", "b": "b"}).iloc[0]
    assert (without["tasks"], without["cohorts"]) == (3, 2)


def record(name, gains, alphas=(0.0,)):
    """Return a record of made-up trials of three resamples: a test AUROC each, far from chance."""
    arm, _, learner = name.rpartition("_")
    values = 0.7 + np.array(gains) + 0.001 * RNG.normal(size=(3, len(gains)))
    scores = np.broadcast_to(values[..., None, None], (*values.shape, 2, len(METRICS)))
    return TrialRecord(
        name,
        arm,
        learner,
        values=[{"n_clusters": 2 if arm else 1, "alpha": alpha} for alpha in alphas],
        seeds=[0, 1, 2],
        sizes=[{"n_train": 56, "n_validation": 19, "n_test": 25}] * 3,
        scores=scores,
        seconds=np.full(values.shape, 30.0),
        about={"n_rows": 100, "machine": {"seconds": {"total": 90.0}}},
    )


def plan(**changed):
    usual = {"datasets": ["a", "b", "c", "old"], "contenders": ["lr", "km_lr", "cac_lr"],
             "apart": ["old"], "cohorts": {"a": "one"}, "families": [["one", "b"]],
             "county": ["b", "c"]}  # fmt: skip
    return Clinical.model_validate(usual | changed)


def stored():
    """Return made-up records in which only k-means helps, and CAC only with an alpha of 0."""
    return {
        "lr": record("lr", [0.0]),
        "km_lr": record("km_lr", [0.05]),
        "cac_lr": record("cac_lr", [0.05, -0.02], (0.0, 0.3)),
    }


def test_a_task_that_lacks_a_contender_is_named_and_never_looked_at():
    records = {"a": stored(), "b": stored(), "old": stored(), "c": {"lr": record("lr", [0.3])}}
    tables = clinical_tables(records, plan(), 0.005)
    tasks = tables["tasks"].set_index("dataset")
    assert tasks["status"].to_dict() == {
        "a": "finished", "b": "finished", "c": "km_lr cac_lr", "old": "finished",
    }  # fmt: skip
    assert tasks.loc["a", ["cohort", "rows", "resamples"]].tolist() == ["one", 100, 3]
    assert tasks.loc["a", "minutes"] == pytest.approx(3 * 90 / 60)  # of three records
    assert set(tables["verdicts"]["dataset"]) == {"a", "b", "old"}
    several = clinical_tables({"a": stored()}, plan(also=[{"datasets": ["a"],
                              "contenders": ["fnn"]}]), 0.005)  # fmt: skip
    assert several["tasks"].set_index("dataset")["status"].to_dict() == {
        "a": "fnn", "b": "all", "c": "all", "old": "all",
    }  # fmt: skip
    assert several["verdicts"].empty
    assert several["decisions"].empty
    assert several["pooled"].empty


def test_cac_with_an_alpha_above_0_has_a_choice_and_a_row_of_its_own():
    tables = clinical_tables({"a": stored(), "b": stored()}, plan(), 0.005)
    found = tables["verdicts"]
    rows = found[(found["metric"] == "auroc") & (found["question"] == "forced")]
    means = rows.groupby(["contender", "alpha"])["mean"].mean()
    assert means["cac_lr", ""] == pytest.approx(0.05, abs=0.01)
    assert means["cac_lr", "above 0"] == pytest.approx(-0.02, abs=0.01)
    assert ("km_lr", "above 0") not in means.index
    told = rows[rows["contender"] == "cac_lr"].set_index(["dataset", "alpha"])["excluded"]
    assert told["a", "above 0"] == "yes"
    assert told["a", ""] == "no"


def test_tasks_apart_are_not_pooled_and_cohorts_that_share_patients_are_one():
    records = dict.fromkeys(("a", "b", "c", "d", "old"), stored())
    asked = plan(datasets=["a", "b", "c", "d", "old"])
    found = clinical_tables(records, asked, 0.005)["pooled"]
    rows = found[(found["question"] == "help") & (found["contender"] == "km_lr")]
    assert rows.groupby("pooling")[["tasks", "cohorts"]].first().to_dict("index") == {
        "cohort": {"tasks": 4, "cohorts": 4},
        "family": {"tasks": 4, "cohorts": 3},
        "larger": {"tasks": 3, "cohorts": 3},
        "smaller": {"tasks": 3, "cohorts": 3},
        "county": {"tasks": 4, "cohorts": 3},
    }
    assert asked.poolings()["larger"].keys() == {"a", "c", "d", "old"}
    assert asked.poolings()["smaller"].keys() == {"b", "c", "d", "old"}


def test_a_rival_may_be_declined_as_clusters_may():
    """Splines lose on every task, and validation sees it."""
    splines = replace(record("spline", [0.0]), contender="spline_lr", learner="spline_lr")
    records = {name: {"lr": record("lr", [0.05]), "spline_lr": splines} for name in "ab"}
    found = clinical_tables(records, plan(datasets=["a", "b"], contenders=["lr", "spline_lr"],
                                          families=[], county=[], apart=[]), 0.005)  # fmt: skip
    rows = found["verdicts"].query("metric == 'auroc'").set_index(["question", "dataset"])
    assert rows.loc[("bend", "a"), "mean"] == pytest.approx(-0.05, abs=0.01)
    assert rows.loc[("bend_offered", "a"), "mean"] == 0
    assert rows.loc[("bend_offered", "a"), "contender"] == "offered_spline_lr"


def test_one_correction_over_all_kinds_excludes_less_than_one_for_each():
    """Of two kinds on two tasks one is close to the margin: it passes in a family of two only."""
    scores = scores_of(["a", "b"], km_lr=0.7, dist_lr=0.7)
    spread = scores["contender"].eq("km_lr") & scores["dataset"].eq("a")
    scores.loc[spread, "auroc_clustered"] = 0.7 + 0.01 * np.linspace(-1, 1, 10) - 0.0005
    table = clinical_verdicts(scores, 0.005).query("question == 'forced' and metric == 'auroc'")
    row = table.query("contender == 'km_lr' and dataset == 'a'").iloc[0]
    assert row["p_gain_excluded_holm"] > 0.025
    assert (table["excluded_together"] == "yes").sum() <= (table["excluded"] == "yes").sum()
    p = table["better"].to_numpy()
    assert (table["excluded_together"] == "yes").tolist() == (holm(p) < 0.05).tolist()


def test_three_tests_together_find_no_less_than_the_weakest_of_them():
    scores = scores_of(["a", "b"])
    table = clinical_verdicts(scores, 0.005)
    found = decisions(table).set_index(["dataset", "contender"])
    asked = table.query("dataset == 'a' and metric == 'auroc' and contender == 'km_lr'")
    weakest = asked.set_index("question").loc[["forced", "random", "bent"], "detectable"].max()
    assert found.loc[("a", "km_lr"), "detectable"] == weakest


def test_one_cohort_is_not_pooled():
    table = clinical_verdicts(scores_of(["a"]), 0.005)
    assert pooled(table, {}).empty
