"""Deep classifiers on rows as they come: scaled inside, every row told its subtype."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from catalogued import networks
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from deepcac.errors import DataError, ScaleWarning
from deepcac.feature_matrix import FeatureMatrix
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.fitting.data import as_inputs
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.inputs import Preparation
from deepcac.nn.km_z import KMZClassifier
from deepcac.preprocess import SequenceScaler, TableScaler
from deepcac_study.catalogue.protocol import SOUND
from deepcac_study.experiments.prepare import Setting, make_task
from deepcac_study.splits import Split

QUICK = {"max_epochs": 3, "device": "cpu", "random_state": 0}


def raw_rows(n=500, seed=0):
    """Two subtypes on clinical scales, with holes; risk is a sign that the subtype turns."""
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, [0, 2]] += 6.0 * side[:, None]
    y = ((X[:, 1] > 0) ^ (side == 1)).astype(int)
    X = X * [20.0, 3000.0, 0.01, 1.0] + [60.0, 9000.0, 0.5, 0.0]
    X[rng.random(n) < 0.1, 3] = np.nan
    return X, y, side


def test_raw_rows_are_scaled_inside_and_warned_of_otherwise():
    (X, y, _), (new, truth, _) = raw_rows(1000), raw_rows(400, seed=1)
    model = DeepCACClassifier(n_clusters=2, max_epochs=40, device="cpu", random_state=0).fit(X, y)
    assert roc_auc_score(truth, model.predict_proba(new)[:, 1]) > 0.9
    plain = DeepCACClassifier(n_clusters=2, preprocess=None, **QUICK)
    with pytest.warns(ScaleWarning, match="column 1 .*preprocess='auto'"):
        plain.fit(np.nan_to_num(X), y)


def test_the_scaling_is_that_of_the_training_rows_alone():
    X, y, _ = raw_rows()
    X_val, y_val, _ = raw_rows(100, seed=2)
    inside = FNNClassifier(**QUICK).fit(X, y, validation=(X_val, y_val))
    scaler = TableScaler().fit(X)
    outside = FNNClassifier(preprocess=None, **QUICK)
    outside.fit(scaler.transform(X), y, validation=(scaler.transform(X_val), y_val))
    assert np.array_equal(
        inside.predict_proba(X_val), outside.predict_proba(scaler.transform(X_val))
    )
    alone = FNNClassifier(**QUICK).fit(X, y)
    kept = np.setdiff1d(np.arange(len(y)), alone.held_out_)
    assert alone._preparation.scaler.mean_ == pytest.approx(TableScaler().fit(X[kept]).mean_)


@pytest.mark.parametrize("steps", [1, 3])
def test_networks_read_the_same_rows_as_in_the_study(steps):
    rng = np.random.default_rng(0)
    X = rng.normal(7.0, 40.0, size=(300, 2 * steps))
    X[rng.random(X.shape) < 0.1] = np.nan
    train, validation, test = np.split(rng.permutation(300), [180, 230])
    X[[*train[:2], validation[0], test[0]], 0] = 1e6
    y = rng.integers(0, 2, 300)
    names = ("a", "b") if steps == 1 else tuple(f"{v}@{t}" for v in "ab" for t in range(steps))
    features = FeatureMatrix(np.arange(300), y, X, names)
    task = make_task(features, Split(0, train, validation, test), Setting("cic", 2, SOUND, "deep"))
    rows = X if steps == 1 else features.sequences()
    own = Preparation(rows[train], None)
    cpu = torch.device("cpu")
    for part, scaled, mask in (
        (train, task.X_train, task.mask_train),
        (validation, task.X_validation, task.mask_validation),
        (test, task.X_test, task.mask_test),
    ):
        assert np.abs(scaled).max() == 5.0
        assert torch.equal(own.rows(rows[part], None, cpu), as_inputs(scaled, mask, cpu))


def test_every_row_is_told_its_subtype():
    X, y, side = raw_rows()
    model = KMZClassifier(n_clusters=2, max_epochs=10, device="cpu", random_state=0).fit(X, y)
    assert model.subtypes_.shape == (500,)
    assert np.array_equal(model.subtypes_, model.assign(X))
    assert len(model.held_out_) == 120
    assert max((model.subtypes_ == side).mean(), (model.subtypes_ != side).mean()) > 0.95
    given = model.fit(X[:300], y[:300], validation=(X[300:], y[300:]))
    assert given.subtypes_.shape == (300,)
    assert len(given.held_out_) == 0


def test_sequences_are_scaled_by_what_was_measured():
    rng = np.random.default_rng(0)
    X = 50.0 + 10.0 * rng.normal(size=(80, 5, 2))
    mask = rng.random(X.shape) < 0.7
    holes, noise = np.where(mask, X, np.nan), np.where(mask, X, 1e6)
    y = np.arange(80) % 2
    by_nan = FNNClassifier(**QUICK).fit(holes, y)
    by_mask = FNNClassifier(**QUICK).fit(noise, y, mask=mask)
    assert np.array_equal(by_nan.predict_proba(holes), by_mask.predict_proba(noise, mask))
    kept = np.setdiff1d(np.arange(80), by_nan.held_out_)
    expected = SequenceScaler.fit(holes[kept])
    assert by_nan._preparation.scaler.mean == pytest.approx(expected.mean)
    with pytest.raises(DataError, match="mask has shape"):
        by_mask.predict_proba(noise, mask[:, :3])
    for wrong in (mask[:50], mask[:, :3], np.concatenate([mask, mask])):
        with pytest.raises(DataError, match=r"mask has shape \(\d+, \d, \d\), the sequences have"):
            FNNClassifier(**QUICK).fit(noise, y, mask=wrong)
    assert np.array_equal(
        by_mask.predict_proba(noise, mask),
        FNNClassifier(**QUICK).fit(noise, y, mask=mask.tolist()).predict_proba(noise, mask),
    )


def test_rows_of_another_shape_than_those_of_fit_are_refused_by_number(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(80, 5, 2)), np.arange(80) % 2
    FNNClassifier(**QUICK).fit(X, y).save(tmp_path / "model")
    model = FNNClassifier.load(tmp_path / "model", device="cpu")
    assert model.predict_proba(X).shape == (80, 2)
    with pytest.raises(DataError, match="has 1 variables .* 2"):
        model.predict(X[:, :, :1])
    with pytest.raises(DataError, match=r"2 axes \(80, 5\); .* sequences \(n, steps, 2\) of 3"):
        model.predict(X[:, :, 0])
    with pytest.raises(DataError, match="X has 1 variables a step"):
        FNNClassifier(**QUICK).fit(X, y, validation=(X[:, :, :1], y))
    table = FNNClassifier(**QUICK).fit(X[:, :, 0], y)
    with pytest.raises(DataError, match=r"3 axes \(80, 5, 2\); .* a table \(n, d\) of 2"):
        table.predict(X)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"assignment": "sotf"}, "assignment"),
        ({"temperature": 0}, "temperature"),
        ({"max_epochs": 0}, "max_epochs"),
        ({"pretrain_epochs": 0}, "pretrain_epochs"),
        ({"delta": 0}, "delta"),
        ({"n_clusters": "three"}, "n_clusters"),
        ({"dropout": 1.0}, "dropout"),
        ({"lr": -1.0}, "lr"),
        ({"preprocess": "scale"}, "preprocess"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_parameters_are_checked_by_name(parameters, name):
    X, y, _ = raw_rows(60)
    with pytest.raises(ValueError, match=f"'{name}' parameter of DeepCACClassifier must be"):
        DeepCACClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("method", networks().values())
def test_progress_epochs_and_chance(method, capsys):
    X, y, _ = raw_rows(120)
    model = method(max_epochs=2, device="cpu", verbose=True, random_state=None).fit(X, y)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == sum(len(v) for name, v in model.history_.items() if name.endswith("_loss"))
    assert all("of at most 2, loss " in line and "best at epoch" in line for line in said)
    assert all(re.search(r"validation (score|error) \d+\.\d{4}, best", line) for line in said)
    assert all(re.search(r", at most (\d+ min )?\d+ s left$", line) for line in said)
    stages = {name.removesuffix("_loss") for name in model.history_ if name.endswith("_loss")}
    assert set(model.best_epoch_) == stages
    # Each local predictor keeps its own best epoch, so theirs is not that of the pooled score.
    for stage, epoch in model.best_epoch_.items() - {("local", model.best_epoch_.get("local"))}:
        scores = model.history_[f"{stage}_score"]
        assert scores[epoch - 1] == max(scores)
    method(max_epochs=1, device="cpu", random_state=0).fit(X, y)
    assert capsys.readouterr().out == ""


def test_pretraining_is_bounded():
    X, y, _ = raw_rows(120)
    first = FNNClassifier(max_epochs=2, device="cpu", random_state=0).fit(X, y)
    assert len(first.history_["pretrain_loss"]) <= 2
    own = FNNClassifier(max_epochs=2, pretrain_epochs=5, device="cpu", random_state=0).fit(X, y)
    assert 2 < len(own.history_["pretrain_loss"]) <= 5


def test_chance_is_not_repeated_and_a_random_state_is():
    X, y, _ = raw_rows(120)

    def answer(state):
        return FNNClassifier(**{**QUICK, "random_state": state}).fit(X, y).predict_proba(X)

    assert not np.array_equal(answer(None), answer(None))
    draws = [answer(np.random.RandomState(3)) for _ in range(2)]
    assert np.array_equal(*draws)


@pytest.mark.parametrize("method", networks().values())
def test_decision_values_rank_as_probabilities_do(method):
    X, y, _ = raw_rows(150)
    for labels in (y, np.arange(150) % 3):
        model = method(**QUICK).fit(X, labels)
        probability = model.predict_proba(X)
        expected = probability[:, 1] if labels is y else probability
        assert expit(model.decision_function(X)) == pytest.approx(expected, abs=1e-5)


def test_tables_in_and_out_and_what_a_notebook_shows():
    X, y, _ = raw_rows(150)
    table = pd.DataFrame(X, columns=["age", "platelets", "bilirubin", "lactate"])
    model = KMZClassifier(n_clusters=2, **QUICK).set_output(transform="pandas").fit(table, y)
    out = model.transform(table)
    assert out.shape == (150, 32)
    assert out.columns[0] == "kmzclassifier0"
    assert np.array_equal(out.to_numpy(), model.embed(table))
    sizes = ", ".join(str(n) for n in np.bincount(model.subtypes_))
    assert f"KMZClassifier: k = 2; clusters of {sizes} rows" in model._repr_html_()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"age": "years"}))


def test_without_torch_the_way_out_is_named():
    code = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
import deepcac
deepcac.CACClassifier
for name in ("deepcac", "deepcac.nn.km_z"):
    try:
        deepcac.DeepCACClassifier if name == "deepcac" else __import__(name)
    except ModuleNotFoundError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("torch: pip install 'deepcac[nn]'" in line for line in lines)
