"""A table with a label, checked and ready for a comparison."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import ConfigError, DataError
from deepcac.feature_matrix import RESERVED, FeatureMatrix
from deepcac.files.limits import MOST_ROWS
from deepcac.files.output_files import StrPath
from deepcac.judging.draws import units
from deepcac.scoring.censored import FollowUp
from deepcac.table.columns.cells import refuse_missing, row_names, same_names
from deepcac.table.columns.described_rows import DescribedTable, description_path
from deepcac.table.columns.description import (
    KEEP,
    ROLES,
    OpenQuestion,
    Outcome,
    TableDescription,
    Use,
    question_lines,
)
from deepcac.table.findings.checks import LEAKS, find_questions
from deepcac.table.findings.examination import ExaminedTable, examine
from deepcac.table.inference.described_table import KNOWN, as_questions, describe_table
from deepcac.table.reading.outcomes import Outcomes, check_divisible, standing_alone
from deepcac.table.reading.table_encoder import EncodedColumn, TableEncoder, learn_encoder
from deepcac.table.reading.table_files import SampledTable, read_blocks, sample_rows
from deepcac.types import Array, Ids

FEWEST = 40  # rows below which nothing can be said
FEWEST_OF_A_CLASS = 8


@dataclass(frozen=True)
class LabelledTable:
    """A table of one's own."""

    name: str  # of the file, without its ending
    rows: pa.Table  # the rows that are used, as read
    features: FeatureMatrix  # of these rows; ``row_id`` is the number of the row in the file
    classes: tuple[str, ...]  # what the class ids stand for
    encoder: TableEncoder
    group: Ids | None  # (n,) Rows with equal values stay in one part of a split
    total: int  # rows of the file
    # By which it was read, with the class that was taken for the event
    description: TableDescription
    # What a reader must know: the positive class, sampling, columns that were left out
    remarks: tuple[str, ...] = field(default=())
    # Columns that may give away the outcome or the row, and were kept by decision
    leaks: tuple[str, ...] = field(default=())
    follow: FollowUp | None = None  # where the label is an event up to a horizon
    # Classes of the label column, as they stand in the table, and after them competing events
    words: tuple[str, ...] = ()

    def tell(self, say: Callable[[str], None]) -> None:
        """Report everything that a reader must know."""
        for line in self.remarks:
            say(line)
        if self.leaks:
            say("Warning: columns that may know the outcome were kept; the page lists them")

    @property
    def outcome(self) -> Outcome:
        """What is predicted."""
        return self.description.outcome

    @property
    def label(self) -> str:
        """Column of the outcome."""
        return self.outcome.field

    @property
    def rarest(self) -> int:
        """Rows of the rarest class, as far as it is known: the events to learn from."""
        return int(self._counts.min())

    @property
    def rare_rows(self) -> str:
        """What the rows of the rarest class are called: events, where that class is the event."""
        return rare_rows(self._counts)

    @property
    def _counts(self) -> Ids:
        label, n_classes = self.features.label, self.features.n_classes
        labelled = label if self.follow is None else label[self.follow.outcome_known]
        return np.bincount(labelled, minlength=n_classes)

    @property
    def shown_classes(self) -> tuple[str, ...]:
        """Names of the classes for a page."""
        return standing_alone(self.classes, self.label)

    @property
    def columns(self) -> tuple[EncodedColumn, ...]:
        """Every column of the file."""
        return self.encoder.columns


def read_labelled(
    path: DescribedTable,
    *,
    rows: int = MOST_ROWS,
    seed: int = 0,
    apart: Mapping[str, str] = MappingProxyType({}),
) -> LabelledTable:
    """Read, check and encode a table with an outcome; of more rows than `rows` a sample.

    Columns that are kept `apart` must be there and are no predictors. A cell at fault is a
    `DataError`, what a person must decide first a `ConfigError`.
    """
    description, use = path.description, path.description.use
    description.refuse_open()
    for name, what in apart.items():
        use.refuse_role(name, what)
    keys = list(dict.fromkeys((*use.roles(), *apart)))
    sample = sample_rows(read_blocks(path), keys, group=use.patient, most=rows, seed=seed)
    table = examine(sample, description, apart)
    if not description.looked_at:
        refuse_questions(table)
    outcomes, sample = table.outcome, table.sample
    assert outcomes is not None
    if use.id is not None:
        refuse_repeats(sample.keys[use.id], use.id)
    asked = outcomes.named(description.outcome)
    description = description.with_use(outcome=asked)
    encoder = learn_encoder(sample.rows, sample.number, table.skipped, patients=table.patients)
    named = filter(None, [use.id, asked.field, asked.time])
    used = [*(column.name for column in encoder.used), *named]
    encoder = replace(encoder, description=description.reduced(used))
    X = encoder.encode(sample.rows, sample.number)
    codes, classes, follow = outcomes.codes, outcomes.classes, outcomes.follow
    check_sizes(codes, classes, sample.complete)
    if follow is not None and asked.time is not None:
        check_divisible(follow, asked.time)
    if table.patients is not None:
        _check_patients(codes, classes, table.patients, description)
    return LabelledTable(
        name=Path(path).stem,
        rows=sample.rows,
        features=feature_matrix(sample.number, codes, X, encoder),
        classes=classes,
        encoder=encoder,
        group=table.patients,
        total=sample.total,
        remarks=tuple(_remarks(sample, outcomes, encoder)),
        leaks=_accepted_leaks(description),
        follow=follow,
        words=(*outcomes.words, *asked.competing),
        description=description,
    )


def feature_matrix(number: Ids, codes: Ids, X: Array, encoder: TableEncoder) -> FeatureMatrix:
    """Return encoded rows under names that no file of features has for itself."""
    names = tuple(f"{name} (column)" if name in RESERVED else name for name in encoder.names)
    return FeatureMatrix(number, codes, X, names)


def described_table(
    path: StrPath,
    use: Use,
    *,
    rows: int = MOST_ROWS,
    seed: int = 0,
    like: TableDescription | None = None,
    fitted: bool = True,
) -> DescribedTable:
    """Return a table of which only the outcome and some roles are known, with its description.

    Columns that `like` describes are read as there. Nothing is asked about predictors unless a
    model is `fitted`; what a person must decide first is a `ConfigError`.
    """
    inferred = describe_table(path, use, rows=rows, seed=seed)
    if inferred.refused:
        raise DataError(inferred.refused)
    description = inferred.description
    if like is not None:
        description = description.with_fields(like)
    roles = description.use.roles().keys()
    asked = [q for q in description.use.questions if fitted or {*q.fields} & roles]
    refuse_open(path, asked, description.outcome.field)
    # Nobody has to answer the others, and a reader is told how the event was found.
    return DescribedTable(path, description.with_use(questions=(), outcome=use.outcome))


def refuse_open(path: StrPath, questions: Sequence[OpenQuestion], label: str | None = None) -> None:
    """Refuse a table without a description that a person must decide about."""
    if questions:
        outcome = [] if label is None else ["--label", label]
        call = shlex.join(["deepcac", "profile", str(path), *outcome])
        raise ConfigError(
            f"{path}: {question_lines(questions)}\n{call} writes them to "
            f"{description_path(path).name}; answer them there"
        )


def refuse_questions(table: ExaminedTable) -> None:
    """Refuse a described table with findings that its description has no answer to."""
    if findings := find_questions(table):
        questions = as_questions(findings)
        file = table.description.file
        raise ConfigError(
            f"{file}: {question_lines(questions)}\ndeepcac profile adds them to {file}"
        )


def _accepted_leaks(description: TableDescription) -> tuple[str, ...]:
    """Return what is known of columns that a person kept though they may know the outcome."""
    use = description.use
    return tuple(
        asked.question.removesuffix(KNOWN).strip()
        for asked in use.questions
        if asked.check in LEAKS and asked.answer == KEEP
        if not {*asked.fields} <= use.no_predictors().keys()
    )


def refuse_repeats(column: pa.ChunkedArray, name: str) -> None:
    """Refuse an id that is missing or occurs twice, as 7 and as 007."""
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
            f"column {name!r}, data row {row + 1}: {here!r} occurs in row {earlier + 1} already"
            f"{'' if here == there else f' as {there!r}'}; a column that names patients with "
            "several rows is the patient of the description"
        )


def rare_rows(counts: Ids) -> str:
    """Return what the rows of the rarest class are called, of `counts` by class, 1 the event."""
    if len(counts) > 2:
        return "rows of the rarest class"
    return "events" if counts[1] <= counts[0] else "non-events"


def check_sizes(codes: Ids, classes: tuple[str, ...], complete: bool) -> None:
    """Refuse too few rows, of the table or of a class; `complete` if no row was left out."""
    if len(codes) < FEWEST:
        raise DataError(f"{len(codes)} rows; at least {FEWEST} are needed to say anything")
    counts = np.bincount(codes, minlength=len(classes))
    if counts.min() < FEWEST_OF_A_CLASS:
        rare = classes[int(counts.argmin())]
        raise DataError(
            f"class {rare!r} has fewer than {FEWEST_OF_A_CLASS} rows"
            f"{'' if complete else ' in the sample'}: too few for training, validation and test"
        )


def _check_patients(
    codes: Ids, classes: tuple[str, ...], patients: Ids, description: TableDescription
) -> None:
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
                f"column {description.outcome.field!r}: fewer than {fewest} patients (column "
                f"{description.use.patient!r}) "
                f"have a row of class {name!r}{rarer}: too few for training, validation and test"
            )


def _remarks(sample: SampledTable, outcomes: Outcomes, encoder: TableEncoder) -> list[str]:
    remarks = outcomes.remarks(sample)
    if sample.gaps:
        remarks.append("Empty rows between others are left out; no number of a row counts them.")
    for column in encoder.columns:
        if column.note and column.note not in ROLES:
            kind = "left out" if column.kind == "left out" else "used"
            remarks.append(f"Column {column.name!r} {kind}: {column.note}.")
    return remarks
