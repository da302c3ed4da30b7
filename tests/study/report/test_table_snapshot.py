"""From records of whole tables to the tables, sentences and the figure that are kept."""

import numpy as np
import pandas as pd
import pytest

from deepcac.feature_matrix import FeatureMatrix, write_features
from deepcac.judging.trials import Effort
from deepcac_study.judge.tables.table_trials import run_table
from deepcac_study.report.kept import table_snapshot
from deepcac_study.report.kept.markdown_tables import read_snapshot

EFFORT = Effort(3, 3, 100, 10_000, 3, 1)
CONTENDERS = [
    f"{arm}{learner}"
    for learner in ("lr", "lgbm")
    for arm in ("", "km_", "cac_", "dist_", "cells_", "hash_")
]


def table(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    risk = X[:, 0] * np.where(X[:, 1] > 0, 1, -1 if seed else 1) + rng.normal(size=300)
    label = np.digitize(risk, np.quantile(risk, np.arange(1, n_classes) / n_classes))
    return FeatureMatrix(np.arange(300), label.astype(np.int64), X, tuple("abc"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for seed, (name, n_classes) in enumerate((("uci_colic", 2), ("uci_vowel", 3), ("uci_vote", 2))):
        write_features(folder / f"{name}.parquet", table(seed, n_classes))
        (folder / "judge" / "tables").mkdir(parents=True, exist_ok=True)
        place = folder / "judge" / "tables" / f"{name}.json"
        run_table(
            folder / f"{name}.parquet", place, dataset=name, contenders=CONTENDERS, effort=EFFORT
        )
    # Judged with full effort too, by one contender: its points are still those of the table.
    twice = {"dataset": "uci_colic", "seed": 0, "contender": "lgbm", "auroc_tuned": 0.5}
    judged = pd.DataFrame([twice])
    tables = table_snapshot.kept_tables(folder, judged, pd.DataFrame())
    for name, own in tables.items():
        own.to_csv(folder / f"{name}.csv", index=False, float_format="%.5f")
    table_snapshot.draw_helping(tables, folder)
    return folder


def test_every_table_is_kept_and_the_figure_drawn(kept):
    tables = read_snapshot(kept)
    assert {name for name in table_snapshot.KEPT if len(tables[name])} == set(table_snapshot.KEPT)
    assert set(tables[table_snapshot.RISKS]["dataset"]) == {"uci_colic", "uci_vote"}  # two classes
    assert "<svg" in (kept / "judge_helping.svg").read_text(encoding="utf-8")
    points = tables[table_snapshot.POINTS].set_index("dataset")
    means = tables[table_snapshot.TABLES].set_index(["dataset", "contender"])["auroc_tuned"]
    for name in ("uci_colic", "uci_vowel"):
        ahead = means[name, "lgbm"] - means[name, "lr"]
        assert points.loc[name, "advantage"] == pytest.approx(ahead, abs=2e-5)


def test_a_figure_without_a_threshold_says_never(tmp_path):
    points = pd.DataFrame(
        {"dataset": ["cic"], "kind": ["table"], "advantage": [0.01], "gain": [0.0]}
    )
    rule = pd.DataFrame({"way": ["tables"], "statistic": ["advantage"], "threshold": [np.inf]})
    tables = {table_snapshot.POINTS: points, table_snapshot.RULES: rule}
    table_snapshot.draw_helping(tables, tmp_path / "new")  # a folder that is made
    assert (tmp_path / "new" / "judge_helping.svg").exists()
    assert "never" in table_snapshot.helping_figure(points, 0.01, np.inf).seen
    assert "above 0.050" in table_snapshot.helping_figure(points, 0.01, 0.05).caption
