"""Columns that name the hospital or the region of a patient."""

import re
from collections.abc import Iterator

import pyarrow.compute as pc

from deepcac.table.columns.column_types import as_texts, is_bytes
from deepcac.table.columns.description import SITE
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding

_NAMES_A_SITE = re.compile(
    r"((study|trial|treat(ing|ment)|enrol\w*|health|care|recruiting|admi\w*|medical)[_ .-])?"
    r"(site|cent(er|re)|clinic|hospital|institution|inst|facility|practice|"
    r"communit(y|ies)|comm|provider|provnum|klinik|zentrum|krankenhaus|h[oô]pital|centro)"
    r"([_ .-]?(id|no|nr|num|number|code|name))?",
    re.IGNORECASE,
)
_ANSWERS = {"yes", "no", "y", "n", "true", "false", "0", "1", "ja", "nein", "oui", "non"}
_MOST_SITES = 0.2  # of the rows


def find_site(table: ExaminedTable) -> Iterator[Finding]:
    """Find the first column that has the name of one and several values with many rows."""
    if table.description.resource.use.site is not None:
        return
    for name in filter(_NAMES_A_SITE.fullmatch, table.predictors):
        if is_bytes(table.cells(name).type):
            continue
        texts = pc.unique(as_texts(table.cells(name)).drop_null()).to_pylist()
        answers = {text.lower() for text in texts} <= _ANSWERS
        if 2 <= len(texts) <= _MOST_SITES * len(table.number) and not answers:
            yield Finding("the site", (name,), certain=SITE)
            return
