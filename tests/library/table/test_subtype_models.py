"""`deepcac fit --method subtypes`: one file that the command and Python read alike."""

import json

import numpy as np
import pandas as pd
import pytest
from described_tables import inferred, use_of
from safetensors.torch import load_file

import deepcac
from deepcac.errors import DataError
from deepcac.nn.persistence import read_tensors, write_tensors
from deepcac.table import subtype_model
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.inference.labelled_table import read_labelled
from deepcac.table.risk_tables import fit_table, predict_table

USE = use_of("died", id="patient")


def patients(n=260, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["crp", "urea", "age"])
    table.loc[::9, "urea"] = np.nan
    table["sex"] = rng.choice(["f", "m"], n)
    table["patient"] = [f"p{i}" for i in range(n)]
    risk = 1 / (1 + np.exp(-2 * table["crp"] - 2 * (table["sex"] == "m") * table["age"]))
    return table.assign(died=np.where(rng.random(n) < risk, "yes", "no"))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subtypes")
    patients().to_csv(folder / "patients.csv", index=False)
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subtype_model, "MOST_EPOCHS", 20)
        model = fit_table(
            inferred(folder / "patients.csv", USE),
            folder / "model.deepcac",
            TableRun(said.append, rows=10_000, jobs=1),
            method="subtypes",
            clusters=2,
        )
    return folder, model, said


def test_the_file_answers_in_python_as_in_the_command(fitted, tmp_path):
    folder, model, _ = fitted
    predict_table(
        folder / "model.deepcac", folder / "patients.csv", tmp_path / "risk.csv", say=print
    )
    found = pd.read_csv(tmp_path / "risk.csv", keep_default_na=False)
    loaded = deepcac.load(folder / "model.deepcac")
    frame = patients().drop(columns="died")
    assert np.array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert np.allclose(loaded.predict_proba(frame)[:, 1], found["risk"], rtol=1e-5)
    assert (loaded.assign(frame) + 1).tolist() == found["subtype"].tolist()
    assert found.columns.tolist() == ["patient", "risk", "subtype", "reasons"]
    assert loaded.classes == ("no", "yes")
    assert set(loaded.predict(frame)) == {"no", "yes"}


def test_the_reasons_are_the_largest_contributions(fitted):
    model = fitted[1]
    X = model.encoded(patients())
    parts = model.estimator.contributions(pd.DataFrame(X, columns=list(model.encoder.names)))
    for row, text in zip(parts, model.reasons(X), strict=True):
        named = dict(one.rsplit(" ", 1) for one in text.split("; ")) if text else {}
        assert len(named) <= 3
        left_out = [abs(v) for n, v in zip(model.encoder.names, row, strict=True) if n not in named]
        values = [abs(float(value)) for value in named.values()]
        assert min(values, default=9.0) >= max(left_out) - 0.005 or max(left_out) < 0.05
    first = [text.split(" ")[0] for text in model.reasons(X)]
    assert first.count("crp") > len(first) / 4


def test_what_is_told_after_fit(fitted):
    _, model, said = fitted
    held_out = model.method["held_out"]
    assert held_out["low"] < held_out["auroc"] < held_out["high"]
    assert held_out["auroc"] > 0.6
    assert {"calibration_intercept", "calibration_slope", "observed_by_expected"} <= set(held_out)
    assert [line for line in said if line.startswith("subtype 1: ")]
    assert any("keep it" in line for line in said)


def test_more_subtypes_than_the_events_allow_are_refused(fitted, tmp_path):
    folder, _, _ = fitted
    with pytest.raises(DataError, match="--clusters 9: .* 6"):
        fit_table(
            inferred(folder / "patients.csv", USE),
            tmp_path / "m",
            TableRun(print, rows=10_000, jobs=1),
            method="subtypes",
            clusters=9,
        )
    assert not (tmp_path / "m").exists()


def rewritten(folder, path, change):
    """Write a model with another header, and a digest that holds."""
    header, tensors = read_tensors(folder / "model.deepcac")
    header = json.loads(json.dumps(header))
    change(header)
    write_tensors(path, tensors, header)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h["table"]["classes"].append("perhaps"), "3 classes for 2"),
        (lambda h: h["table"]["encoder"]["columns"].pop(0), "columns"),
        (lambda h: h["table"]["encoder"]["columns"][0].update(name="lactate"), "not those of"),
        (lambda h: h["table"]["scaler"]["scale_"].__setitem__(0, 0.0), "not above 0"),
        (lambda h: h["table"]["method"].update(arm="km"), "method is none"),
        (lambda h: h["table"].pop("label"), "label"),
        (lambda h: h.update(table=[1]), "not a readable model file"),
    ],
)
def test_impossible_files_are_refused(fitted, tmp_path, change, message):
    rewritten(fitted[0], tmp_path / "broken", change)
    with pytest.raises(DataError, match=message):
        deepcac.load(tmp_path / "broken")


def test_a_changed_byte_is_refused(fitted, tmp_path):
    content = bytearray((fitted[0] / "model.deepcac").read_bytes())
    content[-5] ^= 1
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(DataError, match="digest"):
        deepcac.load(tmp_path / "broken")
    assert load_file(fitted[0] / "model.deepcac")


def test_the_rows_that_are_judged_are_not_those_that_are_learnt(fitted, monkeypatch):
    seen, judged = [], []

    class Recorder:
        n_clusters_found_ = 1

        def __init__(self, **options):
            pass

        def fit(self, X, y, groups=None):
            seen.append(set(X["crp"]))

        def predict_proba(self, X):
            judged.append(set(X["crp"]))
            return np.tile([0.5, 0.5], (len(X), 1)) + np.linspace(-0.1, 0.1, len(X))[:, None] * [
                -1,
                1,
            ]

    monkeypatch.setattr(subtype_model, "SubtypeClassifier", Recorder)
    table = read_labelled(inferred(fitted[0] / "patients.csv", USE))
    subtype_model.fit_subtype_model(table, 2, 0, lambda line: None)
    assert len(judged) == 5
    assert all(not own & test for own, test in zip(seen, judged, strict=False))
