"""Risks of a model or of a column, with the outcomes of a table, checked for a validation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deepcac.errors import ConfigError, DataError
from deepcac.files.output_files import StrPath
from deepcac.judging.predictions import Predictions
from deepcac.scoring.calibration import is_certain
from deepcac.scoring.small_cells import Count, Text
from deepcac.table.columns.cell_texts import uniform
from deepcac.table.columns.cells import numbers, plain
from deepcac.table.columns.described_rows import DescribedTable
from deepcac.table.columns.description import Outcome
from deepcac.table.command_line.option_pairs import given, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable, feature_matrix
from deepcac.table.pages.risk_section import check_columns
from deepcac.table.reading.table_encoder import TableEncoder, learn_encoder
from deepcac.table.risk_tables import read_model
from deepcac.table.second_table import TableReader
from deepcac.table.table_model import NamedEstimator, TableModel
from deepcac.types import Array, Ids

MOST = 50_000  # rows; of a larger table a sample is scored
_PERCENT = 100.0


@dataclass(frozen=True)
class RiskSource:
    """Where risks come from.

    Attributes
    ----------
    name : str
        For a page.
    model : TableModel, NamedEstimator or None
    column : str or None
        Of risks, where there is no model.
    files : tuple of path-like
        Of the model.
    """

    name: str
    model: TableModel | NamedEstimator | None = None
    column: str | None = None
    files: tuple[StrPath, ...] = ()

    @classmethod
    def named(cls, models: Sequence[StrPath], column: str | None) -> "RiskSource":
        """Return what a command names: a file of a model, or a column of risks."""
        refuse_pairs([*given(risk=column), *["a model"] * bool(models)])
        if column is not None:
            return cls(f"column {column!r}", column=uniform(column))
        if len(models) != 1:
            raise ConfigError("name a model and a table, or a table and --risk COLUMN")
        (path,) = models
        model = read_model(path)
        return cls(f"{Path(path).name} ({model.kind})", model, files=(path,))

    @property
    def reader(self) -> TableReader:
        """How the table is read."""
        return TableReader(TableEncoder(())) if self.model is None else self.model.reader

    @property
    def horizon(self) -> float | None:
        """The time up to which the model's risks are, if it says so."""
        return self.model.method.get("horizon") if isinstance(self.model, TableModel) else None


@dataclass(frozen=True)
class Validated:
    """A table of n rows with the risks to validate.

    Attributes
    ----------
    table : LabelledTable
        Outcomes, follow-up, patients and the columns of subgroups.
    source : RiskSource
    risk : ndarray of shape (n, n_classes)
    X : ndarray of shape (n, d) or None
        Rows as the model reads them.
    """

    table: LabelledTable
    source: RiskSource
    risk: Array
    X: Array | None = None

    @property
    def site(self) -> str | None:
        """Column of the site."""
        return self.table.description.use.site

    @cached_property
    def predictions(self) -> dict[str, Predictions]:
        """Risks of an event, by its name: of more than two classes of each."""
        table, names = self.table, self.table.shown_classes
        row = np.arange(len(self.risk))
        classes = [1] if len(names) == 2 else range(len(names))
        return {
            names[c]: Predictions.of_part(
                row,
                table.group,
                y.astype(np.int64),
                {self.source.name: self.risk[:, c]},
                table.follow,
            )
            for c in classes
            for y in [table.features.label == c]
        }


def read_validated(
    path: DescribedTable,
    source: RiskSource,
    by: Sequence[str] = (),
    *,
    accept: bool = False,
) -> Validated:
    """Read risks and outcomes of a table.

    Parameters
    ----------
    path : DescribedTable
    source : RiskSource
    by : sequence of str
        Columns of subgroups.
    accept : bool
        Whether to score rows that are mostly unlike those of the fit.

    Raises
    ------
    ConfigError, DataError
        What is asked does not fit the model, a cell is at fault, the model refuses the table, or
        one outcome has fewer than ten rows.
    """
    path.description.refuse_open()
    use, asked = path.description.use, path.description.outcome
    _check_horizon(source, asked)
    if source.column is not None:
        use.refuse_role(source.column, "the risk")
    needed = [] if source.column is None else [source.column]
    table = source.reader.labelled(path, use, rows=MOST, needed=needed, also=by, accept=accept)
    if source.model is None:
        X, risk = None, _risk_column(table, str(source.column))
    else:
        X = table.features.X
        risk = source.model.answers(X)[0]
    remarks = dict.fromkeys([*table.remarks, *_certain(risk), *_other_question(source, asked)])
    table = _with_subgroups(replace(table, remarks=tuple(remarks)), by)
    check_columns(table, by)
    return Validated(table, source, risk, X)


def _check_horizon(source: RiskSource, asked: Outcome) -> None:
    if source.horizon is not None and asked.time is None:
        raise ConfigError(
            f"the model predicts the event by {source.horizon:g}; name the column of the "
            "follow-up time, and the horizon, in the description's outcome"
        )
    if isinstance(source.model, TableModel) and source.horizon is None and asked.time is not None:
        raise ConfigError(
            "the model was fitted without follow-up, so its risks are of no time; ask without "
            "it: take the time out of the description's outcome"
        )


def _other_question(source: RiskSource, asked: Outcome) -> list[str]:
    """Describe where the model was fitted for another horizon or another estimand."""
    if source.horizon is None or asked.horizon is None:
        return []
    lines = []
    if source.horizon != asked.horizon:
        lines.append(
            f"Warning: the model predicts the event by {source.horizon:g}, and is tested by "
            f"{asked.horizon:g}; that is right only if the times have another unit."
        )
    assert isinstance(source.model, TableModel)
    if bool(source.model.method.get("competing")) != bool(asked.competing):
        lines.append(
            "Warning: competing events were named either for the model or for this table, not "
            "for both, so risks and outcomes answer two questions."
        )
    return lines


def _risk_column(table: LabelledTable, name: str) -> Array:
    """Return a column of risks as those of both outcomes, shape (n, 2)."""
    if len(table.classes) > 2:
        raise DataError(
            f"column {table.label!r} has {len(table.classes)} classes; one column of risks needs "
            "an outcome of two"
        )
    number = table.features.row_id
    risk = numbers(plain(table.rows[name]), name, number)
    absent = np.isnan(risk)
    if absent.any():
        raise DataError(_at_fault(name, number, absent, "has no risk; fill it in"))
    outside = (risk < 0) | (risk > 1)
    if outside.any():
        percent = bool(risk.min() >= 0 and risk.max() <= _PERCENT)
        way = "; divide percentages by 100" * percent
        first = f"{risk[outside.argmax()]:.8g} is no risk from 0 to 1{way}"
        raise DataError(_at_fault(name, number, outside, first))
    return np.column_stack([1 - risk, risk])


def _at_fault(name: str, number: Ids, fault: npt.NDArray[np.bool_], why: str) -> str:
    n = int(fault.sum())
    rows = f" (the first of {Count(n)} such rows)" if n > 1 else ""
    return f"column {name!r}, data row {number[fault.argmax()]}: {why}{rows}"


def _certain(risk: Array) -> list[str]:
    lines: list[str] = []
    n = int(is_certain(risk).any(axis=1).sum())
    if n:
        text = (
            "{} rows have a risk of 0 or 1, which has no log odds: intercept, slope and log loss "
            "take it for a risk of 1 in 10 million, or of all but it."
        )
        lines.append(Text(text, Count(n).capitalize()))
    if not risk[:, -1].any():
        lines.append("No event is expected, so observed / expected events is not defined.")
    if np.ptp(risk[:, -1]) == 0:
        lines.append("All risks are equal: they rank nobody, and have no calibration slope.")
    return lines


def _with_subgroups(table: LabelledTable, by: Sequence[str]) -> LabelledTable:
    """Return the table as pages take it: its only features are the columns of subgroups."""
    number, encoder = table.features.row_id, TableEncoder(())
    if shown := [name for name in by if name in table.rows.column_names]:
        encoder = learn_encoder(table.rows.select(shown), number, {})
    X = encoder.encode(table.rows, number)
    features = feature_matrix(number, table.features.label, X, encoder)
    return replace(table, encoder=encoder, features=features)
