"""What pages quote of sweeps: means by hand, paired by start."""

import pandas as pd
import pytest

from deepcac_study.report.kept.markdown_tables import made
from deepcac_study.report.kept.sweep_snapshot import SEPARATION, STARTS, start_effects, sweep_tables


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
    measured = {"share": 0.2, "direction_share": 0.1, "test_share": 0.05, "length": 4.0}
    rows = [
        {"seed": seed, "term": term, "alpha": alpha, "limit": 2.4, "start_scaling": 150.0 + seed,
         "start_batch_scaling": 40.0, "status": "ok", "loss": 3.0 - 4 * seed, **measured,
         "auroc": 0.8, "auprc": 0.5 + 0.1 * seed}
        for term, alpha in (("none", 0.0), ("centroid_distance", 5.0), ("permuted_distance", 5.0))
        for seed in (0, 1)
    ]  # fmt: skip
    for name in ("cic", "demo_cic"):
        (tmp_path / "sweeps").mkdir(exist_ok=True)
        pd.DataFrame(rows).to_parquet(tmp_path / "sweeps" / f"separation_{name}_k3.parquet")
    started().to_parquet(tmp_path / "sweeps" / "starts_demo_cic_k3.parquet")
    tables = sweep_tables(tmp_path)
    assert tables[STARTS].empty
    table = tables[SEPARATION].set_index("term")
    assert set(table["dataset"]) == {"cic"}
    assert table.loc["none", ["trainings", "below_zero"]].tolist() == [2, 1]
    assert table.loc["none", "auprc"] == pytest.approx(0.55)
    shown = made(tables, "separation cic").splitlines()
    assert shown[2] == "| no term |  | 0.200 / 0.050 | 0.550 +- 0.071 | 4 |"
    assert shown[4] == "| the same, permuted labels | 5 | 0.200 / 0.050 | 0.550 +- 0.071 | 4 |"
    assert made(tables, "limits cic").splitlines()[-1] == "| cic | 2.4 | 150 | 40 | 150 | 40 |"
    assert made(tables, "limits sepsis") == "Not run yet.\n"
