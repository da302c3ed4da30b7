"""Losses in records of trials: positive in a file, as everybody prints them.

In the program more is better for every score, so that a loss has a minus there. Records from before
November 2026 have the minus in the file as well; a loss is never negative, so both read the same.
"""

from collections.abc import Callable
from typing import Any

from deepcac.judging.resample_scores import LOSSES

_AS_PRINTED = "risks"  # descriptions of risks, which the program keeps as they are printed


def as_written(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of trials with positive losses."""
    written: dict[str, Any] = _changed(record, abs)
    return written


def as_scored(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of trials, of this sign or the old one, with losses of which more is better.

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
        name: change(entry)
        if name in LOSSES and isinstance(entry, int | float)
        else (entry if name == _AS_PRINTED else _changed(entry, change))
        for name, entry in part.items()
    }
