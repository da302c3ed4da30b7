"""The case of Figure 4 of Vilalta, Achari & Eick (2003), with every row placed by hand."""

from typing import NamedTuple

import numpy as np

from deepcac.types import Array, Ids


class MergingCase(NamedTuple):
    """Rows of two classes in the plane."""

    X: Array  # shape (128, 2)
    y: Ids  # shape (128,); class 0 has two small clusters above class 1 and a broad one below it
    clusters: Ids  # shape (128,); cluster of each row within its class: 0, 1 and 2, or 0


def merging_case() -> MergingCase:
    """Return rows for which merging only the upper two of three clusters is best."""
    parts = [
        _block((-2, 1.8), (0.4, 0.1), (5, 2)),
        _block((2, 1.8), (0.4, 0.1), (5, 2)),
        _block((0, -1.8), (3, 0.2), (12, 3)),
        _block((0, 0), (3, 1), (12, 6)),
    ]
    sizes = [len(part) for part in parts]
    return MergingCase(
        np.vstack(parts), np.repeat([0, 0, 0, 1], sizes), np.repeat([0, 1, 2, 0], sizes)
    )


def _block(centre: tuple[float, float], half: tuple[float, float], count: tuple[int, int]) -> Array:
    """Return a grid of points around `centre`."""
    axes = [np.linspace(c - h, c + h, n) for c, h, n in zip(centre, half, count, strict=True)]
    return np.column_stack([axis.ravel() for axis in np.meshgrid(*axes)])
