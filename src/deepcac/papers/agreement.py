"""When one of our numbers agrees with a printed one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deepcac.cac.path import GRID
from deepcac.papers.printed import PrintedCell

AGREE, DIFFER, NOT_RUN, NOT_PRINTED, SETTING = (
    "agree",
    "differ",
    "not run",
    "not printed",
    "setting",
)
_PERCENT_ITEMS = ("accuracy", "delta_accuracy", "loss_delta")


@dataclass(frozen=True)
class Ours:
    """Our number for a printed cell.

    Attributes
    ----------
    mean, sd : float or None
        None where the run has no such score.
    status : str
        Of the run.
    run : str
        The run (or runs) that decide.
    agrees : bool or None
        Where not the rule for scores decides, what does.
    """

    mean: float | None
    sd: float | None
    status: str
    run: str
    agrees: bool | None = None


class Answers(Protocol):
    """What answers cells that no single run decides, such as averages over a table."""

    @property
    def sources(self) -> Sequence[str]:
        """The files of facts whose cells it answers."""

    def answer(self, cell: PrintedCell, protocol: str) -> Ours | None:
        """Return our number under a protocol, None where there is none."""

    def remark(self, cell: PrintedCell) -> str:
        """Return a remark for the ledger; may be empty."""


def verdict(cell: PrintedCell, ours: Ours | None) -> str:
    """Say whether our number agrees with the printed one.

    Scores agree if they differ by at most 2 combined standard deviations, or by 0.02 where no
    spread is printed (a printed sd of 0 is a repeated split and says nothing). Percentages take
    2 points, counts must be equal, a blank entry agrees with a run that found no result.
    A tuned alpha agrees within half a step of our grid; one beyond the grid was not tried.
    """
    if cell.setting:
        return SETTING
    if ours is None:
        if cell.needs:
            return f"needs {cell.needs}"
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
    near = abs(ours.mean - cell.value) <= tolerance(cell, ours.sd) + 1e-9
    return AGREE if near else DIFFER


def _of_tuned(ours: float, printed: float) -> str:
    if not GRID[0] <= printed <= GRID[-1]:
        return NOT_RUN
    steps = np.diff(np.log(GRID))
    return AGREE if abs(math.log(ours / printed)) <= steps.max() / 2 + 1e-9 else DIFFER


def tolerance(cell: PrintedCell, our_sd: float | None) -> float:
    """Return the largest difference that still agrees."""
    if cell.item.startswith(("n_", "best_count")):
        return 0.0
    if cell.sd:
        return 2 * math.hypot(cell.sd, our_sd or 0.0)
    if cell.item in _PERCENT_ITEMS or "_pct_" in cell.item:
        return 2.0
    return 0.02
