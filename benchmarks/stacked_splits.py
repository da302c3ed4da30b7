"""Does it pay to train the networks of five splits as one batched network on a CPU?

    python benchmarks/stacked_splits.py

Processor time of a step, one thread, a split: alone, as the package trains, and in a pack by
batched matrix products. DeepCAC's step (three clusters), that of its local predictors, and LSTMs,
whose pack needs a layer written out in matrix products, where alone they have oneDNN's. The least
of some rounds that take turns.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.fitting.losses import cluster_means
from deepcac.nn.fitting.training import Optimiser
from deepcac.nn.layers.centroids import one_hot
from deepcac.nn.layers.networks import LocalPredictors

SPLITS, K, HIDDEN, LATENT, LOCAL = 5, 3, 64, 32, 30
ROUNDS, STEPS = 8, 10
STEP_COUNT, VARIABLES = 24, 80  # hours, values with their mask
Step = Callable[[], None]


def milliseconds(alone: Step, packed: Step) -> tuple[float, float]:
    """Return the least time of a step a split, both in turns."""
    best = [torch.inf, torch.inf]
    for _ in range(ROUNDS):
        for i, step in enumerate((alone, packed)):
            begin = time.process_time()
            for _ in range(STEPS):
                step()
            best[i] = min(best[i], 1000 * (time.process_time() - begin) / STEPS)
    return best[0], best[1] / SPLITS


def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
    return [nn.Parameter(0.05 * torch.randn(SPLITS, *shape)) for shape in shapes]


def deepcac_alone(d: int, batch: int) -> Step:
    x, y = torch.randn(batch, d), torch.randint(0, 2, (batch,))
    model = DeepCACClassifier(
        n_clusters=K, max_epochs=1, device="cpu", preprocess=None, random_state=0
    )
    network = model.fit(x.numpy(), y.numpy()).network_
    optimiser = Optimiser(model._learned(network), 2e-3, 0.0)

    def step() -> None:
        optimiser.step(model.loss(network, x, y))
        with torch.no_grad():
            z = network.autoencoder.encode(x)
            moved, _ = model._move(network, z, network.membership(z))
            network.centroids.copy_(moved)

    return step


def deepcac_packed(d: int, batch: int) -> Step:
    x, classes = torch.randn(SPLITS, batch, d), torch.randint(0, 2, (SPLITS, batch))
    sizes = [(d, HIDDEN), (HIDDEN, LATENT), (LATENT, HIDDEN), (HIDDEN, d)]
    weights, biases = parameters(*sizes), parameters(*[(1, out) for _, out in sizes])
    vectors = parameters((2, LATENT))[0]
    centroids, counts = torch.randn(SPLITS, K, LATENT), torch.full((SPLITS, K, 1), 100.0)
    optimiser = Optimiser([*weights, *biases, vectors], 2e-3, 0.0)

    def layers(v: Tensor, first: int) -> Tensor:
        hidden = torch.baddbmm(biases[first], v, weights[first]).relu()
        return torch.baddbmm(biases[first + 1], hidden, weights[first + 1])

    def member(z: Tensor) -> Tensor:
        distance = centroids.square().sum(dim=2).unsqueeze(1) - 2.0 * z @ centroids.mT
        return one_hot(distance.argmin(dim=2), K, z)

    def step() -> None:
        z = layers(x, 0)
        own = member(z.detach())
        size = own.sum(dim=1).clamp(min=1.0)
        error = functional.mse_loss(layers(z, 2), x, reduction="none").sum(dim=2).mean(dim=1)
        spread = (z - own @ centroids).square().sum(dim=2)
        cosine = functional.normalize(z, dim=2) @ functional.normalize(vectors, dim=2).mT
        logits = 30.0 * (cosine - 0.4 * one_hot(classes, 2, z))
        margins = functional.cross_entropy(logits.mT, classes, reduction="none")
        terms = (20.0 * spread + 5.0 * margins).unsqueeze(1) @ own
        optimiser.step((error + (terms.squeeze(1) / size).sum(dim=1)).sum())
        with torch.no_grad():
            z = layers(x, 0)
            own = member(z).mT
            after = counts + own.sum(dim=2, keepdim=True)
            centroids.copy_((counts * centroids + own @ z) / after)

    return step


def local_alone(_: int, batch: int) -> Step:
    z, y = torch.randn(batch, LATENT), torch.randint(0, 2, (batch,))
    own = one_hot(torch.randint(0, K, (batch,)), K, z)
    predictors = LocalPredictors(K, LATENT, LOCAL, 2)
    optimiser = Optimiser(list(predictors.parameters()), 2e-3, 0.0)

    def step() -> None:
        logits = (own.unsqueeze(2) * predictors(z)).sum(dim=1)
        errors = functional.cross_entropy(logits, y, reduction="none")
        optimiser.step(cluster_means(errors, own))

    return step


def local_packed(_: int, batch: int) -> Step:
    z, y = torch.randn(SPLITS, batch, LATENT), torch.randint(0, 2, (SPLITS, batch))
    own = one_hot(torch.randint(0, K, (SPLITS, batch)), K, z)
    first, bias, second, last = parameters(
        (LATENT, K * LOCAL), (1, K * LOCAL), (K, LOCAL, 2), (1, K, 2)
    )
    optimiser = Optimiser([first, bias, second, last], 2e-3, 0.0)

    def step() -> None:
        active = torch.baddbmm(bias, z, first).relu().unflatten(2, (K, LOCAL))
        answers = torch.einsum("snkh,skhc->snkc", active, second) + last
        logits = (own.unsqueeze(3) * answers).sum(dim=2)
        errors = functional.cross_entropy(logits.mT, y, reduction="none").unsqueeze(1)
        sums = (errors @ own).squeeze(1) / own.sum(dim=1).clamp(min=1.0)
        optimiser.step(sums.sum())

    return step


def lstm_alone(_: int, batch: int) -> Step:
    x, layer = (
        torch.randn(batch, STEP_COUNT, VARIABLES),
        nn.LSTM(VARIABLES, HIDDEN, batch_first=True),
    )
    optimiser = Optimiser(list(layer.parameters()), 2e-3, 0.0)
    return lambda: optimiser.step(layer(x)[0].square().mean())


def lstm_packed(_: int, batch: int) -> Step:
    x = torch.randn(STEP_COUNT, SPLITS, batch, VARIABLES)
    into, along, bias = parameters((VARIABLES, 4 * HIDDEN), (HIDDEN, 4 * HIDDEN), (1, 4 * HIDDEN))
    optimiser = Optimiser([into, along, bias], 2e-3, 0.0)

    def step() -> None:
        h = c = x.new_zeros(SPLITS, batch, HIDDEN)
        states = []
        for gates in x @ into + bias:
            i, f, g, o = torch.baddbmm(gates, h, along).chunk(4, dim=2)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            states.append(h)
        optimiser.step(torch.stack(states).square().mean())

    return step


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shapes = [(224, 64), (224, 256), (350, 512), (67, 1024)]
    for name, alone, packed in (
        ("DeepCAC", deepcac_alone, deepcac_packed),
        ("local predictors", local_alone, local_packed),
        ("LSTM", lstm_alone, lstm_packed),
    ):
        for d, batch in shapes if name != "LSTM" else [(VARIABLES, 256)]:
            one, five = milliseconds(alone(d, batch), packed(d, batch))
            print(
                f"{name:17s} d {d:3d} batch {batch:4d}: alone {one:6.2f} ms, "
                f"packed {five:6.2f} ms a split ({five / one:.2f} x)",
                flush=True,
            )


if __name__ == "__main__":
    main()
