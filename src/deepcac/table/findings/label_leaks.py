"""Columns that give away the outcome: filled after it, or made at the end of follow-up."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from scipy.stats import binom, rankdata

from deepcac.scoring.small_cells import FEW, Count
from deepcac.table.findings.examination import ExaminedTable, Finding, ask_to_leave_out
from deepcac.table.reading.table_encoder import CATEGORY, NUMBER, ColumnParts, column_parts
from deepcac.types import Array, Ids

TELLS = 0.9  # AUROC of a column alone from which it is named
FEWEST = 10  # rows of a part or a class that is spoken of
_PARTS, _ROWS_OF_A_PART = 20, 20
_DENSE = 3  # times as many rows: the span of ids, and not of a measurement
_IN_ORDER = 0.999  # rank correlation with the row number
HEAD = (
    "These columns predict the outcome or the row almost perfectly, or look like the time or "
    "status of follow-up, and were kept by decision. Such a column was often written after the "
    "outcome; it makes every model look good, and hides what clusters do."
)
_LATER = re.compile(
    r"(.*[_ .-])?(los|length[_ .-]?of[_ .-]?stay|d(is)?ch(arge|d|g)?\w*|dsch\w*|apgar\w*|outcome|"
    r"death\w*|died|mortality|surv(?!ey)\w*|autopsy|readmi\w*|reject(ion)?|relapsed?|"
    r"recurrence|complications?|last[_ .-]?contact\w*|lst(ct|contact)\w*|attempts?|"
    r"(tot\w*[_ .-]?)?(charges?|m?costs?|m?cst)|dnr\w*|e(vent)?[_ .-]?type|"
    r"verweildauer|entlass\w*|verstorben|komplikation\w*|dur[ée]e[_ .-]?de[_ .-]?s[ée]jour|"
    r"d[ée]c[èe]s|alta|fallec\w*)([_ .-].*)?",
    re.IGNORECASE,
)
_DEATH = re.compile(
    r".*(expired|morgue|dead|died|deceased|death|verstorben|d[ée]c[ée]d|fallec).*", re.I
)
_PURE, _NEARLY_PURE = 0.995, 0.95  # share of the event in a level; where its word says so
_FEWEST_OF_A_LEVEL = 20  # rows of such a level
_BY_CHANCE = 1e-6  # of so many events, were they any rows
_COMMON = 0.8  # share of the event from which pure levels say nothing
_NAMED = "has the name of what comes after the outcome"
_FEWEST_FILLED = 20  # rows
_FILLED_BY_CHANCE = 0.001  # in rows of one class, were they any rows
_PLAIN = re.compile(r"\d|^(yes|no|y|n|true|false|ja|nein|oui|non|s[ií])$")


def find_label_leaks(table: ExaminedTable) -> Iterator[Finding]:
    """Find used columns that look like the outcome, an id or the row number.

    A column is named if it is the outcome under another coding; if its values alone rank the rows
    of a class with an AUROC of `TELLS` or more, by the share of the class in each twentieth of the
    rows (learnt on one half, scored on the other; no value is a part too) or by its order; if it
    goes up or down with the rows; or if it is another whole number in every row.
    """
    if table.outcome is None:
        return
    y, classes = table.outcome.codes, table.outcome.classes
    half = np.random.default_rng(0).permutation(len(y)) % 2 == 0
    most = int(np.clip(len(y) // _ROWS_OF_A_PART, 2, _PARTS))
    suspects: list[tuple[float, str, str]] = []
    for column in table.encoder.used:
        parts = column_parts(column, table.X, table.encoder.places, most)
        values = table.numbers(column.name) if column.kind == NUMBER else None
        auroc, c = _best(parts, values, y, half)
        why = _recoded(parts, y, classes) or _alone(auroc, c, parts, y, classes)
        why = why or ("" if values is None else _row_like(values))
        if why:
            suspects.append((auroc, column.name, why))
    suspects.sort(key=lambda suspect: (-suspect[0], suspect[1]))
    for _, name, why in suspects:
        yield ask_to_leave_out(name, why)


def _best(
    parts: ColumnParts, values: Array | None, y: Ids, half: npt.NDArray[np.bool_]
) -> tuple[float, int]:
    """Return the class that the column tells best, of those with enough rows, after its AUROC."""
    counts = np.bincount(y)
    asked = [1] if len(counts) == 2 else np.flatnonzero(counts >= FEWEST).tolist()
    candidates = []
    for c in asked:
        inside = y == c
        if inside.all():  # the others are in no row of the sample
            continue
        auroc = _by_parts(parts, inside, half)
        candidates.append((auroc if values is None else max(auroc, order_auroc(values, inside)), c))
    return max(candidates, default=(0.5, 0))


def _by_parts(
    parts: ColumnParts, inside: npt.NDArray[np.bool_], half: npt.NDArray[np.bool_]
) -> float:
    """Return the AUROC of the share of a class in each part, learnt on the other half."""
    n = len(parts.names)
    events = np.array([np.bincount(parts.number[h & inside], minlength=n) for h in (half, ~half)])
    others = np.array([np.bincount(parts.number[h & ~inside], minlength=n) for h in (half, ~half)])
    share = (events + inside.mean()) / (events + others + 1.0)
    return float(np.mean([_auroc(share[1 - h], events[h], others[h]) for h in (0, 1)]))


def _auroc(score: Array, events: Ids, others: Ids) -> float:
    """Return the AUROC of a score a part, from the rows of each part; 0.5 where it has none."""
    level = np.unique(score, return_inverse=True)[1]
    ranked, rest = np.bincount(level, events), np.bincount(level, others)
    if not ranked.sum() or not rest.sum():
        return 0.5
    below = np.cumsum(rest) - rest / 2
    return float(ranked @ below / (ranked.sum() * rest.sum()))


def order_auroc(values: Array, inside: npt.NDArray[np.bool_]) -> float:
    """Return the AUROC of a number, up or down; rows without a value are at either end."""
    absent = np.isnan(values)
    aurocs = []
    for end in (-np.inf, np.inf) if absent.any() else (0.0,):
        rank = rankdata(np.where(absent, end, values))
        n = inside.sum()
        auroc = (rank[inside].sum() - n * (n + 1) / 2) / (n * (len(inside) - n))
        aurocs.append(max(auroc, 1 - auroc))
    return float(max(aurocs))


def _recoded(parts: ColumnParts, y: Ids, classes: tuple[str, ...]) -> str:
    """Describe how a column codes the label, if its values are the classes under other names."""
    if not parts.exact or len(parts.names) != len(classes):
        return ""
    pairs = sorted(set(zip(parts.number.tolist(), y.tolist(), strict=True)))
    if len(pairs) != len(classes) or len({c for _, c in pairs}) != len(classes):
        return ""
    coded = ", ".join(f"{parts.names[p]} = {classes[c]}" for p, c in pairs)
    return f"is the label under another coding ({coded})"


def _alone(auroc: float, c: int, parts: ColumnParts, y: Ids, classes: tuple[str, ...]) -> str:
    if auroc < TELLS:
        return ""
    events = np.bincount(parts.number[y == c], minlength=len(parts.names))
    cells = np.column_stack([events, parts.sizes - events])
    few = ((cells > 0) & (cells < FEW)).any(axis=1)
    share = np.where((parts.sizes >= FEWEST) & ~few, events / parts.sizes, 0.0)
    purest = np.flatnonzero(share == share.max())
    best = int(purest[0] if purest[0] == 0 else purest[-1])  # of ranges rather one at an end
    example = f" ({parts.names[best]}: {100 * share[best]:.0f} % of them)" if share[best] else ""
    return f"by itself ranks {classes[c]!r} with an AUROC of {auroc:.3f}{example}"


def _row_like(values: Array) -> str:
    """Return a reason if a column looks like an id or a row number, else an empty string."""
    if np.isnan(values).any() or len(np.unique(values)) <= len(values) / 2:
        return ""
    order = np.corrcoef(rankdata(values), np.arange(len(values)))[0, 1]
    if abs(order) > _IN_ORDER:
        way = "up" if order > 0 else "down"
        return f"goes {way} with the row number (an id, or the order of entry?)"
    whole = (values == np.floor(values)).all() and len(np.unique(values)) == len(values)
    if whole and values.max() - values.min() < _DENSE * len(values):
        return "holds another whole number in every row (an id?)"
    return ""


def find_later_events(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that may have been filled after the outcome.

    They have the name of what comes later, the words of the outcome itself, or a level that
    nobody has without the event.
    """
    if table.outcome is None:
        return
    label = table.description.outcome.field
    classes = {text.lower() for text in table.outcome.words}
    for column in table.encoder.used:
        later = _LATER.fullmatch(column.name) or _is_later(column.name, label)
        why = _NAMED if later else ""
        if column.kind == CATEGORY:
            levels = {level.lower() for level in column.levels}
            if classes <= levels and not any(map(_PLAIN.search, classes)):
                why = "has the words of the outcome"
            elif len(table.outcome.classes) == 2:
                parts = column_parts(column, table.X, table.encoder.places)
                why = _pure_level(parts, table.outcome.codes) or why
        if why:
            yield ask_to_leave_out(column.name, why)


def _is_later(name: str, label: str) -> bool:
    """Return whether a name counts on from that of the label: attempt2 after attempt1."""
    first, second = (re.match(r"([^\W\d]{3,})[_ .-]?(\d+)", text) for text in (label, name))
    if first is None or second is None or first[1].lower() != second[1].lower():
        return False
    return int(second[2]) > int(first[2])


def _pure_level(parts: ColumnParts, codes: Ids) -> str:
    """Return which level has (nearly) none but events, if one has."""
    share = float(codes.mean())
    if share > _COMMON:
        return ""
    events = np.bincount(parts.number, codes, minlength=len(parts.names))
    for name, n, m in zip(parts.names, parts.sizes.tolist(), events.tolist(), strict=True):
        pure = m >= n * (_NEARLY_PURE if _DEATH.fullmatch(name) else _PURE)
        if pure and n >= max(_FEWEST_OF_A_LEVEL, FEW) and binom.sf(m - 1, n, share) < _BY_CHANCE:
            return f"has a level with nothing but events ({name})"
    return ""


def find_filled_after(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns with a value in rows of one class alone."""
    if table.codes is None:
        return
    for name in table.predictors:
        present = np.asarray(pc.is_valid(table.cells(name)).to_numpy())
        filled = int(present.sum())
        if not _FEWEST_FILLED <= filled < len(present):
            continue
        inside = np.unique(table.codes[present])
        if len(inside) == 1 and np.mean(table.codes == inside[0]) ** filled < _FILLED_BY_CHANCE:
            rows = f"{Count(filled)} rows, all of one class"
            yield ask_to_leave_out(name, f"is filled in {rows}: was it written after the outcome?")


_TELLS = 0.85  # AUROC of a status for whether another time is over before
_FOLLOW_UP_BY_CHANCE = 10.0  # rows in which a column is above the time, were its values shuffled
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
    """Return whether a column has a name that times of follow-up have."""
    return bool(_SURELY_TIME.fullmatch(name) or _TIME.fullmatch(name))


def names_a_status(name: str) -> bool:
    """Return whether a column has the name of the status of an endpoint."""
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
        if any(_is_endpoint_status(values, np.asarray(end < time, float)) for end in ends):
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
    return float(above.sum()) / max(len(seen), 1) >= _FOLLOW_UP_BY_CHANCE


def _goes_with(values: Array, time: Array) -> bool:
    """Return whether a number ranks the rows as the follow-up time does, up or down."""
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
    """Return whether the maximum occurs in event-free rows only, more than chance allows."""
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
        name: next((n for n, (_, came) in pairs.items() if _is_endpoint_status(values, came)), None)
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


def _is_endpoint_status(values: Array, came: Array) -> bool:
    """Return whether a binary column is the status of an endpoint."""
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
