"""The networks on a GPU: skipped where torch finds none."""

import warnings

import numpy as np
import pytest
import torch
from planted_subtypes import planted
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from deepcac import SubtypeClassifier
from deepcac.nn.ac_tpc import ACTPCClassifier
from deepcac.nn.dcn import DCNClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import CACDMNNClassifier, DMNNClassifier
from deepcac.nn.expertnet import ExpertNetClassifier
from deepcac.nn.fnn import FNNClassifier
from deepcac.nn.grasp import GRASPClassifier
from deepcac.nn.idec import IDECClassifier
from deepcac.nn.km_z import KMZClassifier

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

TABLES = [
    ACTPCClassifier,
    CACDMNNClassifier,
    DCNClassifier,
    DMNNClassifier,
    DeepCACClassifier,
    ExpertNetClassifier,
    FNNClassifier,
    GRASPClassifier,
    IDECClassifier,
    KMZClassifier,
    SubtypeClassifier,
]
SEQUENCES = [ACTPCClassifier, DeepCACClassifier, GRASPClassifier]


def table(n=600, seed=0):
    """Return the planted subtypes with holes in the table."""
    X, y, _ = planted(n, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.02] = np.nan
    return X, y


def sequences(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6, 3))
    y = (X[:, -1, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, y


def make(kind, device, **settings):
    model = kind(device=device, random_state=0, max_epochs=6, **settings)
    return model.set_params(n_clusters=3) if "n_clusters" in model.get_params() else model


def fitted(model, rows, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*rows, **more)


# How far risks may be apart: the devices add single numbers up in another order, and cuDNN rounds
# the products of an LSTM to ten bits (TF32).
CASES = [(kind, table, 1e-4) for kind in TABLES] + [(kind, sequences, 1e-3) for kind in SEQUENCES]


@pytest.mark.parametrize(("kind", "rows", "apart"), CASES)
def test_a_fit_repeats_and_its_file_answers_alike_on_both_devices(kind, rows, apart, tmp_path):
    X, y = rows()
    model = fitted(make(kind, "cuda"), (X, y))
    risk = model.predict_proba(X)
    assert np.isfinite(risk).all()
    np.testing.assert_allclose(risk.sum(axis=1), 1, atol=1e-5)
    again = fitted(clone(model), (X, y))
    np.testing.assert_array_equal(again.predict_proba(X), risk)
    np.testing.assert_array_equal(again.subtypes_, model.subtypes_)
    model.save(tmp_path / "model", small_clusters=True)
    for device in ("cpu", "cuda:0"):
        read = kind.load(tmp_path / "model", device=device)
        np.testing.assert_allclose(read.predict_proba(X), risk, rtol=0, atol=apart)


@pytest.mark.parametrize(("kind", "rows", "apart"), CASES)
def test_a_file_from_the_cpu_answers_alike_on_the_gpu(kind, rows, apart, tmp_path):
    X, y = rows()
    model = fitted(make(kind, "cpu"), (X, y))
    model.save(tmp_path / "model", small_clusters=True)
    read = kind.load(tmp_path / "model", device="cuda")
    np.testing.assert_allclose(read.predict_proba(X), model.predict_proba(X), rtol=0, atol=apart)


@pytest.mark.parametrize("kind", [DeepCACClassifier, SubtypeClassifier])
def test_weights_and_three_classes_are_taken_on_the_gpu(kind):
    X, y = table()
    y = y + (X[:, 6] > 1)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = fitted(make(kind, "cuda"), (X, y), sample_weight=weight)
    assert model.predict_proba(X).shape == (len(X), 3)
    assert np.isfinite(model.predict_proba(X)).all()


def test_auto_takes_the_gpu():
    model = fitted(make(DeepCACClassifier, "auto"), table())
    assert next(model.network_.parameters()).is_cuda
