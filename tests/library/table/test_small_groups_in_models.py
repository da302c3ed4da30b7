"""No number in a model file is that of fewer patients than the smallest cell."""

import json

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred

from deepcac.judging.local_models import coarse_counts
from deepcac.scoring.small_cells import FEW
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.risk_model_file import read_risk_model
from deepcac.table.risk_tables import fit_table

HOW = {"method": "k-means", "clusters": 4}


def rows_with_lone_patients(n=300):
    """A table with one patient far from all others, rare levels, a lone number and a lone hole."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"urea": rng.normal(60, 9, n), "crp": rng.normal(10, 3, n)})
    X["death"] = np.where(rng.random(n) < 0.4, "yes", "no")
    X["ward"] = np.resize(["icu", "er", "floor"], n)
    X.loc[3, "ward"] = "isolation"
    X.loc[5, "crp"] = np.nan
    X["lone"] = np.where(np.arange(n) == 7, 973.25, 0.0)
    X["seldom"] = np.where(np.arange(n) < 4, 41.5 + np.arange(n), np.nan)
    X.loc[[0, 1], ["urea", "crp"]] = [[400.0, 300.0], [-300.0, 280.0]]
    return X


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    X = rows_with_lone_patients()
    X.to_csv(folder / "t.csv", index=False)
    said = []
    fit_table(
        inferred(folder / "t.csv", "death"),
        folder / "m.json",
        TableRun(said.append, rows=1000, jobs=1),
        **HOW,
    )
    return X, folder / "m.json", said


def test_every_cluster_holds_ten_patients_or_more_and_fewer_clusters_are_told(fitted):
    X, path, said = fitted
    model = read_risk_model(path)
    assert 0 < model.n_subtypes < 4
    assert np.bincount(model.assign(X)).min() >= FEW
    assert any(f"{model.n_subtypes} of 4 clusters" in line for line in said)


def test_no_mean_times_the_rows_is_a_count_of_few_patients(fitted):
    X, path, _ = fitted
    scaler = read_risk_model(path).scaler
    names = read_risk_model(path).encoder.names
    kept = np.array([*names, *(f"{names[j]} missing" for j in scaler.flagged_)])[scaler.kept_]
    assert "ward=(other)" in kept
    assert "crp missing" in kept
    for name, mean, scale in zip(kept, scaler.mean_, scaler.scale_, strict=True):
        if "=" in name or "missing" in name:
            count = mean * len(X)
            assert FEW - 1e-9 <= count <= len(X) - FEW + 1e-9, name
            assert np.isclose(scale, np.sqrt(mean * (1 - mean)), rtol=1e-6), name
    assert "lone" not in kept
    assert "seldom" not in kept


def test_no_value_of_a_lone_patient_stands_in_the_file(fitted):
    _, path, _ = fitted
    text = path.read_text()
    content = json.loads(text)
    numbers = [value for plane in content["parts"] for row in plane["coef"] for value in row]
    numbers += [value for name in ("median_", "mean_") for value in content["scaler"][name]]
    for lone in (973.25, 973.25 / 300, 41.5, 43.0, 400.0, -300.0):
        assert not np.isclose(numbers, lone, rtol=1e-9).any(), lone
    assert "isolation" not in text


def test_rows_of_one_patient_are_one_patient(tmp_path):
    X = rows_with_lone_patients()
    X["patient"] = np.arange(len(X))
    far = X.iloc[[0] * 30]  # thirty visits of one
    pd.concat([X, far]).to_csv(tmp_path / "t.csv", index=False)
    model = fit_table(
        inferred(tmp_path / "t.csv", "death", patient="patient"), tmp_path / "m.json",
        TableRun(len, rows=1000, jobs=1), **HOW,
    )  # fmt: skip
    whole = pd.concat([X, far])
    of_cluster = whole.groupby(model.assign(whole))["patient"].nunique()
    assert of_cluster.min() >= FEW


@pytest.mark.parametrize(
    ("counts", "shown"), [([31, 1], [30, 0]), ([4, 9], [0, 10]), ([0, 12], [0, 10])]
)
def test_shares_of_a_cluster_tell_of_no_few_patients(counts, shown):
    assert coarse_counts(np.array(counts)).tolist() == shown
