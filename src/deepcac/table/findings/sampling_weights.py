"""Columns that say how rows were drawn."""

import re
from collections.abc import Iterator

import numpy as np

from deepcac.table.columns.description import KEEP, LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_NAMES_A_WEIGHT = re.compile(
    r"(.*[_ .-])?(samp(ling|le)?|survey|prob(ability)?|inverse|design|case|p|f)?[_ .-]?"
    r"(weights?|wts?|wgt)",
    re.IGNORECASE,
)
_SPREAD = 10  # times the middle, which no body is


def find_weights(table: ExaminedTable) -> Iterator[Finding]:
    """Find numbers that have the name of a weight and spread as no body weight does."""
    for name in filter(_NAMES_A_WEIGHT.fullmatch, table.numeric):
        values = table.numbers(name)
        if np.nanmin(values) >= 0 and np.nanmax(values) > _SPREAD * np.nanmedian(values):
            text = f"{name!r} spreads as weights of a sample do: is it one?"
            yield Finding(text, (name,), (LEAVE_OUT, KEEP))
