"""Columns that tell how long patients were followed, or another end of it."""

import re
import shlex
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from deepcac.table.reading.table_encoder import NUMBER, TableEncoder
from deepcac.types import Array, Ids

_BY_CHANCE = 10.0  # rows in which a column is above the time, were its values shuffled
_TELLS = 0.85  # AUROC of a status for whether another time is over before
_TIME = re.compile(
    r"[a-z]{1,2}[_. -]?time|"
    r"(fu|f[_.]?up|follow[_. -]?up|surv(ival)?|pfs|dfs|rfs|efs|event|death|status|relapse"
    r"|recurrence)?[_. -]?(time|days?|months?|years?|t)"
    r"(to[_. -]?(event|death|relapse|last[_. -]?(contact|follow[_. -]?up)))?"
    r"|(time|days?|months?|years?)[_. -]?to[_. -]?(event|death|relapse|recurrence|progression|last"
    r"[_. -]?\w*)|futime|follow[_. -]?up|lenfol|(days?|time|years?)[_. -]?(of[_. -]?)?follow\w*",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(.*[_. -])?(recur(rence)?|relapsed?|death|dead|died|status|fustat|event|progress(ion|ed)?"
    r"|censor(ed|ing)?|[dr]event)([_. -]?(status|event|ind|flag))?",
    re.IGNORECASE,
)
_FEWEST_DIFFERENT = 20
_SHORTER = 0.6  # AUROC of a time for the event


def other_times(encoder: TableEncoder, X: Array, time: Array, label: str) -> list[str]:
    """Return a warning for columns that know the end of follow-up, where there is a time.

    Such are numbers that are never above the follow-up time, though by chance they would be; and
    the status of another endpoint: one that tells whether such a time is shorter, or has the name
    of one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    time : ndarray of shape (n,)
    label : str
        The status at its end.
    """
    names = encoder.names
    numbers = {
        column.name: X[:, names.index(column.name)]
        for column in encoder.used
        if column.kind == NUMBER
    }
    reasons: dict[str, str] = {}
    ends: list[Array] = []
    for name, values in numbers.items():
        if _never_above(values, time):
            reasons[name] = (
                "is never above the follow-up time: another time of follow-up, or a start?"
            )
            ends.append(values)
    for name, values in numbers.items():
        seen = values[~np.isnan(values)]
        if name in reasons or len(np.unique(seen)) != 2:
            continue
        if any(_tells(values, end < time) for end in ends):
            reasons[name] = "tells whether that time is the shorter one: another endpoint?"
        elif _STATUS.fullmatch(name) and name != label:
            reasons[name] = "has the name of an endpoint: was it known at the start?"
    return [f"{name!r} {why} --drop {shlex.quote(name)}" for name, why in reasons.items()]


def _never_above(values: Array, time: Array) -> bool:
    present = ~np.isnan(values)
    seen, ends = values[present], time[present]
    if len(np.unique(seen)) < _FEWEST_DIFFERENT or (seen > ends).any():
        return False
    # For each time, how many values of the column are above it.
    above = len(seen) - np.searchsorted(np.sort(seen), ends, side="right")
    return float(above.sum()) / max(len(seen), 1) >= _BY_CHANCE


def _tells(values: Array, shorter: npt.NDArray[np.bool_]) -> bool:
    present = ~np.isnan(values)
    status, over = values[present] == np.nanmax(values), shorter[present]
    if over.all() or not over.any():
        return False
    auroc = 0.5 + 0.5 * (status[over].mean() - status[~over].mean())
    return bool(max(auroc, 1 - auroc) >= _TELLS)


def unused_times(encoder: TableEncoder, X: Array, y: Ids, classes: Sequence[str]) -> list[str]:
    """Return a warning for features that look like a follow-up time, where none is named.

    They have the name of one, and are shorter or longer where the event came.
    """
    if len(classes) != 2:
        return []
    warnings = []
    for column in encoder.used:
        if column.kind != NUMBER or not _TIME.fullmatch(column.name):
            continue
        values = X[:, encoder.names.index(column.name)]
        present = ~np.isnan(values)
        if len(np.unique(values[present])) < _FEWEST_DIFFERENT:
            continue
        if abs(_auroc(values[present], y[present] == 1) - 0.5) >= _SHORTER - 0.5:
            shown = shlex.quote(column.name)
            warnings.append(
                f"{column.name!r} looks like a follow-up time, which is not known beforehand: "
                f"--drop {shown}, or deepcac compare --time {shown} --horizon"
            )
    return warnings


def _auroc(values: Array, event: npt.NDArray[np.bool_]) -> float:
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable") + 1.0
    n, m = int(event.sum()), int((~event).sum())
    return 0.5 if not n or not m else float((order[event].sum() - n * (n + 1) / 2) / (n * m))
