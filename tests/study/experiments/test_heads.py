"""Other heads on the same latents: what each of them may and may not change."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from deepcac.nn.fitting.data import TensorRows
from deepcac.nn.km_z import KMZClassifier
from deepcac.nn.layers.networks import Autoencoder, LocalPredictors
from deepcac_study.experiments.networks.factorial import HEADS, PermutedNetwork, answer_with


def planted(n=900, seed=0):
    """Three far subtypes; the sign of one feature means risk, and the reverse in subtype 1."""
    rng = np.random.default_rng(seed)
    subtype = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 8))
    X[:, :3] += 4.0 * np.eye(3)[subtype]
    return X, (np.where(subtype == 1, -1, 1) * X[:, 5] > 0).astype(int)


@pytest.fixture(scope="module")
def answers():
    X, y = planted()
    rows = [
        TensorRows(torch.tensor(X[part]).float(), torch.tensor(y[part]))
        for part in (slice(0, 600), slice(600, 750), slice(750, 900))
    ]
    model = KMZClassifier(
        max_epochs=40, local_hidden=1, preprocess=None, device="cpu", random_state=0
    )
    model.fit(X[:600], y[:600], validation=(X[600:750], y[600:750]))
    before = {name: value.clone() for name, value in model.network_.state_dict().items()}
    found = {head: answer_with(model, head, *rows[:2], rows[2].x).numpy() for head in HEADS}
    for name, value in model.network_.state_dict().items():
        torch.testing.assert_close(value, before[name])
    return found, model.predict_proba(X[750:]), y[750:]


def test_the_local_head_is_the_model(answers):
    found, own, _ = answers
    np.testing.assert_allclose(found["local"], own, atol=1e-6)
    for probability in found.values():
        np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-5)


def test_only_true_clusters_tell_reversed_risks(answers):
    found, _, y = answers
    auroc = {head: roc_auc_score(y, answer[:, 1]) for head, answer in found.items()}
    assert auroc["local"] > 0.9
    assert auroc["soft"] > 0.9  # the clusters lie far apart
    assert auroc["permuted"] < 0.8
    assert auroc["one"] < auroc["local"] - 0.1  # one hidden unit cannot tell the subtypes


def test_permuted_clusters_keep_their_sizes():
    torch.manual_seed(0)
    z = torch.randn(50, 3)
    networks = [
        make(Autoencoder(4, 5, 3), LocalPredictors(2, 3, 4, 2), 3)
        for make in (PermutedNetwork, PermutedNetwork.__mro__[1])
    ]
    for network in networks:
        network.centroids.data.copy_(torch.tensor([[1.0, 0, 0], [-1.0, 0, 0]]))
    permuted, own = (network.membership(z) for network in networks)
    torch.testing.assert_close(permuted.sum(dim=0), own.sum(dim=0))
    assert not torch.equal(permuted, own)
    torch.testing.assert_close(permuted, networks[0].membership(z))
