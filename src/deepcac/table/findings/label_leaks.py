"""Columns that give away the outcome or the row: what was written after the outcome."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from deepcac.scoring.small_cells import FEW
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, suspect
from deepcac.table.reading.column_parts import ColumnParts, column_parts
from deepcac.table.reading.table_encoder import NUMBER
from deepcac.types import Array, Ids

TELLS = 0.9  # AUROC of a column alone from which it is named
FEWEST = 10  # rows of a part or a class that is spoken of
_PARTS, _ROWS_OF_A_PART = 20, 20
_DENSE = 3  # times as many rows: the span of ids, and not of a measurement
_IN_ORDER = 0.999  # rank correlation with the row number
HEAD = (
    "These columns predict the outcome or the row almost perfectly, or look like the time or "
    "status of follow-up, and were kept by decision. Such a column was often written after the "
    "outcome; it makes every model look good, and hides what clusters do."
)


class _Told(NamedTuple):
    """How well a column alone tells one class from the others."""

    auroc: float
    c: int


def find_label_leaks(table: ExaminedTable) -> Iterator[Finding]:
    """Find used columns that look like the outcome, an id or the row number.

    A column is named if it is the outcome under another coding; if its values alone rank the rows
    of a class with an AUROC of 0.95 or more, by the share of the class in each twentieth of the
    rows (learnt on one half, scored on the other; no value is a part too) or by its order; if it
    goes up or down with the rows; or if it is another whole number in every row.
    """
    if table.outcome is None:
        return
    y, classes = table.outcome.codes, table.outcome.classes
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    most = int(np.clip(len(y) // _ROWS_OF_A_PART, 2, _PARTS))
    suspects: list[tuple[float, str, str]] = []
    for column in table.encoder.used:
        parts = column_parts(column, table.X, table.encoder.places, most)
        values = table.numbers(column.name) if column.kind == NUMBER else None
        leak = _best(parts, values, y, half)
        why = _recoded(parts, y, classes) or _alone(leak, parts, y, classes)
        why = why or ("" if values is None else _row_like(values))
        if why:
            suspects.append((leak.auroc, column.name, why))
    suspects.sort(key=lambda suspect: (-suspect[0], suspect[1]))
    for _, name, why in suspects:
        yield suspect(name, why)


def _best(parts: ColumnParts, values: Array | None, y: Ids, half: npt.NDArray[np.bool_]) -> _Told:
    """Return the class that the column tells best, of those with enough rows."""
    counts = np.bincount(y)
    asked = [1] if len(counts) == 2 else np.flatnonzero(counts >= FEWEST).tolist()
    candidates = []
    for c in asked:
        inside = y == c
        if inside.all():  # the others are in no row of the sample
            continue
        auroc = _by_parts(parts, inside, half)
        candidates.append(
            _Told(auroc if values is None else max(auroc, order_auroc(values, inside)), c)
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


def order_auroc(values: Array, inside: npt.NDArray[np.bool_]) -> float:
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
    whole = (values == np.floor(values)).all() and len(np.unique(values)) == len(values)
    if whole and values.max() - values.min() < _DENSE * len(values):
        return "holds another whole number in every row (an id?)"
    return ""
