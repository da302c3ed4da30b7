"""Does it pay to train the autoencoders of five splits as one batched network on a CPU?

    python benchmarks/stacked_splits.py

Times one optimiser step a split, alone and stacked by `torch.baddbmm`, one thread.
"""

import time
from collections.abc import Callable

import torch
from torch import nn

from deepcac.nn.networks import Autoencoder

SPLITS, REPEATS = 5, 50


def milliseconds(step: Callable[[], None]) -> float:
    for _ in range(5):
        step()
    begin = time.process_time()
    for _ in range(REPEATS):
        step()
    return 1000 * (time.process_time() - begin) / REPEATS


def alone(d: int, batch: int) -> float:
    x, network = torch.randn(batch, d), Autoencoder(d)
    optimiser = torch.optim.Adam(network.parameters(), fused=True)

    def step() -> None:
        optimiser.zero_grad()
        network.error(x, network.encode(x)).mean().backward()
        optimiser.step()

    return milliseconds(step)


def stacked(d: int, batch: int) -> float:
    x = torch.randn(SPLITS, batch, d)
    sizes = [(d, 64), (64, 32), (32, 64), (64, d)]
    weights = [nn.Parameter(0.05 * torch.randn(SPLITS, a, b)) for a, b in sizes]
    biases = [nn.Parameter(torch.zeros(SPLITS, 1, b)) for _, b in sizes]
    optimiser = torch.optim.Adam([*weights, *biases], fused=True)

    def step() -> None:
        optimiser.zero_grad()
        out = torch.baddbmm(biases[0], x, weights[0]).relu()
        out = torch.baddbmm(biases[1], out, weights[1])
        out = torch.baddbmm(biases[2], out, weights[2]).relu()
        out = torch.baddbmm(biases[3], out, weights[3])
        (x - out).square().sum(dim=2).mean(dim=1).sum().backward()
        optimiser.step()

    return milliseconds(step) / SPLITS


def main() -> None:
    torch.set_num_threads(1)
    for d in (60, 224):
        for batch in (64, 128, 256, 512, 1024):
            one, five = alone(d, batch), stacked(d, batch)
            print(f"d {d:3d} batch {batch:4d}: alone {one:6.3f} ms, stacked {five:6.3f} ms a split")


if __name__ == "__main__":
    main()
