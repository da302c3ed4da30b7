"""Levels of a text column that are one level in two spellings."""

from collections.abc import Iterator

import pyarrow.compute as pc

from deepcac.table.columns.description import KEEP, LEAVE_OUT
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.findings.finding import Finding
from deepcac.table.reading.class_labels import alike_spellings

_MOST_LEVELS = 100  # whose spellings are compared


def find_spellings(table: ExaminedTable) -> Iterator[Finding]:
    """Find levels that differ in case, spaces or signs only."""
    for name in filter(table.is_text, table.predictors):
        levels = pc.unique(table.cells(name)).drop_null().to_pylist()
        if len(levels) > _MOST_LEVELS:
            continue
        for texts in alike_spellings(levels):
            shown = ", ".join(map(repr, texts))
            yield Finding(
                f"Column {name!r}: {shown} are different levels. Spell them alike in the file, or "
                "keep them apart.",
                (name,),
                (KEEP, LEAVE_OUT),
            )
