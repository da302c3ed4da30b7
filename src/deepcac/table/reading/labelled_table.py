"""A table with a label, checked and ready to be judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.feature_matrix import RESERVED, FeatureMatrix
from deepcac.judging.draws import units
from deepcac.scoring.censored import FollowUp
from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.cell_reader import CellReader
from deepcac.table.columns.cells import refuse_missing
from deepcac.table.columns.column_types import row_names, same_names
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.roles import ROLES, Roles
from deepcac.table.limits import MOST_ROWS
from deepcac.table.output_files import StrPath
from deepcac.table.reading.class_labels import label_sentence, standing_alone
from deepcac.table.reading.follow_up import check_divisible, horizon_remarks
from deepcac.table.reading.label_leaks import HEAD, label_leaks, other_times, unused_times
from deepcac.table.reading.outcomes import Outcomes, read_outcomes
from deepcac.table.reading.row_sample import SampledTable, sample_rows
from deepcac.table.reading.table_encoder import (
    CATEGORY,
    EncodedColumn,
    TableEncoder,
    learn_encoder,
)
from deepcac.table.reading.table_faults import outcome_faults, table_faults
from deepcac.table.reading.table_files import read_blocks
from deepcac.types import Array, Ids

FEWEST = 40  # rows below which nothing can be said
FEWEST_OF_A_CLASS = 8
_IN_SAMPLE = " in the sample, which --rows makes larger"


@dataclass(frozen=True)
class LabelledTable:
    """A table of one's own.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    rows : pyarrow.Table
        The rows that are used, as read.
    features : FeatureMatrix
        Of these rows; ``row_id`` is the number of the row in the file.
    classes : tuple of str
        What the class ids stand for.
    encoder : TableEncoder
    group : ndarray of shape (n,), int64, or None
        Rows with equal values stay in one part of a split.
    total : int
        Rows of the file.
    remarks : tuple of str
        What a reader must know: the positive class, sampling, columns that were left out.
    notices : tuple of str
        Lines for a terminal: they may name a row and its cell, which no page shows.
    leaks : tuple of str
        Columns that give away the label or the row (`label_leaks`); they are used like any other.
    follow : FollowUp or None
        Where the label is an event up to a horizon.
    label : str
        Its column.
    words : tuple of str
        Classes of the label column, as they stand in the table, and after them competing events.
    reader : CellReader
        Which read its cells.
    """

    name: str
    rows: pa.Table
    features: FeatureMatrix
    classes: tuple[str, ...]
    encoder: TableEncoder
    group: Ids | None
    total: int
    remarks: tuple[str, ...] = field(default=())
    leaks: tuple[str, ...] = field(default=())
    follow: FollowUp | None = None
    label: str = ""
    words: tuple[str, ...] = ()
    notices: tuple[str, ...] = field(default=())
    reader: CellReader = field(default_factory=CellReader)

    def tell(self, say: Callable[[str], None]) -> None:
        """Say everything that a reader must know."""
        for line in (*self.notices, *self.remarks):
            say(line)
        for line in (f"Warning: {HEAD}", *self.leaks) if self.leaks else ():
            say(line)

    def words_for_missing(self, column: str) -> str:
        """Return what is said of words of a column that were taken for missing."""
        return self.reader.counted(column)

    @property
    def rarest(self) -> int:
        """Rows of the rarest class: the events that a model can learn from."""
        return int(np.bincount(self.features.label).min())

    @property
    def rare_rows(self) -> str:
        """What the rows of the rarest class are called: events, where that class is the event."""
        return rare_rows(np.bincount(self.features.label))

    @property
    def shown_classes(self) -> tuple[str, ...]:
        """Names of the classes for a page."""
        return standing_alone(self.classes, self.label)

    @property
    def columns(self) -> tuple[EncodedColumn, ...]:
        """Every column of the file."""
        return self.encoder.columns


def read_labelled(
    path: StrPath, roles: Roles, *, rows: int = MOST_ROWS, seed: int = 0
) -> LabelledTable:
    """Read, check and encode a table.

    Parameters
    ----------
    path : path-like
        See `table_files.read_blocks`.
    roles : Roles
    rows : int
        Of more rows than this a sample is used.
    seed : int
        Of the sample.

    Raises
    ------
    DataError
        With column and row of what is at fault.
    """
    key_columns = filter(None, (roles.id, roles.group, roles.time))
    keys = list(dict.fromkeys([roles.label, *key_columns, *roles.apart]))
    reader = CellReader(roles.rules, unread=roles.drop, names=roles.row_names)
    blocks = read_blocks(path, reader)
    sample = sample_rows(blocks, keys, group=roles.group, most=rows, seed=seed)
    _check_dropped(sample.rows.column_names, roles)
    outcomes = read_outcomes(sample, roles, reader.counted(roles.label))
    if roles.id is not None:
        refuse_repeats(sample.keys[roles.id], roles.id)
    rules = replace(roles.rules, decimal=reader.decimal)
    patients = _groups(sample, roles.group, reader)
    encoder = learn_encoder(
        sample.rows, sample.number, roles.skipped(), rules=rules, patients=patients
    )
    if isinstance(path, DescribedTable):
        used = [*(column.name for column in encoder.used), *filter(None, [roles.id])]
        encoder = replace(encoder, description=path.description.reduced(used))
    X, _ = encoder.encode(sample.rows, sample.number)
    codes, classes, follow = outcomes.codes, outcomes.classes, outcomes.follow
    check_sizes(codes, classes, sample.complete)
    if follow is not None and roles.time is not None:
        check_divisible(follow, roles.time)
    if patients is not None:
        _check_patients(codes, classes, patients, roles)
    names = tuple(f"{name} (column)" if name in RESERVED else name for name in encoder.names)
    remarks = _remarks(sample, outcomes, encoder)
    remarks += reader.words_for_missing(_in_words(encoder, keys))
    predictors = sample.rows.drop_columns([*roles.skipped()])
    faults = outcome_faults(sample.rows, roles, outcomes.follow) + table_faults(
        predictors, encoder, X, (roles.label, codes, classes), grouped=roles.group is not None
    )
    return LabelledTable(
        name=Path(path).stem,
        rows=sample.rows,
        features=FeatureMatrix(sample.number, codes, X, names),
        classes=classes,
        encoder=encoder,
        group=patients,
        total=sample.total,
        remarks=(*remarks, *(fault.text for fault in faults)),
        leaks=_leaks(encoder, X, outcomes, roles.label),
        follow=follow,
        label=roles.label,
        words=(*outcomes.words, *roles.competing),
        notices=(*reader.notices, *reader.unused_codes()),
        reader=reader,
    )


def _in_words(encoder: TableEncoder, keys: Sequence[str]) -> list[str]:
    """Return the columns in which a word for a missing value might be a level or a name."""
    return [
        column.name for column in encoder.columns if column.kind == CATEGORY or column.name in keys
    ]


def _leaks(encoder: TableEncoder, X: Array, outcomes: Outcomes, label: str) -> tuple[str, ...]:
    """Return what is said of columns that know the outcome, the row or the follow-up."""
    codes, classes, follow = outcomes.codes, outcomes.classes, outcomes.follow
    leaks = label_leaks(encoder, X, codes, classes)
    if follow is None:
        return (*leaks, *unused_times(encoder, X, codes, classes))
    return (*leaks, *other_times(encoder, X, follow.time, label))


def _check_dropped(names: list[str], roles: Roles) -> None:
    for name in roles.drop:
        if name not in names:
            raise DataError(f"no column {name!r} to drop; there are {', '.join(names[:20])}")


def refuse_repeats(column: pa.ChunkedArray, name: str) -> None:
    """Refuse an id that is missing or stands twice, as 7 and as 007."""
    cells = row_names(column, name, "an id")
    refuse_missing(cells, name, "no id")
    alike = same_names(cells)
    first = pc.index_in(alike, value_set=pc.unique(alike)).to_numpy()
    _, rows = np.unique(first, return_index=True)
    if len(rows) < len(cells):
        row = int(np.setdiff1d(np.arange(len(cells)), rows)[0])
        earlier = int(rows[first[row]])
        here, there = cells[row].as_py(), cells[earlier].as_py()
        raise DataError(
            f"column {name!r}, data row {row + 1}: {here!r} stands in row {earlier + 1} already"
            f"{'' if here == there else f' as {there!r}'}; rows of one patient are named by --group"
        )


def rare_rows(counts: Ids) -> str:
    """Return what the rows of the rarest class are called, of `counts` by class, 1 the event."""
    if len(counts) > 2:
        return "rows of the rarest class"
    return "events" if counts[1] <= counts[0] else "non-events"


def group_cells(sample: SampledTable, name: str, words: str = "") -> pa.ChunkedArray:
    """Return the column of the patient of each row; an empty cell is a `DataError`."""
    cells = row_names(sample.rows[name], name, "a group")
    refuse_missing(cells, name, "no group", sample.number, words)
    return cells


def _groups(sample: SampledTable, name: str | None, reader: CellReader) -> Ids | None:
    if name is None:
        return None
    cells = same_names(group_cells(sample, name, reader.counted(name)))
    patients = pc.unique(cells)
    if len(patients) < FEWEST_OF_A_CLASS:  # four with the rarer class, and four without
        raise DataError(
            f"column {name!r} tells {len(patients)} patients apart; at least {FEWEST_OF_A_CLASS} "
            "are needed: is --group the right column?"
        )
    return np.asarray(pc.index_in(cells, value_set=patients).to_numpy(), dtype=np.int64)


def check_sizes(codes: Ids, classes: tuple[str, ...], complete: bool) -> None:
    """Refuse too few rows, of the table or of a class; `complete` if no row was left out."""
    if len(codes) < FEWEST:
        raise DataError(f"{len(codes)} rows; at least {FEWEST} are needed to say anything")
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < FEWEST_OF_A_CLASS:
        rare = classes[int(counts.argmin())]
        raise DataError(
            f"class {rare!r} has fewer than {FEWEST_OF_A_CLASS} rows"
            f"{'' if complete else _IN_SAMPLE}: too few for training, validation and test"
        )


def _check_patients(codes: Ids, classes: tuple[str, ...], patients: Ids, roles: Roles) -> None:
    """Refuse too few patients of a class, as they are split: each counts for its rarest class."""
    counts = np.bincount(codes, minlength=len(classes))
    by_rarity = [classes[c] for c in np.argsort(counts, kind="stable")[::-1]]
    marks = np.bincount(units(codes, patients)[0], minlength=len(classes))
    fewest = FEWEST_OF_A_CLASS // 2
    of_class = [len(np.unique(patients[codes == classes.index(name)])) for name in by_rarity]
    for name, n, mark in zip(by_rarity, of_class, marks, strict=True):
        if n < fewest or 0 < mark < fewest:
            rarer = "" if n < fewest else " and none of a rarer one"
            raise DataError(
                f"column {roles.label!r}: fewer than {fewest} patients (column {roles.group!r}) "
                f"have a row of class {name!r}{rarer}: too few for training, validation and test"
            )


def _remarks(sample: SampledTable, outcomes: Outcomes, encoder: TableEncoder) -> list[str]:
    remarks = [] if outcomes.follow is None else horizon_remarks(outcomes.follow)
    remarks.append(label_sentence(outcomes.counted, outcomes.words, outcomes.reason))
    if not sample.complete:
        remarks.append(
            f"Sampled: {format_count(len(sample.number))} of {format_count(sample.total)} rows, "
            "drawn at random; "
            "--rows changes how many."
        )
    for column in encoder.columns:
        if column.note and column.note not in ROLES:
            kind = "left out" if column.kind == "left out" else "used"
            remarks.append(f"Column {column.name!r} {kind}: {column.note}.")
    return remarks
