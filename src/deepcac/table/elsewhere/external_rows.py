"""The rows of a second table, in the columns and classes of the first."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.preprocess import TableScaler
from deepcac.scoring.censored import FollowUp, joined
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.columns.cell_texts import NAMES_A_PATIENT
from deepcac.table.columns.cells import as_texts, is_numeric, is_text, numbers, plain, same_names
from deepcac.table.columns.roles import Roles
from deepcac.table.elsewhere.folds import FEWEST_TO_JUDGE, Fold, left_out
from deepcac.table.findings.examination import patient_cells
from deepcac.table.findings.odd_values import odd_outcomes, odd_values
from deepcac.table.findings.repeated_rows import copied_rows, telling_rows
from deepcac.table.inference.labelled_table import LabelledTable, describe_like
from deepcac.table.output_files import StrPath
from deepcac.table.reading.class_labels import class_labels
from deepcac.table.reading.outcomes import Outcomes, read_outcomes
from deepcac.table.reading.row_sample import SampledTable, sample_rows
from deepcac.table.reading.table_encoder import ABSENT, CATEGORY, ID_NOTE, LEFT_OUT, NUMBER
from deepcac.table.reading.table_files import read_blocks
from deepcac.table.reading.unfamiliar_rows import Unfamiliar, outcome_moved, with_quantiles
from deepcac.types import Array, Ids

_MOST_NAMED = 10
_DENSE = 0.8  # of the numbers between the first and the last, of a count of patients


class ExternalRows(NamedTuple):
    """What a second table adds.

    Attributes
    ----------
    fold : Fold
        All of the first table to learn from, the second to judge.
    remarks : list of str
        Columns, levels, ids and rows that differ, or that should.
    judged : LabelledTable
        The rows that are judged, with the columns that all the tables have.
    """

    fold: Fold
    remarks: list[str]
    judged: LabelledTable


class SecondTable(NamedTuple):
    """One further table, in the columns and classes of the first: n rows."""

    name: str
    sample: SampledTable
    X: Array
    codes: Ids
    follow: FollowUp | None
    patient: pa.ChunkedArray | None
    warnings: list[str]


def external_rows(
    table: LabelledTable,
    roles: Roles,
    paths: Sequence[StrPath],
    *,
    rows: int,
    seed: int,
) -> ExternalRows:
    """Read further tables as the first one was read.

    Parameters
    ----------
    roles : Roles
        Of the columns of all.
    paths : sequence of path-like
    rows, seed : int
        Of their samples, as of `read_labelled`.

    Raises
    ------
    DataError
        A column is missing, the classes are others, one has fewer than ten rows, or most rows of a
        column are unlike those of the first table (another unit, another coding).
    """
    stems = [Path(path).stem for path in paths]
    names = [
        stem if stems.count(stem) == 1 else str(path)
        for stem, path in zip(stems, paths, strict=True)
    ]
    others = [
        _second_table(table, roles, path, name, (rows, seed))
        for path, name in zip(paths, names, strict=True)
    ]
    fold = _fold(table, roles, others)
    if not fold.learnable:
        raise DataError(
            f"of {table.name} too few rows of a class are left to learn from without the patients "
            "of the other tables; name patients of another place"
        )
    remarks = [line for other in others for line in _remarks(table, roles, other)]
    if dropped := len(table.features.label) - len(fold.fit):
        remarks.append(f"{_count(dropped)} rows of patients in both tables are not learnt from.")
    return ExternalRows(fold, remarks, _judged(table, fold, others))


def _second_table(
    table: LabelledTable,
    roles: Roles,
    path: StrPath,
    name: str,
    drawn: tuple[int, int],
) -> SecondTable:
    """Read one further table; `drawn` are the most rows and the seed of its sample."""
    rows, seed = drawn
    keys = [roles.label, *filter(None, [roles.group, roles.time])]
    asked = [*keys, *(column.name for column in table.encoder.used)]
    like = table.description.reduced(table.description.fields)
    try:
        blocks = read_blocks(describe_like(path, like, asked))
        other = sample_rows(blocks, keys, group=roles.group, most=rows, seed=seed)
        if roles.known_only:
            other = other.labelled(roles.label)
        _refuse_missing(table, other)
        moved = _moved_outcomes(table, roles, other)
        outcomes = _outcomes(table, roles, other)
        X, _ = table.encoder.encode(other.rows, other.number)
        encoder = with_quantiles(table.encoder, table.features.X)
        strange = Unfamiliar.of(encoder, TableScaler().fit(table.features.X))
        strange.add(X, other.rows)
        unlike = strange.tell() + moved
        patient = patient_cells(other, roles.group) if roles.group else None
    except DataError as error:
        raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
    odd = [
        *(f for n in table.encoder.used if n.kind == NUMBER
          for f in odd_values(n.name, X[:, table.encoder.places[n.name]])),
        *odd_outcomes(other.rows, roles, outcomes.follow),
    ]  # fmt: skip
    copies = copied_rows(X, outcomes.codes, outcomes.classes)
    warnings = [
        f"Label in {name}: {outcomes.counted}.",
        *(f"Warning: in {name} {line}." for line in unlike),
        *(f"In {name}: {line}" for line in (*(finding.text for finding in odd), copies) if line),
    ]
    return SecondTable(name, other, X, outcomes.codes, outcomes.follow, patient, warnings)


def _moved_outcomes(table: LabelledTable, roles: Roles, other: SampledTable) -> list[str]:
    """Say where follow-up times, or numbers of a label, are of another size than the first's."""
    pairs: list[tuple[str, Array, Array]] = []
    if roles.time is not None and table.follow is not None:
        times = numbers(plain(other.rows[roles.time]), roles.time, other.number)
        pairs.append((roles.time, times, table.follow.time))
    if roles.above is not None:
        here, there = (
            numbers(plain(rows[roles.label]), roles.label) for rows in (other.rows, table.rows)
        )
        pairs.append((roles.label, here, there))
    lines: list[str] = []
    for name, values, others in pairs:
        text, surely = outcome_moved(values[~np.isnan(values)], others, f"in {table.name}")
        if surely:
            raise DataError(f"column {name!r}: {text}; use one unit")
        lines += [f"column {name!r}: {text}"] * bool(text)
    return lines


def _fold(table: LabelledTable, roles: Roles, others: list[SecondTable]) -> Fold:
    """Return the fold that learns from the first table and judges each of the others."""
    learnt = table.features
    offsets = np.cumsum([table.total, *(other.sample.total for other in others)])
    ids = [offset + other.sample.number for offset, other in zip(offsets, others, strict=False)]
    features = FeatureMatrix(
        np.concatenate([learnt.row_id, *ids]),
        np.concatenate([learnt.label, *(other.codes for other in others)]),
        np.vstack([learnt.X, *(other.X for other in others)]),
        learnt.names,
    )
    ends = np.cumsum([0, *(len(other.codes) for other in others)])
    parts = tuple(
        (other.name, np.arange(first, last))
        for other, first, last in zip(others, ends[:-1], ends[1:], strict=True)
    )
    unit = None
    if roles.group:
        unit = _units([plain(table.rows[roles.group]), *(other.patient for other in others)])
    fold = left_out(
        others[0].name, features, np.arange(len(features.label)) >= len(learnt.label), unit
    )
    follow = joined([part for part in (table.follow, *(other.follow for other in others)) if part])
    return replace(fold, parts=parts, follow=follow)


def _judged(table: LabelledTable, fold: Fold, others: list[SecondTable]) -> LabelledTable:
    features = fold.features
    return replace(
        table,
        name=", ".join(other.name for other in others),
        rows=_same_columns([other.sample.rows for other in others]),
        features=FeatureMatrix(
            features.row_id[fold.test],
            features.label[fold.test],
            features.X[fold.test],
            features.names,
        ),
        group=None if fold.unit is None else fold.unit[fold.test],
        follow=None if fold.follow is None else fold.follow.take(fold.test),
    )


def _same_columns(tables: list[pa.Table]) -> pa.Table:
    """Return the rows of all tables in the columns that all have, as text where types differ.

    Columns of other types that are no text (lists, records) are left out.
    """
    first, *rest = tables
    columns = {}
    for name in first.column_names:
        if all(name in other.column_names for other in rest):
            parts = [plain(rows[name]) for rows in tables]
            alike = len({part.type for part in parts}) == 1
            try:
                texts = [part if alike else part.cast(pa.string()) for part in parts]
            except pa.ArrowException:
                continue
            columns[name] = pa.chunked_array([chunk for part in texts for chunk in part.chunks])
    return pa.table(columns)


def _remarks(table: LabelledTable, roles: Roles, other: SecondTable) -> list[str]:
    """Say what differs in a second table, or should."""
    sample = other.sample
    remarks = [
        *other.warnings,
        *_new_columns(table, sample),
        *_unseen_levels(table, sample),
        *_overlap(table, roles, other),
    ]
    if not sample.complete:
        remarks.append(
            Text(
                "Sampled: {} of {} rows of {}.",
                *(Count(len(other.codes)), Count(sample.total), other.name),
            )
        )
    return remarks


def _refuse_missing(table: LabelledTable, other: SampledTable) -> None:
    used = [column.name for column in table.encoder.used]
    missing = [name for name in used if name not in other.rows.column_names]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise DataError(
            f"column {missing[0]!r} is missing{more}; add it, or leave it out in the description "
            "of the first table"
        )


def _outcomes(table: LabelledTable, roles: Roles, other: SampledTable) -> Outcomes:
    """Return class ids by the classes of the first table, and the follow-up."""
    words = class_labels(other.keys[roles.label], roles.label, above=roles.above).classes
    first = [word for word in table.words if word not in roles.competing]
    rest = set(words) - set(roles.competing)
    if rest != set(first):
        raise DataError(
            f"column {roles.label!r} holds {', '.join(sorted(rest))}; in {table.name} it "
            f"holds {', '.join(sorted(first))}; code both alike"
        )
    two = len(first) == 2 and roles.above is None
    there = tuple(value for value in roles.competing if value in words)
    asked = replace(roles, positive=first[1] if two else None, competing=there)
    outcomes = read_outcomes(other, asked)
    counts = np.bincount(outcomes.codes, minlength=len(table.classes))
    if counts.min() < FEWEST_TO_JUDGE:
        raise DataError(
            f"class {table.classes[int(counts.argmin())]!r} has fewer than {FEWEST_TO_JUDGE} rows; "
            "too few to judge on"
        )
    return outcomes


def _units(patients: list[pa.ChunkedArray]) -> Ids:
    names = [same_names(cells).to_pandas() for cells in patients]
    return pd.factorize(pd.concat(names))[0].astype(np.int64)


def _new_columns(table: LabelledTable, other: SampledTable) -> list[str]:
    new = [name for name in other.rows.column_names if name not in table.rows.column_names]
    return [f"Columns that {table.name} has not are not used: {_listed(new)}."] if new else []


def _unseen_levels(table: LabelledTable, other: SampledTable) -> list[str]:
    """Name levels that the first table has not; those of fewer than eight rows are counted."""
    sentences: list[str] = []
    for column in (entry for entry in table.encoder.used if entry.kind == CATEGORY):
        cells = plain(other.rows[column.name])
        blank = int(pc.sum(pc.is_null(cells, nan_is_null=True)).as_py() or 0)
        if blank and ABSENT not in column.levels:
            sentences.append(
                Text(
                    "Column {!r} is empty in {} rows, and in none of {}. The models know nothing "
                    "of such rows.",
                    *(column.name, Count(blank), table.name),
                )
            )
        levels = set(as_texts(plain(table.rows[column.name])).to_pandas())
        counts = as_texts(cells.drop_null()).to_pandas().value_counts()
        new = counts[~counts.index.isin(levels)]
        if len(new):
            shown = sorted(str(name) for name, n in new.items() if n >= FEW)
            rare = [f"{len(new) - len(shown)} rare"] * (len(shown) < len(new))
            rows = int(new.sum())
            sentences.append(
                Text(
                    "Column {!r}: levels that {} has not, in {} rows: {}. The models know nothing "
                    "of them.",
                    *(column.name, table.name, Count(rows), _listed([*shown, *rare])),
                )
            )
    return sentences


def _overlap(table: LabelledTable, roles: Roles, other: SecondTable) -> list[str]:
    """Say if rows or ids of the second table stand in the first."""
    sentences = []
    second = other.sample.rows
    both = _in_both(table.rows, second, roles.id) if roles.id in second.column_names else 0
    if both:
        sentences.append(
            f"Warning: {_count(both)} ids stand in both tables; the same patients are no test."
        )
    for name in () if roles.id or roles.group else _id_columns(table, second):
        if (both := _in_both(table.rows, second, name)) >= FEW:
            sentences.append(
                f"Warning: {Count(both)} values of column {name!r} stand in both tables. "
                "If they are patients, the same patients are no test: make it the patient of the "
                "description."
            )
    features = table.features
    first = {row.tobytes() for row in np.column_stack([features.X, features.label])}
    rows = np.column_stack([other.X, other.codes])[telling_rows(other.X)]
    if same := sum(row.tobytes() in first for row in rows):
        sentences.append(
            f"{_count(same)} of {len(rows):,} rows are equal to a row of {table.name} in every "
            "column; make sure that they are other patients."
        )
    return sentences


def _id_columns(table: LabelledTable, second: pa.Table) -> list[str]:
    """Return the columns of both tables that are left out and may be ids, but count no rows."""
    return [
        column.name
        for column in table.encoder.columns
        if column.kind == LEFT_OUT
        and (ID_NOTE in column.note or NAMES_A_PATIENT.fullmatch(column.name))
        and column.name in second.column_names
        and not any(_no_ids(plain(rows[column.name])) for rows in (table.rows, second))
    ]


def _no_ids(cells: pa.ChunkedArray) -> bool:
    """Tell whether cells are no texts or numbers, or count the rows from the first to the last."""
    if not (is_text(cells.type) or is_numeric(cells.type)):
        return True
    ids = pd.to_numeric(same_names(cells.drop_null()).to_pandas(), errors="coerce").unique()
    return bool(len(ids) >= _DENSE * (np.max(ids, initial=0) - np.min(ids, initial=0)))


def _in_both(first: pa.Table, second: pa.Table, name: str | None) -> int:
    """Return how many ids are in both tables."""
    ids = [set(same_names(plain(rows[name]).drop_null()).to_pylist()) for rows in (first, second)]
    return len(ids[0] & ids[1])


def _count(n: int) -> str:
    return Count(n).capitalize()


def _listed(names: list[Any]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(map(str, names[:_MOST_NAMED])) + (f" and {rest} more" if rest > 0 else "")
