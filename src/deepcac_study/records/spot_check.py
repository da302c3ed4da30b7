"""Spot check of shipped records: the draw, the comparison with repeats, and its bound.

The draw is simple random sampling, so that the exact bound of acceptance sampling applies.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from deepcac.errors import ConfigError
from deepcac_study.records.record_archive import ManifestRow
from deepcac_study.records.repeated_values import (
    Record,
    fact_that_differs,
    leaves,
    smallest_test,
    summary_fault,
)
from deepcac_study.records.tolerances import Tolerances, allowed, family, repeat_differences

SAME, NUMBERS, WITHIN, DIFFERENT, MISSING = (
    *("the same", "the same scores", "within the tolerance"),
    *("different", "not made"),
)
WORST_FIRST = (DIFFERENT, MISSING, WITHIN, NUMBERS, SAME)


class Compared(NamedTuple):
    """Result of comparing a shipped record with its repeat."""

    path: str  # relative to ``results``
    verdict: str  # one of `WORST_FIRST`
    family: str = ""
    # What lies furthest from the repeat, in parts of its tolerance; of a fact that is infinite.
    where: str = ""
    of_tolerance: float = np.nan
    size: float = np.nan  # of the difference
    shipped: Any = None
    again: Any = None


def draw(
    rows: Iterable[ManifestRow], n: int, seed: int, minutes: float | None = None
) -> tuple[list[ManifestRow], list[ManifestRow]]:
    """Draw records of a manifest at random; return the draw, and the population.

    With one seed, a smaller draw is the beginning of a larger one. With `minutes`, the longest
    records are left out until `n` take so much processor time on average.

    Raises
    ------
    ConfigError
        No record is short enough, or fewer than `n` are.
    """
    population = sorted(rows, key=lambda row: (row.seconds, row.path))
    if minutes is not None:
        mean = np.cumsum([row.seconds for row in population]) / np.arange(1, len(population) + 1)
        population = population[: int(np.searchsorted(mean, 60 * minutes / n, side="right"))]
    if not 1 <= n <= len(population):
        raise ConfigError(f"{n} of {len(population)} records; ask for fewer, or for more minutes")
    # By a hash, so that the place of a record does not depend on other records.
    mixed = sorted(
        population, key=lambda row: hashlib.sha256(f"{seed} {row.path}".encode()).digest()
    )
    return mixed[:n], population


def compare_records(path: str, shipped: Record, again: Record, tolerances: Tolerances) -> Compared:
    """Compare a shipped record with its repeat.

    Names, sizes, seeds and settings must be equal, and mean and deviation those of the splits.
    Scores may differ within `tolerances`, split by split and in their mean. Timings and the machine
    do not count: anyone could write another CPU into a record.
    """
    kind = family(path, shipped)
    try:
        fault = fact_that_differs(shipped, again) or summary_fault(shipped)
        rows = smallest_test(again)
        measured = [
            (one.size / allowed(one, tolerances, rows), one)
            for one in repeat_differences(path, shipped, again)
        ]
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        fault, measured = ("its parts are others", None, None), []
    if fault is not None:
        where, ours, theirs = fault
        return Compared(path, DIFFERENT, kind, where, np.inf, np.nan, ours, theirs)
    same = SAME if dict(leaves(shipped)) == dict(leaves(again)) else NUMBERS
    if not measured:
        return Compared(path, same, kind, of_tolerance=0.0, size=0.0)
    far, one = max(measured, key=lambda pair: pair[0])
    verdict = DIFFERENT if far > 1 else WITHIN if far > 0 else same
    return Compared(path, verdict, kind, one.where, far, one.size, one.shipped, one.again)


def text_of(value: Any) -> str:
    """Return a number as text with up to six digits; empty if it is missing."""
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def at_most_different(population: int, drawn: int, different: int, level: float = 0.95) -> int:
    """Return an upper confidence bound on the number of records that do not reproduce.

    Exact and one-sided: with more of them in the population, `different` or fewer would be drawn
    with a probability below 1 - `level`.
    """
    possible = np.arange(different, population - drawn + different + 1)
    seen = hypergeom.cdf(different, population, possible, drawn)
    return int(possible[seen >= 1 - level].max())
