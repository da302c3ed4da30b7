"""The whole loss of every deep method on a few numbers, against the same by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from deepcac.nn.ac_tpc import ACTPCClassifier
from deepcac.nn.dcn import DCNClassifier
from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.dmnn import DMNNClassifier
from deepcac.nn.grasp import GRASPClassifier, GRASPNetwork, convolve
from deepcac.nn.idec import IDECClassifier
from deepcac.nn.layers.networks import SequenceAutoencoder, mean_error


def double(*rows):
    return torch.tensor(rows, dtype=torch.float64)


# An autoencoder that embeds a row as itself, with squared errors 1, 4 and 0 over 6 values.
AUTOENCODER = SimpleNamespace(
    encode=lambda x: x,
    error=lambda x, z: double(1.0, 4.0, 0.0),
    entries=lambda x: torch.tensor(6.0, dtype=torch.float64),
)
Z = double([3.0, 4.0], [0.0, 2.0], [6.0, 8.0])
Y = torch.tensor([0, 1, 1])
# Rows 0 and 1 are in cluster 0, at distances 9 + 9 and 0 + 1; row 2 in cluster 1 at 1 + 4.
CENTRES = double([0.0, 1.0], [5.0, 6.0])
CENTROID_NETWORK = SimpleNamespace(
    autoencoder=AUTOENCODER,
    centroids=CENTRES,
    membership=lambda z: double([1.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
    class_vectors=double([2.0, 0.0], [0.0, 3.0]),  # unit vectors after normalisation
)


def margin_loss(own, other, s, m):
    return np.log1p(np.exp(s * (other - own + m)))


def test_deepcac():
    model = DeepCACClassifier(alpha=5.0, beta=20.0, s=2.0, m=0.1, delta=0.5, random_state=0)
    within = (18 + 1) / (2 - 1 + 0.5) + 5 / (1 - 1 + 0.5)
    # Cosines to the axes are (0.6, 0.8), (0, 1) and (0.6, 0.8).
    first, second, third = (
        margin_loss(own, other, 2.0, 0.1) for own, other in ((0.6, 0.8), (1.0, 0.0), (0.8, 0.6))
    )
    expected = 5 / 3 + 20 * within + 5 * ((first + second) / 2 + third)
    assert model.loss(CENTROID_NETWORK, Z, Y).item() == pytest.approx(expected)
    model.set_params(alpha=0.0)
    assert model.loss(CENTROID_NETWORK, Z, Y).item() == pytest.approx(5 / 3 + 20 * within)
    model.set_params(alpha=0.0, beta=0.0)
    assert model.loss(CENTROID_NETWORK, Z, Y).item() == pytest.approx(5 / 3)


def test_dcn():
    expected = 5 / 3 + 3.0 * (18 + 1 + 5) / 3
    assert DCNClassifier(beta=3.0, random_state=0).loss(
        CENTROID_NETWORK, Z
    ).item() == pytest.approx(expected)


def test_idec():
    target = double([0.9, 0.1], [0.5, 0.5], [0.0, 1.0])
    squared = np.array([[18.0, 8.0], [1.0, 41.0], [85.0, 5.0]])
    q = 1 / (1 + squared)
    q /= q.sum(axis=1, keepdims=True)
    divergence = (
        0.9 * np.log(0.9 / q[0, 0])
        + 0.1 * np.log(0.1 / q[0, 1])
        + 0.5 * np.log(0.5 / q[1, 0])
        + 0.5 * np.log(0.5 / q[1, 1])
        + np.log(1 / q[2, 1])
    ) / 3
    loss = IDECClassifier(gamma=0.5, random_state=0).loss(CENTROID_NETWORK, Z, target)
    assert loss.item() == pytest.approx(5 / 6 + 0.5 * divergence)


def test_dmnn():
    # The gate gives every row 0.25 / 0.75; the experts give class 1 the odds 1 and 4.
    network = SimpleNamespace(
        autoencoder=AUTOENCODER,
        gate=lambda z: double([0.25, 0.75]).log().expand(3, 2),
        predictors=lambda z: double([0.0, 0.0], [0.0, np.log(4.0)]).expand(3, 2, 2),
    )
    activity = 0.1 * (7 + 2 + 14) / 3 + 0.01 * (25 + 4 + 100) / 3
    of_class_1 = 0.25 * 0.5 + 0.75 * 0.8
    entropy = -(np.log(1 - of_class_1) + 2 * np.log(of_class_1)) / 3
    loss = DMNNClassifier(l1=0.1, l2=0.01, random_state=0).loss(network, Z, Y)
    assert loss.item() == pytest.approx(5 / 6 + activity + entropy)


def test_ac_tpc():
    p, weights = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.25, 0.75], [0.5, 0.5]])
    network = SimpleNamespace(
        cluster_logits=lambda: torch.tensor(p).log(),
    )
    model, y = ACTPCClassifier(alpha=2.0, beta=0.1, random_state=0), torch.tensor([1, 0])
    log_weights = torch.tensor(weights).log()
    first = -(0.25 * np.log(0.1) + 0.75 * np.log(0.7) + 0.5 * np.log(0.9) + 0.5 * np.log(0.3)) / 2
    second = -(weights * np.log(weights)).sum() / 2
    third = (p[0] @ np.log(p[1]) + p[1] @ np.log(p[0])) / 2
    assert model.critic_loss(network, log_weights, y).item() == pytest.approx(first)
    assert model.actor_loss(network, log_weights, y).item() == pytest.approx(first + 2 * second)
    assert model.embedding_loss(network, log_weights, y).item() == pytest.approx(
        first + 0.1 * third
    )


def test_a_graph_convolution_adds_its_bias_once():
    layer = torch.nn.Linear(1, 1).double()
    torch.nn.init.constant_(layer.weight, 2.0)
    torch.nn.init.constant_(layer.bias, 10.0)
    graph = double([0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0])
    # Neighbours of the three centres add up to 5, 4 and 3.
    found = convolve(layer, graph, double([1.0], [2.0], [3.0]))
    torch.testing.assert_close(found, double([20.0], [18.0], [16.0]))


@pytest.mark.parametrize("linked", [True, False])
def test_grasp(linked):
    network = GRASPNetwork(AUTOENCODER, 2, 2, 2).double().eval()
    eye = torch.eye(2, dtype=torch.float64)
    with torch.no_grad():
        for layer, factor in ((network.first, 1.0), (network.second, 2.0), (network.head, 1.0)):
            layer.weight.copy_(factor * eye)
            layer.bias.zero_()
        for gate, bias in ((network.weigh_row, 0.0), (network.weigh_message, np.log(3.0))):
            gate.weight.zero_()
            gate.bias.fill_(bias)
        network.centres.copy_(double([0.0, 1.0], [9.0, 9.0]))
        network.linked.fill_(linked)
    # Rows 0 and 1 stay together, and row 2 alone: centres (1.5, 3) and (6, 8). Each centre's one
    # neighbour is the other: once over gives the other centre, twice its own, doubled. In the
    # first epoch each has itself alone, which gives its own, doubled, too. Rows are
    # most alike to the second centre, the largest product, so all receive (12, 16). Gates say 0.5
    # for the row and 0.75 for the message: shares 0.4 and 0.6.
    logits = []
    for row in Z.numpy():
        both = 0.6 * np.array([12.0, 16.0]) + 0.4 * row
        logits.append((both - both.mean()) / np.sqrt(both.var() + 1e-5))
    odds = [np.exp(v) / np.exp(v).sum() for v in logits]
    expected = -np.log([odds[0][0], odds[1][1], odds[2][1]]).mean()
    assert GRASPClassifier(random_state=0).loss(network, Z, Y).item() == pytest.approx(expected)
    torch.testing.assert_close(network.centres, double([1.5, 3.0], [6.0, 8.0]))


def test_masked_error_of_sequences():
    """One variable over two hours, the second not measured; the LSTM's gates by hand."""
    torch.manual_seed(0)
    model = SequenceAutoencoder(1, hidden=1, latent=1).double()
    decoder, z = model.decoder, 0.7
    w, u = decoder.weight_ih_l0[:, 0].detach().numpy(), decoder.weight_hh_l0[:, 0].detach().numpy()
    b = (decoder.bias_ih_l0 + decoder.bias_hh_l0).detach().numpy()
    h = c = 0.0
    values = []
    for _ in range(2):
        gate_in, forget, cell, out = w * z + u * h + b
        gate_in, forget, out = (1 / (1 + np.exp(-v)) for v in (gate_in, forget, out))
        c = forget * c + gate_in * np.tanh(cell)
        h = out * np.tanh(c)
        values.append(model.to_values.weight.item() * h + model.to_values.bias.item())
    x = double([[1.5, 1.0], [0.0, 0.0]], [[1.5, 1.0], [-2.0, 1.0]])
    latent = double([z], [z])
    one, other = (1.5 - values[0]) ** 2, (-2.0 - values[1]) ** 2
    assert model.error(x, latent).tolist() == pytest.approx([one, one + other])
    assert model.entries(x).item() == 3
    assert mean_error(model, x, latent).item() == pytest.approx((2 * one + other) / 3)
    unmeasured = x.clone().requires_grad_(True)
    model.error(unmeasured, latent).sum().backward()
    assert unmeasured.grad[0, 1, 0] == 0
