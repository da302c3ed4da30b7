"""The experiment of Vilalta, Achari & Eick (2003, section 6) on one data set, as a record."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.decomposition.repeated_runs import (
    AGAINST_REST,
    RUNS,
    SHARES,
    USUAL,
    Record,
    run_experiment,
)
from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_json
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.catalogue.variables import levels_of
from deepcac_study.experiments.record import file_digest, machine

_NO_FEATURES = ("row_id", "group")
_TIMES = ("seconds_clustering", "seconds")


def read_rows(path: str | os.PathLike[str], label: str) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Read a tidy table or a feature file as the columns of an estimator.

    Parameters
    ----------
    path : path-like
        Parquet. Columns with levels are nominal, all others numeric.
    label : str
        Column with the classes.

    Returns
    -------
    X : DataFrame of shape (n, d)
        Without row ids and groups.
    y : ndarray of shape (n,)

    Raises
    ------
    DataError
        The table has no such column.
    """
    table = read_table(path)
    if label not in table.column_names:
        raise DataError(f"{path}: no column {label!r} with the classes")
    columns: dict[str, Any] = {}
    for field in table.schema:
        if field.name not in (*_NO_FEATURES, label):
            values, levels = table[field.name].to_pandas(), levels_of(field)
            columns[field.name] = values if levels is None else pd.Categorical(values, levels)
    return pd.DataFrame(columns), table[label].to_pandas().to_numpy()


def write_decomposition(
    out: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    dataset: str,
    label: str,
    protocol: Protocol = SOUND,
    runs: int = RUNS,
    against_rest: bool = False,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Run the experiment on one data set and write its record.

    Parameters
    ----------
    out : path-like
        JSON to write: configuration, accuracies, configurations and counts of every run and arm.
        All of it but ``machine`` is the same each time.
    table : path-like
        The rows (`read_rows`).
    dataset, label : str
        Id, and the column with the classes.
    protocol : Protocol
        Sound, the parts are drawn within each class; else plainly, as in the paper.
    runs : int
    against_rest : bool
        Whether linear machines one against rest are run beside those one against one.
    synthetic : bool
        Whether the rows are generated.
    threads : int
        Of the job; for the record.
    """
    X, y = read_rows(table, label)
    stratified = protocol == SOUND
    bases = (*USUAL, AGAINST_REST) if against_rest else USUAL
    found = list(run_experiment(X, y, stratified=stratified, runs=runs, bases=bases))
    record: dict[str, Any] = {
        "schema": 1,
        "dataset": dataset,
        "protocol": protocol.name,
        "synthetic": synthetic,
        "n_rows": len(X),
        "n_columns": X.shape[1],
        "n_classes": len(np.unique(y)),
        "shares": dict(zip(("train", "validation", "test"), SHARES, strict=True)),
        "stratified": stratified,
        "runs": [_without_times(row) for row in found],
        "inputs": {"table": file_digest(table)},
    }
    record["machine"] = machine(seconds_by_stage(found), threads, "cpu")
    write_json(Path(out), record)


def _without_times(row: Record) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in _TIMES}


def seconds_by_stage(rows: Sequence[Record]) -> dict[str, float]:
    """Return the processor time of the clustering and of each base and arm, over all runs."""
    shared = {row.run: row.seconds_clustering for row in rows}
    seconds = {"clustering": sum(shared.values())}
    for row in rows:
        name = f"{row.base}_{row.arm}"
        seconds[name] = seconds.get(name, 0.0) + row.seconds
    return seconds
