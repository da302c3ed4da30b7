"""Columns that know the end of follow-up: its time, other endpoints, a status."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
from scipy.stats import rankdata

from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, ask_to_leave_out
from deepcac.table.findings.label_leaks import order_auroc
from deepcac.types import Array, Ids

_TELLS = 0.85  # AUROC of a status for whether another time is over before
_BY_CHANCE = 10.0  # rows in which a column is above the time, were its values shuffled
_FEWEST_DIFFERENT, _FEWEST_STEPS = 20, 4
_OFTEN_EMPTY = 0.1  # share of the rows
_WITH_TIME = 0.95  # rank correlation with the time
_SHORTER = 0.6  # AUROC of a time for the event
_FEWEST_EQUAL, _FEWEST_SHORTER = 0.1, 0.05  # shares of the rows
_FEWEST_OF_TIME = 10  # different numbers
_NO_EVENT_BY_CHANCE = 1e-6  # in the rows with the largest one
_ODD = 0.002  # share of the rows in which the earlier time is later
_MOST_COLUMNS = 200  # of numbers that are compared with each other
_SUMMARY = re.compile(
    r"(.*[_ .-])?(min|max|mean|median|avg|first|last|low(est)?|high(est)?|worst|best)"
    r"(([_ .-]|\d).*)?",
    re.IGNORECASE,
)
_END = (
    r"(os|pfs|rfs|dfs|efs|ttp|css|dmfs|surv(ival)?|fu|f[_.]?up|follow[_. -]?up|fut|event|death|"
    r"status|relapse|recurrence|progression|nachbeobachtung(s)?|[üu]berleben(s)?|suivi|"
    r"seguimiento)"
)
_UNIT = r"(time|days?|weeks?|months?|mos?|years?|yrs?|zeit|tage|wochen|monate|jahre|jours|d[ií]as)"
# Names that only a follow-up has; names that it often has.
_SURELY_TIME = re.compile(
    rf"(overall[_. -]?)?{_END}[_. -]?{_UNIT}|os|pfs|rfs|dfs|efs|ttp|futime|fup|tte|lenfol|"
    rf"follow[_. -]?up|t(start|stop)|edrel|{_UNIT}[_. -]?to[_. -]?(event|death|relapse|recurrence|"
    r"progression|last[_. -]?\w*)|time",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"([a-z]{{1,2}}|wait(ing)?)[_. -]?time|{_END}?[_. -]?({_UNIT}|t)|time[a-z]{{2,5}}|"
    r"(attempt|total|intubation|procedure|duration|treatment)\w*[_. -]?(time|duration)|duration|"
    r"(days?|time|years?)[_. -]?(of[_. -]?)?(follow|link|to|until|since)\w*",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(.*[_. -])?(recur(rence)?|relapsed?|death|dead|died|status|fustat|event|progress(ion|ed)?"
    r"|censor(ed|ing)?|[dr]event|readmi\w*)([_. -]?(status|event|ind|flag))?",
    re.IGNORECASE,
)


def names_a_time(name: str) -> bool:
    """Tell whether a column has a name that times of follow-up have."""
    return bool(_SURELY_TIME.fullmatch(name) or _TIME.fullmatch(name))


def names_a_status(name: str) -> bool:
    """Tell whether a column has the name of the status of an endpoint."""
    return _STATUS.fullmatch(name) is not None


def find_follow_up(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that know when or how follow-up ended."""
    if table.outcome is None:
        return
    follow = table.outcome.follow
    reasons = _unused_times(table) if follow is None else _other_times(table, follow.time)
    for name, why in reasons.items():
        yield ask_to_leave_out(name, why)


def _other_times(table: ExaminedTable, time: Array) -> dict[str, str]:
    """Return columns that know the end of the follow-up `time` (n,), and why.

    Such are numbers that are never above it, though by chance they would be, or that rank the rows
    as it does; and the status of another endpoint: one that tells whether such a time is shorter,
    or has the name of one.
    """
    numbers = {name: table.numbers(name) for name in table.numeric}
    reasons: dict[str, str] = {}
    ends: list[Array] = []
    for name, values in numbers.items():
        if _never_above(values, time):
            why = "is never above the follow-up time: another time of follow-up, or a start?"
            reasons[name] = why
            ends.append(values)
        elif _goes_with(values, time):
            why = "goes with the follow-up time: the same in another unit, or the date of entry?"
            reasons[name] = why
    for name, values in numbers.items():
        seen = values[~np.isnan(values)]
        if name in reasons or len(np.unique(seen)) != 2:
            continue
        if any(_tells(values, np.asarray(end < time, float)) for end in ends):
            reasons[name] = "tells whether that time is the shorter one: another endpoint?"
        elif names_a_status(name):
            reasons[name] = "has the name of an endpoint: was it known at the start?"
    return reasons


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


def _unused_times(table: ExaminedTable) -> dict[str, str]:
    """Return features that look like a follow-up time, where none is declared, and why.

    They have the name of one, and are shorter or longer where the event came; or they end in one
    number, the end of the study, for many rows, none of which has the event.
    """
    assert table.outcome is not None
    two = len(table.outcome.classes) == 2
    reasons = {}
    for name in table.numeric:
        values = table.numbers(name)
        if two and _ends_without(values, table.outcome.codes):
            reasons[name] = (
                f"is {values[~np.isnan(values)].max():g} in many rows, none of which has the "
                "event: a follow-up time that ends there?"
            )
            continue
        surely = _SURELY_TIME.fullmatch(name) is not None
        if not surely and not _TIME.fullmatch(name):
            continue
        present = ~np.isnan(values)
        if len(np.unique(values[present])) < _FEWEST_STEPS:
            continue
        event = table.outcome.codes[present] == 1
        tells = two and 0 < event.sum() < len(event)
        tells = tells and order_auroc(values[present], event) >= _SHORTER
        # The time of an event that did not come to many has no value there.
        if surely or tells or (~present).mean() >= _OFTEN_EMPTY:
            reasons[name] = (
                "looks like a follow-up time, which is not known beforehand: leave it out, or make "
                "it the time of the outcome, with a horizon"
            )
    return reasons


def _ends_without(values: Array, codes: Ids) -> bool:
    """Tell whether the largest of many numbers stands in rows without the event alone."""
    there = ~np.isnan(values)
    seen, events = values[there], codes[there] == 1
    if len(np.unique(seen)) < _FEWEST_OF_TIME:
        return False
    last = seen == seen.max()
    return not events[last].any() and bool(np.mean(~events) ** last.sum() < _NO_EVENT_BY_CHANCE)


def find_endpoints(table: ExaminedTable) -> Iterator[Finding]:
    """Find pairs of times, and the columns that say which of the two came first.

    The time to an earlier endpoint is never above the time of follow-up, and equal to it where the
    endpoint did not come. Other pairs: `t` and `d` (time, died) with the same ending.
    """
    if table.outcome is None:
        return
    numbers = {name: table.numbers(name) for name in table.numeric[:_MOST_COLUMNS]}
    label = table.description.outcome.field
    times = {name: values for name, values in numbers.items() if _is_time(name, values)}
    pairs = _earlier(times)
    status = {
        name: next((n for n, (_, came) in pairs.items() if _tells(values, came)), None)
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
        yield ask_to_leave_out(name, why)
    if time := _partner(label, table.outcome.codes.astype(float), times):
        yield ask_to_leave_out(time, f"is the time of {label!r}")
    for name, values in numbers.items():
        pair = status[name] or _partner(name, values, times)
        if pair is not None and name not in earlier:
            yield ask_to_leave_out(name, f"tells whether the endpoint of {pair!r} came")
            if pair not in earlier:
                yield ask_to_leave_out(pair, f"is the time of the endpoint {name!r}")


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


def _tells(values: Array, came: Array) -> bool:
    """Tell whether a column of two values says where an endpoint came, 1, or not, 0."""
    there = ~np.isnan(values) & ~np.isnan(came)
    if len(np.unique(values[there])) != 2:
        return False
    yes, status = came[there] == 1, values[there] == values[there].max()
    if yes.all() or not yes.any():
        return False
    auroc = 0.5 + 0.5 * (status[yes].mean() - status[~yes].mean())
    return bool(max(auroc, 1 - auroc) >= _TELLS)


def _partner(name: str, values: Array, times: Mapping[str, Array]) -> str | None:
    """Return the time that belongs to a status by its name: t1 to d1, ta to da."""
    match = re.fullmatch(r"([dD])([_ .-]?\w{1,3})", name)
    if match is None or len(np.unique(values[~np.isnan(values)])) != 2:
        return None
    time = ("t" if match[1] == "d" else "T") + match[2]
    return time if time in times else None
