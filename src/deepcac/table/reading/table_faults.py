"""What a user should look at in a table: all at once, with the answers that decide it."""

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deepcac.scoring.censored import FollowUp
from deepcac.scoring.small_cells import format_count
from deepcac.table.columns.cells import as_numbers, is_text, plain
from deepcac.table.columns.description import (
    KEEP,
    LEAVE_OUT,
    MISSING_VALUES,
    PATIENT,
    TEXT,
)
from deepcac.table.columns.description import (
    NUMBER as NUMERIC,
)
from deepcac.table.columns.roles import Roles
from deepcac.table.reading.class_labels import alike_spellings, label_numbers
from deepcac.table.reading.odd_numbers import missing_codes, two_units
from deepcac.table.reading.row_faults import copied_rows, nearly_copied, repeated_patients
from deepcac.table.reading.table_encoder import LEFT_OUT, NUMBER, EncodedColumn, TableEncoder
from deepcac.types import Array, Flags, Ids

_CENSORED = r"^[<>]=?\s*\d"
_MOST_WORDS = 5  # among numbers that one answer can make missing
_MOST_LEVELS = 100  # whose spellings are compared
_ONE_CLASS = 20  # filled rows of one class alone that are spoken of
_CHANCE = 0.001  # of so many rows of that class, were they any rows


class Fault(NamedTuple):
    """One thing to look at.

    Attributes
    ----------
    text : str
        What it is, with its column.
    field : str
        The column, where a description can decide.
    answers : tuple of str
        Of a question in the description; empty where the file must be changed.
    values : tuple of str
        Cells of the column that it is about.
    """

    text: str
    field: str = ""
    answers: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def table_faults(
    rows: pa.Table,
    encoder: TableEncoder,
    X: Array,
    outcome: tuple[str, Ids, tuple[str, ...]] | None,
    *,
    grouped: bool = False,
) -> list[Fault]:
    """Return what a model can be fitted on, and a user would regret.

    Parameters
    ----------
    rows : pyarrow.Table
        The rows that are used, with the columns of interest only.
    encoder : TableEncoder
    X : ndarray of shape (n, d)
        What it makes of the rows.
    outcome : (str, ndarray of shape (n,), tuple of str) or None
        The label column, class ids of the rows, and what they stand for.
    grouped : bool
        Whether the patient of each row is known.
    """
    faults = []
    alike = [name for name in rows.column_names if _is_cell(name, plain(rows[name]))]
    if len(alike) > rows.num_columns / 2:
        shown = ", ".join(map(repr, alike[:3]))
        faults.append(
            Fault(f"the first line looks like a row ({shown}): is there no header? add one")
        )
    label, codes, classes = outcome or ("", None, ())
    looked_at = {*rows.column_names} - {label}
    columns = tuple(entry for entry in encoder.columns if entry.name in looked_at)
    patients = None if grouped else repeated_patients(rows, columns, codes)
    if patients is not None:
        faults.append(Fault(patients[1], patients[0], (PATIENT, KEEP)))
    if codes is not None:
        text = copied_rows(X, codes, classes)
        if not text and patients is None and not grouped:
            text = nearly_copied(encoder.names, X, codes)
        faults += [Fault(text)] if text else []
    for column in columns:
        faults += _of_column(column, plain(rows[column.name]), codes)
        if column.kind == NUMBER:
            faults += number_faults(column.name, X[:, encoder.places[column.name]])
    return faults


def number_faults(
    name: str, values: Array, *, needed: bool = False, ended: Flags | None = None
) -> list[Fault]:
    """Return codes for no value, or else two units, among numbers (n,).

    A column that is `needed` (a follow-up time, a label that is divided) cannot be left out. Of
    times, `ended` tells which ones are to an event: many others may be the end of the study, long
    after these.
    """
    codes = missing_codes(name, values, needed=needed, spikes=ended is None)
    seen = values if ended is None else values[ended]
    units = "" if codes else two_units(name, seen, needed=needed)
    faults = [
        Fault(text, name, (MISSING_VALUES, KEEP), (code,)) if code else Fault(text)
        for text, code in codes
    ]
    mixed = Fault(units) if needed else Fault(units, name, (LEAVE_OUT, KEEP))
    return faults + [mixed] * bool(units)


def outcome_faults(rows: pa.Table, roles: Roles, follow: FollowUp | None) -> list[Fault]:
    """Return what is odd in the follow-up times, and in a label that is divided."""
    faults: list[Fault] = []
    if roles.time is not None and follow is not None:
        faults += number_faults(roles.time, follow.time, needed=True, ended=follow.ended)
    if roles.above is not None:
        values = label_numbers(plain(rows[roles.label]), roles.label)
        faults += number_faults(roles.label, values, needed=True)
    return faults


def refused_column(name: str, why: str, cells: pa.ChunkedArray) -> Fault:
    """Return why a column is refused, with the answers that make it readable or leave it out."""
    if not is_text(cells.type):
        return Fault(why, name, (LEAVE_OUT,))
    slips = cells.filter(pa.array(as_numbers(cells).slips))
    words = tuple(sorted(pc.unique(slips).to_pylist()))
    if words and len(words) <= _MOST_WORDS and as_numbers(cells).numeric:
        return Fault(why, name, (MISSING_VALUES, TEXT, LEAVE_OUT), words)
    return Fault(why, name, (NUMERIC, TEXT, LEAVE_OUT))


def _is_cell(name: str, cells: pa.ChunkedArray) -> bool:
    """Tell whether a name could stand in its column: a number of many, or one of its texts."""
    if re.fullmatch(r"[-+]?\d*[.,]?\d+", name):
        return not is_text(cells.type) or as_numbers(cells).numeric
    return is_text(cells.type) and pc.index(cells, name).as_py() >= 0


def _of_column(column: EncodedColumn, cells: pa.ChunkedArray, codes: Ids | None) -> list[Fault]:
    name, faults = column.name, []
    present = np.asarray(pc.is_valid(cells).to_numpy())
    if is_text(cells.type) and column.kind != NUMBER:
        censored = pc.fill_null(pc.match_substring_regex(cells, _CENSORED), False)
        n = int(pc.sum(censored).as_py() or 0)
        if n and as_numbers(cells.filter(pc.invert(censored))).numeric:
            faults.append(
                Fault(f"Column {name!r}: cells such as '<0.3' stand among numbers; write a number "
                      "instead.")
            )  # fmt: skip
        levels = pc.unique(cells).drop_null().to_pylist()
        if len(levels) <= _MOST_LEVELS:
            faults += [
                Fault(f"Column {name!r}: {', '.join(map(repr, texts))} are different levels; spell "
                      "them alike.")
                for texts in alike_spellings(levels)
            ]  # fmt: skip
    filled = int(present.sum())
    if codes is not None and column.kind != LEFT_OUT and _ONE_CLASS <= filled < len(present):
        inside = np.unique(codes[present])
        if len(inside) == 1 and np.mean(codes == inside[0]) ** filled < _CHANCE:
            text = (
                f"Column {name!r}: filled in {format_count(filled)} rows, all of one class: was it "
            )
            faults.append(Fault(text + "written after the outcome?", name, (LEAVE_OUT, KEEP)))
    return faults
