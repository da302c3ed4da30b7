"""Columns that were filled after the outcome, by their names, levels and empty cells."""

import re
from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
from scipy.stats import binom

from deepcac.scoring.small_cells import FEW, format_count
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding, suspect
from deepcac.table.reading.column_parts import ColumnParts, column_parts
from deepcac.table.reading.table_encoder import CATEGORY
from deepcac.types import Ids

_LATER = re.compile(
    r"(.*[_ .-])?(los|length[_ .-]?of[_ .-]?stay|d(is)?ch(arge|d|g)?\w*|dsch\w*|apgar\w*|outcome|"
    r"death\w*|died|mortality|surv(?!ey)\w*|autopsy|readmi\w*|reject(ion)?|relapsed?|"
    r"recurrence|complications?|last[_ .-]?contact\w*|lst(ct|contact)\w*|attempts?|"
    r"verweildauer|entlass\w*|verstorben|komplikation\w*|dur[ée]e[_ .-]?de[_ .-]?s[ée]jour|"
    r"d[ée]c[èe]s|alta|fallec\w*)([_ .-].*)?",
    re.IGNORECASE,
)
_DEATH = re.compile(
    r".*(expired|morgue|dead|died|deceased|death|verstorben|d[ée]c[ée]d|fallec).*", re.I
)
_PURE, _NEARLY_PURE = 0.995, 0.95  # share of the event in a level; where its word says so
_FEWEST = 20  # rows of such a level
_CHANCE = 1e-6  # of so many events, were they any rows
_COMMON = 0.8  # share of the event from which pure levels say nothing
_NAMED = "has the name of what comes after the outcome"
_FEWEST_FILLED = 20  # rows
_FILLED_BY_CHANCE = 0.001  # in rows of one class, were they any rows
_PLAIN = re.compile(r"\d|^(yes|no|y|n|true|false|ja|nein|oui|non|s[ií])$")


def find_later_events(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns that may have been filled after the outcome.

    They have the name of what comes later, the words of the outcome itself, or a level that
    nobody has without the event.
    """
    if table.outcome is None:
        return
    label = "" if table.roles is None else table.roles.label
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
            yield suspect(column.name, why)


def _is_later(name: str, label: str) -> bool:
    """Tell whether a name counts on from that of the label: attempt2 after attempt1."""
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
        if pure and n >= max(_FEWEST, FEW) and binom.sf(m - 1, n, share) < _CHANCE:
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
            rows = f"{format_count(filled)} rows, all of one class"
            yield suspect(name, f"is filled in {rows}: was it written after the outcome?")
