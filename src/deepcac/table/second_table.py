"""Another table, read as the first one was or as a model reads tables, and checked against it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.output_files import StrPath
from deepcac.preprocess import TableScaler
from deepcac.scoring.small_cells import FEW, Count, Text
from deepcac.table.columns.cell_texts import NAMES_A_PATIENT
from deepcac.table.columns.cells import (
    is_numeric,
    is_text,
    numbers,
    plain,
    row_names,
    same_names,
)
from deepcac.table.columns.described_rows import DescribedTable, find_description
from deepcac.table.columns.description import LEAVE_OUT, Outcome, Use
from deepcac.table.findings.column_faults import odd_outcomes, odd_values
from deepcac.table.findings.examination import patient_cells
from deepcac.table.findings.repeated_rows import copied_rows, telling_rows
from deepcac.table.inference.described_table import CELLS, describe_table
from deepcac.table.inference.labelled_table import (
    LabelledTable,
    feature_matrix,
    refuse_open,
    refuse_repeats,
)
from deepcac.table.reading.outcomes import Outcomes, class_labels, read_outcomes
from deepcac.table.reading.table_encoder import (
    ID_NOTE,
    LEFT_OUT,
    NUMBER,
    TableEncoder,
)
from deepcac.table.reading.table_files import SampledTable, read_blocks, sample_rows
from deepcac.table.reading.unfamiliar_rows import Unfamiliar, outcome_moved, with_quantiles
from deepcac.types import Array, Ids

FEWEST_TO_TEST = 10  # rows of every class, for an AUROC
_MOST_NAMED = 10
_DENSE = 0.8  # of the numbers between the first and the last, of a count of patients

EncodedRows = tuple[pa.Table, Ids, Array]  # rows, their numbers in the file, features (n, d)


@dataclass(frozen=True)
class TableReader:
    """How further tables are read: as a model needs them, or as a first table was read.

    Attributes
    ----------
    encoder : TableEncoder
        With the description by which a table is read that has none of its own.
    scaler : TableScaler or None
        Of the rows that were learnt from; without it only levels are known.
    words : tuple of str
        Classes of the label column, without competing events; empty if they are not known.
    id : str or None
        Column of row ids that a table may have.
    first : LabelledTable or None
        The table that is learnt from; of a model it is not known.
    """

    encoder: TableEncoder
    scaler: TableScaler | None = None
    words: tuple[str, ...] = ()
    id: str | None = None
    first: LabelledTable | None = None

    @classmethod
    def of_table(cls, table: LabelledTable) -> "TableReader":
        """Return what reads further tables as a first one."""
        described = table.description.reduced(table.description.fields)
        encoder = replace(with_quantiles(table.encoder, table.features.X), description=described)
        words = tuple(word for word in table.words if word not in table.outcome.competing)
        return cls(
            encoder, TableScaler().fit(table.features.X), words, table.description.use.id, table
        )

    def blocks(
        self, path: StrPath, remarks: dict[str, None], *, accept: bool = False
    ) -> Iterator[EncodedRows]:
        """Yield the rows of a table block by block; see `encode`."""
        table = self._described(path, Use())
        return self.encode(_numbered(read_blocks(table)), remarks, accept=accept)

    def encode(
        self,
        parts: Iterable[tuple[pa.Table, Ids]],
        remarks: dict[str, None],
        *,
        accept: bool | None,
    ) -> Iterator[EncodedRows]:
        """Yield parts of a table, rows and their numbers in the file, with their features.

        `remarks` gets what a user should know. A column that is missing is a `DataError`, and,
        unless `accept`, one most of whose rows are unlike those that were learnt from (another
        unit, another coding); this is known after the last part. `accept` is None where nobody can
        ask to go on.
        """
        strange = Unfamiliar.of(self.encoder, self.scaler)
        for rows, number in parts:
            X = self.encoder.encode(rows, number)
            strange.add(X, rows)
            if self.id in rows.column_names:
                names = row_names(rows[self.id], str(self.id), "an id")
                strange.add_ids(str(self.id), names.to_pylist())
            yield rows, number, X
        remarks.update(dict.fromkeys(strange.tell(accept=accept)))

    def labelled(
        self,
        path: StrPath,
        use: Use,
        *,
        rows: int,
        seed: int = 0,
        needed: Collection[str] = (),
        also: Collection[str] = (),
        name: str = "",
        accept: bool | None = None,
    ) -> LabelledTable:
        """Read a table with outcomes, by its own description or that of the first table or model.

        Parameters
        ----------
        path : path-like
        use : Use
            Of its columns. An id that the table does not have is passed over.
        rows, seed : int
            Of its sample, as of `read_labelled`.
        needed, also : collection of str
            Further columns that are read; those of `also` if the table has them.
        name : str
            For messages; that of the file by default.
        accept : bool, optional
            See `encode`.

        Raises
        ------
        DataError
            A column is missing, the classes are others, one has fewer than ten rows with a known
            outcome, an id occurs twice, or rows are unlike those that were learnt from.
        """
        name, asked = name or Path(path).stem, use.outcome
        assert asked is not None
        remarks: dict[str, None] = {}
        try:
            described = self._described(path, use, (*needed, *also))
            sample = self._sampled(described, use, needed, rows, seed)
            moved = self._check_outcomes(sample, asked)
            outcomes = self._outcomes(sample, asked)
            parts = [(sample.rows, sample.number)]
            ((_, _, X),) = self.encode(parts, remarks, accept=accept)
            group = _patients(sample, use.patient)
        except DataError as error:
            raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error
        features = feature_matrix(sample.number, outcomes.codes, X, self.encoder)
        table = LabelledTable(
            name, sample.rows, features, outcomes.classes, self.encoder, group, sample.total,
            described.description.with_use(**dict(use)), follow=outcomes.follow,
            words=(*outcomes.words, *asked.competing),
        )  # fmt: skip
        odd = _odd_lines(table)
        if self.first is None:
            lines = [*outcomes.remarks(sample, fitted=False), *remarks, *odd]
        else:
            lines = [
                Text("Label in {}: {}.", name, outcomes.counted),
                *(Text("Warning: in {} {}.", name, line) for line in (*remarks, *moved)),
                *(Text("In {}: {}", name, line) for line in odd),
                *_differences(self.first, table),
            ]
        return replace(table, remarks=tuple(lines))

    def _described(self, path: StrPath, use: Use, further: Collection[str] = ()) -> DescribedTable:
        """Return a table with its own description, or else that of the first table or the model.

        The columns that are read are those of the encoder, those with a role and further ones.
        """
        ids = [] if self.id is None else [self.id]
        used = (column.name for column in self.encoder.used)
        needed = {*used, *ids, *use.roles(), *further}
        if isinstance(path, DescribedTable):
            return DescribedTable(path.path, path.description, needed)
        description = None if Path(path).is_dir() else find_description(path)
        if description is not None:
            description.refuse_open()
        description = description or self.encoder.description
        if description is None:
            description = describe_table(path, Use()).description
            asked = [q for q in description.resource.use.questions if {*q.fields} & needed]
            refuse_open(path, [q for q in asked if q.check == CELLS])
        return DescribedTable(path, description, needed)

    def _sampled(
        self, table: DescribedTable, use: Use, needed: Collection[str], rows: int, seed: int
    ) -> SampledTable:
        """Read the rows, those with a label if others may be left out."""
        blocks = read_blocks(table)
        begin = next(blocks)
        ids = (name for name in (use.id, self.id) if name and name in begin.schema.names)
        named = (name for name in use.roles() if name != use.id)
        keys = list(dict.fromkeys((*named, *needed, *ids)))
        sample = sample_rows(chain([begin], blocks), keys, group=use.patient, most=rows, seed=seed)
        if use.outcome is not None and use.outcome.rows_without == LEAVE_OUT:
            sample = sample.labelled(use.outcome.field)
        if use.id in keys:
            refuse_repeats(sample.keys[use.id], str(use.id))
        return sample

    def _check_outcomes(self, sample: SampledTable, asked: Outcome) -> list[str]:
        """Describe times or label numbers whose scale differs from that of the first table."""
        if self.first is None:
            return []
        pairs: list[tuple[str, Array, Array]] = []
        if asked.time is not None and self.first.follow is not None:
            times = numbers(plain(sample.rows[asked.time]), asked.time, sample.number)
            pairs.append((asked.time, times, self.first.follow.time))
        if asked.above is not None:
            here, there = (
                numbers(plain(rows[asked.field]), asked.field)
                for rows in (sample.rows, self.first.rows)
            )
            pairs.append((asked.field, here, there))
        where = f"in {self.first.name}"
        return [
            line
            for name, values, others in pairs
            for line in outcome_moved(f"column {name!r}", values[~np.isnan(values)], others, where)
        ]

    def _outcomes(self, sample: SampledTable, asked: Outcome) -> Outcomes:
        """Return the outcomes in the classes that are known, and refuse other ones."""
        if self.words:
            words = class_labels(sample.keys[asked.field], asked.field, above=asked.above).classes
            there = tuple(value for value in asked.competing if value in words)
            event = self.words[1] if len(self.words) == 2 and asked.above is None else None
            if {*words} - {*there} != {*self.words} or asked.event not in (None, event):
                where = "the model" if self.first is None else self.first.name
                raise DataError(
                    f"column {asked.field!r} holds {', '.join(sorted({*words} - {*there}))}; in "
                    f"{where} it holds {', '.join(sorted(self.words))}; code both alike"
                )
            asked = asked.model_copy(update={"event": event, "competing": there})
        outcomes = read_outcomes(sample, asked)
        known = slice(None) if outcomes.follow is None else outcomes.follow.outcome_known
        counts = np.bincount(outcomes.codes[known], minlength=len(outcomes.classes))
        if counts.min() < FEWEST_TO_TEST:
            raise DataError(
                f"class {outcomes.classes[int(counts.argmin())]!r} has fewer than "
                f"{FEWEST_TO_TEST} rows; too few for a test"
            )
        return outcomes


def _numbered(blocks: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Table, Ids]]:
    """Yield blocks that hold rows, with the numbers of these in their file."""
    before = 0
    for block in blocks:
        if block.num_rows:
            number = np.arange(before + 1, before + 1 + block.num_rows, dtype=np.int64)
            yield pa.table(block), number
        before += block.num_rows


def _patients(sample: SampledTable, name: str | None) -> Ids | None:
    if name is None:
        return None
    cells = same_names(patient_cells(sample, name))
    return np.unique(cells.to_pandas().astype(str), return_inverse=True)[1]


def _odd_lines(table: LabelledTable) -> list[str]:
    """Describe which predictors, times and labels hold odd numbers, and whether rows are copies."""
    X, places = table.features.X, table.encoder.places
    findings = [
        *(finding for column in table.encoder.used if column.kind == NUMBER
          for finding in odd_values(column.name, X[:, places[column.name]])),
        *odd_outcomes(table.rows, table.outcome, table.follow),
    ]  # fmt: skip
    copies = copied_rows(X, table.features.label, table.classes)
    return [*(finding.text for finding in findings), *filter(None, [copies])]


def _differences(first: LabelledTable, second: LabelledTable) -> list[str]:
    """Describe which columns, ids and rows of a second table differ, or should."""
    names = [name for name in second.rows.column_names if name not in first.rows.column_names]
    lines = [f"Columns that are not in {first.name} are not used: {_listed(names)}."] * bool(names)
    lines += _overlap(first, second)
    n = len(second.features.label)
    if n < second.total:
        sizes = Count(n), Count(second.total)
        lines.append(Text("Sampled: {} of {} rows of {}.", *sizes, second.name))
    return lines


def _overlap(first: LabelledTable, other: LabelledTable) -> list[str]:
    """Return warnings on rows and ids of the second table that the first one has as well."""
    sentences: list[str] = []
    second, use = other.rows, first.description.use
    both = _in_both(first.rows, second, use.id) if use.id in second.column_names else 0
    if both:
        text = "Warning: {} ids stand in both tables; the same patients are no test."
        sentences.append(Text(text, Count(both)))
    for name in () if use.id or use.patient else _id_columns(first, second):
        if (both := _in_both(first.rows, second, name)) >= FEW:
            text = (
                "Warning: {} values of column {!r} stand in both tables. If they are patients, the "
                "same patients are no test: make it the patient of the description."
            )
            sentences.append(Text(text, Count(both), name))
    same, n = _equal_rows(first, other)
    # Rows of a patient who is named in both tables are not learnt from.
    if use.patient is None:
        _refuse_copy(first, other, same, n)
    if same:
        text = (
            "{} of {} rows are equal to a row of {} in every column; make sure that they are other "
            "patients."
        )
        sentences.append(Text(text, Count(same).capitalize(), Count(n), first.name))
    return sentences


def _equal_rows(first: LabelledTable, other: LabelledTable) -> tuple[int, int]:
    """Return how many rows of another table are equal to one of the first, and of how many.

    Rows that many patients have, because little is measured in them, are not counted.
    """
    learnt, rows = (
        np.column_stack([table.features.X, table.features.label]) for table in (first, other)
    )
    seen = {row.tobytes() for row in learnt}
    rows = rows[telling_rows(other.features.X)]
    return sum(row.tobytes() in seen for row in rows), len(rows)


def refuse_same_rows(first: LabelledTable, other: LabelledTable) -> None:
    """Raise a `DataError` if most rows of another table are equal to a row of the first."""
    _refuse_copy(first, other, *_equal_rows(first, other))


def _refuse_copy(first: LabelledTable, other: LabelledTable, same: int, n: int) -> None:
    if 2 * same > n >= FEW:
        raise DataError(
            f"--external {other.name}: most rows are equal to a row of {first.name} in every "
            "column; the same patients are no test, so name patients of another place"
        )


def _id_columns(first: LabelledTable, second: pa.Table) -> list[str]:
    """Return the columns of both tables that are left out and may be ids, but count no rows."""
    return [
        column.name
        for column in first.encoder.columns
        if column.kind == LEFT_OUT
        and (ID_NOTE in column.note or NAMES_A_PATIENT.fullmatch(column.name))
        and column.name in second.column_names
        and not any(_cannot_be_ids(plain(rows[column.name])) for rows in (first.rows, second))
    ]


def _cannot_be_ids(cells: pa.ChunkedArray) -> bool:
    """Return whether cells cannot be ids: neither text nor numbers, or consecutive integers."""
    if not (is_text(cells.type) or is_numeric(cells.type)):
        return True
    ids = pd.to_numeric(same_names(cells.drop_null()).to_pandas(), errors="coerce").unique()
    return bool(len(ids) >= _DENSE * (np.max(ids, initial=0) - np.min(ids, initial=0)))


def _in_both(first: pa.Table, second: pa.Table, name: str | None) -> int:
    """Return how many ids are in both tables."""
    ids = [set(same_names(plain(rows[name]).drop_null()).to_pylist()) for rows in (first, second)]
    return len(ids[0] & ids[1])


def _listed(names: list[Any]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(map(str, names[:_MOST_NAMED])) + (f" and {rest} more" if rest > 0 else "")
