"""Units and plausible ranges of variables, and which variable a feature column belongs to.

The tables are CSV files of this package, named by the key ``ranges`` of a registry entry. Their
first columns differ a little, because some are also used for reading raw files.
"""

import csv
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from deepcac.errors import ConfigError

_log = logging.getLogger(__name__)

_COLUMN = re.compile(
    r"(?P<variable>.+?)"
    r"(?:@\d\d|=.*|_(?:first|last|lowest|highest|median|min|max)(?:_\d+h)?)?",
    flags=re.DOTALL,
)


@dataclass(frozen=True)
class Range:
    """Unit (empty for a pure number) and plausible range of one variable, named as in the features.

    The range is closed; None is no bound. `source` is its origin, if the table has one; `meaning`
    explains a variable whose name does not.
    """

    variable: str
    unit: str
    low: float | None
    high: float | None
    source: str = ""
    meaning: str = ""

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all."""
        return self.low is not None or self.high is not None


@cache
def read_ranges(table: str) -> dict[str, Range]:
    """Return the ranges of one table by variable; no such table is a `ConfigError`.

    The table is a place in this package, for example ``features/johnson_variables.csv``.
    """
    try:
        text = resources.files("deepcac_study").joinpath(table).read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"no table of ranges {table!r} in the package ({error})") from error
    ranges = (_range(row) for row in csv.DictReader(text.splitlines()))
    return {entry.variable: entry for entry in ranges}


def _range(row: dict[str, str]) -> Range:
    low, high = (row.get(name) or row.get(f"{name}est") for name in ("low", "high"))
    named = "variable" in row
    return Range(
        variable=row["variable" if named else "name"],
        unit=row["unit"],
        low=float(low) if low else None,
        high=float(high) if high else None,
        source=row.get("source", ""),
        meaning=row.get("name" if named else "meaning", ""),
    )


def count_outside(
    values: Iterable[tuple[str, npt.NDArray[np.float64]]], ranges: Mapping[str, Range]
) -> list[dict[str, Any]]:
    """Count the values outside their variable's plausible range, and log the counts.

    `values` are raw measurements by variable, NaN where missing. The result is JSON-ready, with a
    row per variable that has values outside: ``variable``, ``unit``, ``range``, ``values``,
    ``outside``.
    """
    rows = []
    for variable, numbers in values:
        entry = ranges.get(variable)
        if entry is None or not entry.bounded:
            continue
        low = -np.inf if entry.low is None else entry.low
        high = np.inf if entry.high is None else entry.high
        outside = int(((numbers < low) | (numbers > high)).sum())
        if outside:
            count = int(np.isfinite(numbers).sum())
            bounds = f"{low:g} to {high:g}"
            _log.info("%s: %d of %d values outside %s", variable, outside, count, bounds)
            rows.append(
                {
                    "variable": variable,
                    "unit": entry.unit,
                    "range": bounds,
                    "values": count,
                    "outside": outside,
                }
            )
    return rows


def variable_of(column: str) -> str:
    """Return the variable that a feature column belongs to.

    ``HR_median``, ``HR_lowest_6h`` and ``HR@05`` belong to ``HR``, ``sex=male`` to ``sex``; any
    other name is itself a variable.
    """
    match = _COLUMN.fullmatch(column)
    return match["variable"] if match else column
