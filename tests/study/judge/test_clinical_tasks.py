"""Clinical tasks: small families, what decides, and the estimate pooled over cohorts."""

import numpy as np
import pandas as pd
import pytest

from deepcac.scoring.random_effects import pool_sites
from deepcac_study.judge.clinical_tasks import by_cohort, clinical_verdicts, decisions, pooled

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
    pair = {"question": "help", "metric": "auroc", "contender": "km_lr", "reference": "lr"}
    found = pooled(rows.assign(**pair), {"a1": "a", "a2": "a"}).iloc[0]
    plain = pool_sites([0.03, 0.01, 0.0], np.array([0.02, 0.03, 0.02]) / t)
    assert found["cohorts"] == 3
    assert found["mean"] == pytest.approx(plain.mean, abs=1e-8)
    assert found["new_high"] == pytest.approx(plain.new_high, abs=1e-7)


def test_one_cohort_is_not_pooled():
    table = clinical_verdicts(scores_of(["a"]), 0.005)
    assert pooled(table, {}).empty
