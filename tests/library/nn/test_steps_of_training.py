"""What a training step is made of, beside torch's own."""

import pytest
import torch
from torch.nn import functional

from deepcac.nn.fitting.data import CHUNK, SEQUENCE_CHUNK, TensorRows, chunks, in_chunks
from deepcac.nn.fitting.training import Optimiser
from deepcac.nn.layers.centroids import one_hot
from deepcac.nn.layers.networks import LocalPredictors, SequenceAutoencoder


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_the_optimiser_is_adam(decay):
    torch.manual_seed(0)
    start = [torch.randn(4, 3), torch.randn(3)]
    ours, theirs = ([torch.nn.Parameter(v.clone()) for v in start] for _ in range(2))
    adam = torch.optim.Adam(theirs, lr=0.05, weight_decay=decay)
    optimiser = Optimiser(ours, 0.05, decay)
    for x in torch.randn(20, 7, 4):
        optimiser.step((x @ ours[0] + ours[1]).square().sum())
        adam.zero_grad()
        (x @ theirs[0] + theirs[1]).square().sum().backward()
        adam.step()
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-5, atol=1e-6)
        assert own.grad is None


def test_memberships_are_those_of_torch():
    labels = torch.tensor([2, 0, 1, 1])
    expected = functional.one_hot(labels, 4).float()
    torch.testing.assert_close(one_hot(labels, 4, torch.zeros(1)), expected)


def test_sequences_are_cut_smaller_than_tables():
    torch.manual_seed(0)
    x, network = torch.randn(2 * SEQUENCE_CHUNK + 5, 3, 4), SequenceAutoencoder(2)
    assert [len(part) for part in chunks(x)] == [SEQUENCE_CHUNK, SEQUENCE_CHUNK, 5]
    assert [len(part) for part in chunks(torch.zeros(CHUNK + 1, 2))] == [CHUNK, 1]
    torch.testing.assert_close(in_chunks(network.encode, x), network.encode(x).detach())


def test_a_batch_is_the_rows_at_its_positions():
    rows = TensorRows(torch.arange(12.0).reshape(6, 2), torch.arange(6))
    x, y = rows.batch(torch.tensor([4, 0, 4]))
    assert x.tolist() == [[8.0, 9.0], [0.0, 1.0], [8.0, 9.0]]
    assert y.tolist() == [4, 0, 4]


def test_local_predictors_are_as_many_networks():
    torch.manual_seed(0)
    predictors, z = LocalPredictors(3, 5, 4, 2), torch.randn(7, 5)
    together = predictors(z)
    for j in range(3):
        into, before, out, after = predictors.member(j)
        alone = (z @ into.T + before).relu() @ out + after
        torch.testing.assert_close(together[:, j], alone)
