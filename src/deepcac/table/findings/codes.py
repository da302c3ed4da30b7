"""Numbers that are codes of a category without an order."""

import re
from collections.abc import Iterator

import numpy as np

from deepcac.table.columns.description import TEXT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_NAMES_A_CODE = re.compile(
    r"(.*[_ .-])?(types?|codes?|id|group|grp|race|ethnic(ity)?|source|disposition|religion|state|"
    r"birthplace|region|categor(y|ies)|diagnosis|reason|department|ward|occupation|rasse|gruppe)"
    r"([_ .-]?(id|code|no|nr|num))?|race[_ .-]?[a-z]+|[a-z]+(type|code|group|race)",
    re.IGNORECASE,
)
_FEWEST, _MOST = 3, 60  # different ones


def find_codes(table: ExaminedTable) -> Iterator[Finding]:
    """Find columns of whole numbers that have the name of a category."""
    for name in filter(_NAMES_A_CODE.fullmatch, table.numeric):
        distinct = np.unique(table.numbers(name))
        distinct = distinct[~np.isnan(distinct)]
        whole = bool((distinct == np.floor(distinct)).all())
        if whole and _FEWEST <= len(distinct) <= _MOST:
            yield Finding("codes of a category", (name,), certain=TEXT)
