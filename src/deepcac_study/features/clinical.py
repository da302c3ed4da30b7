"""Cohort, outcome and features of open clinical tables, by declarations in the registry."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.files.atomic import atomic_path
from deepcac.types import Flags
from deepcac_study.catalogue.variables import category_field
from deepcac_study.cohort import Flow, steps
from deepcac_study.features.columns.encoding import one_hot

StrPath = str | os.PathLike[str]
# Reason: the columns that are no features because of it.
Excluded = Mapping[str, Sequence[str]]
# Step of the cohort flow: the value that its column must have.
Chosen = Mapping[str, Mapping[str, float | str]]
Mask = Flags


def with_outcome(
    table: pa.Table,
    *,
    outcome: str,
    happened: str = "1",
    excluded: Excluded | None = None,
    rows: Chosen | None = None,
    group: str | None = None,
    unknown: Literal["refused", "left out"] = "refused",
) -> tuple[FeatureMatrix, Flow]:
    """Make features of a tidy table whose column `outcome` is known of every row.

    `happened` is its value where the event happened. `rows` select the cohort, step by step.
    Columns of `excluded`, the outcome and `group` (a hospital, say) are no features. A column that
    the table lacks is a `DataError`, and so is a row without an outcome unless such rows are left
    out by `unknown`.
    """
    table, counts = _chosen_rows(table, rows or {})
    if unknown == "left out":
        table = table.filter(pc.is_valid(_column(table, outcome)))
        counts["outcome known"] = table.num_rows
    label = _equals(table, outcome, happened)
    if table[outcome].null_count:
        row = pc.index(pc.is_null(table[outcome]), True).as_py() + 1
        raise DataError(f"data row {row} has no outcome ({outcome})")
    return _matrix(table, label, [outcome], excluded, group), steps(counts)


def at_horizon(
    table: pa.Table,
    *,
    events: Mapping[str, str],
    horizon: float,
    happened: str = "1",
    excluded: Excluded | None = None,
    rows: Chosen | None = None,
    free_of: Mapping[str, str] | None = None,
    group: str | None = None,
) -> tuple[FeatureMatrix, Flow]:
    """Make features of a tidy table, with the event up to a horizon as the outcome.

    `events` maps the column of each event to that of its time; the first event counts, and
    follow-up ends with the first of the times. The outcome is known of rows whose event happened
    at the `horizon` (in the unit of the times) or before, and of those that were followed for
    longer without it; `free_of` are competing events, after which this one cannot happen. Rows
    that were censored by then are left out, and counted in the flow. The rest is as in
    `with_outcome`.
    """
    table, counts = _chosen_rows(table, rows or {})
    time = np.minimum.reduce([_numbers(table, column) for column in events.values()])
    event = np.logical_or.reduce([_equals(table, column, happened) for column in events])
    label = event & (time <= horizon)
    seen = time > horizon
    competing = free_of or {}
    for column, when in competing.items():
        seen |= _equals(table, column, happened) & (_numbers(table, when) <= horizon)
    labelled = label | seen
    censored = int((~labelled).sum())
    counts[f"outcome known at the horizon, without {censored:,} censored by then"] = int(
        labelled.sum()
    )
    outcome_columns = [*events, *events.values(), *competing, *competing.values()]
    cohort = table.filter(pa.array(labelled))
    return _matrix(cohort, label[labelled], outcome_columns, excluded, group), steps(counts)


def rotterdam_to_gbsg(
    development: pa.Table, validation: pa.Table, *, horizon: float
) -> tuple[FeatureMatrix, Flow]:
    """Pool the Rotterdam and the GBSG cohort (Royston and Altman 2013), with common columns only.

    The tables are those of `breast_cancer_cohorts`; the group is the cohort.
    """
    cohorts = [
        cohort.append_column("cohort", pa.array([name] * cohort.num_rows, pa.string()))
        for name, cohort in breast_cancer_cohorts(development, validation).items()
    ]
    pooled = pa.concat_tables(cohorts)
    pooled = pooled.add_column(0, "row_id", pa.array(np.arange(1, pooled.num_rows + 1)))
    return at_horizon(pooled, events={"event": "time"}, horizon=horizon, group="cohort")


def breast_cancer_cohorts(development: pa.Table, validation: pa.Table) -> dict[str, pa.Table]:
    """Return the common columns of the Rotterdam and GBSG cohorts, with `time` and `event`.

    The size of a tumour is one of Rotterdam's three classes in both; chemotherapy, which GBSG does
    not record, is left out. Rotterdam's follow-up ends with the earlier of its two times.
    """
    size = pc.if_else(
        pc.less_equal(validation["size"], 20),
        "<=20",
        pc.if_else(pc.less_equal(validation["size"], 50), "20-50", ">50"),
    )
    ends = np.minimum(_numbers(development, "rtime"), _numbers(development, "dtime"))
    event = _equals(development, "recur", "1") | _equals(development, "death", "1")
    seen, happened = _numbers(validation, "rfstime"), _equals(validation, "status", "1")
    return {
        "rotterdam": _breast_cancers(development, development["size"], ends, event),
        "gbsg": _breast_cancers(validation, size, seen, happened),
    }


def _breast_cancers(
    table: pa.Table, size: pa.ChunkedArray, time: npt.NDArray[np.float64], event: Mask
) -> pa.Table:
    """Return the predictors both cohorts have, tumour size, time and event."""
    columns = ("age", "meno", "grade", "nodes", "pgr", "er", "hormon")
    levels = category_field("size", ("<=20", "20-50", ">50"))
    return (
        pa.table({name: table[name].cast(pa.float64()) for name in columns})
        .append_column(levels, size.cast(pa.string()))
        .append_column("time", pa.array(time, pa.float64()))
        .append_column("event", pa.array(event.astype(np.int64)))
    )


def write_breast_cancers(tidy: StrPath, folder: StrPath) -> None:
    """Write ``rotterdam.csv`` and ``gbsg.csv``, which `deepcac compare --external` reads.

    Parameters
    ----------
    tidy : path-like
        The folder of ``rotterdam.parquet`` and ``gbsg.parquet``, which the workflow makes.
    folder : path-like
        Where the two tables are written.
    """
    development, validation = (
        pq.read_table(Path(tidy) / f"{name}.parquet") for name in ("rotterdam", "gbsg")
    )
    for name, cohort in breast_cancer_cohorts(development, validation).items():
        with atomic_path(Path(folder) / f"{name}.csv") as unfinished:
            csv.write_csv(cohort, unfinished)


def _chosen_rows(table: pa.Table, rows: Chosen) -> tuple[pa.Table, dict[str, int]]:
    """Return the rows that pass every filter, and the rows left after each."""
    counts = {"rows of the table": table.num_rows}
    for step, wanted in rows.items():
        for column, value in wanted.items():
            table = table.filter(pa.array(_equals(table, column, str(value))))
        counts[step] = table.num_rows
    return table, counts


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise DataError(f"no column {name!r}; there are {', '.join(table.column_names)}")
    return table[name]


def _numbers(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """Return the times of a column; a missing one is a `DataError`."""
    column = _column(table, name)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py() + 1
        raise DataError(f"data row {row} has no time ({name})")
    return column.cast(pa.float64()).to_numpy()


def _equals(table: pa.Table, name: str, value: str) -> Mask:
    """Return a mask where a column, category or number, equals a value; False where missing."""
    column = _column(table, name)
    wanted = value if pa.types.is_string(column.type) else float(value)
    return pc.fill_null(pc.equal(column, wanted), False).to_numpy()


def _matrix(
    table: pa.Table, label: Mask, outcome: list[str], excluded: Excluded | None, group: str | None
) -> FeatureMatrix:
    """Return all columns but outcome, group and excluded; DataError for unknown names."""
    absent = [name for names in (excluded or {}).values() for name in names]
    for name in absent:
        _column(table, name)  # a name that is misspelt would leave a leak among the features
    out = {"row_id", group, *outcome, *absent}
    X, names = one_hot(table, [name for name in table.column_names if name not in out])
    return FeatureMatrix(
        row_id=table["row_id"].to_numpy().astype(np.int64),
        label=label.astype(np.int64),
        X=X,
        names=names,
        group=None if group is None else np.array(_column(table, group).to_pylist(), dtype=str),
    )
