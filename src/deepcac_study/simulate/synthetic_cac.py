"""The synthetic grid of the CAC papers (v1 and v2, 6.1): natural clusters of two classes.

Both papers modify scikit-learn's ``make_classification`` and state the ranges of the inner class
separation (ICS), the outer cluster separation (OCS) and the number of natural clusters K, but
neither the number of rows and features nor how the two separations enter. Our choice: each natural
cluster is a separate ``make_classification`` with hypercube sides of twice ICS, two hypercube
vertices per class, 8 features of which 5 are informative, and 1 per cent of the labels flipped (the
library's default); the cluster's centre is drawn from a normal distribution with standard deviation
OCS in every feature; there are 500 rows per cluster.
"""

import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from deepcac.errors import ConfigError
from deepcac.feature_matrix import FeatureMatrix, write_features

ICS = (0.0, 0.2, 0.5, 1.0, 1.5, 2.0)
OCS = (1.0, 1.5, 2.0)
CLUSTERS = (2, 3, 5, 10, 15, 20, 30)
RARE = 1 / 11  # one to ten
TOUCHING = 1e-300  # in place of a separation of 0, which scikit-learn rejects


@dataclass(frozen=True)
class Cell:
    """One point of the grid: inner class and outer cluster separation, natural clusters, classes.

    Imbalanced classes are one to ten (CAC v2) instead of one to one (CAC v1).
    """

    ics: float
    ocs: float
    clusters: int
    imbalanced: bool = False

    @property
    def dataset(self) -> str:
        """Id of the data set, separations in hundredths: ``synthetic_cac_i050_o150_c10``."""
        tail = "_1to10" if self.imbalanced else ""
        ics, ocs = round(100 * self.ics), round(100 * self.ocs)
        return f"synthetic_cac_i{ics:03d}_o{ocs:03d}_c{self.clusters}{tail}"


def grid(*, imbalanced: bool) -> Iterator[Cell]:
    """Yield the 126 cells of the papers' grid."""
    for ics, ocs, clusters in itertools.product(ICS, OCS, CLUSTERS):
        yield Cell(ics, ocs, clusters, imbalanced)


def write_cells(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Write feature files of the grid, each named after its cell."""
    cells = {c.dataset: c for imbalanced in (False, True) for c in grid(imbalanced=imbalanced)}
    for path in paths:
        write_features(path, synthetic_cac(cells[Path(path).stem]))


def synthetic_cac(
    cell: Cell, *, rows: int = 500, features: int = 8, informative: int = 5, seed: int = 0
) -> FeatureMatrix:
    """Generate one cell of the grid, with `rows` per natural cluster, which is the ``group``.

    `informative` of the columns carry the classes. Rows are shuffled within natural clusters only.
    """
    if cell.clusters < 1 or rows < 22 or cell.ics < 0 or cell.ocs < 0:
        raise ConfigError(f"{cell}: needs a cluster, 22 rows a cluster and separations >= 0")
    rng = np.random.default_rng(seed)
    rare = RARE if cell.imbalanced else 0.5
    blocks, labels = [], []
    for _ in range(cell.clusters):
        X, y = make_classification(
            n_samples=rows,
            n_features=features,
            n_informative=informative,
            n_classes=2,
            n_clusters_per_class=2,
            weights=[1 - rare, rare],
            class_sep=max(cell.ics, TOUCHING),
            random_state=int(rng.integers(2**31)),
        )
        blocks.append(X + rng.normal(0, cell.ocs, features))
        labels.append(y)
    n = rows * cell.clusters
    return FeatureMatrix(
        row_id=np.arange(n),
        label=np.concatenate(labels).astype(np.int64),
        X=np.vstack(blocks),
        names=tuple(f"x{j}" for j in range(features)),
        group=np.repeat(np.arange(cell.clusters), rows).astype(str),
    )
