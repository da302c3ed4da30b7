"""Columns that tell the label, the row or the follow-up: what was written after the outcome."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from deepcac.scoring.small_cells import FEW
from deepcac.table.reading.column_parts import ColumnParts, column_parts
from deepcac.table.reading.table_encoder import NUMBER, TableEncoder
from deepcac.types import Array, Ids

TELLS = 0.95  # AUROC of a column alone from which it is named
FEWEST = 10  # rows of a part or a class that is spoken of
_PARTS, _ROWS_OF_A_PART = 20, 20
_IN_ORDER = 0.999  # rank correlation with the row number
_MOST_LINES = 8
_BY_CHANCE = 10.0  # rows in which a column is above the time, were its values shuffled
_TELLS_OVER = 0.85  # AUROC of a status for whether another time is over before
_UNIT = r"(time|days?|weeks?|months?|years?)"
_TIME = re.compile(
    r"[a-z]{1,2}[_. -]?time|"
    r"(fu|f[_.]?up|follow[_. -]?up|(overall[_. -]?)?surv(ival)?|os|pfs|dfs|rfs|efs|event|death"
    rf"|status|relapse|recurrence)?[_. -]?({_UNIT}|t)"
    r"(to[_. -]?(event|death|relapse|last[_. -]?(contact|follow[_. -]?up)))?"
    rf"|{_UNIT}[_. -]?to[_. -]?(event|death|relapse|recurrence|progression|last[_. -]?\w*)"
    r"|futime|tte|duration|follow[_. -]?up|lenfol|(days?|time|years?)[_. -]?(of[_. -]?)?follow\w*",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(.*[_. -])?(recur(rence)?|relapsed?|death|dead|died|status|fustat|event|progress(ion|ed)?"
    r"|censor(ed|ing)?|[dr]event)([_. -]?(status|event|ind|flag))?",
    re.IGNORECASE,
)
_FEWEST_DIFFERENT = 20
_WITH_TIME = 0.95  # rank correlation with the time
_SHORTER = 0.6  # AUROC of a time for the event
HEAD = (
    "Look at these columns first: they predict the label or the row almost perfectly, or look "
    "like the time or status of follow-up. Such a column was often written after the outcome; it "
    "makes every model look good, and hides what clusters do. None was left out."
)


class _Told(NamedTuple):
    """How well a column alone tells one class from the others."""

    auroc: float
    c: int


def label_leaks(encoder: TableEncoder, X: Array, y: Ids, classes: tuple[str, ...]) -> list[str]:
    """Return a warning for each used column that looks like the label, an id or the row number.

    Nothing is left out. A column is named if it is the label under another coding; if its values
    alone rank the rows of a class with an AUROC of 0.95 or more, by the share of the class in each
    twentieth of the rows (learnt on one half, scored on the other; no value is a part too) or by
    its order; if it goes up or down with the rows; or if it is another whole number in every row.

    `X` (n, d) has the features of the encoder, in the order of the file; `y` the class ids.
    """
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    most = int(np.clip(len(y) // _ROWS_OF_A_PART, 2, _PARTS))
    suspects: list[tuple[float, str, str]] = []
    for column in encoder.used:
        parts = column_parts(column, X, encoder.places, most)
        values = X[:, encoder.places[column.name]] if column.kind == NUMBER else None
        leak = _best(parts, values, y, half)
        why = _recoded(parts, y, classes) or _alone(leak, parts, y, classes)
        why = why or ("" if values is None else _row_like(values))
        if why:
            suspects.append((leak.auroc, column.name, why))
    suspects.sort(key=lambda suspect: (-suspect[0], suspect[1]))
    lines = [f"{name!r} {why}" for _, name, why in suspects]
    rest = [f"{name!r} ({auroc:.3f})" for auroc, name, _ in suspects[_MOST_LINES:]]
    if not rest:
        return lines
    return [*lines[:_MOST_LINES], f"Likewise, with their AUROC: {', '.join(rest)}"]


def _best(parts: ColumnParts, values: Array | None, y: Ids, half: npt.NDArray[np.bool_]) -> _Told:
    """Return the class that the column tells best, of those with enough rows."""
    counts = np.bincount(y)
    asked = [1] if len(counts) == 2 else np.flatnonzero(counts >= FEWEST).tolist()
    candidates = []
    for c in asked:
        inside = y == c
        auroc = _by_parts(parts, inside, half)
        candidates.append(
            _Told(auroc if values is None else max(auroc, _by_order(values, inside)), c)
        )
    return max(candidates, default=_Told(0.5, 0))


def _by_parts(
    parts: ColumnParts, inside: npt.NDArray[np.bool_], half: npt.NDArray[np.bool_]
) -> float:
    """Return the AUROC of the share of a class in each part, learnt on the other half."""
    n = len(parts.names)
    events = np.array([np.bincount(parts.number[h & inside], minlength=n) for h in (half, ~half)])
    others = np.array([np.bincount(parts.number[h & ~inside], minlength=n) for h in (half, ~half)])
    share = (events + inside.mean()) / (events + others + 1.0)
    return float(np.mean([_auroc(share[1 - h], events[h], others[h]) for h in (0, 1)]))


def _auroc(score: Array, events: Ids, others: Ids) -> float:
    """Return the AUROC of a score a part, from the rows of each part; 0.5 where it has none."""
    level = np.unique(score, return_inverse=True)[1]
    ranked, rest = np.bincount(level, events), np.bincount(level, others)
    if not ranked.sum() or not rest.sum():
        return 0.5
    below = np.cumsum(rest) - rest / 2
    return float(ranked @ below / (ranked.sum() * rest.sum()))


def _by_order(values: Array, inside: npt.NDArray[np.bool_]) -> float:
    """Return the AUROC of a number, up or down; rows without a value are at either end."""
    absent = np.isnan(values)
    aurocs = []
    for end in (-np.inf, np.inf) if absent.any() else (0.0,):
        rank = rankdata(np.where(absent, end, values))
        n = inside.sum()
        auroc = (rank[inside].sum() - n * (n + 1) / 2) / (n * (len(inside) - n))
        aurocs.append(max(auroc, 1 - auroc))
    return float(max(aurocs))


def _recoded(parts: ColumnParts, y: Ids, classes: tuple[str, ...]) -> str:
    """Say how a column codes the label, if each of its values is one class and each class one."""
    if not parts.exact or len(parts.names) != len(classes):
        return ""
    pairs = sorted(set(zip(parts.number.tolist(), y.tolist(), strict=True)))
    if len(pairs) != len(classes) or len({c for _, c in pairs}) != len(classes):
        return ""
    coded = ", ".join(f"{parts.names[p]} = {classes[c]}" for p, c in pairs)
    return f"is the label under another coding ({coded})"


def _alone(leak: _Told, parts: ColumnParts, y: Ids, classes: tuple[str, ...]) -> str:
    if leak.auroc < TELLS:
        return ""
    events = np.bincount(parts.number[y == leak.c], minlength=len(parts.names))
    cells = np.column_stack([events, parts.sizes - events])
    few = ((cells > 0) & (cells < FEW)).any(axis=1)
    share = np.where((parts.sizes >= FEWEST) & ~few, events / parts.sizes, 0.0)
    purest = np.flatnonzero(share == share.max())
    best = int(purest[0] if purest[0] == 0 else purest[-1])  # of ranges rather one at an end
    example = f" ({parts.names[best]}: {100 * share[best]:.0f} % of them)" if share[best] else ""
    return f"by itself ranks {classes[leak.c]!r} with an AUROC of {leak.auroc:.3f}{example}"


def _row_like(values: Array) -> str:
    """Say if a number follows the rows, or is another whole number in each."""
    if np.isnan(values).any() or len(np.unique(values)) <= len(values) / 2:
        return ""
    order = np.corrcoef(rankdata(values), np.arange(len(values)))[0, 1]
    if abs(order) > _IN_ORDER:
        way = "up" if order > 0 else "down"
        return f"goes {way} with the row number (an id, or the order of entry?)"
    if len(np.unique(values)) == len(values) and (values == np.floor(values)).all():
        return "holds another whole number in every row (an id?)"
    return ""


def other_times(encoder: TableEncoder, X: Array, time: Array, label: str) -> list[str]:
    """Return a warning for columns that know the end of follow-up, where there is a time.

    Such are numbers that are never above the follow-up time, though by chance they would be, or
    that rank the rows as it does; and
    the status of another endpoint: one that tells whether such a time is shorter, or has the name
    of one.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    time : ndarray of shape (n,)
    label : str
        The status at its end.
    """
    numbers = {
        column.name: X[:, encoder.places[column.name]]
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
        elif _goes_with(values, time):
            reasons[name] = (
                "goes with the follow-up time: the same in another unit, or the date of entry?"
            )
    for name, values in numbers.items():
        seen = values[~np.isnan(values)]
        if name in reasons or len(np.unique(seen)) != 2:
            continue
        if any(_tells(values, end < time) for end in ends):
            reasons[name] = "tells whether that time is the shorter one: another endpoint?"
        elif _STATUS.fullmatch(name) and name != label:
            reasons[name] = "has the name of an endpoint: was it known at the start?"
    return [f"{name!r} {why}" for name, why in reasons.items()]


def _never_above(values: Array, time: Array) -> bool:
    present = ~np.isnan(values)
    seen, ends = values[present], time[present]
    if len(np.unique(seen)) < _FEWEST_DIFFERENT or (seen > ends).any():
        return False
    # For each time, how many values of the column are above it.
    above = len(seen) - np.searchsorted(np.sort(seen), ends, side="right")
    return float(above.sum()) / max(len(seen), 1) >= _BY_CHANCE


def _goes_with(values: Array, time: Array) -> bool:
    """Tell whether a number ranks the rows as the follow-up time does, up or down."""
    present = ~np.isnan(values)
    if len(np.unique(values[present])) < _FEWEST_DIFFERENT:
        return False
    ranks = rankdata(values[present]), rankdata(time[present])
    return bool(abs(np.corrcoef(*ranks)[0, 1]) >= _WITH_TIME)


def _tells(values: Array, shorter: npt.NDArray[np.bool_]) -> bool:
    present = ~np.isnan(values)
    status, over = values[present] == np.nanmax(values), shorter[present]
    if over.all() or not over.any():
        return False
    auroc = 0.5 + 0.5 * (status[over].mean() - status[~over].mean())
    return bool(max(auroc, 1 - auroc) >= _TELLS_OVER)


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
        values = X[:, encoder.places[column.name]]
        present = ~np.isnan(values)
        if len(np.unique(values[present])) < _FEWEST_DIFFERENT:
            continue
        event = y[present] == 1
        if 0 < event.sum() < len(event) and _by_order(values[present], event) >= _SHORTER:
            warnings.append(
                f"{column.name!r} looks like a follow-up time, which is not known beforehand: "
                "leave it out, or make it the time of the outcome, with a horizon"
            )
    return warnings
