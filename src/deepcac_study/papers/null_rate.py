"""Agreement by chance: cells that are not independent, and rivals' cells that agree too."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac_study.papers.printed import PrintedCell

SUMMARY = "follows from other cells"
DRAWS = 2000

Place = tuple[str, ...]


@dataclass(frozen=True)
class NullRate:
    """A rate of agreement by chance; NaN if there are no rivals' cells."""

    rate: float  # share of the pairs of our number and another method's printed one that agree
    # 95 % interval by a bootstrap of runs: cells that one run decides come and go together.
    low: float
    high: float
    by_cell: float  # mean over cells of the share of rivals: a cell with many rivals counts once


def null_rate(runs: Sequence[str], agree: Sequence[int], rivals: Sequence[int]) -> NullRate:
    """Return the null rate of cells of the ledger, each decided by a run.

    `rivals` are the numbers of printed cells of other methods, and `agree` how many of them agree
    with our number. Cells without rivals do not count.
    """
    asked = np.asarray(rivals) > 0
    if not asked.any():
        return NullRate(np.nan, np.nan, np.nan, np.nan)
    pairs = np.array([agree, rivals], np.float64)[:, asked]
    _, run = np.unique(np.asarray(runs)[asked], return_inverse=True)
    low, high = _interval(np.stack([np.bincount(run, weights=counts) for counts in pairs]))
    agreeing, all_pairs = pairs.sum(axis=1).tolist()
    return NullRate(agreeing / all_pairs, low, high, float(np.mean(pairs[0] / pairs[1])))


def _interval(by_run: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval over runs, NaN where it has no width."""
    n = by_run.shape[1]
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    agree, rivals = by_run @ weights.T
    low, high = np.quantile(agree / rivals, [0.025, 0.975]).tolist()
    return (low, high) if low < high else (np.nan, np.nan)


def place(cell: PrintedCell) -> Place:
    """Return the key that cells of rival methods share: table, data set (or row) and metric."""
    row = cell.note.partition(";")[0] if cell.item == "loss_delta" else ""
    return cell.source, cell.dataset, row, cell.item


def cells_by_place(cells: Sequence[PrintedCell]) -> Mapping[Place, list[PrintedCell]]:
    """Return the printed cells of methods by `place`; an unknown place has none."""
    by_place: dict[Place, list[PrintedCell]] = defaultdict(list)
    for cell in cells:
        if cell.method and cell.value is not None:
            by_place[place(cell)].append(cell)
    return by_place


def reasons_derived(cells: Sequence[PrintedCell]) -> list[str]:
    """Return the reason why each cell is derived; empty for the cells that count.

    A derived cell follows from others of its paper, such as an average, or repeats an earlier one:
    the same run decides both, and the same value is printed.
    """
    first: dict[tuple[object, ...], PrintedCell] = {}
    reasons = []
    for cell in cells:
        key: tuple[object, ...] = (cell.dataset_id, cell.item, cell.text)
        if cell.kind != "data":
            key = (*key, cell.method_id, cell.n_clusters, cell.protocol)
        counts = cell.dataset_id and cell.text and cell.kind in ("score", "alpha", "data")
        earlier = first.setdefault(key, cell) if counts else cell
        repeated = f"repeats {earlier.paper} Table {earlier.table}"
        reason = "" if earlier.source == cell.source else repeated
        reasons.append(SUMMARY if cell.derived else reason)
    return reasons
