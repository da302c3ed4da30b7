"""The experiments of Vilalta, Achari & Eick (2003) on one data set, as records.

Section 6 by repeated runs, and bias and variance with and without decomposition (section 4).
"""

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_json
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.catalogue.variables import levels_of
from deepcac_study.experiments.relatives.bias_variance import bias_variance
from deepcac_study.experiments.relatives.repeated_runs import (
    AGAINST_REST,
    RUNS,
    SHARES,
    USUAL,
    RunRecord,
    run_experiment,
)
from deepcac_study.experiments.relatives.training_samples import SAMPLES, resample
from deepcac_study.records.record import file_digest, machine

Labelled = tuple[str | os.PathLike[str], str]  # a parquet file, and its column of classes
_NO_FEATURES = ("row_id", "group")
_TIMES = ("seconds_clustering", "seconds")


def read_rows(path: str | os.PathLike[str], label: str) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Read parquet as an estimator's X of shape (n, d), without row ids and groups, and its y.

    Columns with levels are nominal, all others numeric. A label that is no column is a `DataError`.
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
    rows: Labelled,
    *,
    dataset: str,
    variant: str = "",
    runs: int = RUNS,
    against_rest: bool = False,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Run the experiment on one data set and write its record as JSON.

    It has configuration, accuracies, configurations and counts of every run and arm; all but
    ``machine`` is the same each time. `variant` is the folder of the protocol: sound, the parts are
    drawn within each class, else plainly, as in the paper. `against_rest` runs linear machines one
    against rest beside those one against one.
    """
    X, y = read_rows(*rows)
    protocol = Protocol.from_folder(variant)
    stratified = protocol == SOUND
    bases = (*USUAL, AGAINST_REST) if against_rest else USUAL
    results = list(run_experiment(X, y, stratified=stratified, runs=runs, bases=bases))
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
        "runs": [_without_times(result) for result in results],
        "inputs": {"table": file_digest(rows[0])},
    }
    record["machine"] = machine(seconds_by_stage(results), threads, "cpu")
    write_json(out, record)


def _without_times(row: RunRecord) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in _TIMES}


def seconds_by_stage(rows: Sequence[RunRecord]) -> dict[str, float]:
    """Return the processor time of the clustering and of each base and arm, over all runs."""
    shared = {row.run: row.seconds_clustering for row in rows}
    seconds = {"clustering": sum(shared.values())}
    for row in rows:
        name = f"{row.base}_{row.arm}"
        seconds[name] = seconds.get(name, 0.0) + row.seconds
    return seconds


def write_bias_variance(
    out: str | os.PathLike[str],
    rows: Labelled,
    *,
    dataset: str,
    samples: int = SAMPLES,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Split the error of each base and arm (Vilalta, Achari & Eick 2003, section 4).

    ``parts`` of the JSON has error, bias and variance by base and arm; all but ``machine`` is the
    same each time.
    """
    begin = time.process_time()
    resampled = resample(*read_rows(*rows), samples)
    parts: dict[str, dict[str, dict[str, float]]] = {}
    for (base, arm), predicted in resampled.predicted.items():
        parts.setdefault(base, {})[arm] = bias_variance(predicted, resampled.truth)._asdict()
    record: dict[str, Any] = {
        "schema": 1,
        "dataset": dataset,
        "protocol": "sound",
        "synthetic": synthetic,
        "n_samples": samples,
        "n_test": len(resampled.truth),
        "parts": parts,
        "inputs": {"table": file_digest(rows[0])},
    }
    seconds = {"processor": time.process_time() - begin}
    write_json(out, {**record, "machine": machine(seconds, threads, "cpu")})
