"""Profiles of feature files: read, and folded to one line a variable."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deepcac.errors import DataError
from deepcac.files.storage import read_json
from deepcac_study.features.columns.ranges import Range
from deepcac_study.report.data.restricted_counts import WITHHELD


@dataclass(frozen=True)
class Column:
    """One feature column; None is a withheld count or an unknown value."""

    name: str
    variable: str
    missing: int | None
    lowest: float | None
    highest: float | None
    outside: int | None = 0
    checked: bool = False


@dataclass(frozen=True)
class Profile:
    """What `deepcac_study.report.data.profiling` wrote about one feature file."""

    dataset: str
    protocol: str
    rows: int | None  # None where withheld
    steps: int  # length of the sequences; 1 for a static data set
    classes: tuple[int | None, ...]  # rows of each class
    columns: tuple[Column, ...]  # empty for data sets with features of pairs
    # Of data sets with features of pairs.
    sparse_columns: int = 0
    pairs: int = 0

    def shares(self, columns: Sequence[Column]) -> npt.NDArray[np.float64]:
        """Return the share of missing values of columns; NaN where withheld."""
        counts = [np.nan if column.missing is None else column.missing for column in columns]
        return np.array(counts, dtype=float) / (self.rows or np.nan)

    def by_variable(self) -> dict[str, list[Column]]:
        """Return the columns of each variable, in the order of the file."""
        columns: dict[str, list[Column]] = {}
        for column in self.columns:
            columns.setdefault(column.variable, []).append(column)
        return columns


@dataclass(frozen=True)
class VariableLine:
    """One variable as the report shows it: ready text."""

    variable: str
    meaning: str
    unit: str
    plausible: str
    origin: str
    seen: str
    missing: str
    outside: str
    columns: int


def load_profiles(paths: Iterable[str | os.PathLike[str]]) -> list[Profile]:
    """Read profiles, in order of data set and protocol; damage is a `DataError`."""
    return sorted((_load(path) for path in paths), key=lambda p: (p.dataset, p.protocol))


def _load(path: str | os.PathLike[str]) -> Profile:
    content = read_json(path)
    try:
        return Profile(
            dataset=content["dataset"],
            protocol=content["protocol"],
            rows=content["rows"],
            steps=content["steps"],
            classes=tuple(content["classes"]),
            columns=tuple(
                Column(**column, checked="outside" in column) for column in content["columns"]
            ),
            sparse_columns=content.get("sparse_columns", 0),
            pairs=content.get("pairs", 0),
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: no profile ({error!r}); delete it and build it again") from error


def variable_lines(profile: Profile, ranges: Mapping[str, Range]) -> list[VariableLine]:
    """Fold the columns of a profile to one line a variable, with its unit and range."""
    return [
        _line(profile, variable, columns, ranges.get(variable))
        for variable, columns in profile.by_variable().items()
    ]


def _line(
    profile: Profile, variable: str, columns: list[Column], entry: Range | None
) -> VariableLine:
    encoded = "=" in columns[0].name
    entry = entry or Range(variable, "", None, None)
    return VariableLine(
        variable=variable,
        meaning=entry.meaning,
        unit="category" if encoded else entry.unit,
        plausible=_span(entry.low, entry.high) if entry.bounded and not encoded else "",
        origin=entry.source,
        seen="" if encoded else _seen(columns),
        missing=percent(profile.shares(columns)),
        outside=outside(columns),
        columns=len(columns),
    )


def _seen(columns: Sequence[Column]) -> str:
    low = [column.lowest for column in columns if column.lowest is not None]
    high = [column.highest for column in columns if column.highest is not None]
    return _span(min(low), max(high)) if low and high else ""


def _span(low: float | None, high: float | None) -> str:
    return " to ".join("–" if bound is None else _plain(bound) for bound in (low, high))


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.5g}"


def percent(shares: npt.NDArray[np.float64]) -> str:
    """Return the mean of shares as text; one that is withheld withholds it."""
    if not len(shares):
        return ""
    mean = shares.mean()
    return WITHHELD if np.isnan(mean) else f"{100 * mean:.1f} %"


def outside(columns: Iterable[Column]) -> str:
    """Return how many values lie outside their range; empty where there is no range."""
    counts = [column.outside for column in columns if column.checked]
    if not counts:
        return ""
    stated = [count for count in counts if count is not None]
    return WITHHELD if len(stated) < len(counts) else f"{sum(stated):,}"
