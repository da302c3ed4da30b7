"""Counts of few patients, which no page may show: what is withheld, and what would tell it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from deepcac.task import FEW
from deepcac.types import Array, Flags, Ids

SMALL = 10  # rows of a group from which statistics of it are shown
WITHHELD = "withheld"
_MOST_PARTS = 1000  # of all tables, whose sums and differences are looked at


def withheld(count: int, total: int | None = None) -> int | None:
    """Return a count, or None if it, or what it leaves of a total, is from 1 to `SMALL` - 1."""
    rest = SMALL if total is None else total - count
    return None if 0 < count < SMALL or 0 < rest < SMALL else count


def withheld_parts(counts: Sequence[int | None]) -> list[int | None]:
    """Withhold the small parts of a known total; never one alone, which the others would tell.

    An empty part is the last to be withheld as well: it would leave the sum of both small.
    """
    shown = [None if count is None else withheld(count) for count in counts]
    if shown.count(None) == 1 and len(counts) > 1:
        candidates = [(count == 0, count, j) for j, count in enumerate(shown) if count is not None]
        shown[min(candidates)[2]] = None
    return shown


def few_rows(counts: npt.ArrayLike, few: int = FEW) -> Flags:
    """Return which groups of a table of counts are withheld, its margins being known.

    Those with a cell from 1 to `few` - 1, and the smallest others, of those with rows first, until
    two groups or more are withheld whose sums are no such cells either: the margins would tell
    them. Counts are of shape (groups, classes).

    >>> few_rows([[40, 2], [30, 9], [50, 20]]).tolist()
    [True, True, False]
    >>> few_rows([[40], [30], [2], [1]]).tolist()
    [False, True, True, True]
    """
    table = np.asarray(counts)
    hidden = np.asarray(_small(table, few).any(axis=1))
    total = table.sum(axis=1)
    while hidden.any() and not hidden.all():
        if hidden.sum() > 1 and not _small(table[hidden].sum(axis=0), few).any():
            break
        hidden[np.lexsort((total, total == 0, hidden))[0]] = True
    return hidden


def _small(counts: Ids, few: int) -> Flags:
    return (counts > 0) & (counts < few)


def few_steps(sides: Flags, y: Ids, patient: Ids, few: int = FEW) -> Flags:
    """Return which of several parts of the same rows are withheld, that grow step by step.

    Whom a model treats from some risk on is such a part, and its net benefit tells how many there
    are of each class. Shown are parts of which each exceeds the next smaller one, and leaves of
    all rows, nobody of a class or `few` patients and more. Parts that are not inside each other
    exceed every other one that is shown, and nobody, by as many.

    Parameters
    ----------
    sides : ndarray of bool, shape (parts, n)
    y : ndarray of shape (n,)
        Class of each row.
    patient : ndarray of shape (n,)
        Whose row it is.
    few : int

    Returns
    -------
    ndarray of bool, shape (parts,)

    Examples
    --------
    >>> risk, y = np.repeat([0.1, 0.2, 0.3], [20, 2, 20]), np.tile([0, 1], 21)
    >>> few_steps(risk >= [[0.1], [0.15], [0.25]], y, np.arange(42))
    array([False,  True, False])
    """
    codes = np.unique(y)

    def tells(first: Flags, second: Flags) -> bool:
        moved = (first & ~second, second & ~first)
        return any(
            _few_patients(patient[side & (y == code)], few) for side in moved for code in codes
        )

    whole = np.ones(sides.shape[1], dtype=np.bool_)
    order = np.argsort(sides.sum(axis=1), kind="stable")
    nested = not any((sides[j] & ~sides[k]).any() for j, k in pairwise(order))
    shown: list[int] = []
    for part in order.tolist():
        # Of parts inside each other the last one speaks for those before it, and for nobody.
        before = [sides[j] for j in (shown[-1:] if nested else shown)]
        if not (nested and shown):
            before.append(~whole)
        if not any(tells(other, sides[part]) for other in (whole, *before)):
            shown.append(part)
    return ~np.isin(np.arange(len(sides)), shown)


def few_treated(
    levels: Sequence[Flags], sides: Flags, y: Ids, patient: Ids, few: int = FEW
) -> Flags:
    """Return which levels of a column are withheld, of which it is told how many are treated.

    What is told of the whole and of some levels is told of the others by subtraction, so all
    levels of the column are judged together (`few_rows`): patients on either side of each part,
    and those whom only one of two parts holds, by class.

    Parameters
    ----------
    levels : sequence of ndarray of bool, shape (n,)
        Which rows each level has; together they have all rows.
    sides : ndarray of bool, shape (1 or 2, n)
        Whom a model treats; whom each of two models treats.
    y, patient : ndarray of shape (n,)
        Class of each row, and whose row it is.
    few : int

    Returns
    -------
    ndarray of bool, shape (levels,)

    Examples
    --------
    >>> levels, y = np.repeat(np.eye(3, dtype=bool), 40, axis=1), np.tile([0, 1], 60)
    >>> treated = np.arange(120) % 40 < np.repeat([20, 2, 20], 40)
    >>> few_treated(levels, treated[None], y, np.arange(120))
    array([ True,  True, False])
    """
    moved = [sides[0] & ~sides[-1], sides[-1] & ~sides[0]]
    columns = [part & (y == code) for part in (*sides, *~sides, *moved) for code in np.unique(y)]
    cells = [[len(np.unique(patient[column & inside])) for column in columns] for inside in levels]
    return few_rows(cells, few)


def _few_patients(rows: Ids, few: int) -> bool:
    """Tell whether rows, named by their patients, are of some patients and of fewer than `few`."""
    return len(rows) > 0 and len(np.unique(rows[:100])) < few and len(np.unique(rows)) < few


def counted(n: int, few: int = FEW) -> str:
    """Return a count as a text for a page or a terminal; few are not told.

    >>> counted(1200), counted(3), counted(0)
    ('1,200', 'fewer than 5', '0')
    """
    return f"fewer than {few}" if 0 < n < few else f"{n:,}"


def few_parts(tables: Sequence[Ids], y: Ids, few: int = FEW) -> list[Flags]:
    """Return which parts are withheld of several tables of the same rows, shown on one page.

    Those of `few_rows` in each table; and as many more as are needed so that no sum or difference
    of parts that are shown, of all tables and of all rows, is a withheld part or the few rows by
    which one part exceeds another: a column that refines another one gives nothing back.

    Parameters
    ----------
    tables : sequence of ndarray of shape (n,)
        The part of each row in each table, from 0.
    y : ndarray of shape (n,)
        Class of each row; zeros where only sizes are shown.
    few : int

    Returns
    -------
    list of ndarray of bool, shape (parts,)

    Examples
    --------
    >>> ward, unit = np.repeat([0, 1], [60, 40]), np.repeat([0, 1, 2], [57, 3, 40])
    >>> few_parts([ward, unit], np.zeros(100, dtype=int))
    [array([False, False]), array([ True,  True,  True])]
    """
    counts = [_counted(part, y) for part in tables]
    hidden = [few_rows(count, few) for count in counts]
    if not any(mask.any() for mask in hidden):
        return hidden
    ends = np.cumsum([len(mask) for mask in hidden])
    whole = np.concatenate(hidden)
    if len(whole) > _MOST_PARTS:
        return [np.full(len(mask), mask.any()) for mask in hidden]
    overlap = _overlaps(tables, ends)
    secret = _secrets(np.concatenate(counts), overlap, few)
    table = np.repeat(np.arange(len(hidden)), [len(mask) for mask in hidden])
    with threadpool_limits(1):  # many small matrices: more threads would wait for each other
        space = _coordinates(overlap)
        while more := _given_back(overlap, space, secret, whole, table):
            whole[more] = True
    return np.split(whole, ends[:-1])


def _counted(part: Ids, y: Ids) -> Ids:
    counts = np.zeros((int(part.max(initial=-1)) + 1, int(y.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (part, y), 1)
    return counts


def _overlaps(tables: Sequence[Ids], ends: Ids) -> Array:
    """Return how many rows each two parts share, all rows being the last part."""
    n = len(tables[0])
    column = np.stack([part + end for part, end in zip(tables, [0, *ends[:-1]], strict=True)])
    column = np.vstack([column, np.full((1, n), ends[-1])])
    row = np.tile(np.arange(n), len(column))
    members = sparse.csr_matrix((np.ones(column.size), (row, column.ravel())))
    return np.asarray((members.T @ members).toarray())


def _secrets(counts: Ids, overlap: Array, few: int) -> Array:
    """Return what must not be told, shape (secrets, parts + 1), as sums of parts."""
    sizes, unit = np.diag(overlap)[:-1], np.eye(len(overlap))
    small = _small(counts, few).any(axis=1)
    inner, outer = np.nonzero((overlap[:-1, :-1] == sizes[:, None]) & (sizes < sizes[:, None].T))
    rest = counts[outer] - counts[inner]
    tells = _small(rest, few).any(axis=1)
    return np.vstack([unit[:-1][small], unit[outer[tells]] - unit[inner[tells]]])


def _coordinates(overlap: Array) -> Array:
    """Return the parts as vectors with these overlaps, in as few dimensions as they span."""
    spread, axes = np.linalg.eigh(overlap)
    large = spread > 1e-9 * spread[-1]
    return np.asarray((axes[:, large] * np.sqrt(spread[large])).T)


def _given_back(
    overlap: Array, space: Array, secret: Array, hidden: Flags, table: Ids
) -> list[int]:
    """Return parts that help to tell a secret, for as many secrets at once as share none.

    Of a secret it is the smallest part of a table that has hidden parts already, or else of any.
    """
    shown = np.flatnonzero(np.append(~hidden, True))
    target = space @ secret.T
    weights = _weights(space[:, shown], target)
    size = (target**2).sum(axis=0)
    rest = size - (target * (space[:, shown] @ weights)).sum(axis=0)
    exposed = rest < 1e-6 * size
    helps = (np.abs(weights[:-1]) > 1e-6) & exposed
    holed, sizes = np.isin(table, table[hidden])[shown[:-1]], np.diag(overlap)[shown[:-1]]
    chosen: list[int] = []
    while helps.any():
        parts = helps[:, helps.any(axis=0).argmax()]
        parts = parts & holed if (parts & holed).any() else parts
        part = np.flatnonzero(parts)[np.argmin(sizes[parts])]
        chosen.append(int(shown[part]))
        helps[:, helps[part]] = False
    return chosen


def _weights(parts: Array, target: Array) -> Array:
    """Return the least weights of parts whose sum comes closest to each target."""
    if parts.shape[1] <= parts.shape[0]:
        overlap = np.linalg.pinv(parts.T @ parts, rcond=1e-9, hermitian=True)
        return np.asarray(overlap @ (parts.T @ target))
    return np.asarray(
        parts.T @ (np.linalg.pinv(parts @ parts.T, rcond=1e-9, hermitian=True) @ target)
    )
