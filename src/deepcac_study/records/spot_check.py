"""A spot check of shipped records: which are drawn, how one that was made again is compared.

The draw is a plain random one, so that the bound is the exact one of acceptance sampling.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from deepcac.errors import ConfigError
from deepcac.pages.wording import METRIC_NAMES
from deepcac_study.catalogue.methods import methods
from deepcac_study.records.record_archive import Row

SAME, NUMBERS, NEAR, DIFFERENT, MISSING = (
    "the same",
    "the same scores",
    "within the spread of processors",
    "different",
    "not made",
)
CAME_BACK = (SAME, NUMBERS, NEAR)
# Largest difference of a mean score between kinds of processor: docs/reliability.md.
SPREAD, NETWORK_SPREAD = 0.001, 0.02
_VOLATILE = ("machine", "digest", "seconds")


class Compared(NamedTuple):
    """A record that was drawn, beside the one that was made again."""

    path: str  # relative to ``results``
    verdict: str  # one of `CAME_BACK`, `DIFFERENT` or `MISSING`
    largest: float = np.nan  # largest difference of a score; NaN where nothing was made
    where: str = ""  # the score that differs most
    # Its two values, or those of the first score where none differs.
    shipped: float = np.nan
    again: float = np.nan


def draw(
    rows: Iterable[Row], n: int, seed: int, minutes: float | None = None
) -> tuple[list[Row], list[Row]]:
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


def compare(path: str, shipped: Mapping[str, Any], again: Mapping[str, Any]) -> Compared:
    """Compare a shipped record with one that was made again.

    Timings and the machine do not count. On another kind of processor a mean score may differ by
    `SPREAD`, that of a network by `NETWORK_SPREAD`.
    """
    ours, theirs = dict(_leaves(shipped)), dict(_leaves(again))
    numbers = [name for name, value in ours.items() if _is_number(value)]
    scores = [name for name in numbers if _is_score(name)] or numbers
    gaps = {
        name: abs(ours[name] - theirs[name]) if _is_number(theirs.get(name)) else np.inf
        for name in scores
    }
    where = max(gaps, key=gaps.__getitem__, default="")
    largest = gaps.get(where, 0.0)
    if ours == theirs:
        verdict = SAME
    elif largest == 0:
        verdict = NUMBERS
    else:
        other = shipped["machine"].get("processor") != again["machine"].get("processor")
        verdict = NEAR if other and largest <= _spread(shipped) else DIFFERENT
    values = (float(side.get(where, np.nan)) for side in (ours, theirs))
    return Compared(path, verdict, largest, where, *values)


def at_most_different(population: int, drawn: int, different: int, level: float = 0.95) -> int:
    """Return the largest number of records that may not come back, by what was seen.

    Exact and one-sided: with more of them in the population, `different` or fewer would be drawn
    with a probability below 1 - `level`.
    """
    possible = np.arange(different, population - drawn + different + 1)
    seen = hypergeom.cdf(different, population, possible, drawn)
    return int(possible[seen >= 1 - level].max())


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each plain value of a record with its place, but for timings and the machine."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in _VOLATILE:
                yield from _leaves(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{place}.{number}")
    else:
        yield place, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_score(place: str) -> bool:
    """Say whether a number is a score: of a run its mean over the splits, else any."""
    parts = place.split(".")
    return parts[0] != "splits" and parts[-1] != "sd" and bool(METRIC_NAMES.keys() & set(parts))


def _spread(record: Mapping[str, Any]) -> float:
    method = methods().get(str(record.get("method")))
    return NETWORK_SPREAD if method is not None and method.family == "deep" else SPREAD
