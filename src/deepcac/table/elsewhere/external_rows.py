"""The rows of a second table, in the columns and classes of the first."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.feature_matrix import FeatureMatrix
from deepcac.scoring.small_cells import FEW
from deepcac.table.elsewhere.folds import FEWEST_TO_JUDGE, Fold, left_out
from deepcac.table.output_files import StrPath
from deepcac.table.reading.cells import plain
from deepcac.table.reading.class_labels import class_labels
from deepcac.table.reading.labelled_table import LabelledTable, Roles, group_cells
from deepcac.table.reading.row_sample import SampledTable, sample_rows
from deepcac.table.reading.table_encoder import CATEGORY
from deepcac.table.reading.table_files import read_blocks
from deepcac.task import Ids

_MOST_NAMED = 10


class ExternalRows(NamedTuple):
    """What a second table adds.

    Attributes
    ----------
    fold : Fold
        All of the first table to learn from, the second to judge.
    remarks : list of str
        Columns, levels, ids and rows that differ, or that should.
    """

    fold: Fold
    remarks: list[str]


def external_rows(
    table: LabelledTable, roles: Roles, path: StrPath, *, most: int, seed: int
) -> ExternalRows:
    """Read a second table as the first one was read.

    Parameters
    ----------
    roles : Roles
        Of the columns of both.
    most, seed : int
        Of its sample, as of `read_labelled`.

    Raises
    ------
    DataError
        A column is missing, the classes are others, or one has fewer than ten rows.
    """
    try:
        return _external_rows(table, roles, path, most, seed)
    except DataError as error:
        raise DataError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from error


def _external_rows(
    table: LabelledTable, roles: Roles, path: StrPath, most: int, seed: int
) -> ExternalRows:
    keys = [roles.label, *filter(None, [roles.group])]
    other = sample_rows(
        read_blocks(path, roles.decimal), keys, group=roles.group, most=most, seed=seed
    )
    _refuse_missing(table, other)
    codes = _codes(table, roles, other)
    X, _ = table.encoder.encode(other.rows, other.number)
    own = table.features
    features = FeatureMatrix(
        np.concatenate([own.row_id, table.total + other.number]),
        np.concatenate([own.label, codes]),
        np.vstack([own.X, X]),
        own.names,
    )
    test = np.arange(len(features.label)) >= len(own.label)
    unit = _units(table.rows, other, roles.group) if roles.group else None
    fold = left_out(Path(path).stem, features, test, unit)
    if not fold.learnable:
        raise DataError(
            f"of {table.name} too few rows of a class are left to learn from without the patients "
            "of both tables; name patients of another place"
        )
    remarks = [
        *_new_columns(table, other),
        *_unseen_levels(table, other),
        *_known(table, roles, other, fold),
    ]
    if not other.complete:
        remarks.append(f"Sampled: {len(codes):,} of {other.total:,} rows of {Path(path).name}.")
    return ExternalRows(fold, remarks)


def _refuse_missing(table: LabelledTable, other: SampledTable) -> None:
    used = [column.name for column in table.encoder.used]
    missing = [name for name in used if name not in other.rows.column_names]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        drop = " ".join(f"--drop {name!r}" for name in missing[:_MOST_NAMED])
        raise DataError(
            f"column {missing[0]!r} is missing{more}; add it, or judge without it: {drop}"
        )


def _codes(table: LabelledTable, roles: Roles, other: SampledTable) -> Ids:
    """Return class ids by the classes of the first table."""
    found = class_labels(other.keys[roles.label], roles.label, above=roles.above)
    if set(found.classes) != set(table.classes):
        raise DataError(
            f"column {roles.label!r} holds {', '.join(sorted(found.classes))}; in {table.name} it "
            f"holds {', '.join(sorted(table.classes))}; code both alike"
        )
    place = np.array([table.classes.index(name) for name in found.classes])
    codes: Ids = place[found.codes[other.number - 1]]
    counts = np.bincount(codes, minlength=len(table.classes))
    if counts.min() < FEWEST_TO_JUDGE:
        raise DataError(
            f"class {table.classes[int(counts.argmin())]!r} has fewer than {FEWEST_TO_JUDGE} rows; "
            "too few to judge on"
        )
    return codes


def _units(first: pa.Table, second: SampledTable, group: str) -> Ids:
    both = (plain(first[group]), group_cells(second, group))
    return pd.factorize(pd.concat(map(_named, both)))[0].astype(np.int64)


def _named(cells: pa.ChunkedArray) -> "pd.Series[str]":
    """Return ids as text; 7 in one table is 7.0 in another."""
    return cells.to_pandas().astype(str).str.replace(r"^(\d+)\.0+$", r"\1", regex=True)


def _new_columns(table: LabelledTable, other: SampledTable) -> list[str]:
    new = [name for name in other.rows.column_names if name not in table.rows.column_names]
    return [f"Columns that {table.name} has not are not used: {_listed(new)}."] if new else []


def _unseen_levels(table: LabelledTable, other: SampledTable) -> list[str]:
    """Name levels that the first table has not; those of fewer than five rows are counted."""
    said = []
    for column in (one for one in table.encoder.used if one.kind == CATEGORY):
        known = set(plain(table.rows[column.name]).to_pandas().astype(str))
        counts = plain(other.rows[column.name]).drop_null().to_pandas().astype(str).value_counts()
        new = counts[~counts.index.isin(known)]
        if len(new):
            shown = sorted(str(name) for name, n in new.items() if n >= FEW)
            rare = [f"{len(new) - len(shown)} rare"] * (len(shown) < len(new))
            rows = int(new.sum())
            count = f"{rows:,} rows" if rows >= FEW else f"fewer than {FEW} rows"
            said.append(
                f"Column {column.name!r}: levels that {table.name} has not, in {count}: "
                f"{_listed([*shown, *rare])}. The models know nothing of them."
            )
    return said


def _known(table: LabelledTable, roles: Roles, other: SampledTable, fold: Fold) -> list[str]:
    """Say if rows or ids of the second table stand in the first."""
    said = []
    if roles.id and roles.id in other.rows.column_names:
        ids = [set(_named(plain(rows[roles.id]).drop_null())) for rows in (table.rows, other.rows)]
        if both := len(ids[0] & ids[1]):
            said.append(
                f"Warning: {_count(both)} ids stand in both tables; the same patients are no test."
            )
    X = np.column_stack([fold.features.X, fold.features.label])
    n = len(table.features.label)
    first = {row.tobytes() for row in X[:n]}
    if same := sum(row.tobytes() in first for row in X[n:]):
        said.append(
            f"{_count(same)} of {len(X) - n:,} rows are equal to a row of {table.name} in every "
            "column; make sure that they are other patients."
        )
    dropped = n - len(fold.fit)
    if dropped:
        said.append(f"{_count(dropped)} rows of patients in both tables are not learnt from.")
    return said


def _count(n: int) -> str:
    return f"{n:,}" if n >= FEW else f"Fewer than {FEW}"


def _listed(names: list[Any]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(map(str, names[:_MOST_NAMED])) + (f" and {rest} more" if rest > 0 else "")
