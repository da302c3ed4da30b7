"""Times and statuses of several endpoints in one table, pairs by how they go together."""

import re
from collections.abc import Iterator, Mapping

import numpy as np

from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, suspect
from deepcac.table.findings.follow_up_columns import names_a_time
from deepcac.types import Array

_FEWEST_DIFFERENT = 20  # of a time
_FEWEST_EQUAL, _FEWEST_SHORTER = 0.1, 0.05  # shares of the rows
_ODD = 0.002  # share of the rows in which the earlier time is later
_MOST_COLUMNS = 200  # of numbers that are compared with each other
_AGREES = 0.85  # mean share of right rows of a status
_SUMMARY = re.compile(
    r"(.*[_ .-])?(min|max|mean|median|avg|first|last|low(est)?|high(est)?|worst|best)"
    r"(([_ .-]|\d).*)?",
    re.IGNORECASE,
)


def find_endpoints(table: ExaminedTable) -> Iterator[Finding]:
    """Find pairs of times, and the columns that say which of the two came first.

    The time to an earlier endpoint is never above the time of follow-up, and equal to it where the
    endpoint did not come. Other pairs: `t` and `d` (time, died) with the same ending.
    """
    if table.outcome is None:
        return
    numbers = {name: table.numbers(name) for name in table.numeric[:_MOST_COLUMNS]}
    label = "" if table.roles is None else table.roles.label
    times = {name: values for name, values in numbers.items() if _is_time(name, values)}
    pairs = _earlier(times)
    status = {
        name: next((n for n, (_, came) in pairs.items() if _agrees(values, came)), None)
        for name, values in numbers.items()
    }
    # Two counts may go together so too: one of the two has the name of a time, or a status.
    earlier = {
        name: pair
        for name, pair in pairs.items()
        if name in status.values() or any(map(names_a_time, (name, pair[0])))
    }
    for name, (later, _) in earlier.items():
        why = f"is never above {later!r} and often equal to it: the time of an endpoint?"
        yield suspect(name, why)
    if time := _partner(label, table.outcome.codes.astype(float), times):
        yield suspect(time, f"is the time of {label!r}")
    for name, values in numbers.items():
        pair = status[name] or _partner(name, values, times)
        if pair is not None and name not in earlier:
            yield suspect(name, f"tells whether the endpoint of {pair!r} came")
            if pair not in earlier:
                yield suspect(pair, f"is the time of the endpoint {name!r}")


def _is_time(name: str, values: Array) -> bool:
    seen = values[~np.isnan(values)]
    if not len(seen) or seen.min() < 0 or _SUMMARY.fullmatch(name):
        return False
    return len(np.unique(seen)) >= _FEWEST_DIFFERENT


def _earlier(times: Mapping[str, Array]) -> dict[str, tuple[str, Array]]:
    """Return times that another one bounds, with it, and the rows where they are shorter.

    Of several that bound a time the longest one is the follow-up.
    """
    longest = sorted(times, key=lambda name: -float(np.nanmean(times[name])))
    pairs: dict[str, tuple[str, Array]] = {}
    for name, values in times.items():
        for other in longest:
            ends = times[other]
            both = ~np.isnan(values) & ~np.isnan(ends)
            if name == other or both.sum() < len(values) / 2:
                continue
            equal = float((values == ends)[both].mean())
            if (values > ends)[both].mean() > _ODD or equal < _FEWEST_EQUAL:
                continue
            if 1 - equal >= _FEWEST_SHORTER:
                pairs[name] = (other, np.where(both, values < ends, np.nan))
                break
    return pairs


def _agrees(values: Array, came: Array) -> bool:
    """Tell whether a column of two values says where an endpoint came."""
    there = ~np.isnan(values) & ~np.isnan(came)
    if len(np.unique(values[there])) != 2:
        return False
    yes, status = came[there] == 1, values[there] == values[there].max()
    if yes.all() or not yes.any():
        return False
    right = (status[yes].mean() + 1 - status[~yes].mean()) / 2
    return bool(max(right, 1 - right) >= _AGREES)


def _partner(name: str, values: Array, times: Mapping[str, Array]) -> str | None:
    """Return the time that belongs to a status by its name: t1 to d1, ta to da."""
    match = re.fullmatch(r"([dD])([_ .-]?\w{1,3})", name)
    if match is None or len(np.unique(values[~np.isnan(values)])) != 2:
        return None
    time = ("t" if match[1] == "d" else "T") + match[2]
    return time if time in times else None
