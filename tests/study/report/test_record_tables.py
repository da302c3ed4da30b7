"""The tables of records, by hand: runs over their splits, switches paired by start, origins."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.support.report_runs import write_run

from deepcac.files.storage import write_json
from deepcac_study.report.judge.gain_figures import helping_figure
from deepcac_study.report.record_tables import (
    about,
    run_means,
    start_effects,
    sweep_tables,
)


def test_each_run_on_the_papers_data_has_a_row(tmp_path):
    results = tmp_path / "results"
    write_run(results, "cic", "km_lr", 2)
    write_run(results, "cic", "deepcac", 3, protocol="D6", seeds=(4,), strength=2.0)
    write_run(results, "cic", "lr", 1, protocol="as_published_cv5", status="timeout")
    write_run(results, "demo_cic", "km_lr", 2, synthetic=True)
    write_run(results, "our_ward", "km_lr", 2)
    found = run_means(results.rglob("*.json"))
    keys = [tuple(row) for row in found[["protocol", "dataset", "method", "k"]].to_numpy()]
    assert keys == [
        ("sound", "cic", "km_lr", 2),
        ("D6", "cic", "deepcac", 3),
        ("as_published_cv5", "cic", "lr", 1),
    ]
    record = json.loads((results / "cic/km_lr_k2.json").read_text())
    scores = pd.Series([split["metrics"]["auroc"] for split in record["splits"]])
    row = found.iloc[0]
    assert (row["auroc"], row["auroc_sd"]) == pytest.approx((scores.mean(), scores.std()))
    assert row["splits"] == 3
    assert pd.isna(found.iloc[2]["f1"])


def started():
    """Two splits from two starts: the switch adds 0.01 and 0.03, then 0.04 and 0.04."""
    rows = []
    for at, (split, start, sound, gain) in enumerate(
        [(0, 0, 0.80, 0.01), (0, 1, 0.84, 0.03), (1, 0, 0.70, 0.04), (1, 1, 0.70, 0.04)]
    ):
        for switch, score in (("", sound), ("D16", sound + gain)):
            rows.append(
                {"split": split, "start": start, "method": "deepcac", "k": 3, "switch": switch,
                 "status": "ok", "n_train": 75, "n_test": 25, "auroc": score, "auprc": at / 10}
            )  # fmt: skip
    return pd.DataFrame(rows)


def test_switches_are_paired_by_split_and_start():
    found = pd.DataFrame(start_effects(started(), "cic", 3)).set_index(["switch", "metric"])
    sound, effect = found.loc[("sound", "auroc")], found.loc[("D16", "auroc")]
    assert sound["mean"] == pytest.approx((0.82 + 0.70) / 2)
    # Starts deviate by 0.028 on the first split and not at all on the second.
    assert sound["start_sd"] == pytest.approx((0.04**2 / 2 / 2) ** 0.5)
    assert effect["mean"] == pytest.approx((0.02 + 0.04) / 2)
    assert effect["start_sd"] == pytest.approx((0.02**2 / 2 / 2) ** 0.5)
    assert (effect["splits"], effect["starts"]) == (2, 2)
    # Deviation 0.01414 over two splits, times the root of 1 / 2 + 25 / 75; t(1) is 12.71.
    half = 12.7062 * 0.0141421 * (1 / 2 + 1 / 3) ** 0.5
    assert effect["high"] - effect["mean"] == pytest.approx(half, rel=1e-4)
    assert found.loc[("D16", "auprc"), "mean"] == 0


def test_separation_terms_are_means_over_splits(tmp_path):
    rows = [
        {"seed": seed, "term": term, "alpha": alpha, "status": "ok", "loss": 3.0 - 4 * seed,
         "share": 0.2, "auprc": 0.5 + 0.1 * seed}
        for term, alpha in (("none", 0.0), ("centroid_distance", 5.0))
        for seed in (0, 1)
    ]  # fmt: skip
    path = tmp_path / "separation_cic_k3.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    table = sweep_tables([path])["separation"].set_index("term")
    assert set(table["dataset"]) == {"cic"}
    assert table.loc["none", ["trainings", "below_zero"]].tolist() == [2, 1]
    assert table.loc["none", "auprc"] == pytest.approx(0.55)
    assert table.loc["centroid_distance", "auprc_sd"] == pytest.approx(0.1 / 2**0.5)


def test_a_figure_without_a_threshold_says_never():
    points = pd.DataFrame(
        {"dataset": ["cic"], "kind": ["table"], "advantage": [0.01], "gain": [0.0]}
    )
    assert "never" in helping_figure(points, 0.01, np.inf).seen
    assert "above 0.050" in helping_figure(points, 0.01, 0.05).caption


def test_records_tell_with_what_they_were_made(tmp_path):
    machines = [
        {"git_commit": "a" * 40, "python": "3.11", "processor": "one", "device": "cpu",
         "versions": {"numpy": "2"}},
        {"git_commit": "b" * 40, "python": "3.11", "versions": {"numpy": "1"}},
    ]  # fmt: skip
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for path, machine in zip(paths, machines, strict=True):
        write_json(path, {"machine": machine})
    assert about(paths) == {
        "commits": ["aaaaaaa", "bbbbbbb"],
        "pythons": ["3.11"],
        "devices": ["cpu"],
        "processors": ["one"],
        "libraries": ["numpy 1", "numpy 2"],
    }
