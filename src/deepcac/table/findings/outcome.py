"""Labels whose event is not plain, or that have classes too many."""

import re
from collections.abc import Iterator

import numpy as np

from deepcac.table.columns.description import EVENT, KEEP, MISSING_VALUES
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.findings.follow_up_columns import names_a_status
from deepcac.table.reading.class_labels import BY_COUNT, BY_NUMBER, unknown_classes

_RARE = 0.05  # share of a class that may be none
_CENSORED = re.compile(r"(.*[_ .-])?cens\w*", re.IGNORECASE)  # 1 may mean that no event came


def find_unclear_outcome(table: ExaminedTable) -> Iterator[Finding]:
    """Find a label of two classes of which either may be the event, and classes that may be none.

    Of 0 and 1 the second is the event, unless it may be that no event came (censored), and of words
    such as yes, died or alive one says it.
    """
    outcome = table.outcome
    if outcome is None or outcome.follow is not None:
        return
    asked = table.description.outcome
    if len(outcome.words) == 2:
        unclear = outcome.reason == BY_COUNT or (
            outcome.reason == BY_NUMBER
            and ("0" not in outcome.words or _CENSORED.fullmatch(asked.field) is not None)
        )
        named = any(word.lower() in asked.field.lower() for word in outcome.words if len(word) > 2)
        if unclear and not named and asked.event is None:
            first, second = outcome.words
            text = f"Column {asked.field!r}: is {first!r} the event, or {second!r}?"
            yield Finding(text, (asked.field,), (f"{EVENT} {first}", f"{EVENT} {second}"))
        return
    counts = np.bincount(outcome.codes, minlength=len(outcome.words))
    rare = [
        n for n, count in zip(outcome.words, counts, strict=True) if count < _RARE * counts.sum()
    ]
    if names_a_status(asked.field):
        text = (
            f"Column {asked.field!r}: an event comes or not, and here are {len(outcome.words)} "
            "classes. Make two of them in the file, or divide a number (outcome: above), if one of "
            "them is the event."
        )
        yield Finding(text, (asked.field,), (KEEP,))
    odd = {*rare, *unknown_classes(outcome.words)}
    for name in [name for name in outcome.words if name in odd][: len(outcome.words) - 2]:
        text = f"Column {asked.field!r}: is {name!r} an outcome, or is it not known in these rows?"
        yield Finding(text, (asked.field,), (KEEP, MISSING_VALUES), (name,))
