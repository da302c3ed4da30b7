"""DeepCAC's clustering stage beside the same network fed by a DataLoader of per-row items.

    python benchmarks/deepcac_cic.py

Random rows of CIC's shape (6,750 training rows, 224 features, three planted subtypes). All arms
take the same loss, batch size and steps; CPU seconds of one thread, without validation.
"""

import time

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from deepcac.nn.deepcac import DeepCACClassifier
from deepcac.nn.fitting.data import TensorRows, default_batch_size
from deepcac.nn.layers.centroids import nearest

N, D, EPOCHS = 6750, 224, 10


def planted() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    subtype = rng.integers(0, 3, N)
    X = rng.normal(size=(N, D))
    X[:, :3] += 4.0 * np.eye(3)[subtype]
    return X, (np.where(subtype == 1, -1, 1) * X[:, 9] > 1).astype(np.int64)


class RowItems(Dataset):
    """One row an item, converted when it is asked for."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.X, self.y = X, y

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        return torch.tensor(self.X[i], dtype=torch.float32), torch.tensor(self.y[i])


def start(X: np.ndarray, y: np.ndarray) -> DeepCACClassifier:
    """Return an estimator with a network after k-means, and its autoencoder trained one epoch."""
    torch.manual_seed(0)
    model = DeepCACClassifier(max_epochs=1, device="cpu", preprocess=None, random_state=0).fit(X, y)
    model.network_.train()
    return model


def by_index(model: DeepCACClassifier, rows: TensorRows) -> float:
    """Train as the package does."""
    model.set_params(max_epochs=EPOCHS, patience=EPOCHS)
    model._clustering_score = lambda *_: 0.0
    begin = time.process_time()
    model._cluster(model.network_, rows, rows)
    return time.process_time() - begin


def by_loader(
    model: DeepCACClassifier, items: RowItems, *, row_by_row: bool, epochs: int = EPOCHS
) -> float:
    """Train the same network from a DataLoader, moving the centroids in closed form or by row."""
    network = model.network_
    learned = [*network.autoencoder.parameters(), network.class_vectors]
    optimiser = torch.optim.Adam(learned, lr=model.lr)
    size = default_batch_size(N, sequence=False)
    begin = time.process_time()
    for _ in range(epochs):
        for x, y in DataLoader(items, batch_size=size, shuffle=True):
            loss = model.loss(network, x, y)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                z = network.autoencoder.encode(x)
                if row_by_row:
                    move_by_row(network, z)
                else:
                    moved, counts = model._move(network, z, network.membership(z))
                    network.centroids.copy_(moved)
                    network.counts.copy_(counts)
    return (time.process_time() - begin) * EPOCHS / epochs


def move_by_row(network: torch.nn.Module, z: Tensor) -> None:
    """Move the centroids row by row, as Algorithm 2 of DeepCAC has it."""
    for row, j in zip(z, nearest(z, network.centroids).tolist(), strict=True):
        network.counts[j] += 1
        network.centroids[j] -= (network.centroids[j] - row) / network.counts[j]


def main() -> None:
    torch.set_num_threads(1)
    X, y = planted()
    rows = TensorRows(torch.tensor(X, dtype=torch.float32), torch.tensor(y))
    seconds = {
        "index batches (this package)": by_index(start(X, y), rows),
        "DataLoader of rows": by_loader(start(X, y), RowItems(X, y), row_by_row=False),
        "DataLoader of rows, centroids row by row": by_loader(
            start(X, y), RowItems(X, y), row_by_row=True, epochs=3
        ),
    }
    ours = seconds["index batches (this package)"]
    for name, value in seconds.items():
        print(f"{name:45s} {1000 * value / EPOCHS:8.1f} ms an epoch  {value / ours:6.1f} x")


if __name__ == "__main__":
    main()
