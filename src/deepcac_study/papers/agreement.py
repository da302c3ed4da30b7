"""The rule by which our numbers agree with printed ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deepcac.cac.path import GRID
from deepcac_study.papers.printed import PrintedCell

AGREE, DIFFER, NOT_RUN, NOT_PRINTED = "agree", "differ", "not run", "not printed"
SETTING, LOST = "setting", "data not rebuildable"
WIDEST = 0.02  # F1, AUROC, AUPRC and shares
SAME_SPLIT = 0.005  # where our run has the paper's split and seed
_PERCENT = 100.0  # losses, accuracies and gains are printed in per cent
_PERCENT_ITEMS = ("accuracy", "delta_accuracy", "loss_delta")


@dataclass(frozen=True)
class Ours:
    """Our number for a printed cell."""

    # None where the run has no such score.
    mean: float | None
    sd: float | None
    status: str  # of the run
    run: str  # the run (or runs) that decide
    agrees: bool | None = None  # where not the rule for scores decides, what does


class Answers(Protocol):
    """Source of our numbers for cells that no single run decides, such as averages."""

    @property
    def sources(self) -> Sequence[str]:
        """The files of facts whose cells it covers."""

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number for a cell under a protocol, or None."""

    def target(self, cell: PrintedCell) -> str:
        """Return the record that is needed for a cell without our number."""

    def remark(self, cell: PrintedCell) -> str:
        """Return a remark for the ledger, in addition to the paper's; may be empty."""
        return ""

    def not_counted(self, cell: PrintedCell) -> str:
        """Return why a cell does not count although it was run; empty if it counts."""
        return ""


def verdict(cell: PrintedCell, ours: Ours | None, protocol: str) -> str:
    """Return the verdict on the agreement of our number with the printed one.

    A score agrees within `tolerance`. Counts must be equal; a blank entry agrees with a run without
    a result; a tuned alpha agrees within half a step of our grid, and counts as not tried beyond
    the grid. Data that cannot be rebuilt decide nothing.
    """
    if cell.setting:
        return SETTING
    if cell.lost:
        return LOST if cell.text else NOT_PRINTED
    if ours is None:
        return NOT_RUN if cell.text else NOT_PRINTED
    if ours.agrees is not None:
        return AGREE if ours.agrees else DIFFER
    if cell.value is None:
        unfinished = "did not finish" in cell.note and ours.status == "timeout"
        return AGREE if unfinished else NOT_PRINTED
    if ours.mean is None:
        return ours.status if ours.status != "ok" else NOT_RUN
    if cell.kind == "alpha":
        return _of_tuned(ours.mean, cell.value)
    near = abs(ours.mean - cell.value) <= tolerance(cell, ours.sd, protocol) + 1e-9
    return AGREE if near else DIFFER


def _of_tuned(ours: float, printed: float) -> str:
    """Return agree if the tuned alphas differ by at most half a step of the grid."""
    if not GRID[0] <= printed <= GRID[-1]:
        return NOT_RUN
    steps = np.diff(np.log(GRID))
    return AGREE if abs(math.log(ours / printed)) <= steps.max() / 2 + 1e-9 else DIFFER


def tolerance(cell: PrintedCell, our_sd: float | None, protocol: str) -> float:
    """Return the largest difference that still agrees, in the unit of the printed number.

    It is 0.02 (2 points of a percentage), or two combined standard deviations if the paper prints a
    spread and this is less. A printed sd of 0 comes from a repeated split and is ignored. Where our
    run as published has the paper's split and seed it is 0.005.
    """
    if cell.item.startswith(("n_", "best_count")):
        return 0.0
    unit = _PERCENT if cell.item in _PERCENT_ITEMS or "_pct_" in cell.item else 1.0
    if cell.same_split and protocol == cell.protocol == "as_published":
        return SAME_SPLIT * unit
    if cell.sd:
        return min(2 * math.hypot(cell.sd, our_sd or 0.0), WIDEST * unit)
    return WIDEST * unit
