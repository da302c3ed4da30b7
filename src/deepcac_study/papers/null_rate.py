"""How often our number agrees with the printed cell of another method: what agreement is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DRAWS = 2000


@dataclass(frozen=True)
class NullRate:
    """A rate of agreement by chance; NaN where nothing tells.

    Attributes
    ----------
    rate : float
        Share of the pairs of our number and another method's printed one that agree.
    low, high : float
        95 % interval by a bootstrap of runs: cells that one run decides come and go together.
    by_cell : float
        Mean over cells of the cell's own share: a cell with many rivals counts once.
    """

    rate: float
    low: float
    high: float
    by_cell: float


def null_rate(runs: Sequence[str], agree: Sequence[int], rivals: Sequence[int]) -> NullRate:
    """Return the null rate of some cells of the ledger.

    Parameters
    ----------
    runs : sequence of str
        The record that decides each cell.
    agree, rivals : sequence of int
        Printed cells of other methods that agree with our number, and all of them. Cells without
        rivals do not count.
    """
    asked = np.asarray(rivals) > 0
    if not asked.any():
        return NullRate(np.nan, np.nan, np.nan, np.nan)
    pairs = np.array([agree, rivals], np.float64)[:, asked]
    _, run = np.unique(np.asarray(runs)[asked], return_inverse=True)
    low, high = _interval(np.stack([np.bincount(run, weights=counts) for counts in pairs]))
    found, all_pairs = pairs.sum(axis=1).tolist()
    return NullRate(found / all_pairs, low, high, float(np.mean(pairs[0] / pairs[1])))


def _interval(by_run: npt.NDArray[np.float64]) -> tuple[float, float]:
    n = by_run.shape[1]
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    agree, rivals = by_run @ weights.T
    low, high = np.quantile(agree / rivals, [0.025, 0.975]).tolist()
    return (low, high) if low < high else (np.nan, np.nan)
