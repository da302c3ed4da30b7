"""A spot check of shipped records: which are drawn, how one that was made again is compared.

The draw is a plain random one, so that the bound is the exact one of acceptance sampling.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from deepcac.errors import ConfigError
from deepcac.types import Floats
from deepcac_study.records.cpu_bounds import Bounds, gap, least_bound
from deepcac_study.records.deciding import (
    ScoreSeries,
    another_setting,
    deciding,
    facts,
    family,
    leaves,
    shown,
    summary_fault,
)
from deepcac_study.records.record_archive import ManifestRow

SAME, NUMBERS, NEAR, FAR, DIFFERENT, MISSING = (
    "the same",
    "the same scores",
    "as near as nine in ten repeats",
    "further, within the bound",
    "different",
    "not made",
)
CAME_BACK = (SAME, NUMBERS, NEAR, FAR)
ROUNDING = 1e-6  # no repeat is called far for less
WORST_FIRST = (DIFFERENT, MISSING, FAR, NEAR, NUMBERS, SAME)


class Compared(NamedTuple):
    """A record that was drawn, beside the one that was made again."""

    path: str  # relative to ``results``
    verdict: str  # one of `CAME_BACK`, `DIFFERENT` or `MISSING`
    family: str = ""
    # What lies furthest from the repeat, in parts of its bound; a fact that differs is infinite.
    where: str = ""
    of_bound: float = np.nan
    largest: float = np.nan  # its difference, in its own unit
    shipped: Any = None
    again: Any = None
    shown: str = ""  # what is not judged, shipped and again


class _Furthest(NamedTuple):
    of_bound: float = 0.0
    where: str = ""
    largest: float = 0.0
    shipped: Any = None
    again: Any = None
    typical: bool = True  # whether nine in ten repeats lie as far or further


def draw(
    rows: Iterable[ManifestRow], n: int, seed: int, minutes: float | None = None
) -> tuple[list[ManifestRow], list[ManifestRow]]:
    """Draw records of a manifest at random; return the draw, and what it was drawn from.

    With one seed, a smaller draw is the beginning of a larger one. Where `n` records may take so
    many minutes of processor time on average, the longest ones are left out, until they do.

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
    mixed = sorted(
        population, key=lambda row: hashlib.sha256(f"{seed} {row.path}".encode()).digest()
    )
    return mixed[:n], population


def compare(
    path: str, shipped: Mapping[str, Any], again: Mapping[str, Any], bounds: Bounds
) -> Compared:
    """Compare a shipped record with one that was made again.

    Names, sizes, seeds and settings must be equal, and mean and deviation those of the splits.
    Threshold-free scores may differ by what `bounds` allows: split by split, and their mean.
    Timings and the machine do not count. Which CPU a record names makes no difference, because
    anybody can write one into it.
    """
    kind = family(path, shipped)
    texts = _shown(shown(shipped), shown(again))
    try:
        fault = (
            _fact(facts(shipped), facts(again))
            or another_setting(shipped, again)
            or _summary(shipped)
        )
        measured = [
            part for series in deciding(path, shipped, again) for part in _parts(series, bounds)
        ]
    except (KeyError, ValueError, TypeError, IndexError, AttributeError):
        fault, measured = ("its parts are others", None, None), []
    if fault is not None:
        where, ours, theirs = fault
        return Compared(path, DIFFERENT, kind, where, np.inf, np.nan, ours, theirs, texts)
    furthest = max(measured, key=lambda part: part.of_bound, default=_Furthest())
    if dict(leaves(shipped)) == dict(leaves(again)):
        verdict = SAME
    elif furthest.of_bound == 0:
        verdict = NUMBERS
    elif furthest.of_bound > 1:
        verdict = DIFFERENT
    else:
        verdict = NEAR if all(part.typical for part in measured) else FAR
    where, of_bound = furthest.where, furthest.of_bound
    return Compared(path, verdict, kind, where, of_bound, *furthest[2:5], texts)


def _parts(series: ScoreSeries, bounds: Bounds) -> Iterator[_Furthest]:
    """Yield the furthest split of a score, and its mean, against their bounds."""
    ours, theirs = series.shipped, series.again
    bound = bounds.get((series.family, series.score)) or least_bound(series.family, series.score)
    of_split, of_mean = gap(series)
    apart = np.abs(ours - theirs)
    n = int(np.nanargmax(np.where(np.isnan(ours) != np.isnan(theirs), np.inf, apart)))
    yield _Furthest(
        of_split / bound.split_bound,
        f"{series.place}, split {n + 1}",
        float(apart[n]),
        float(ours[n]),
        float(theirs[n]),
        of_split <= max(bound.split_nine_in_ten, ROUNDING),
    )
    means = _mean(ours), _mean(theirs)
    apart_mean, typical = abs(means[0] - means[1]), of_mean <= max(bound.mean_nine_in_ten, ROUNDING)
    where = f"{series.place}, mean"
    yield _Furthest(of_mean / bound.mean_bound, where, apart_mean, *means, typical)


def _mean(values: Floats) -> float:
    """Return the mean of what is there; NaN for nothing."""
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


def _fact(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Return the first fact that is another in the repeat, with both values."""
    for place in {**ours, **theirs}:
        if ours.get(place, _NONE) != theirs.get(place, _NONE):
            return place, ours.get(place), theirs.get(place)
    return None


_NONE = object()


def _summary(shipped: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    fault = summary_fault(shipped)
    return fault and (f"{fault[0]} is not that of the splits", *fault[1:])


def _shown(ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    return "; ".join(
        f"{name} {value:.4g} / {theirs.get(name, np.nan):.4g}" for name, value in ours.items()
    )


def text_of(value: Any) -> str:
    """Write a number with the digits that it has, up to six; a missing one is empty."""
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def at_most_different(population: int, drawn: int, different: int, level: float = 0.95) -> int:
    """Return the largest number of records that may not come back, by what was seen.

    Exact and one-sided: with more of them in the population, `different` or fewer would be drawn
    with a probability below 1 - `level`.
    """
    possible = np.arange(different, population - drawn + different + 1)
    seen = hypergeom.cdf(different, population, possible, drawn)
    return int(possible[seen >= 1 - level].max())
