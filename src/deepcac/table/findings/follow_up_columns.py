"""Columns that know the end of follow-up: its time, another endpoint, a status."""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, suspect
from deepcac.table.findings.label_leaks import order_auroc
from deepcac.types import Array

_TELLS_OVER = 0.85  # AUROC of a status for whether another time is over before
_BY_CHANCE = 10.0  # rows in which a column is above the time, were its values shuffled
_FEWEST_DIFFERENT, _FEWEST_STEPS = 20, 4
_OFTEN_EMPTY = 0.1  # share of the rows
_WITH_TIME = 0.95  # rank correlation with the time
_SHORTER = 0.6  # AUROC of a time for the event
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
    r"|censor(ed|ing)?|[dr]event)([_. -]?(status|event|ind|flag))?",
    re.IGNORECASE,
)


def names_a_time(name: str) -> bool:
    """Tell whether a column has a name that times of follow-up have."""
    return bool(_SURELY_TIME.fullmatch(name) or _TIME.fullmatch(name))


def find_follow_up(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that know when or how follow-up ended."""
    if table.outcome is None:
        return
    if table.outcome.follow is None:
        reasons = _unused_times(table)
    else:
        reasons = _other_times(table, table.outcome.follow.time)
    for name, why in reasons.items():
        yield suspect(name, why)


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
            reasons[name] = (
                "is never above the follow-up time: another time of follow-up, or a start?"
            )
            ends.append(values)
        elif _goes_with(values, time):
            reasons[name] = (
                "goes with the follow-up time: the same in another unit, or the date of entry?"
            )
    for name, values in numbers.items():
        seen = values[~np.isnan(values)]
        if name in reasons or len(np.unique(seen)) != 2:
            continue
        if any(_tells(values, end < time) for end in ends):
            reasons[name] = "tells whether that time is the shorter one: another endpoint?"
        elif _STATUS.fullmatch(name):
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


def _tells(values: Array, shorter: npt.NDArray[np.bool_]) -> bool:
    present = ~np.isnan(values)
    status, over = values[present] == np.nanmax(values), shorter[present]
    if over.all() or not over.any():
        return False
    auroc = 0.5 + 0.5 * (status[over].mean() - status[~over].mean())
    return bool(max(auroc, 1 - auroc) >= _TELLS_OVER)


def _unused_times(table: ExaminedTable) -> dict[str, str]:
    """Return features that look like a follow-up time, where none is declared, and why.

    They have the name of one, and are shorter or longer where the event came.
    """
    if table.outcome is None:
        return {}
    two = len(table.outcome.classes) == 2
    reasons = {}
    for name in table.numeric:
        surely = _SURELY_TIME.fullmatch(name) is not None
        if not surely and not _TIME.fullmatch(name):
            continue
        values = table.numbers(name)
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
