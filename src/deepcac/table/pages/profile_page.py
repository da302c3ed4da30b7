"""`deepcac profile`: a page on the columns of a table, with or without a label."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from deepcac.files.atomic import atomic_path
from deepcac.files.output_files import StrPath, check_output
from deepcac.pages.sections import Block, Remarks, Section
from deepcac.pages.tables import Table
from deepcac.scoring.small_cells import FEW, RULES, Count, OfSome, Rule, Share, Text
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.described_rows import (
    DescribedTable,
    add_questions,
    as_yaml,
    find_description,
)
from deepcac.table.columns.description import (
    Outcome,
    Use,
)
from deepcac.table.findings.examination import ExaminedTable
from deepcac.table.inference.described_table import InferredTable, describe_table, examine_table
from deepcac.table.pages.column_tables import column_blocks
from deepcac.table.pages.page_sections import Page, quotable, write_page
from deepcac.table.reading.outcomes import Outcomes, standing_alone
from deepcac.table.reading.table_encoder import (
    MISSING,
    OTHER,
    ColumnParts,
    TableEncoder,
    column_parts,
)
from deepcac.types import Ids

_RARE = "(a rare class)"
_RATES_HEAD = ("column", "level or quarter", "rows")


def write_profile_page(
    path: StrPath,
    out: StrPath,
    run: TableRun,
    *,
    label: str | None = None,
    sheet: str | None = None,
    description: StrPath | None = None,
) -> tuple[TableEncoder, list[str]]:
    """Describe a table on a page and in a file; a fault of a column is named, and never stops it.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write.
    run : TableRun
        Is told the classes of the label, with their rows.
    label : str, optional
        Column whose rates are shown for each level and each quarter of the others; that of the
        description if None.
    sheet : str, optional
        Of a spreadsheet that has several.
    description : path-like, optional
        The description: questions that are new are added to one that exists. It is not written if
        None.

    Returns
    -------
    TableEncoder, list of str
        What each column is, and what is to be decided.
    """
    check_output(out, path)
    if description is not None:
        check_output(description, path, option="--description")
    file = None if description is None else Path(description)
    described = _describe(path, run, label, sheet, file)
    table = described.table
    if table.outcome is not None:
        run.say(table.outcome.sentence)
    use = described.description.use
    faults = [asked.question for asked in use.open_questions()]
    faults += filter(None, [described.refused])
    if not table.encoder.used:
        faults.append("no column is left to predict from")
    name = Path(path).name
    outcome = use.outcome and use.outcome.field
    answer = Answer(f"What is in {name}?", also=[_size(table, described.total)])
    sections = [
        Section("answer", "Columns and outcome", _first(table, faults, file)),
        Section("columns", "Columns", column_blocks(table.rows, table.encoder.columns)),
        *_outcome_section(table, str(outcome)),
    ]
    page = Page(f"What is in {name}?", answer, sections, run.command, _names(table))
    write_page(out, page, exact=run.exact)
    return table.encoder, faults


def _size(table: ExaminedTable, total: int) -> str:
    """Describe how many rows and columns there are."""
    n, columns = len(table.number), table.encoder.columns
    drawn = "" if n == total else Text(", of which {} drawn at random are described", Count(n))
    of_use = len(table.encoder.used), len(columns)
    return Text("{} rows{}; {} of {} columns are used", Count(total), drawn, *of_use)


def _first(table: ExaminedTable, faults: list[str], file: Path | None) -> list[Block]:
    """Return what to look at first, and the classes."""
    blocks: list[Block] = []
    if faults:
        way = f"Answer the questions in {file.name}, or mend the table." if file else ""
        blocks.append(Section("faults", "Look at these first", [Remarks(faults), way]))
    if table.outcome is not None:
        blocks.append(Remarks([table.outcome.sentence]))
    return blocks


def _describe(
    path: StrPath, run: TableRun, label: str | None, sheet: str | None, file: Path | None
) -> InferredTable:
    """Find out how a table is read, or look at one that is described; write what is new."""
    existing = find_description(path, file) if file is not None and file.is_file() else None
    if existing is None:
        use = Use(outcome=Outcome(field=label) if label else None)
        described = describe_table(path, use, sheet=sheet, rows=run.rows, seed=run.seed)
        if file is not None:
            with atomic_path(file) as unfinished:
                text = as_yaml(described.description.resource)
                Path(unfinished).write_text(text, "utf-8")
        return described
    described = examine_table(
        DescribedTable(path, existing.with_roles(label)), rows=run.rows, seed=run.seed
    )
    before = existing.use.questions
    new = described.description.use.questions[len(before) :]
    if new and file is not None:
        add_questions(file, new)
    return described


def _names(table: ExaminedTable) -> frozenset[str]:
    """Return what the page may quote."""
    columns = table.encoder.columns
    if table.outcome is None:
        return quotable(columns)
    counts = table.outcome.counts
    common = [name for name, n in zip(table.outcome.classes, counts, strict=True) if n >= FEW]
    return quotable(columns, (*common, table.description.outcome.field))


def _shown_classes(table: ExaminedTable, outcome: Outcomes) -> tuple[str, ...]:
    """Return the names of the classes; a rare one is not named."""
    shown = standing_alone(outcome.classes, table.description.outcome.field)
    named = zip(shown, outcome.counts, strict=True)
    return tuple(OfSome(name, n, instead=_RARE) for name, n in named)


def _outcome_section(table: ExaminedTable, label: str) -> list[Section]:
    """Return the shares of the classes in each level of a category and quarter of a number."""
    if table.outcome is None:
        return []
    named = _shown_classes(table, table.outcome)
    lines = [
        (column.name, *line)
        for column in table.encoder.used
        for line in part_lines(
            column_parts(column, table.X, table.encoder.places), table.outcome.codes, len(named)
        )
    ]
    rates = Table.of_texts("rates", "Outcome by column", (*_RATES_HEAD, *named), lines, n_labels=2)
    note = "Shares of the classes in each level of a category and each quarter of a number."
    return [Section("rates", f"{label} by column", [rates, note], "Outcome by column")]


def part_lines(parts: ColumnParts, codes: Ids, n_classes: int) -> Iterator[tuple[str, ...]]:
    """Yield name, size and class shares of each part."""
    counts = np.zeros((len(parts.names), n_classes), dtype=np.int64)
    np.add.at(counts, (parts.number, codes), 1)
    sizes = counts.sum(axis=1)
    names = zip(*(_part_names(parts, sizes, rule) for rule in RULES), strict=True)
    for name, n, shares in zip(names, sizes, counts, strict=True):
        yield (Text.of(*name), Count(n), *(Share(count, n) for count in shares))


def _part_names(parts: ColumnParts, sizes: Ids, rule: Rule) -> Iterator[str]:
    """Yield the names of parts; a rare value is not named."""
    rare = [
        n < rule.few and name not in (OTHER, MISSING)
        for name, n in zip(parts.names, sizes, strict=True)
    ]
    for j, name in enumerate(parts.names):
        near = not parts.exact and any(rare[max(j - 1, 0) : j + 2])
        # The end of a part next to a rare one is a value of few rows.
        yield "rare values" if rare[j] else "other values" if near else name
