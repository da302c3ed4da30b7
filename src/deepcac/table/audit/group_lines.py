"""One line a group: its size, its outcome, and the risk that a model without it expects."""

from typing import NamedTuple

import numpy as np

from deepcac.scoring.small_cells import FEW, SMALL, WITHHELD, few_rows
from deepcac.scoring.statistics import wilson
from deepcac.table.audit.group_column import Groups
from deepcac.task import Array, Ids

HEAD = (
    *("group", "rows", "share", "outcome (95 % interval)"),
    *("expected without the groups", "risk, 10 to 90 %"),
)


class GroupLine(NamedTuple):
    """One group.

    Attributes
    ----------
    name : str
        `UNNAMED` of fewer than five rows.
    size : int or None
        None where it is withheld.
    hidden : bool
        Whether its outcome is withheld.
    rate, low, high : float
        Share of the outcome with its 95 % interval (Wilson 1927).
    expected : float
        Mean risk.
    inner : tuple of float
        Tenth and ninetieth percentile of the risk, of ten rows or more.
    """

    name: str
    size: int | None
    hidden: bool
    rate: float = np.nan
    low: float = np.nan
    high: float = np.nan
    expected: float = np.nan
    inner: tuple[float, float] = (np.nan, np.nan)


UNNAMED = "(a group of few rows)"


def group_lines(groups: Groups, y: Ids, risk: Array) -> tuple[list[GroupLine], int]:
    """Return the groups from the largest, and the class whose share is shown.

    It is the positive one of two classes, of more the rarest. `risk` is of shape (n, n_classes).
    """
    event = 1 if risk.shape[1] == 2 else int(np.bincount(y).argmin())
    counts = np.zeros((groups.k, risk.shape[1]), dtype=np.int64)
    np.add.at(counts, (groups.code, y), 1)
    sizes = counts.sum(axis=1)
    hidden, secret = few_rows(counts), few_rows(sizes[:, None])
    lines = []
    for j in np.argsort(-sizes, kind="stable").tolist():
        name = groups.names[j] if sizes[j] >= FEW else UNNAMED
        size = None if secret[j] else int(sizes[j])
        if hidden[j]:
            lines.append(GroupLine(name, size, hidden=True))
            continue
        own = risk[groups.code == j, event]
        rate = counts[j, event] / sizes[j]
        low, high = wilson(np.array([rate]), sizes[j : j + 1])
        inner = np.quantile(own, (0.1, 0.9)) if sizes[j] >= SMALL else np.full(2, np.nan)
        lines.append(
            GroupLine(
                name, size, False, float(rate), float(low[0]), float(high[0]), float(own.mean()),
                (float(inner[0]), float(inner[1])),
            )
        )  # fmt: skip
    return lines, event


def shown_lines(lines: list[GroupLine], n: int) -> list[tuple[str, ...]]:
    """Return `HEAD` for each group of `n` rows."""
    return [
        (
            one.name,
            *((WITHHELD,) * 2 if one.size is None else _size(one.size, n)),
            *((WITHHELD,) * 3 if one.hidden else _outcome(one)),
        )
        for one in lines
    ]


def _size(size: int, n: int) -> tuple[str, str]:
    return f"{size:,}", f"{100 * size / n:.1f} %"


def _outcome(one: GroupLine) -> tuple[str, str, str]:
    return (
        f"{100 * one.rate:.1f} % ({100 * one.low:.1f} to {100 * one.high:.1f})",
        f"{100 * one.expected:.1f} %",
        f"{100 * one.inner[0]:.1f} to {100 * one.inner[1]:.1f} %"
        if one.inner[0] >= 0
        else WITHHELD,
    )
