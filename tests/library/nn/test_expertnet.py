"""ExpertNet: each term by hand, centres that never move, saving, and planted subtypes."""

import math

import numpy as np
import pytest
import torch
from planted_subtypes import planted

from deepcac.errors import DataError
from deepcac.nn.expertnet import (
    ExpertNetClassifier,
    imbalance,
    steps_of_experts,
    weighted_cross_entropy,
)


def test_weighted_cross_entropy_by_hand():
    q = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    logits = torch.log(torch.tensor([[[0.2, 0.8], [0.5, 0.5]], [[0.9, 0.1], [0.3, 0.7]]]))
    y = torch.tensor([1, 0])
    rows = [-(0.25 * math.log(0.8) + 0.75 * math.log(0.5)), -math.log(0.9)]
    assert weighted_cross_entropy(q, logits, y).item() == pytest.approx(sum(rows) / 2, rel=1e-6)


def test_imbalance_is_0_for_equal_shares_and_by_hand_for_others():
    equal = torch.tensor([[0.9, 0.1], [0.1, 0.9]])
    assert imbalance(equal).item() == pytest.approx(0, abs=1e-6)
    one = math.exp(8) / (math.exp(8) + math.exp(2))
    sides = (math.sqrt(one) - math.sqrt(0.5), math.sqrt(1 - one) - math.sqrt(0.5))
    assert imbalance(torch.tensor([[0.8, 0.2]])).item() == pytest.approx(
        math.hypot(*sides), rel=1e-5
    )


def test_experts_take_one_step_more_every_five_epochs():
    assert [steps_of_experts(epoch) for epoch in (1, 5, 6, 11, 46, 500)] == [1, 1, 2, 3, 10, 10]


def fitted(**options):
    X, y, _ = planted(300)
    settings = {"max_epochs": 3, "device": "cpu", "preprocess": None, "random_state": 0, **options}
    return ExpertNetClassifier(**settings).fit(X[:200], y[:200], validation=(X[200:], y[200:])), X


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_answers_by_logits_or_by_probabilities():
    for answer in ("logits", "probabilities"):
        model, X = fitted(answer=answer)
        network = model.network_
        with torch.no_grad():
            z = network.autoencoder.encode(torch.as_tensor(X, dtype=torch.float32))
            distance = ((z[:, None] - network.centres) ** 2).sum(dim=2)
            q = (1 / (1 + distance)) / (1 / (1 + distance)).sum(dim=1, keepdim=True)
            logits = torch.stack([expert(z) for expert in network.experts], dim=1)
            if answer == "logits":
                wanted = (q.unsqueeze(2) * logits).sum(dim=1).softmax(dim=1)
            else:
                wanted = (q.unsqueeze(2) * logits.softmax(dim=2)).sum(dim=1)
        np.testing.assert_allclose(model.predict_proba(X), wanted.numpy(), atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_centres_stay_where_k_means_put_them():
    starts = []

    class Watched(ExpertNetClassifier):
        def _train_together(self, network, train_rows, validation):
            starts.append(network.centres.clone())
            super()._train_together(network, train_rows, validation)

    X, y, _ = planted(300)
    model = Watched(max_epochs=3, device="cpu", preprocess=None).fit(X, y)
    torch.testing.assert_close(model.network_.centres, starts[0])
    assert not any(own is model.network_.centres for own in model.network_.parameters())
    assert len(torch.unique(starts[0], dim=0)) == 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_is_saved_and_read(tmp_path):
    model, X = fitted(n_clusters=2)
    model.save(tmp_path / "m.safetensors")
    again = ExpertNetClassifier.load(tmp_path / "m.safetensors", device="cpu")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.assign(X), model.assign(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_sequences_are_refused_and_risks_are_learnt():
    with pytest.raises(DataError, match="reads static rows"):
        ExpertNetClassifier(max_epochs=1, device="cpu", random_state=0).fit(
            np.zeros((20, 3, 2)), np.arange(20) % 2
        )
    X, y, _ = planted(600)
    model = ExpertNetClassifier(max_epochs=30, device="cpu", random_state=0).fit(X[:450], y[:450])
    assert (model.predict(X[450:]) == y[450:]).mean() > 0.8
