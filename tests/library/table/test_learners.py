"""Splines and boosted trees of `deepcac fit`: chosen, fitted, written, read, used and validated."""

import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of
from scipy.special import expit
from typer.testing import CliRunner

import deepcac
from deepcac.errors import ConfigError, DataError
from deepcac.files.storage import content_digest, read_json
from deepcac.judging.local_models import Splines, grow_trees
from deepcac.judging.resamples import Rows
from deepcac.judging.spaces import trials
from deepcac.preprocess import TableScaler
from deepcac.scoring.small_cells import FEW
from deepcac.table import risk_model_choice
from deepcac.table.budgeted_trials import BOOSTERS, TableRun
from deepcac.table.commands import app
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.optimism import optimism, refit, spread
from deepcac.table.risk_model import fit_risk_model
from deepcac.table.risk_model_choice import (
    Ways,
    candidates,
    chosen_learner,
    chosen_method,
    settings,
)
from deepcac.table.risk_tables import fit_table, read_model

LEARNERS = ("lr", "spline", "boosted")
USE = use_of("died")


def bending(n=400, seed=0):
    """Patients whose risk is high where pressure is low, and where it is high."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["pressure", "age", "crp"])
    died = rng.random(n) < expit(1.8 * X["pressure"] ** 2 + 0.5 * X["age"] - 1.8)
    X["ward"] = rng.choice(["icu", "floor", "er"], n)
    X.loc[rng.random(n) < 0.2, "crp"] = np.nan
    return X.assign(died=np.where(died, "yes", "no"))


@pytest.fixture
def csv(tmp_path):
    bending().to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def fitted(csv, learner, roles=USE, **options):
    path = csv.with_name(f"{learner}.json")
    options = {"learner": learner, "method": "plain"} | options
    return fit_table(
        inferred(csv, roles), path, TableRun(lambda line: None, jobs=1), **options
    ), path


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The content of a saved model of each learner."""
    path = tmp_path_factory.mktemp("saved") / "t.csv"
    bending(200).to_csv(path, index=False)
    return {learner: read_json(fitted(path, learner)[1]) for learner in ("spline", "boosted")}


def run(monkeypatch, folder, words):
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, words.split())
    assert not result.exit_code, result.output
    return result.output


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize(("bent", "learner"), [(True, "spline_lr"), (False, "lr")])
def test_a_comparison_recommends_what_a_fit_makes(csv, bent, learner):
    (bending(300) if bent else bending(300).assign(pressure=0.0)).to_csv(csv, index=False)
    table = read_labelled(inferred(csv, USE))
    assert chosen_learner(table, 0) == learner
    method = chosen_method(table, Ways(), 0, lambda line: None)
    assert method["n_clusters"] > 1 or method["learner"] == learner


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("learner", LEARNERS)
def test_from_a_table_to_a_validation(csv, monkeypatch, learner):
    new = bending(300, seed=1)
    new.to_csv(csv.with_name("new.csv"), index=False)
    fit = f"fit t.csv --label died --learner {learner} --method plain --jobs 1 --out m.json"
    run(monkeypatch, csv.parent, fit)
    run(monkeypatch, csv.parent, "predict m.json new.csv --out r.csv")
    model = deepcac.load(csv.with_name("m.json"))
    risk = pd.read_csv(csv.with_name("r.csv"))["risk"]
    assert np.allclose(risk, model.predict_proba(new)[:, 1], atol=1e-6)
    answer = run(monkeypatch, csv.parent, "validate m.json new.csv --out v.html")
    (auroc,) = re.findall(r"AUROC (0\.\d\d)", answer)
    assert float(auroc) < 0.65 if learner == "lr" else float(auroc) > 0.75
    page = csv.with_name("v.html").read_text()
    assert ("all coefficients" in page) == (learner != "boosted")
    assert "intercept and slope" in page


@pytest.mark.usefixtures("few_trials")
def test_a_risk_that_bends_is_not_fitted_by_a_straight_line(csv):
    model, _ = fitted(csv, "auto", method="auto")
    assert model.method["learner"] in ("spline_lr", *BOOSTERS)
    assert "ahead of logistic regression" in model.method["passed_over"]
    assert model.method["held_out"]["auroc"] > 0.75
    tried = csv.with_name("auto.card.md").read_text()
    assert "| boosted trees" in tried
    assert "| logistic regression with splines | no clusters |" in tried


@pytest.mark.usefixtures("few_trials")
def test_a_risk_that_is_a_line_stays_one(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    X["died"] = (rng.random(400) < expit(X["a"] + X["b"])).astype(int)
    X.to_csv(tmp_path / "t.csv", index=False)
    model, _ = fitted(tmp_path / "t.csv", "auto", method="auto")
    assert model.method["learner"] == "lr"


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("method", ["plain", "k-means"])
def test_three_classes_and_clusters(csv, learner, method):
    frame = bending()
    noise = np.random.default_rng(0).normal(size=400)
    far = frame["pressure"] ** 2 + frame["age"] ** 2
    frame["grade"] = np.digitize(far + 0.5 * noise, [1.0, 2.5])
    frame = frame.drop(columns="died")
    frame.to_csv(csv, index=False)
    model, path = fitted(csv, learner, use_of("grade"), method=method)
    again = read_model(path)
    risk = again.predict_proba(frame)
    assert np.allclose(risk, model.predict_proba(frame), atol=1e-12)
    assert np.allclose(risk.sum(axis=1), 1)
    assert risk.shape == (400, 3)
    if learner != "lr":
        assert (risk.argmax(axis=1) == frame["grade"]).mean() > 0.6


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_horizon_has_every_learner(tmp_path, learner):
    frame = bending(600)
    rng = np.random.default_rng(0)
    time = rng.exponential(np.where(frame["died"] == "yes", 1.0, 4.0))
    lost = rng.exponential(6.0, 600)
    frame["died"] = (time <= lost).astype(int)
    frame["years"] = np.minimum(time, lost)
    frame.to_csv(tmp_path / "t.csv", index=False)
    model, path = fitted(tmp_path / "t.csv", learner, use_of("died", time="years", horizon=1.0))
    assert read_model(path).method["horizon"] == 1.0
    risk = model.predict_proba(frame)[:, 1]
    known = (time <= 1) | (lost > 1)  # as if nobody had been lost earlier
    assert risk.mean() == pytest.approx((time <= 1)[known].mean(), abs=0.1)


def test_splines_are_straight_beyond_their_knots_and_bend_between():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    splines = Splines.learn(X, np.arange(500), 5)
    far = np.linspace(3.0, 4.0, 5)
    for ends in (far, -far):
        line = splines.beside(np.column_stack([ends, ends]))
        assert np.allclose(np.diff(line, n=2, axis=0), 0, atol=1e-9)
    middle = np.linspace(-1.0, 1.0, 9)
    bend = splines.beside(np.column_stack([middle, middle]))[:, 2:]
    assert (np.abs(np.diff(bend, n=2, axis=0)).max(axis=0) > 1e-3).all()
    assert bend.shape[1] == splines.n_terms == 6


def test_knots_are_no_value_of_a_patient_and_have_patients_beyond():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=90), rng.integers(0, 2, 90), np.arange(90) % 40 == 0])
    splines = Splines.learn(X, np.arange(90), 5)
    assert list(splines.knots) == [0]
    knots = splines.knots[0]
    assert not np.isin(knots, X[:, 0]).any()
    assert min((X[:, 0] < knots[0]).sum(), (X[:, 0] > knots[-1]).sum()) >= FEW
    few = np.arange(90) // 12  # eight patients
    assert not Splines.learn(X, few, 5).knots


@pytest.mark.parametrize("library", BOOSTERS)
def test_every_leaf_holds_patients_enough_and_thresholds_are_nobodys_values(library):
    if library == "lgbm":
        pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)).round(4)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) ** 2 + rng.normal(size=400) > 1).astype(np.int64)
    unit = np.arange(400) // 10  # forty patients with ten rows each
    rows = Rows(X, X, y, np.arange(400), unit)
    shares = np.bincount(y) / 400
    values = trials(library, 1)[0]
    grown = grow_trees(rows, TableScaler().fit(X), library, values, shares, 0).trees
    assert len(grown.feature) > 5
    assert grown.patients(X, unit).min() >= FEW
    for j, threshold in zip(grown.feature, grown.threshold, strict=True):
        assert not (X[:, j] == threshold).any()


@pytest.mark.filterwarnings("ignore:column 'pressure'")
def test_an_empty_cell_where_there_was_none_counts_as_the_median(csv):
    model, _ = fitted(csv, "boosted")
    new = bending(50, seed=2)
    filled = new.assign(pressure=bending()["pressure"].median())
    empty = new.assign(pressure=np.nan)
    risks = (model.predict_proba(rows, accept_unseen=True) for rows in (empty, filled))
    assert np.allclose(*risks)


def test_without_lightgbm_the_trees_are_scikit_learns(csv, monkeypatch):
    monkeypatch.setattr(risk_model_choice, "booster", lambda: "hgb")
    _, path = fitted(csv, "boosted")
    assert read_model(path).method["learner"] == "hgb"
    frame = bending()
    died = frame["died"] == "yes"
    risk = read_model(path).predict_proba(frame)[:, 1]
    assert risk[died].mean() > risk[~died].mean() + 0.2


def test_the_range_of_boosted_trees_holds_the_refits(csv):
    table = read_labelled(inferred(csv, USE))
    tried = candidates(Ways("plain", "boosted"), table)
    model = fit_risk_model(table, settings(tried[0]), 0)
    refits = refit(table, tried, 12, 0, say=lambda line: None)
    low, high = spread(table, model, refits).interval(model.design(table.features.X)).T
    assert 0.88 < ((low <= refits.risk) & (refits.risk <= high)).mean() < 1
    assert optimism(table, model, refits).scores["auroc"]["optimism"] > 0.02


def test_a_learner_that_is_none_or_has_no_use_is_one_line(csv):
    with pytest.raises(ConfigError, match="'gbm'.*auto, lr, spline, boosted"):
        fitted(csv, "gbm")
    with pytest.raises(ConfigError, match="--learner .*--method subtypes"):
        fitted(csv, "spline", method="subtypes")


@pytest.mark.parametrize(
    ("learner", "where", "value", "message"),
    [
        ("spline", ("knots", 0, "at", 0), 9.0, "out of order"),
        ("spline", ("knots", 0, "at"), [0.0, 1.0], "too few"),
        ("spline", ("knots", 0, "column"), 7000, "of no column"),
        ("spline", ("knots", 1, "column"), 0, "out of order"),
        ("spline", ("knots", 0, "at", 0), "-1", "no float"),
        ("spline", ("knots",), [], "coef has shape"),
        ("spline", ("method", "learner"), "lr", "splines of a lr"),
        ("boosted", ("method", "learner"), "catboost", "learner is none"),
        ("boosted", ("method", "learner"), "lr", "C"),
        ("boosted", ("parts", 0, "left", 0), 0, "twice or never"),
        ("boosted", ("parts", 0, "feature", 0), 99, "no column"),
        ("boosted", ("parts", 0, "threshold", 0), 1e60, "beyond"),
        ("boosted", ("parts", 0, "leaf", 0), "a", "no float"),
        ("boosted", ("parts", 0, "default", 0), 2, "no kind"),
        ("boosted", ("parts", 0, "root"), [0] * 401, "401 trees"),
        ("boosted", ("classes",), ["a", "b", "c"], "trees of 1 outputs for 3 classes"),
        ("boosted", ("parts",), [], "0 parts for 0 clusters"),
    ],
)
def test_an_impossible_model_is_refused(saved, tmp_path, learner, where, value, message):
    content, path = copy.deepcopy(saved[learner]), tmp_path / "m.json"
    inner = content
    for step in where[:-1]:
        inner = inner[step]
    inner[where[-1]] = value
    content["digest"] = content_digest(content)
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=message) as caught:
        deepcac.load(path)
    assert "\n" not in str(caught.value)


def test_the_card_of_splines_is_the_whole_model_and_that_of_trees_says_where_it_is(csv):
    model, _ = fitted(csv, "spline")
    text = csv.with_name("spline.card.md").read_text()
    assert "| pressure, spline term 1 |" in text
    place = model.encoder.names.index("pressure")
    knots = ", ".join(f"{knot:g}" for knot in model.splines.knots[place])
    assert f"pressure at {knots}" in text
    boosted, _ = fitted(csv, "boosted")
    n = len(boosted.parts[0].trees.root)
    assert f"{n} trees with " in csv.with_name("boosted.card.md").read_text()
