"""`deepcac profile`: a page on the columns of a table, with or without a label."""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from deepcac.errors import DataError
from deepcac.scoring.small_cells import FEW, format_count, format_percentage
from deepcac.table.budgeted_trials import TableRun
from deepcac.table.output_files import StrPath, check_output
from deepcac.table.page_text import quotable, tells_of_few
from deepcac.table.pages.own_figures import missingness
from deepcac.table.pages.own_pages import write_page
from deepcac.table.reading.cell_reader import CellReader
from deepcac.table.reading.cell_rules import CellRules, uniform
from deepcac.table.reading.cells import plain
from deepcac.table.reading.class_labels import ClassLabels, class_labels, standing_alone
from deepcac.table.reading.column_lines import HEAD, column_lines
from deepcac.table.reading.column_parts import MISSING, ColumnParts, column_parts
from deepcac.table.reading.label_leaks import label_leaks, unused_times
from deepcac.table.reading.labelled_table import check_sizes
from deepcac.table.reading.roles import Roles
from deepcac.table.reading.row_sample import SampledTable, sample_rows
from deepcac.table.reading.table_encoder import CATEGORY, OTHER, TableEncoder, learn_encoder
from deepcac.table.reading.table_faults import (
    Fault,
    mending_command,
    outcome_faults,
    refused_column,
    table_faults,
)
from deepcac.table.reading.table_files import read_blocks
from deepcac.types import Array, Ids

_RARE = "(a rare class)"
_RATES_HEAD = ("column", "level or quarter", "rows")


def write_profile_page(
    path: StrPath,
    out: StrPath,
    run: TableRun,
    *,
    label: str | None = None,
    positive: str | None = None,
    above: float | None = None,
    rules: CellRules | None = None,
) -> tuple[TableEncoder, list[str], str]:
    """Describe a table on a page; a fault of a column is named, and never stops it.

    Parameters
    ----------
    path, out : path-like
        Table to read, page to write.
    run : TableRun
        Is told the classes of the label, with their rows.
    label : str, optional
        Column whose rates are shown for each level and each quarter of the others.
    positive, above
        As of `Roles`.
    rules : CellRules, optional
        How cells are read.

    Returns
    -------
    TableEncoder, list of str, str
        What each column is, what to look at first, and the comparison with the options that the
        faults ask for.
    """
    check_output(out, path)
    label = uniform(label) if label else None
    table = _read(path, run, label, rules)
    named, faults = _labels(table.sample, label, positive, above, table.reader)
    if named is not None:
        run.say(named[1].sentence)
    faults += _faults(table, named)
    if named is not None and label:
        faults += outcome_faults(table.sample.rows, Roles(label, above=above), None)
    leaks = _leaks(table.encoder, table.X, named, table.sample.number)
    asked = {"--positive": positive, "--above": above}
    typed = [*_typed(path, asked), *table.reader.rules.options()]
    mend = mending_command(typed, label, [*leaks, *faults])
    for_page = [fault for fault in (*leaks, *faults) if not tells_of_few(fault.text)]
    # The notices of the reader ask for no option of the comparison.
    lines = (*table.reader.notices, *table.reader.unused_codes(), *_words(table))
    faults += [Fault(line) for line in lines]
    content = {
        "command": run.command,
        "name": Path(path).name,
        "label": label,
        "names": _names(table.encoder, named),
        "faults": [fault.text for fault in faults],
        "mend": mending_command(typed, label, for_page),
        "leaks": [fault.text for fault in leaks],
        **_columns(table, named),
    }
    write_page(out, "profile.html", content)
    return table.encoder, [fault.text for fault in (*leaks, *faults)], mend


@dataclass(frozen=True)
class _ReadTable:
    """A sample of a table as it was read: `keys` are no predictors."""

    reader: CellReader
    sample: SampledTable
    encoder: TableEncoder
    X: Array
    keys: Mapping[str, str]
    refused: Mapping[str, str]  # columns that are not read, with the reason


def _read(path: StrPath, run: TableRun, label: str | None, rules: CellRules | None) -> _ReadTable:
    keys = {label: "the label"} if label else {}
    reader = CellReader(rules, strict=False)
    sample = sample_rows(read_blocks(path, reader), list(keys), most=run.rows, seed=run.seed)
    reader.rules.refuse_unknown(sample.rows.column_names)
    refused = {name: why for name, why in reader.mixed.items() if name not in keys}
    read = replace(reader.rules, decimal=reader.decimal)
    encoder = learn_encoder(sample.rows, sample.number, keys, refused, read)
    X = np.empty((len(sample.number), 0))
    if encoder.used:
        X, _ = encoder.encode(sample.rows, sample.number)
    return _ReadTable(reader, sample, encoder, X, keys, refused)


def _faults(table: _ReadTable, named: tuple[str, ClassLabels] | None) -> list[Fault]:
    """Return what is wrong with the predictors."""
    rows, outcome = table.sample.rows, None
    if named is not None:
        outcome = (named[0], named[1].codes[table.sample.number - 1], named[1].classes)
    predictors = rows.drop_columns([*table.keys]) if named is None else rows
    faults = [refused_column(name, why, plain(rows[name])) for name, why in table.refused.items()]
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
    """Return columns that give away the label or the row, with the option that leaves them out."""
    if named is None:
        return []
    codes, classes = named[1].codes[number - 1], named[1].classes
    lines = label_leaks(encoder, X, codes, classes) + unused_times(encoder, X, codes, classes)
    names = [column.name for column in encoder.used]
    leaking = [[name for name in names if line.startswith(f"{name!r} ")] for line in lines]
    return [
        Fault(line, f"--drop {shlex.quote(name[0])}" if name else "")
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


def _typed(path: StrPath, asked: Mapping[str, object]) -> list[str]:
    """Return what names a table on the command line, and the options that say how it is read."""
    given = [(option, str(value)) for option, value in asked.items() if value is not None]
    return [os.fspath(path), *chain.from_iterable(given)]


def _labels(
    sample: SampledTable,
    label: str | None,
    positive: str | None,
    above: float | None,
    reader: CellReader,
) -> tuple[tuple[str, ClassLabels] | None, list[Fault]]:
    """Return the label column and its classes, and what is wrong with it."""
    if not label:
        return None, []
    try:
        labels = class_labels(
            sample.keys[label], label, positive=positive, above=above, words=reader.counted(label)
        )
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
