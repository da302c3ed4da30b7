"""When one of our numbers agrees with a printed one."""

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
SAME_SPLIT = 0.005  # where our run has the paper's own split and seed
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
    """What answers cells that no single run decides, such as averages over a table."""

    @property
    def sources(self) -> Sequence[str]:
        """The files of facts whose cells it answers."""

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number under a protocol, None where there is none."""

    def target(self, cell: PrintedCell) -> str:
        """Return what has to be made for a cell that has no number of ours."""

    def remark(self, cell: PrintedCell) -> str:
        """Return a remark for the ledger; empty where the printed ones are enough."""
        return ""

    def apart(self, cell: PrintedCell) -> str:
        """Return why a cell is no evidence although it was run; empty where it is."""
        return ""


def verdict(cell: PrintedCell, ours: Ours | None, protocol: str) -> str:
    """Say whether our number under a protocol agrees with the printed one.

    A score agrees within `tolerance`. Counts must be equal; a blank entry agrees with a run that
    found no result; a tuned alpha agrees within half a step of our grid, and one beyond the grid
    was not tried. Data that nobody can rebuild decide nothing.
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
    if not GRID[0] <= printed <= GRID[-1]:
        return NOT_RUN
    steps = np.diff(np.log(GRID))
    return AGREE if abs(math.log(ours / printed)) <= steps.max() / 2 + 1e-9 else DIFFER


def tolerance(cell: PrintedCell, our_sd: float | None, protocol: str) -> float:
    """Return the largest difference that still agrees, in the unit of the printed number.

    It is 0.02 (2 points of a number in per cent), and less where the paper prints a spread: two
    combined standard deviations. A printed sd of 0 is a repeated split and says nothing. Where
    our run as published has the paper's own split and seed it is 0.005.
    """
    if cell.item.startswith(("n_", "best_count")):
        return 0.0
    unit = _PERCENT if cell.item in _PERCENT_ITEMS or "_pct_" in cell.item else 1.0
    if cell.same_split and protocol == cell.protocol == "as_published":
        return SAME_SPLIT * unit
    if cell.sd:
        return min(2 * math.hypot(cell.sd, our_sd or 0.0), WIDEST * unit)
    return WIDEST * unit
