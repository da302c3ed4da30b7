"""The tables of the documentation are those of the snapshot, and the snapshot is that of a run."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checkouts import PAGES

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.files.storage import read_json, write_json
from deepcac.judging.contenders import parse_contender
from deepcac.judging.trials import Effort
from deepcac.judging.verdicts import verdicts
from deepcac.pages.tables import Table, grid
from deepcac.pages.wording import four, three
from deepcac_study.judge.trial_files import run_trials
from deepcac_study.records.sweep_tables import TERMS
from deepcac_study.report.kept import snapshot
from deepcac_study.report.kept.markdown_tables import made, read_snapshot, renew
from deepcac_study.report.kept.run_snapshot import ANSWER, LEDGER
from deepcac_study.report.kept.sweep_snapshot import SEPARATION

PROJECT = Path(__file__).parents[3]
EFFORT = Effort(2, 2, 0, 10_000, 3, 2)
JUDGE = snapshot.read_judge(PROJECT / "config" / "config.yaml")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small study of two contenders."""
    folder = tmp_path_factory.mktemp("results")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    label = (X[:, 0] + rng.normal(size=400) > 0).astype(np.int64)
    matrix = FeatureMatrix(np.arange(400), label, X, ("a", "b", "c"))
    write_features(folder / "rows.parquet", matrix)
    for name in ("lr", "cac_lr"):
        path = folder / "judge" / "cic" / f"{name}.json"
        records = {parse_contender(name): path}
        run_trials(folder / "rows.parquet", records, dataset="cic", effort=EFFORT)
    return folder


def test_a_snapshot_has_the_means_of_the_records(results, tmp_path):
    written = snapshot.write_snapshot(results, tmp_path, JUDGE)
    assert {path.stem for path in written} < set(snapshot.TABLES)
    tables = read_snapshot(tmp_path)
    scores = tables[snapshot.SCORES].set_index("contender")
    record = read_json(results / "judge" / "cic" / "lr.json")
    first = [one["trials"][0]["test"]["auroc"] for one in record["resamples"]]
    assert scores.loc["lr", "auroc_default"] == pytest.approx(np.mean(first), abs=1e-5)
    assert scores.loc["lr", "log_loss"] > 0
    compared = tables[snapshot.VERDICTS]
    row = compared[(compared["question"] == "help") & (compared["metric"] == "auroc")].iloc[0]
    gap = scores.loc["cac_lr", "auroc_tuned"] - scores.loc["lr", "auroc_tuned"]
    assert row["mean"] == pytest.approx(gap, abs=2e-5)
    assert (compared["margin"] == JUDGE.margin).all()
    stricter = JUDGE.model_copy(update={"margin": 0.002, "strict_margin": 0.001})
    snapshot.write_snapshot(results, tmp_path / "stricter", stricter)
    own = read_snapshot(tmp_path / "stricter")[snapshot.VERDICTS]
    assert set(own["margin"]) == {0.002}
    assert (own["p_equivalent"] >= compared["p_equivalent"]).sum() == own["p_equivalent"].count()
    assert tables[snapshot.POWER].empty  # not run, and said so by no row


@pytest.mark.parametrize("dataset", ["ards", "a_private_table"])
def test_restricted_and_unknown_data_are_left_out(results, tmp_path, dataset):
    name = "judge/cic/lr.json"
    record = {**read_json(results / name), "dataset": dataset}
    write_json(tmp_path / "results" / name.replace("cic", dataset), record)
    assert snapshot.write_snapshot(tmp_path / "results", tmp_path / "kept", JUDGE) == []
    shutil.copytree(results / "judge", tmp_path / "results" / "judge", dirs_exist_ok=True)
    snapshot.write_snapshot(tmp_path / "results", tmp_path / "kept", JUDGE)
    texts = [path.read_text() for path in (tmp_path / "kept").rglob("*.csv")]
    assert any("cic" in text for text in texts)
    assert not any(dataset in text or "theirs" in text for text in texts)


def test_what_has_not_run_here_stays_and_what_has_is_of_the_records_alone(results, tmp_path):
    snapshot.write_snapshot(results, tmp_path, JUDGE)
    path = tmp_path / f"{snapshot.RESAMPLES}.csv"
    table = pd.read_csv(path)
    pd.concat([table, table.assign(dataset="adult")]).to_csv(path, index=False)
    (tmp_path / f"{LEDGER}.csv").write_text("of,a,report\n")
    written = snapshot.write_snapshot(results, tmp_path, JUDGE)
    assert tmp_path / f"{LEDGER}.csv" not in written  # no report was made here
    assert (tmp_path / f"{LEDGER}.csv").read_text() == "of,a,report\n"
    pd.testing.assert_frame_equal(pd.read_csv(path), table)
    (results / "report" / "tables").mkdir(parents=True)
    (results / "report" / f"{LEDGER}.csv").write_text("of,this,report\n")
    (results / "report" / "tables" / f"{ANSWER}.csv").write_text("of,few,runs\n")
    snapshot.write_snapshot(results, tmp_path, JUDGE)
    shutil.rmtree(results / "report")
    assert (tmp_path / f"{LEDGER}.csv").read_text() == "of,this,report\n"
    assert (tmp_path / f"{ANSWER}.csv").read_text() == "of,few,runs\n"


def test_a_snapshot_tells_with_what_its_records_were_made(results):
    record = read_json(results / "judge" / "cic" / "lr.json")["machine"]
    told = snapshot.about(results)
    assert told["pythons"] == [record["python"]]
    assert f"numpy {np.__version__}" in told["libraries"]
    assert told["devices"] == [record["device"]]


def test_a_page_is_made_from_its_snapshot(results, tmp_path):
    snapshot.write_snapshot(results, tmp_path, JUDGE)
    tables = read_snapshot(tmp_path)
    page = "Before.\n<!-- from the snapshot: clusters lr -->\nold\n<!-- end -->\nAfter.\n"
    renewed = renew(page, tables)
    assert renewed.startswith("Before.\n<!-- from")
    assert renewed.endswith("<!-- end -->\nAfter.\n")
    assert "old" not in renewed
    assert "| cic | 0." in renewed
    assert renew(renewed, tables) == renewed
    with pytest.raises(ConfigError, match="no table 'nothing'.*clusters"):
        renew("<!-- from the snapshot: nothing -->\n<!-- end -->\n", tables)


def test_a_page_can_ask_for_some_rows_and_columns():
    scores = {"share": 0.1, "test_share": 0.2, "auprc": 0.5, "auprc_sd": 0.01}
    rows = [
        {"term": TERMS[1], "alpha": alpha, "dataset": "cic", **scores, "length": alpha}
        for alpha in (5.0, 20.0)
    ]
    tables = {SEPARATION: pd.DataFrame(rows)}
    asked = "separation cic | rows: AM-softmax/5 | columns: 2, 5"
    assert made(tables, asked) == "| alpha | length |\n| --- | ---: |\n| 5 | 5 |\n"
    with pytest.raises(
        ConfigError, match="no such row in 'rows: AM-softmax/7'; rows: AM-softmax/5"
    ):
        made(tables, "separation cic | rows: AM-softmax/7")


def test_a_verdict_is_seen_in_how_its_number_is_written():
    columns = ("question", "metric", "dataset", "contender", "reference", "verdict", "mean")
    found = pd.DataFrame(
        [
            ("help", "auroc", "cic", "cac_lr", "lr", "better", 0.0512),
            ("help", "auroc", "cic", "km_lr", "lr", "undecided", -0.004),
            ("negative_control", "auroc", "cic", "hash_lr", "lr", "worse", -0.03),
            ("forced", "auroc", "cic", "cac_lr", "lr", "equivalent", 0.001),
            ("subtypes", "auroc", "cic_ts", "subtypes", "lr", "undecided", 0.001),
        ],
        columns=columns,
    ).assign(clustered=7, resamples=10)
    scores = pd.DataFrame({"dataset": ["cic"], "contender": ["lr"], "auroc_tuned": [0.8604]})
    tables = {snapshot.VERDICTS: found, snapshot.SCORES: scores}
    page = renew("<!-- from the snapshot: clusters lr -->\n<!-- end -->\n", tables)
    cells = "**+0.0512**, 7 of 10 | *-0.0040*, 7 of 10 |  | +0.0010 |  | -0.0300 worse, 7 of 10"
    assert f"| cic | 0.860 | {cells} |\n" in page
    assert "cic_ts" not in page  # nothing with clusters of rows was compared there


def test_gains_that_are_excluded_are_said_with_and_without_correction():
    def rows(question, metric, n, **columns):
        keys = {"question": question, "metric": metric, "contender": "cac_lgbm", "margin": 0.01}
        return pd.DataFrame({**{name: [v] * n for name, v in keys.items()}, **columns})

    found = pd.concat(
        [
            rows(
                "forced",
                "auroc",
                3,
                better=[0.01, 0.04, 0.2],
                p_gain_excluded_holm=[0.03, 0.08, 0.2],
            ),
            rows(
                "forced", "auprc", 3, better=[0.01, 0.3, 0.2], p_gain_excluded_holm=[0.2, 0.3, 0.4]
            ),
            rows("help", "auroc", 3, verdict=["never chosen", "undecided", "never chosen"]),
        ]
    )
    marked = "<!-- from the snapshot: excluded lgbm -->\n<!-- end -->\n"
    page = renew(marked, {snapshot.VERDICTS: found})
    assert "a gain of 0.010 AUROC or more is excluded in 2 of 3 comparisons (1 after Holm" in page
    assert "By AUPRC such a gain is excluded in 1 (0)." in page
    assert "Offered clusters, it chose none in 2 of 3 comparisons." in page


def test_a_planted_part_that_has_not_run_leaves_its_cells_empty():
    columns = ("strength", "question", "contender", "reference", "mean", "detected")
    found = pd.DataFrame(
        [
            (0.3, "help", "cac_lr", "lr", 0.028, 1.0),
            (0.3, "help", "km_lr", "lr", 0.029, 0.75),
            (0.5, "help", "cac_lr", "lr", 0.079, 1.0),
            (0.5, "boosting", "cac_lr", "lgbm", 0.01, 0.5),
            (0.5, "help", "cac_lgbm", "lgbm", 0.002, 0.25),
        ],
        columns=columns,
    ).assign(cohorts=4, oracle_gain=0.1, rows=3000, detected_holm=0.25)
    tables = {snapshot.POWER: found}
    page = renew("<!-- from the snapshot: planted lr -->\n<!-- end -->\n", tables)
    assert "| 3,000 | 0.3 | 0.100 | +0.028, 1 of 4 (4) | +0.029, 1 of 4 (3) |" in page
    assert "| 3,000 | 0.5 | 0.100 | +0.079, 1 of 4 (4) |  |" in page
    page = renew("<!-- from the snapshot: planted lgbm -->\n<!-- end -->\n", tables)
    assert "| LightGBM in CAC clusters | LR in CAC clusters − LightGBM |" in page
    assert "| 3,000 | 0.5 | 0.100 | +0.002, 1 of 4 (1) | +0.010, 1 of 4 (2) |" in page


def test_numbers_are_written_with_a_zero_before_the_point():
    assert (three(0.8604), three(-0.0004, signed=True), three(10.25)) == (
        "0.860",
        "0.000",
        "10.250",
    )
    assert (four(0.05, "**{}**", signed=True), four(-0.00512)) == ("**+0.0500**", "-0.0051")
    assert (
        grid(Table.of([("x", "0.5")], {"a": lambda row: row[0], "b": lambda row: row[1]}))
        == "| a | b |\n| --- | ---: |\n| x | 0.5 |\n"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_number_of_a_page_is_older_than_its_table(page):
    text = page.read_text(encoding="utf-8")
    assert renew(text, read_snapshot(PROJECT / "docs" / "results")) == text


def test_the_differences_of_the_documentation_follow_from_the_scores_of_resamples():
    tables = read_snapshot(PROJECT / "docs" / "results")
    keys = ["question", "metric", "dataset", "contender", "reference"]
    again = verdicts(tables[snapshot.RESAMPLES], 0.01, 0.005)
    both = tables[snapshot.VERDICTS].merge(again, on=keys, suffixes=("", "_again"))
    assert len(both) > 300
    for name in ("mean", "low", "high", "score", "reference_score"):
        again = pytest.approx(both[f"{name}_again"].to_numpy(), abs=3e-5, nan_ok=True)
        assert both[name].to_numpy() == again
    for name in ("verdict", "verdict_strict", "verdict_wide"):
        assert both[name].tolist() == both[f"{name}_again"].tolist()
    assert (both["clustered"] == both["clustered_again"]).all()


def test_some_pages_have_such_tables():
    marked = re.findall("from the snapshot: ", "".join(p.read_text("utf-8") for p in PAGES))
    assert len(marked) >= 5
    assert json.loads((PROJECT / "docs" / "results" / "about.json").read_text())["commit"]
