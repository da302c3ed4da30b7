"""Optimism and instability by refits of the whole choice, and the range that a model keeps."""

import re

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score

from deepcac.errors import ConfigError
from deepcac.scoring.calibration import calibration_slope
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.optimism import _drawn, optimism, refit, spread
from deepcac.table.risk_model import fit_risk_model
from deepcac.table.risk_model_choice import Ways, candidates, method_lines, settings
from deepcac.table.risk_tables import fit_table, predict_table, read_model

USE = use_of("died")


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    table["ward"] = rng.choice(["x", "y"], n)
    return table.assign(died=(rng.random(n) < expit(table.a - 1)).astype(int))


@pytest.fixture(scope="module")
def refitted(tmp_path_factory):
    path = tmp_path_factory.mktemp("refits") / "t.csv"
    frame().to_csv(path, index=False)
    table = read_labelled(inferred(path, USE))
    tried = candidates(Ways("plain"), table)
    model = fit_risk_model(table, settings(tried[0]), 0)
    said = []
    return table, model, refit(table, tried, 40, 0, say=said.append), said


def test_optimism_is_what_a_refit_loses_on_the_table(refitted):
    """Against scores taken again from the refits' risks, and models fitted by hand."""
    table, model, refits, _ = refitted
    y = table.features.label
    assert refits.original[:, 0] == pytest.approx([roc_auc_score(y, one) for one in refits.risk])
    drawn = _drawn(table, np.random.default_rng([0, 7, 101]))
    by_hand = fit_risk_model(drawn, model.method, 0).answers(table.features.X)[0][:, 1]
    assert refits.risk[7] == pytest.approx(by_hand)
    found = optimism(table, model, refits)
    risk = model.answers(table.features.X)[0][:, 1]
    for j, (name, score) in enumerate(
        {"auroc": roc_auc_score(y, risk), "calibration_slope": calibration_slope(y, risk)}.items()
    ):
        surplus = (refits.drawn - refits.original)[:, j].mean()
        assert found.scores[name]["corrected"] == pytest.approx(score - surplus, abs=1e-4)
        assert surplus > 0
    assert found.scores["brier"]["optimism"] < 0
    assert found.moves == pytest.approx(np.abs(refits.risk - risk).mean())
    assert (found.band[:, 1] < found.band[:, 0]).all()


def test_the_range_of_a_model_is_that_of_its_refits(refitted):
    table, model, refits, _ = refitted
    low, high = spread(table, model, refits).interval(model.design(table.features.X)).T
    odds = logit(refits.risk)
    middle, half = odds.mean(axis=0), 1.96 * odds.std(axis=0, ddof=1)
    assert logit(low) == pytest.approx(middle - half, abs=0.1)
    assert logit(high) == pytest.approx(middle + half, abs=0.1)
    inside = (low <= refits.risk) & (refits.risk <= high)
    assert 0.9 < inside.mean() < 0.99


def test_time_is_told_before(refitted):
    assert refitted[3][0].startswith("bootstrap: 40 refits ")


@pytest.mark.long
def test_jobs_change_nothing(refitted):
    table, _, refits, said = refitted
    two = refit(table, candidates(Ways("plain"), table), 5, 0, say=said.append, jobs=2)
    assert np.array_equal(two.risk, refits.risk[:5])


def test_copies_of_a_patient_share_a_group(refitted):
    drawn = _drawn(refitted[0], np.random.default_rng(0))
    assert np.array_equal(drawn.features.X, refitted[0].features.X[drawn.group])
    assert len(drawn.group) == 200
    assert len(set(drawn.group)) < 150


def test_the_command_writes_a_page_and_predict_gives_a_range(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "model.json"
    frame(160).to_csv(path, index=False)
    fit_table(
        inferred(path, USE),
        model,
        TableRun(lambda line: None, rows=1000, bootstrap=6, jobs=1),
        method="k-means",
    )
    page = (tmp_path / "model.bootstrap.html").read_text()
    assert "optimism" in page
    again = read_model(model)
    corrected = method_lines(again.method)[1]
    assert re.search("6 refits .*AUROC", corrected)
    assert not re.search(r"\d to -?\d", corrected)  # no interval: see `optimism`
    predict_table(model, path, tmp_path / "risk.csv", say=lambda line: None)
    risk = pd.read_csv(tmp_path / "risk.csv")
    assert list(risk.columns) == ["row", "risk", "risk_low", "risk_high", "subtype"]
    assert ((risk.risk_low >= 0) & (risk.risk_low <= risk.risk_high)).all()
    assert ((risk.risk_low <= risk.risk) & (risk.risk <= risk.risk_high)).mean() > 0.8


def test_what_has_no_bootstrap_is_one_line_before_anything_is_fitted(tmp_path):
    table = frame(120).assign(grade=np.arange(120) % 3).drop(columns="died")
    grades = use_of("grade")
    table.to_csv(tmp_path / "t.csv", index=False)
    lines = []
    run = TableRun(lines.append, rows=1000, jobs=1, bootstrap=5)
    with pytest.raises(ConfigError, match="--bootstrap .*two classes"):
        fit_table(inferred(tmp_path / "t.csv", grades), tmp_path / "m.json", run, method="plain")
    with pytest.raises(ConfigError, match="--method subtypes .*--bootstrap"):
        fit_table(inferred(tmp_path / "t.csv", grades), tmp_path / "m.json", run, method="subtypes")
    assert not any("held-out" in line for line in lines)
