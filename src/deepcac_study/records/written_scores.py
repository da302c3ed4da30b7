"""Losses in the judge's records: positive in a file, as everybody prints them.

In the program more is better for every score, so that a loss has a minus there. Records from before
November 2026 have the minus in the file as well; a loss is never negative, so both read the same. A
difference is positive where the first side is better, in the program and in a file.
"""

from collections.abc import Callable
from typing import Any

from deepcac.judging.resample_scores import LOSSES

# Descriptions of risks, which the program keeps as they are printed, and differences.
_AS_THEY_ARE = ("risks", "comparisons")


def as_written(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of the judge with positive losses."""
    written: dict[str, Any] = _changed(record, abs)
    return written


def as_scored(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of the judge, of this sign or the old one, with losses that have a minus.

    What is not made like a record comes back as it is.
    """
    scored: dict[str, Any] = _changed(record, lambda loss: -abs(loss))
    return scored


def _changed(part: Any, change: Callable[[float], float]) -> Any:
    if isinstance(part, list):
        return [_changed(entry, change) for entry in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _losses(entry, change)
        if name in LOSSES
        else (entry if name in _AS_THEY_ARE else _changed(entry, change))
        for name, entry in part.items()
    }


def _losses(part: Any, change: Callable[[float], float]) -> Any:
    """Change a loss, or those of several parts."""
    if isinstance(part, list):
        return [_losses(entry, change) for entry in part]
    return change(part) if isinstance(part, int | float) else _changed(part, change)
