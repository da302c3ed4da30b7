"""Columns of a table as numbers, learnt once; and the rows of a column in parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ConfigDict, TypeAdapter, ValidationError

from deepcac.errors import DataError
from deepcac.scoring.column_quantiles import LENGTHS, coarse_quantiles
from deepcac.scoring.small_cells import FEW
from deepcac.table.columns.cells import as_texts, is_numeric, is_text, numbers, plain, truth_like
from deepcac.table.columns.description import TableDescription
from deepcac.types import Array, Ids

NUMBER: Final = "number"
CATEGORY: Final = "category"
LEFT_OUT: Final = "left out"
MOST_LEVELS = 20  # of a category; rarer ones, and those of few patients, become one level
OTHER, ABSENT = "(other)", "(missing)"
MOST_VALUES = 10  # different numbers of a column that are kept one by one


@dataclass(frozen=True)
class EncodedColumn:
    """What one column of a table is."""

    name: str
    kind: Literal["number", "category", "left out"]
    # Of a category, in order; `OTHER` stands for rarer ones, `ABSENT` for no value
    levels: tuple[str, ...] = ()
    note: str = ""  # why it is left out, or what was done to it
    missing: int = 0  # rows without a value, where it was learnt
    # Of a number, of `coarse_quantiles`, of three digits; empty if that would tell of few patients
    quantiles: tuple[float, ...] = ()
    # All values of a number that has few, each in eight rows or more
    values: tuple[float, ...] = ()

    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True)
class TableEncoder:
    """The columns of a table, and how they become numbers."""

    columns: tuple[EncodedColumn, ...]
    # How another table is read; None for the numbers of an estimator
    description: TableDescription | None = None

    @cached_property
    def used(self) -> tuple[EncodedColumn, ...]:
        """The columns that features are made of."""
        return tuple(column for column in self.columns if column.kind != LEFT_OUT)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features; ``column=level`` for a level of a category."""
        return tuple(name for column in self.used for name in feature_names(column))

    @cached_property
    def places(self) -> dict[str, int]:
        """Place of each feature among them."""
        return {name: place for place, name in enumerate(self.names)}

    @property
    def level_names(self) -> frozenset[str]:
        """Names of the features that stand for a level, and have the values 0 and 1."""
        return frozenset(self.names) - {c.name for c in self.used if c.kind == NUMBER}

    def encode(self, rows: pa.Table, number: Ids) -> Array:
        """Return features (n, d), NaN where missing.

        `rows` has every used column; `number` (n,) are the numbers of the rows in their file.
        A level that was not learnt is a rare one, missing or none (`unfamiliar_rows`).
        """
        there = set(rows.column_names)
        missing = [column.name for column in self.used if column.name not in there]
        if missing:
            more = f" (and {len(missing) - 1} more)" * (len(missing) > 1)
            raise DataError(
                f"column {missing[0]!r} is missing{more}; add it, or leave it out in the "
                "description of the table that models are fitted on"
            )
        parts = [np.empty((rows.num_rows, 0))]
        for column in self.used:
            cells = plain(rows[column.name])
            if column.kind == NUMBER:
                parts.append(numbers(cells, column.name, number)[:, None])
            else:
                parts.append(_indicators(level_texts(cells, column), column))
        return np.hstack(parts)

    def frame(self, X: Array) -> pd.DataFrame:
        """Return features (n, d) with their names."""
        return pd.DataFrame(X, columns=list(self.names))

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder as JSON-ready data; how many values were missing stays here."""
        keys = ("name", "kind", "levels", "note", "quantiles", "values")
        columns = [{key: getattr(column, key) for key in keys} for column in self.columns]
        described = self.description and self.description.to_dict()
        return {"columns": columns, "description": described}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "TableEncoder":
        """Return the encoder that `to_dict` wrote; an impossible one is a `DataError`."""
        try:
            columns = TypeAdapter(tuple[EncodedColumn, ...]).validate_python(content["columns"])
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise DataError(f"columns {fault['loc']}: {fault['msg']}") from error
        for column in columns:
            _check(column)
        if len({column.name for column in columns}) != len(columns):
            raise DataError("a column occurs twice")
        described = content["description"]
        return cls(columns, described and TableDescription.from_dict(described))


def _check(column: EncodedColumn) -> None:
    """Refuse a column that `learn_encoder` cannot have found."""
    levels, ordered = column.levels, (column.quantiles, column.values)
    possible = len(set(levels)) == len(levels) and 2 <= len(levels) <= MOST_LEVELS + 2
    if not possible if column.kind == CATEGORY else levels:
        raise DataError(f"column {column.name!r} has impossible levels")
    if len(column.quantiles) not in LENGTHS or any(list(v) != sorted(v) for v in ordered):
        raise DataError(f"column {column.name!r}: its quantiles or values are out of order")


def learn_encoder(
    rows: pa.Table,
    number: Ids,
    skip: Mapping[str, str],
    description: TableDescription | None = None,
    refused: dict[str, str] | None = None,
    patients: Ids | None = None,
) -> TableEncoder:
    """Look at every column of a table whose cells have their types.

    Columns to `skip` are no features, and why. `refused` gets columns that are at fault, and why;
    without it an infinite or impossible value, or two columns that become one feature, are a
    `DataError`. A level of few `patients` (n,) is a rare one, however many rows they have.
    """
    columns: list[EncodedColumn] = []
    taken: set[str] = set()
    # By name, so that no number of a model depends on the place of a column in the file.
    for name in sorted(rows.column_names):
        cells = plain(rows[name])
        try:
            column = (
                EncodedColumn(name, LEFT_OUT, note=skip[name])
                if name in skip
                else _learn(name, cells, number, patients)
            )
            features: set[str] = set() if column.kind == LEFT_OUT else {*feature_names(column)}
            if twice := features & taken:
                raise DataError(
                    f"column {name!r} becomes the feature {min(twice)!r}, as another column does; "
                    "rename it"
                )
            taken |= features
        except DataError as error:
            if refused is None:
                raise
            refused[name] = str(error)
            column = EncodedColumn(name, LEFT_OUT, note="at fault", missing=_missing(cells))
        columns.append(column)
    if refused is None and all(column.kind == LEFT_OUT for column in columns):
        raise DataError("no column is left to predict from; see `deepcac profile`")
    return TableEncoder(tuple(columns), description)


def _missing(cells: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.is_null(cells, nan_is_null=True)).as_py() or 0)


def _learn(name: str, cells: pa.ChunkedArray, number: Ids, patients: Ids | None) -> EncodedColumn:
    missing = _missing(cells)
    if missing == len(cells):
        return EncodedColumn(name, LEFT_OUT, note="empty", missing=missing)
    if is_text(cells.type):
        return _learn_levels(name, cells, patients)
    if not is_numeric(cells.type):
        return EncodedColumn(name, LEFT_OUT, note=f"of type {cells.type}", missing=missing)
    return _learn_number(name, numbers(cells, name, number), patients)


ID_NOTE = "an id"  # in the notes of columns that are left out


def _patients_of(values: "pd.Series[Any]", patients: Ids | None) -> "pd.Series[int]":
    """Return how many patients have each of the values (n,); by default each row is one."""
    whose = pd.Series(np.arange(len(values)) if patients is None else patients)
    return whose.groupby(values.reset_index(drop=True)).nunique()


def _learn_levels(name: str, cells: pa.ChunkedArray, patients: Ids | None) -> EncodedColumn:
    texts = as_texts(cells).to_pandas()
    counts, missing = texts.value_counts(), int(texts.isna().sum())
    if len(counts) == 1 and not missing:
        return EncodedColumn(name, LEFT_OUT, note="constant")
    patients_of = _patients_of(texts, patients)
    commonest = sorted(counts.index, key=lambda text: (-counts[text], text))[:MOST_LEVELS]
    levels = sorted(text for text in commonest if patients_of[text] >= FEW)
    if not levels:
        whom = "rows" if patients is None else "patients"
        note = f"no text occurs in {FEW} {whom} or more"
        return EncodedColumn(name, LEFT_OUT, note=note, missing=missing)
    note, rare = "", len(counts) - len(levels)
    if rare:
        note = f"{rare:,} rarer levels are one" if rare > 1 else "a rarer level is not named"
    # A text of the table may itself be one of these two words.
    last = [OTHER] * bool(rare) + [ABSENT] * bool(missing)
    levels = [level for level in levels if level not in last] + last
    if len(levels) == 1:
        return EncodedColumn(name, LEFT_OUT, note="constant", missing=missing)
    return EncodedColumn(name, CATEGORY, tuple(levels), note, missing)


def _learn_number(name: str, values: Array, patients: Ids | None) -> EncodedColumn:
    there = ~np.isnan(values)
    seen, missing = values[there], int((~there).sum())
    distinct = np.unique(seen)
    if len(distinct) == 1 and not missing:
        return EncodedColumn(name, LEFT_OUT, note="constant")
    whose = None if patients is None else patients[there]
    if len(distinct) > MOST_VALUES:
        n = len(seen) if whose is None else len(np.unique(whose))
        return EncodedColumn(name, NUMBER, missing=missing, quantiles=coarse_quantiles(seen, n))
    coded = (distinct == np.floor(distinct)).all() and len(seen) >= 2 * FEW * len(distinct)
    common = coded and _patients_of(pd.Series(seen), whose).min() >= FEW
    return EncodedColumn(
        name, NUMBER, missing=missing, values=tuple(distinct.tolist()) if common else ()
    )


def feature_names(column: EncodedColumn) -> list[str]:
    """Return the names of the features that a used column becomes."""
    if column.kind == NUMBER:
        return [column.name]
    return [f"{column.name}={level}" for level in _shown_levels(column)]


def _shown_levels(column: EncodedColumn) -> tuple[str, ...]:
    """Return the levels with a feature: of two, the second says it all."""
    return column.levels[1:] if len(column.levels) == 2 else column.levels


def level_texts(cells: pa.ChunkedArray, column: EncodedColumn) -> npt.NDArray[np.object_]:
    """Return the texts of a category as its levels are spelt, `ABSENT` for a blank."""
    try:
        text = as_texts(cells)
    except pa.ArrowException as error:
        raise DataError(
            f"column {column.name!r} is of type {cells.type}; text or numbers were expected"
        ) from error
    values = np.asarray(text.to_pandas().to_numpy(dtype=object, na_value=ABSENT))
    for level in filter(lambda level: truth_like([level]), column.levels):
        values[np.char.lower(values.astype(str)) == level.lower()] = level
    return values


# By hand: scikit-learn's OneHotEncoder counts rows and not patients, keeps the names of all levels,
# joins missing values with rare levels, and takes an unknown level for the first of two.
def _indicators(values: npt.NDArray[np.object_], column: EncodedColumn) -> Array:
    if OTHER in column.levels:
        values = np.where(np.isin(values, column.levels), values, OTHER)
    shown = np.column_stack([(values == level) for level in _shown_levels(column)]).astype(float)
    if len(column.levels) == 2:  # one column says which; a third one, or none, is neither
        shown[~np.isin(values, column.levels)] = np.nan
    return shown


MISSING = "missing"


class ColumnParts(NamedTuple):
    """Rows of a column in parts."""

    # What a row of each part has, such as "above 4.1" or "icu"; every part has rows
    names: list[str]
    number: Ids  # (n,) Part of each row
    exact: bool = True  # whether all rows of a part have the same value

    @property
    def sizes(self) -> Ids:
        """Rows of each part."""
        return np.bincount(self.number, minlength=len(self.names))


def column_parts(
    column: EncodedColumn, X: Array, places: Mapping[str, int], most: int = 4
) -> ColumnParts:
    """Part the rows of features X (n, d) by a used column, whose features have `places` in it.

    A number has at most `most` parts, of equal size as far as values allow, and one for each value
    if these are no more. Rows without a value are one part more.
    """
    if column.levels:
        return _levels(column, X, places)
    values = X[:, places[column.name]]
    absent = np.isnan(values)
    distinct = np.unique(values[~absent])
    exact = len(distinct) <= most
    if exact:
        number = np.searchsorted(distinct, values)
        named = [f"{value:,.6g}" for value in distinct]
    else:
        # Cuts are values, so that no part is empty; above the largest value there is nothing.
        at = np.arange(1, most) / most
        cuts = np.unique(np.quantile(values[~absent], at, method="inverted_cdf"))
        cuts = np.unique(np.minimum(cuts, distinct[-2]))
        number = np.digitize(values, cuts, right=True)
        texts = [f"{cut:,.4g}" for cut in cuts]
        between = [f"above {low} to {high}" for low, high in pairwise(texts)]
        named = [f"up to {texts[0]}", *between, f"above {texts[-1]}"]
    number[absent] = len(named)
    named += [MISSING] if absent.any() else []
    return ColumnParts(named, number.astype(np.int64), exact)


def _levels(column: EncodedColumn, X: Array, places: Mapping[str, int]) -> ColumnParts:
    """Return a part a level; of two levels only the second has a feature."""
    shown = [level for level in column.levels if f"{column.name}={level}" in places]
    marked = X[:, [places[f"{column.name}={level}"] for level in shown]] == 1
    others = [level for level in column.levels if level not in shown]
    number = np.where(marked.any(axis=1), len(others) + marked.argmax(axis=1), 0)
    present = np.unique(number)
    named = [*others, *shown]
    return ColumnParts([named[part] for part in present], np.searchsorted(present, number))
