"""The description of a table as its cells suggest it, with what a person must decide."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.files.limits import MOST_ROWS
from deepcac.files.output_files import StrPath
from deepcac.scoring.small_cells import Count
from deepcac.table.columns.cell_texts import NO_VALUE
from deepcac.table.columns.cells import as_texts, is_text, plain, plain_type, uniform_text
from deepcac.table.columns.described_rows import DescribedTable, description_path, without_missing
from deepcac.table.columns.description import (
    LEAVE_OUT,
    LEAVE_ROWS_OUT,
    TEXT,
    ColumnField,
    OpenQuestion,
    Outcome,
    Resource,
    Schema,
    TableDescription,
    Use,
)
from deepcac.table.findings.checks import LEAKS, apply_certain_findings, find_questions
from deepcac.table.findings.examination import ExaminedTable, Finding, examine
from deepcac.table.inference.column_inference import InferredColumn, decimal_signs, infer_column
from deepcac.table.reading.table_encoder import CATEGORY, OTHER
from deepcac.table.reading.table_files import (
    SampledTable,
    find_dialect,
    raw_blocks,
    read_blocks,
    refuse_absent,
    sample_rows,
)

_ASKED = "asked"  # why a column with a question is not looked at further
CELLS = "cells"  # the check of what a column's own cells leave open
LABEL = "label"
_SIGNS = ("decimal .", "decimal ,")
KNOWN = "Were these known at the time of prediction?"
_MOST_LEVELS = 20  # that are declared; a column of more takes any text
_MOST_NAMED = 8  # columns of one question whose reason is given


class InferredTable(NamedTuple):
    """A table and its description."""

    description: TableDescription  # with its open questions
    # The sample by which it was made; columns with a question are left out of it
    table: ExaminedTable
    total: int  # rows of the file
    refused: str = ""  # why there is no outcome, if a label was named that cannot be one


def describe_table(
    path: StrPath,
    use: Use,
    *,
    sheet: str | None = None,
    rows: int = MOST_ROWS,
    seed: int = 0,
) -> InferredTable:
    """Find out how a table is read, by a sample of its rows; of the columns the `use` is known."""
    dialect = find_dialect(path, sheet)
    needed, keys = sorted(use.no_predictors()), _keys(use)
    blocks = (_uniform_block(block, needed) for block in raw_blocks(path, dialect))
    sample = sample_rows(blocks, keys, group=use.patient, most=rows, seed=seed)
    columns = _infer_columns(sample, use)
    fields = tuple(column.field for column in columns)
    words = sorted({word for column in columns for word in column.words})
    table = Schema(fields=fields, missing_values=tuple(dict.fromkeys((*NO_VALUE, *words))))
    resource = Resource(
        name=_name(path), path=Path(path).name, dialect=dialect, table=table, use=use
    )
    asked = [finding._replace(check=CELLS) for column in columns for finding in column.questions]
    opened = {name for finding in asked for name in finding.fields}
    for_now = TableDescription(_without_open(resource, opened), "", {})
    typed = replace(
        sample,
        rows=_typed(sample.rows, for_now, None),
        keys=_typed(sample.keys, for_now, sample.keys.column_names),
    )
    examined, refused = _examine(typed, for_now)
    examined = apply_certain_findings(examined)
    resource = _with_findings(use.outcome, examined, asked + _rows_without(sample, use))
    file = f"{description_path(path).name}, which deepcac profile writes"
    return InferredTable(
        TableDescription(resource, file, {}, True), examined, sample.total, refused
    )


def examine_table(table: DescribedTable, *, rows: int = MOST_ROWS, seed: int = 0) -> InferredTable:
    """Look at a table that has a description; columns with an open question are left out.

    The description of the result has the questions that are new too.
    """
    resource = table.description.resource
    opened = resource.use.open_questions()
    without = _without_open(resource, {name for asked in opened for name in asked.fields})
    for_now = TableDescription(without, "", {})
    blocks = read_blocks(DescribedTable(table.path, for_now))
    sample = sample_rows(
        blocks, _keys(without.use), group=without.use.patient, most=rows, seed=seed
    )
    examined, refused = _examine(sample, for_now)
    before = resource.use.questions
    asked_before = {(question.check, question.fields) for question in before}
    new = [
        question
        for question in as_questions(find_questions(examined))
        if (question.check, question.fields) not in asked_before
    ]
    described = table.description.with_use(questions=(*before, *new))
    return InferredTable(described, examined, sample.total, refused)


def _keys(use: Use) -> list[str]:
    return [] if use.outcome is None else [use.outcome.field]


def _uniform_block(block: pa.RecordBatch, needed: Sequence[str]) -> pa.RecordBatch:
    refuse_absent(block.schema.names, needed)
    columns = []
    for name, column in zip(block.schema.names, block.columns, strict=True):
        column = plain_type(name, column)
        text = is_text(column.type)
        columns.append(plain(uniform_text(column.cast(pa.string()))) if text else column)
    names, metadata = block.schema.names, block.schema.metadata
    return pa.record_batch(columns, names=names, metadata=metadata)


def _infer_columns(sample: SampledTable, use: Use) -> list[InferredColumn]:
    rows = sample.rows.combine_chunks()
    cells = {name: rows[name].chunk(0) for name in rows.column_names}
    names = _names_of_rows(use)
    texts = {
        name: column
        for name, column in cells.items()
        if is_text(column.type) and name not in names | {*use.leave_out}
    }
    signs = decimal_signs(
        {name: without_missing(column, NO_VALUE) for name, column in texts.items()}, sample.number
    )
    columns = []
    for name, column in cells.items():
        inferred = InferredColumn(ColumnField(name=name))
        if name in signs.mixed:
            asked = Finding(signs.mixed[name], (name,), (*_SIGNS, TEXT, LEAVE_OUT))
            inferred = inferred._replace(questions=(asked,))
        elif name not in use.leave_out:
            sign = signs.by_column.get(name)
            inferred = infer_column(name, column, sample.number, sign=sign, is_name=name in names)
        columns.append(inferred)
    return columns


def _names_of_rows(use: Use) -> set[str]:
    """Return the columns whose cells are names: of classes, rows, patients and sites."""
    names = {name for name in (use.id, use.patient, use.site) if name is not None}
    if use.outcome is not None and use.outcome.above is None:
        names.add(use.outcome.field)
    return names


def _examine(sample: SampledTable, description: TableDescription) -> tuple[ExaminedTable, str]:
    """Return a typed sample to look at, and why there is no outcome, if a label cannot be one."""
    outcome = description.use.outcome
    if outcome is None:
        return ExaminedTable(sample, description), ""
    # Rows without an outcome have a question of their own, and say nothing to the others.
    known = outcome.model_copy(update={"rows_without": LEAVE_OUT})
    try:
        return examine(sample, description.with_use(outcome=known)), ""
    except DataError as error:
        return ExaminedTable(sample, description), str(error)


def _typed(rows: pa.Table, description: TableDescription, only: Sequence[str] | None) -> pa.Table:
    if not rows.num_columns:
        return rows
    batches = rows.combine_chunks().to_batches()
    return pa.Table.from_batches(DescribedTable("", description, only).rows(batches))


def _without_open(resource: Resource, names: Collection[str]) -> Resource:
    """Return a description without open questions, and without their columns but for roles."""
    opened = dict.fromkeys(set(names) - resource.use.no_predictors().keys(), _ASKED)
    answered = tuple(asked for asked in resource.use.questions if asked.answer is not None)
    leave_out = {**resource.use.leave_out, **opened}
    return resource.changed(leave_out=leave_out, questions=answered)


def _with_findings(
    outcome: Outcome | None, examined: ExaminedTable, asked: Sequence[Finding]
) -> Resource:
    """Return a description with what is certain, and with every question."""
    certain, seen = examined.description.resource, examined.outcome
    left_out = {name: note for name, note in certain.use.leave_out.items() if note != _ASKED}
    return certain.changed(
        (_with_levels(field, examined) for field in certain.table.fields),
        leave_out=left_out,
        outcome=outcome if outcome is None or seen is None else seen.named(outcome),
        questions=as_questions([*asked, *find_questions(examined)]),
    )


def _with_levels(field: ColumnField, examined: ExaminedTable) -> ColumnField:
    """Return a field with its levels, where none of them is rare and they are few."""
    used = {column.name: column for column in examined.encoder.used}
    column = used.get(field.name)
    if column is None or column.kind != CATEGORY or OTHER in column.levels:
        return field
    levels = sorted(pc.unique(as_texts(examined.cells(field.name)).drop_null()).to_pylist())
    few = len(levels) <= _MOST_LEVELS
    return field.model_copy(update={"categories": tuple(levels)}) if few else field


def _rows_without(sample: SampledTable, use: Use) -> list[Finding]:
    """Return a question about rows without an outcome."""
    outcome = use.outcome
    if outcome is None or outcome.rows_without is not None:
        return []
    cells = sample.keys[outcome.field]
    words = {word.lower() for word in NO_VALUE}
    gone = sum(value is None or str(value).lower() in words for value in cells.to_pylist())
    if not gone or gone == len(cells):
        return []
    text = f"Column {outcome.field!r}: {Count(gone)} rows have no outcome."
    return [Finding(text, (outcome.field,), (LEAVE_ROWS_OUT,), check=LABEL)]


def as_questions(findings: Sequence[Finding]) -> tuple[OpenQuestion, ...]:
    """Return a question for each finding, and one for all leaks of a check."""
    merged = [finding for finding in findings if finding.check not in LEAKS]
    for check in LEAKS:
        alike = [finding for finding in findings if finding.check == check]
        names = tuple(name for finding in alike for name in finding.fields)
        reasons = [f"{finding.text.rstrip('?')}." for finding in alike[:_MOST_NAMED]]
        if names[_MOST_NAMED:]:
            reasons.append(f"Likewise {', '.join(map(repr, names[_MOST_NAMED:]))}.")
        for first in alike[:1]:
            merged.append(first._replace(fields=names, text=f"{' '.join(reasons)} {KNOWN}"))
    return tuple(
        OpenQuestion(
            check=finding.check, fields=finding.fields, question=str(finding.text),
            answers=finding.answers, values=finding.values,
        )
        for finding in merged
    )  # fmt: skip


def _name(path: StrPath) -> str:
    """Return the name of a resource, which has small letters, digits, dots, dashes and slashes."""
    return re.sub(r"[^a-z0-9._-]+", "-", Path(path).stem.lower()).strip("-") or "table"
