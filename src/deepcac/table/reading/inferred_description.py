"""The description of a table as its cells suggest it, with what a person must decide."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.table.columns.cell_reader import CellReader
from deepcac.table.columns.cells import is_numeric, is_text, plain
from deepcac.table.columns.column_types import as_texts
from deepcac.table.columns.description import (
    DATE,
    KEEP,
    LEAVE_OUT,
    NUMBER,
    TEXT,
    TRUTH,
    ColumnField,
    OpenQuestion,
    Outcome,
    Resource,
    Schema,
    Use,
)
from deepcac.table.output_files import StrPath
from deepcac.table.reading.table_encoder import (
    CATEGORY,
    LEFT_OUT,
    OTHER,
    EncodedColumn,
    TableEncoder,
)
from deepcac.table.reading.table_encoder import NUMBER as NUMBERS
from deepcac.table.reading.table_faults import Fault
from deepcac.table.reading.table_files import find_dialect

_KNOWN = "Were these known at the time of prediction?"
MOST_LEVELS = 20  # that are declared; a column of more takes any text
_KEPT = ("empty", "constant", "at fault")  # notes of columns that another table may use


def infer_description(
    path: StrPath,
    rows: pa.Table,
    encoder: TableEncoder,
    reader: CellReader,
    leaks: Sequence[Fault],
    faults: Sequence[Fault],
    outcome: Outcome | None = None,
) -> Resource:
    """Describe a table that was read without a description.

    Parameters
    ----------
    path : path-like
    rows : pyarrow.Table
        As the reader gave them.
    encoder : TableEncoder
        What its columns were found to be.
    reader : CellReader
        Which read its cells.
    leaks, faults : sequence of Fault
        Those with answers become questions: one for all leaks, one for each fault.
    outcome : Outcome, optional
    """
    asked = {fault.field for fault in (*leaks, *faults) if fault.answers}
    fields = tuple(
        _field(column, plain(rows[column.name]), reader, outcome) for column in encoder.columns
    )
    leave_out = {
        column.name: column.note
        for column in encoder.columns
        if column.kind == LEFT_OUT
        and not column.note.startswith(_KEPT)
        and column.name not in asked
        and (outcome is None or column.name not in (outcome.field, outcome.time))
    }
    questions = tuple(
        OpenQuestion(
            fields=(fault.field,), question=fault.text, answers=fault.answers, values=fault.values
        )
        for fault in faults
        if fault.answers
    )
    if leaking := tuple(fault.field for fault in leaks if fault.answers):
        text = f"{' '.join(fault.text + '.' for fault in leaks)} {_KNOWN}"
        questions = (
            *questions,
            OpenQuestion(fields=leaking, question=text, answers=(LEAVE_OUT, KEEP)),
        )
    return Resource(
        name=_name(path),
        path=Path(path).name,
        dialect=find_dialect(path, reader.rules.sheet),
        table=Schema(fields=fields, missing_values=("", *_words(reader))),
        use=Use(outcome=outcome, leave_out=leave_out, questions=questions),
    )


def _name(path: StrPath) -> str:
    """Return the name of a resource, which has small letters, digits, dots, dashes and slashes."""
    return re.sub(r"[^a-z0-9._-]+", "-", Path(path).stem.lower()).strip("-") or "table"


def _words(reader: CellReader) -> list[str]:
    """Return the words that were taken for missing, and the codes that are said to be."""
    general = [text for text in reader.rules.missing if "=" not in text]
    return list(dict.fromkeys([word for _, word in sorted(reader.absent)] + general))


def _field(
    column: EncodedColumn, cells: pa.ChunkedArray, reader: CellReader, outcome: Outcome | None
) -> ColumnField:
    about: dict[str, Any] = {"name": column.name, "type": _type(column, cells)}
    codes = reader.rules.codes(column.name)
    if codes and is_text(cells.type):
        about["missing_values"] = ("", *_words(reader), *codes)
    if about["type"] == NUMBER and reader.sign(column.name) == ",":
        about["decimal_char"] = ","
    if about["type"] == NUMBER and column.name in reader.grouped:
        about["group_char"] = "." if about.get("decimal_char") == "," else ","
    if column.unit:
        about["unit"] = column.unit
    if outcome is not None and column.name == outcome.field and outcome.above is None:
        about["type"] = TEXT
    if about["type"] == TEXT and column.kind == CATEGORY and OTHER not in column.levels:
        levels = sorted(pc.unique(as_texts(cells).drop_null()).to_pylist())
        about["categories"] = tuple(levels) if len(levels) <= MOST_LEVELS else ()
    return ColumnField(**about)


def _type(column: EncodedColumn, cells: pa.ChunkedArray) -> str:
    kind = cells.type
    if pa.types.is_boolean(kind):
        return TRUTH
    if pa.types.is_temporal(kind):
        return DATE
    if column.kind == NUMBERS:
        words = pc.unique(cells.drop_null()).to_pylist() if is_text(kind) else []
        return TRUTH if 0 < len(words) < 3 and _truth(words) else NUMBER
    if column.kind == CATEGORY or is_text(kind):
        return TEXT
    return NUMBER if is_numeric(kind) else "any"


def _truth(words: Sequence[str]) -> bool:
    return {word.lower() for word in words} <= {"true", "false"}
