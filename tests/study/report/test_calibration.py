"""Calibration curves are drawn without class weights, as the scores of the records are taken."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deepcac.pages import figures
from deepcac.scoring.bootstrap import SplitScores
from deepcac_study.records.runs import Run, Runs
from deepcac_study.report.runs import curves
from deepcac_study.report.runs.comparisons import Bootstraps
from deepcac_study.report.runs.curves import (
    BOOTSTRAPS,
    CALIBRATION,
    CURVES,
    bootstrap_table,
    curve_table,
    shipped_bootstraps,
    shipped_curves,
    unweighted_risk,
)


def run_of(method, weight, sizes=((70, 10), (20, 0))):
    split = {"seed": 0, "hyperparameters": {"class_weight": weight}}
    record = {"method": method, "dataset": "cic", "k": 2, "splits": [split]}
    split["clusters"] = {"sizes_train": [list(row) for row in sizes]}
    return Run("p", record, None)


@pytest.mark.parametrize(
    ("method", "weight", "moved"),
    [
        ("cac_lr", "balanced", True),
        ("cac_lr", "balanced_in_clusters", False),
        ("km_lr", None, False),
        ("km_lda", "balanced", False),  # takes no weights, so that there are none to take out
        ("deepcac", "balanced", False),
    ],
)
def test_only_weights_that_were_used_are_taken_out(method, weight, moved):
    run = run_of(method, weight)
    risk = unweighted_risk(run, run.splits[0], np.array([0.0, 0.5, 0.9, 1.0]))
    # Odds of 1 and 9, times the odds of the classes, 1 to 9.
    wanted = [0.0, 0.1, 0.5, 1.0] if moved else [0.0, 0.5, 0.9, 1.0]
    assert risk == pytest.approx(wanted)


def test_a_balanced_model_lies_on_the_diagonal(monkeypatch):
    rng = np.random.default_rng(0)
    risk = rng.uniform(0.01, 0.2, 40_000)
    label = (rng.random(len(risk)) < risk).astype(np.int64)
    odds = risk / (1 - risk) * 9  # as if both classes were as frequent
    scores = SplitScores(np.arange(len(risk)), label, label, odds / (1 + odds))
    monkeypatch.setattr(curves, "split_scores", lambda run: [scores])
    runs = [run_of("cac_lr", weight) for weight in ("balanced", None)]
    shown = [[(run, curves.from_scores(run))] for run in runs]
    figure, plain = (curves.calibration_figure("cic", one, "figures") for one in shown)
    near, far = (float(one.seen.rpartition(" ")[2]) for one in (figure, plain))
    assert near < 0.01
    assert far > 0.2


def test_kept_curves_are_those_of_the_figures(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    risk = rng.uniform(0.01, 0.9, 400)
    label = (rng.random(len(risk)) < risk).astype(np.int64)
    scores = SplitScores(np.arange(len(risk)), label, label, risk)
    monkeypatch.setattr(curves, "split_scores", lambda run: [scores])
    run = run_of("cac_lr", None)
    run.record.update(protocol="sound", status="ok")
    for figure in curves.curve_figures(Runs((run,))):
        figures.write(figure, tmp_path)
    for name in (CURVES, CALIBRATION):
        table = curve_table(tmp_path, name, {"cic", "credit"})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    own = curves.from_scores(run)
    monkeypatch.setattr(curves, "split_scores", lambda run: [])
    kept = shipped_curves(tmp_path)(run)
    assert [kind for kind, *_ in kept.lines] == ["ROC", "PR"]
    for (_, _, wanted), (_, _, found) in zip(own.lines, kept.lines, strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)
    for wanted, found in zip(own.reliability, kept.reliability, strict=True):
        assert found == pytest.approx(wanted, rel=1e-5)
    assert shipped_curves(tmp_path)(run_of("km_lr", None)) is None


def test_kept_intervals_are_found_by_their_runs(tmp_path):
    one, other = (
        Run(f"results/{name}.json", {}, Path(f"{name}.json"), with_scores=False) for name in "ab"
    )
    columns = ["first", "second", "metric", "boot_low", "boot_high"]
    intervals = [
        (one.path, other.path, *row) for row in (("auroc", 0.01, 0.2), ("f1", *2 * [None]))
    ]
    table = bootstrap_table(pd.DataFrame(intervals, columns=columns))
    table.to_csv(tmp_path / f"{BOOTSTRAPS}.csv", index=False)
    kept = Bootstraps(stored=shipped_bootstraps(tmp_path))
    assert kept.difference(one, other, "auroc") == (0.01, 0.2)
    assert np.isnan(kept.difference(one, other, "f1")).all()
    assert np.isnan(kept.difference(other, one, "auroc")).all()


def test_without_kept_tables_there_are_no_curves_and_no_intervals(tmp_path):
    one = Run("results/a.json", run_of("cac_lr", None).record, Path("a.json"), with_scores=False)
    assert shipped_curves(tmp_path)(one) is None
    (tmp_path / f"{BOOTSTRAPS}.csv").touch()
    assert shipped_bootstraps(tmp_path) == {}
