"""Rows of a table as the checks see them, and the findings that a check yields."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.errors import DataError
from deepcac.table.columns.cells import (
    as_texts,
    is_bytes,
    is_text,
    plain,
    refuse_missing,
    row_names,
    same_names,
)
from deepcac.table.columns.description import DATES, KEEP, LEAVE_OUT, TableDescription
from deepcac.table.reading.outcomes import Outcomes, read_outcomes
from deepcac.table.reading.table_encoder import NUMBER, TableEncoder, learn_encoder
from deepcac.table.reading.table_files import SampledTable
from deepcac.types import Array, Ids


class Finding(NamedTuple):
    """A remark on some columns, which a description answers."""

    text: str  # what was found, with the column
    fields: tuple[str, ...] = ()  # the columns; empty for the rows as a whole
    answers: tuple[str, ...] = ()  # of a question; empty for a finding that is certain
    values: tuple[str, ...] = ()  # cells of the columns that it is about
    # What the description says without a question: `LEAVE_OUT`, or a role of the column
    certain: str = ""
    check: str = ""  # name of the check that found it (`run_checks` sets it)


def leave_out(name: str, why: str) -> Finding:
    """Leave a column out."""
    return Finding(why, (name,), certain=LEAVE_OUT)


def ask_to_leave_out(name: str, why: str) -> Finding:
    """Return a question whether a column is to be left out."""
    return Finding(f"{name!r} {why}", (name,), (LEAVE_OUT, KEEP))


DATE_NOTE = "a date; make a number of it, such as days since admission"
FEWEST_PATIENTS = 8  # four with the rarer class, and four without


@dataclass(frozen=True)
class ExaminedTable:
    """Rows of a table, typed by its description."""

    sample: SampledTable  # of n rows
    description: TableDescription
    outcome: Outcomes | None = None  # none too where the column of the description cannot be one
    patients: Ids | None = None  # (n,) Whose row each is, if the description says so
    # Further columns that are no predictors, and what they are
    apart: Mapping[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> pa.Table:
        """The rows that are looked at."""
        return self.sample.rows

    @property
    def number(self) -> Ids:
        """Number of each row in its file, from 1, shape (n,)."""
        return self.sample.number

    @cached_property
    def skipped(self) -> dict[str, str]:
        """The columns that are no predictors, and why."""
        fields = self.description.fields
        dates = {name: DATE_NOTE for name, field in fields.items() if field.type in DATES}
        return {**dates, **self.description.use.no_predictors(), **self.apart}

    @cached_property
    def predictors(self) -> tuple[str, ...]:
        """The columns that no role and no decision takes away."""
        return tuple(name for name in self.rows.column_names if name not in self.skipped)

    def cells(self, name: str) -> pa.ChunkedArray:
        """Return the cells of a column, null where there is no value."""
        return plain(self.rows[name])

    def keys(self, name: str) -> Ids | None:
        """Return a number for each different cell in the order of the rows; -1 where missing.

        None of a column of lists or bytes.
        """
        cells = self.cells(name)
        if pa.types.is_nested(cells.type) or is_bytes(cells.type):
            return None
        return np.asarray(pd.factorize(as_texts(cells).to_pandas())[0], dtype=np.int64)

    def is_text(self, name: str) -> bool:
        """Return whether a column holds text."""
        return is_text(self.cells(name).type)

    @cached_property
    def encoder(self) -> TableEncoder:
        """The encoder of the predictors; columns that it cannot read are in `unreadable`."""
        return learn_encoder(
            self.rows, self.number, self.skipped, self.description, self.unreadable, self.patients
        )

    @cached_property
    def X(self) -> Array:  # noqa: N802
        """Features of the rows, shape (n, d), NaN where missing."""
        if not self.encoder.used:
            return np.empty((len(self.number), 0))
        return self.encoder.encode(self.rows, self.number)

    def numbers(self, name: str) -> Array:
        """Return the values of a column that is used as a number, shape (n,)."""
        return self.X[:, self.encoder.places[name]]

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that are used as numbers."""
        return tuple(column.name for column in self.encoder.used if column.kind == NUMBER)

    @property
    def codes(self) -> Ids | None:
        """Class ids of the rows, if there is an outcome."""
        return None if self.outcome is None else self.outcome.codes


Check = Callable[[ExaminedTable], Iterable[Finding]]


def run_checks(checks: Mapping[str, Check], table: ExaminedTable) -> Iterator[Finding]:
    """Yield what checks find, each finding with the name of its check."""
    for name, check in checks.items():
        for finding in check(table):
            yield finding._replace(check=name)


def examine(
    sample: SampledTable,
    description: TableDescription,
    apart: Mapping[str, str] = MappingProxyType({}),
) -> ExaminedTable:
    """Read the outcome, and the patient of each row, of a sample in its types."""
    asked, patient = description.outcome, description.use.patient
    if asked.rows_without == LEAVE_OUT:
        sample = sample.labelled(asked.field)
    outcomes = read_outcomes(sample, asked)
    patients = None if patient is None else _patients(sample, patient)
    return ExaminedTable(sample, description, outcomes, patients, apart)


def patient_cells(sample: SampledTable, name: str) -> pa.ChunkedArray:
    """Return the column of the patient of each row; an empty cell is a `DataError`."""
    cells = row_names(sample.rows[name], name, "a patient")
    refuse_missing(cells, name, "no patient", sample.number)
    return cells


def _patients(sample: SampledTable, name: str) -> Ids:
    cells = same_names(patient_cells(sample, name))
    patients = pc.unique(cells)
    if len(patients) < FEWEST_PATIENTS:
        raise DataError(
            f"column {name!r} has {len(patients)} different values, but at least {FEWEST_PATIENTS} "
            "patients are needed: is it the right column?"
        )
    return np.asarray(pc.index_in(cells, value_set=patients).to_numpy(), dtype=np.int64)
