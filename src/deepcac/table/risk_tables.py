"""`deepcac fit` and `deepcac predict`: a table to a model, a model and a table to risks."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deepcac.errors import ConfigError, DataError
from deepcac.files.atomic import atomic_path
from deepcac.files.csv_files import FORMULA, plain_cell
from deepcac.files.output_files import StrPath, check_output
from deepcac.persistence.model_files import load
from deepcac.scoring.small_cells import FEW
from deepcac.table.answer import Answer
from deepcac.table.budgeted_trials import Say, TableRun
from deepcac.table.cards.fit_card import fit_facts
from deepcac.table.cards.model_card import (
    card_path,
    joined,
    predictor_facts,
    table_facts,
    usual_facts,
    write_card_of,
)
from deepcac.table.columns.cells import row_names
from deepcac.table.columns.described_rows import DescribedTable, read_description
from deepcac.table.command_line.option_pairs import CLASSES, FOLLOW_UP, given, refuse_pairs
from deepcac.table.inference.labelled_table import LabelledTable, read_labelled
from deepcac.table.optimism import Refits, optimism, refit, spread, write_instability_page
from deepcac.table.pages.column_tables import column_blocks
from deepcac.table.pages.page_sections import Page, shown_page
from deepcac.table.risk_model import RiskModel, fit_risk_model
from deepcac.table.risk_model_choice import (
    AUTO,
    SUBTYPES,
    candidates,
    chosen_method,
    ways_asked,
)
from deepcac.table.risk_model_file import write_risk_model
from deepcac.table.table_model import NamedEstimator, TableModel
from deepcac.types import Array

if TYPE_CHECKING:
    from deepcac.table.subtype_model import SubtypeRiskModel

_ROWS_INSIDE = (
    "the model file holds quantiles of each column and the risk of each row of the table: keep it "
    "as you keep the table"
)
_TABLES = (".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".xls", ".ods")


def fit_table(
    path: DescribedTable,
    out: StrPath,
    run: TableRun,
    *,
    method: str = AUTO,
    learner: str = AUTO,
    clusters: int | None = None,
    alpha: float | None = None,
) -> "RiskModel | SubtypeRiskModel":
    """Fit a risk model on a table and write it as JSON, with a model card next to it.

    Parameters
    ----------
    path : DescribedTable
    out : path-like
        The model to write.
    run : TableRun
        With ``bootstrap``, a page next to the model shows the results of `deepcac.table.optimism`.
    method, learner, clusters, alpha
        See `risk_model_choice.ways_asked`; what is "auto", or not named, is chosen.
    """
    ways = ways_asked(method, learner, clusters, alpha)
    say, seed = run.say, run.seed
    asked = [*given(bootstrap=run.bootstrap or None), *["--method subtypes"] * (method == SUBTYPES)]
    refuse_pairs([*asked, *[FOLLOW_UP] * (path.description.outcome.time is not None)])
    check_output(out, path)
    card, page = card_path(out, path), Path(out).with_suffix(".bootstrap.html")
    check_output(page, path)
    table = read_labelled(path, rows=run.rows, seed=seed)
    refuse_pairs([*asked, *[CLASSES] * (table.features.n_classes > 2)])
    table.tell(say)
    model: RiskModel | SubtypeRiskModel
    if method == SUBTYPES:
        model = _fit_subtypes(table, out, ways.clusters, seed, say)
    else:
        chosen = chosen_method(table, ways, seed, run.progress, run.at_once)
        model = fit_risk_model(table, chosen, seed)
        _tell_merged(model, say)
    tried = candidates(ways, table)
    if isinstance(model, RiskModel):
        if run.bootstrap:
            refits = refit(table, tried, run.bootstrap, seed, say=run.progress, jobs=run.at_once)
            model = _with_refits(table, model, refits, page, run)
        write_risk_model(out, model)
    facts = joined(
        table_facts(path, table, run.command),
        predictor_facts(table),
        fit_facts(table, model, seed, model.name, tried),
        usual_facts("fit"),
    )
    columns = column_blocks(table.rows, table.columns)
    about = Page.of_table(table, Answer(""), columns, [], "", title="")
    write_card_of(card, shown_page(about, exact=run.exact), facts, run)
    return model


def _with_refits(
    table: LabelledTable, model: RiskModel, refits: Refits, page: Path, run: TableRun
) -> RiskModel:
    """Return the model with what its refits say of it, and write the page."""
    estimate = optimism(table, model, refits)
    n = len(refits.risk)
    write_instability_page(page, table, model.name, estimate, n, run)
    run.say(f"page: {page}")
    method = model.method | {"bootstrap": estimate.to_dict(n)}
    return replace(model, method=method, spread=spread(table, model, refits))


def _tell_merged(model: RiskModel, say: Say) -> None:
    asked = model.method["n_clusters"]
    if model.n_subtypes and model.n_subtypes < asked:
        say(
            f"{model.n_subtypes} of {asked} clusters are in the model: the others would have had "
            f"fewer than {FEW} patients, whom their centres would tell, or no rows"
        )


def _fit_subtypes(
    table: LabelledTable, out: StrPath, clusters: int, seed: int, say: Say
) -> "SubtypeRiskModel":
    """Fit and write a model of the extra `nn`."""
    try:
        from deepcac.table.subtype_model import fit_subtype_model, write_subtype_model
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--method subtypes needs {error.name}: pip install 'deepcac[tables,nn]'"
        ) from error
    model = fit_subtype_model(table, clusters, seed, say)
    write_subtype_model(out, model)
    for number, name in enumerate(model.estimator.subtype_names_, start=1):
        say(f"subtype {number}: {name}")
    say(_ROWS_INSIDE)
    return model


def read_model(path: StrPath) -> TableModel | NamedEstimator:
    """Read a model of `fit_table`, or of `deepcac.save`; any other file is a `DataError`."""
    if Path(path).suffix.lower() in _TABLES:
        raise DataError(f"{path}: is a table; the model comes first, then the table")
    if Path(path).is_dir():
        raise DataError(f"{path}: is a folder; name the model that deepcac fit wrote")
    model = load(path)
    return model if isinstance(model, TableModel) else NamedEstimator.of(model, path)


def predict_table(
    model_path: StrPath,
    path: StrPath,
    out: StrPath,
    *,
    say: Say,
    description: StrPath | None = None,
    accept: bool = False,
) -> int:
    """Write the risk of every row of a table as CSV, block by block; return how many rows.

    The columns are the id of the row (or ``row``, its number), ``risk`` of the positive class (of
    more than two classes ``risk_{class}`` each), ``risk_low`` and ``risk_high``, between which 95 %
    of the refits of ``fit --bootstrap`` put it, ``subtype`` where the model has clusters, and
    ``reasons``, the variables that move the risk most, where it knows them. An
    id that a spreadsheet would run as a formula gets an apostrophe before it.

    Parameters
    ----------
    model_path, path, out : path-like
        Model and table to read, CSV to write.
    say : callable
        Is called with what a user should know.
    description : path-like, optional
        How the table is read. The default is its own description, or else that of the model.
    accept : bool
        Whether risks are written though most rows of a column are unlike those of `fit_table`.

    Raises
    ------
    DataError
        The table lacks a column of the model, a cell is at fault, or most rows of a column have
        values that the model has not seen. Nothing is written then.
    """
    check_output(out, model_path, path)
    model = read_model(model_path)
    table = path if description is None else DescribedTable(path, read_description(description))
    remarks: dict[str, None] = {}
    n = 0
    with atomic_path(out) as partial, open(partial, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for rows, number, X in model.reader.blocks(table, remarks, accept=accept):
            named, columns = model.id in rows.column_names, _columns(model, X)
            if not n:
                writer.writerow([plain_cell(str(model.id)) if named else "row", *columns])
                if model.id is not None and not named:
                    missing = f"column {model.id!r} is missing; rows are named by their number"
                    remarks.setdefault(missing)
            ids = _ids(rows, str(model.id), remarks) if named else number.tolist()
            writer.writerows(zip(ids, *columns.values(), strict=True))
            n += len(ids)
    for remark in remarks:
        say(remark)
    return n


def _ids(rows: pa.Table, name: str, remarks: dict[str, None]) -> list[Any]:
    """Return ids that no spreadsheet runs as a formula, and tell of those."""
    ids = row_names(rows[name], name, "an id").to_pylist()
    formulas = [isinstance(id_, str) and id_.startswith(FORMULA) for id_ in ids]
    if any(formulas):
        remarks.setdefault("ids that begin with = + - @ have an apostrophe before them")
    return [f"'{id_}" if odd else id_ for id_, odd in zip(ids, formulas, strict=True)]


def _columns(model: TableModel | NamedEstimator, X: Array) -> dict[str, list[Any]]:
    """Return what a file of risks says of encoded rows (n, d), by its columns."""
    risk, subtype = model.answers(X)
    names = ["risk"] if len(model.classes) == 2 else [f"risk_{name}" for name in model.classes]
    risk, ranges, reasons = risk[:, -len(names) :], None, None
    if isinstance(model, TableModel):
        ranges, reasons = model.ranges(X), model.reasons(X)
    if ranges is not None:
        names, risk = [*names, "risk_low", "risk_high"], np.hstack([risk, ranges])
    columns: dict[str, list[Any]] = {
        name: [f"{value:.6g}" for value in values]
        for name, values in zip(names, risk.T.tolist(), strict=True)
    }
    if model.n_subtypes:
        columns["subtype"] = subtype.tolist()
    if reasons is not None:
        columns["reasons"] = [plain_cell(line) for line in reasons]
    return columns
