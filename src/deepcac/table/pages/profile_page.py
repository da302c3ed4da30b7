"""`deepcac profile`: a page on the columns of a table, with or without a label."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deepcac.errors import DataError
from deepcac.files.atomic import atomic_path
from deepcac.scoring.small_cells import FEW, format_count, format_percentage
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.columns.cell_reader import CellReader
from deepcac.table.columns.cell_rules import CellRules, uniform
from deepcac.table.columns.cells import plain
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import KEEP, LEAVE_OUT, TEXT, Outcome
from deepcac.table.columns.roles import Roles
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.page_text import quotable
from deepcac.table.pages.own_figures import missingness
from deepcac.table.pages.own_pages import write_page
from deepcac.table.reading.class_labels import ClassLabels, class_labels, standing_alone
from deepcac.table.reading.column_lines import HEAD, column_lines
from deepcac.table.reading.column_parts import MISSING, ColumnParts, column_parts
from deepcac.table.reading.inferred_description import infer_description
from deepcac.table.reading.label_leaks import label_leaks, unused_times
from deepcac.table.reading.labelled_table import check_sizes
from deepcac.table.reading.row_sample import SampledTable, sample_rows
from deepcac.table.reading.table_encoder import CATEGORY, OTHER, TableEncoder, learn_encoder
from deepcac.table.reading.table_faults import (
    Fault,
    outcome_faults,
    refused_column,
    table_faults,
)
from deepcac.table.reading.table_files import read_blocks
from deepcac.types import Array, Ids

_RARE = "(a rare class)"
_SIGNS = ("decimal .", "decimal ,")  # answers that say which sign stands before decimals
_RATES_HEAD = ("column", "level or quarter", "rows")


def write_profile_page(
    path: StrPath,
    out: StrPath,
    run: TableRun,
    *,
    label: str | None = None,
    sheet: str | None = None,
    description: Path | None = None,
) -> tuple[TableEncoder, list[str]]:
    """Describe a table on a page; a fault of a column is named, and never stops it.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write. Of a `DescribedTable` the outcome is known.
    run : TableRun
        Is told the classes of the label, with their rows.
    label : str, optional
        Column whose rates are shown for each level and each quarter of the others.
    sheet : str, optional
        Of a spreadsheet that has several.
    description : path-like, optional
        The description to write, of a table that has none.

    Returns
    -------
    TableEncoder, list of str
        What each column is, and what to look at first.
    """
    check_output(out, path)
    if description is not None:
        check_output(description, path, option="--description")
    described = path.description if isinstance(path, DescribedTable) else None
    outcome = None if described is None else described.resource.use.outcome
    asked = Outcome(field=uniform(label)) if label else outcome
    table = _read(path, run, asked, sheet)
    named, faults = _labels(table, asked)
    if named is not None:
        run.say(named[1].sentence)
    faults += _faults(table, named)
    if named is not None and asked is not None and asked.above is not None:
        faults += outcome_faults(table.sample.rows, Roles(asked.field, above=asked.above), None)
    leaks = _leaks(table.encoder, table.X, named, table.sample.number)
    if description is not None:
        resource = infer_description(
            path, table.sample.rows, table.encoder, table.reader, leaks, faults,
            _outcome_of(asked, named),
        )  # fmt: skip
        with atomic_path(description) as partial:
            Path(partial).write_text(resource.to_yaml(), "utf-8")
    faults = [*leaks, *faults]
    shown = [fault.text for fault in faults]
    faults += [Fault(line) for line in (*table.reader.notices, *_words(table))]
    write_page(
        out,
        "profile.html",
        {
            "command": run.command,
            "name": Path(path).name,
            "label": asked and asked.field,
            "names": _names(table.encoder, named),
            "faults": shown,
            "leaks": [fault.text for fault in leaks],
            "description": description and Path(description).name,
            **_columns(table, named),
        },
    )
    return table.encoder, [fault.text for fault in faults]


def _outcome_of(asked: Outcome | None, named: tuple[str, ClassLabels] | None) -> Outcome | None:
    """Return the outcome with the class that was taken for the event."""
    if asked is None or named is None or len(named[1].classes) != 2 or asked.above is not None:
        return asked
    return asked.model_copy(update={"event": named[1].classes[1]})


@dataclass(frozen=True)
class _ReadTable:
    """A sample of a table as it was read: `keys` and `skip` are no predictors."""

    reader: CellReader
    sample: SampledTable
    encoder: TableEncoder
    X: Array
    keys: Mapping[str, str]
    skip: Mapping[str, str]
    refused: Mapping[str, str]  # columns that are not read, with the reason


def _read(path: StrPath, run: TableRun, asked: Outcome | None, sheet: str | None) -> _ReadTable:
    skip: dict[str, str] = {}
    rules = CellRules(sheet=sheet)
    if isinstance(path, DescribedTable):
        skip = dict(path.description.resource.use.leave_out)
        rules = path.description.rules
    keys = {asked.field: "the label"} if asked else {}
    reader = CellReader(rules, strict=False)
    sample = sample_rows(read_blocks(path, reader), list(keys), most=run.rows, seed=run.seed)
    refused = {name: why for name, why in reader.mixed.items() if name not in keys}
    read = replace(reader.rules, decimal=reader.decimal)
    encoder = learn_encoder(sample.rows, sample.number, skip | keys, refused, read)
    X = np.empty((len(sample.number), 0))
    if encoder.used:
        X, _ = encoder.encode(sample.rows, sample.number)
    return _ReadTable(reader, sample, encoder, X, keys, skip, refused)


def _faults(table: _ReadTable, named: tuple[str, ClassLabels] | None) -> list[Fault]:
    """Return what is wrong with the predictors."""
    rows, outcome = table.sample.rows, None
    if named is not None:
        outcome = (named[0], named[1].codes[table.sample.number - 1], named[1].classes)
    predictors = rows.drop_columns([*table.skip, *(table.keys if named is None else ())])
    faults = [
        Fault(why, name, (*_SIGNS, TEXT, LEAVE_OUT))
        if name in table.reader.mixed
        else refused_column(name, why, plain(rows[name]))
        for name, why in table.refused.items()
    ]
    faults += table_faults(predictors, table.encoder, table.X, outcome)
    if not (table.encoder.used or table.refused):
        faults.append(Fault("no column is left to predict from"))
    return faults


def _columns(table: _ReadTable, named: tuple[str, ClassLabels] | None) -> dict[str, object]:
    """Return what the page shows of the columns, and of the outcome in their parts."""
    sample, encoder = table.sample, table.encoder
    n = len(sample.number)
    parts = [column_parts(column, table.X, encoder.places) for column in encoder.used if named]
    return {
        "drawn": "" if n == sample.total else format_count(n),
        "size": format_count(sample.total),
        "columns": {"head": HEAD, "rows": column_lines(sample.rows, encoder.columns)},
        "used": len(encoder.used),
        "missing": missingness(encoder.columns, n),
        **_outcome(parts, sample.number, encoder, named),
    }


def _leaks(
    encoder: TableEncoder, X: Array, named: tuple[str, ClassLabels] | None, number: Ids
) -> list[Fault]:
    """Return columns that give away the label or the row, each as a question."""
    if named is None:
        return []
    codes, classes = named[1].codes[number - 1], named[1].classes
    lines = label_leaks(encoder, X, codes, classes) + unused_times(encoder, X, codes, classes)
    names = [column.name for column in encoder.used]
    leaking = [[name for name in names if line.startswith(f"{name!r} ")] for line in lines]
    return [
        Fault(line, name[0], (LEAVE_OUT, KEEP)) if name else Fault(line)
        for line, name in zip(lines, leaking, strict=True)
    ]


def _words(table: _ReadTable) -> list[str]:
    return table.reader.words_for_missing(
        [
            column.name
            for column in table.encoder.columns
            if column.kind == CATEGORY or column.name in table.keys
        ]
    )


def _names(encoder: TableEncoder, named: tuple[str, ClassLabels] | None) -> frozenset[str]:
    """Return what the page may quote."""
    label, labels = named or ("", None)
    if labels is None:
        return quotable(encoder.columns)
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    common = [level for level, count in zip(labels.classes, counts, strict=True) if count >= FEW]
    return quotable(encoder.columns, (*common, label))


def _labels(
    table: _ReadTable, asked: Outcome | None
) -> tuple[tuple[str, ClassLabels] | None, list[Fault]]:
    """Return the label column and its classes, and what is wrong with it."""
    if asked is None:
        return None, []
    label, sample = asked.field, table.sample
    try:
        labels = class_labels(
            sample.keys[label], label, positive=asked.event, above=asked.above,
            words=table.reader.counted(label),
        )  # fmt: skip
    except DataError as error:
        return None, [Fault(str(error))]
    try:
        check_sizes(labels.codes[sample.number - 1], labels.classes, sample.complete)
    except DataError as error:
        return (label, labels), [Fault(str(error))]
    return (label, labels), []


def _outcome(
    parts: list[ColumnParts],
    number: Ids,
    encoder: TableEncoder,
    named: tuple[str, ClassLabels] | None,
) -> dict[str, object]:
    """Return the classes, and their shares in the parts of each column.

    Parts are levels of a category and quarters of a number.
    """
    if named is None:
        return {"rates": None}
    label, labels = named
    codes = labels.codes[number - 1]
    counts = np.bincount(codes, minlength=len(labels.classes))
    shown = standing_alone(labels.classes, label)
    classes = tuple(
        name if count >= FEW else _RARE for name, count in zip(shown, counts, strict=True)
    )
    lines = [
        (column.name, *line)
        for column, part in zip(encoder.used, parts, strict=True)
        for line in part_lines(part, codes, len(classes))
    ]
    return {
        "rates": {"head": (*_RATES_HEAD, *classes), "rows": lines},
        "shares": _shares(codes, classes),
        "classes": labels.sentence,
    }


def _shares(codes: Ids, names: tuple[str, ...]) -> str:
    """Return the share of the positive class of two, of every class of more."""
    counts = np.bincount(codes, minlength=len(names))
    lines = [
        f"{format_percentage(count, len(codes))} {name}"
        for name, count in zip(names, counts, strict=True)
    ]
    return ", ".join(lines[1:] if len(lines) == 2 else lines)


def part_lines(parts: ColumnParts, codes: Ids, n_classes: int) -> Iterator[tuple[str, ...]]:
    """Yield name, rounded size and class shares of each part; a rare value is not named."""
    counts = np.zeros((len(parts.names), n_classes), dtype=np.int64)
    np.add.at(counts, (parts.number, codes), 1)
    sizes = counts.sum(axis=1)
    rare = [
        n < FEW and name not in (OTHER, MISSING) for name, n in zip(parts.names, sizes, strict=True)
    ]
    for j, (name, n, shares) in enumerate(zip(parts.names, sizes, counts, strict=True)):
        shown = "rare values" if rare[j] else name
        if not parts.exact and any(rare[max(j - 1, 0) : j + 2]) and not rare[j]:
            shown = "other values"  # its end is a value of few rows
        yield (shown, format_count(n), *(format_percentage(count, n) for count in shares))
