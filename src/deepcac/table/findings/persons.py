"""Columns with names of persons."""

import re
from collections.abc import Iterator

import pyarrow.compute as pc

from deepcac.table.columns.description import LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_NAMES_A_PERSON = re.compile(
    r"(.*[_ .-])?((first|last|sur|given|family|full|middle|maiden|patient)[_ .-]?name|name|"
    r"vorname|nachname|pr[eé]nom|nom|nombre|apellidos?)",
    re.IGNORECASE,
)
_FEWEST = 20  # different ones


def find_persons(table: ExaminedTable) -> Iterator[Finding]:
    """Find text columns that have the name of one."""
    for name in filter(_NAMES_A_PERSON.fullmatch, table.predictors):
        if table.is_text(name) and len(pc.unique(table.cells(name)).drop_null()) >= _FEWEST:
            yield Finding("names of persons", (name,), certain=LEAVE_OUT)
