"""The experiments of Vilalta, Achari & Eick (2003) on one data set, as records.

Section 6 by repeated runs, and bias and variance with and without decomposition (section 4).
"""

import os
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from deepcac.errors import DataError
from deepcac.files.storage import read_table, write_json
from deepcac.numeric_table import hold_back
from deepcac_study.catalogue.protocol import SOUND, Protocol
from deepcac_study.catalogue.variables import levels_of
from deepcac_study.experiments.relatives.repeated_runs import (
    AGAINST_REST,
    ARMS,
    RUNS,
    SHARES,
    USUAL,
    Arm,
    Base,
    Parts,
    RunRecord,
    cluster_parts,
    draw_parts,
    fit_arm,
    run_experiment,
)
from deepcac_study.records.record import file_digest, machine

Labelled = tuple[str | os.PathLike[str], str]  # a parquet file, and its column of classes
_NO_FEATURES = ("row_id", "group")
_TIMES = ("seconds_clustering", "seconds")
SAMPLES = 10


def read_labelled(
    path: str | os.PathLike[str], label: str
) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Read a parquet file as X (n, d), without row ids and groups, and y.

    Columns with levels are nominal, all others numeric. A missing label column is a `DataError`.
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
    ``machine`` is reproducible. `variant` is the folder of the protocol: the sound one draws the
    parts within each class, as published without stratification. `against_rest` adds linear
    machines one against rest.
    """
    X, y = read_labelled(*rows)
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

    ``parts`` of the JSON has error, bias and variance by base and arm; all but ``machine`` is
    reproducible.
    """
    begin = time.process_time()
    resampled = resample(*read_labelled(*rows), samples)
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


class BiasVariance(NamedTuple):
    """Mean zero-one loss of test rows, and its parts: error = bias + variance.

    Bias is half the squared distance of the shares of the predicted classes over samples from the
    right class. Variance is half the probability that two samples differ on a row. Both estimates
    are unbiased.
    """

    error: float
    bias: float
    variance: float


def bias_variance(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> BiasVariance:
    """Split the zero-one loss as Kohavi and Wolpert (1996), with labels taken to be free of noise.

    For one row, p_c the share of the samples whose model predicts class c and t its class, the
    bias is (1 / 2) sum_c ((c = t) - p_c)^2 and the variance (1 / 2) (1 - sum_c p_c^2). With R
    samples the second is R / (R - 1) times too small on average, and the first too large by as
    much; both are corrected, so that bias can be a little below 0.

    `predicted`, shape (R, n), is the class of each row by the model of each sample; `truth` is of
    shape (n,). Fewer than two samples, or other shapes, are a `DataError`.
    """
    labels, right = np.asarray(predicted), np.asarray(truth)
    if labels.ndim != 2 or labels.shape[1:] != right.shape or len(labels) < 2:
        raise DataError(f"predictions of shape {labels.shape}; give at least two samples of n rows")
    samples = len(labels)
    error = float(np.mean(labels != right))
    classes = np.unique(labels)
    shares = np.array([(labels == c).mean(axis=0) for c in classes])
    spread = 0.5 * (1.0 - (shares**2).sum(axis=0)).mean()
    variance = float(spread * samples / (samples - 1))
    return BiasVariance(error, error - variance, variance)


class Resampled(NamedTuple):
    """Predictions of the models of all samples for the test rows.

    Attributes
    ----------
    truth : ndarray of shape (n,)
    predicted : dict of (base, arm) to ndarray of shape (samples, n)
    """

    truth: npt.NDArray[Any]
    predicted: dict[tuple[Base, Arm], npt.NDArray[Any]]


def resample(X: pd.DataFrame, y: npt.ArrayLike, samples: int = SAMPLES, seed: int = 0) -> Resampled:
    """Predict a quarter of the rows by models fitted to samples of the other rows.

    A sample divides the others into training rows (half of all) and validation rows (a quarter),
    class by class; the test rows are the same for all samples.

    Parameters
    ----------
    X : DataFrame of shape (n, d)
        Columns of dtype "category" are nominal, all others numeric; NaN is missing.
    y : array-like of shape (n,)
        Classes.
    samples : int
    seed : int
        Seed of the test rows; sample i draws from (seed, i).
    """
    labels = np.asarray(y)
    codes = np.unique(labels, return_inverse=True)[1]
    first = draw_parts(labels, np.random.default_rng(seed))
    pool = np.sort(np.concatenate([first.train, first.validation]))
    share = SHARES[1] / (SHARES[0] + SHARES[1])
    predictions: dict[tuple[Base, Arm], list[npt.NDArray[Any]]] = {}
    for sample in range(samples):
        rng = np.random.default_rng([seed, sample])
        held = hold_back(codes[pool], share, rng)
        parts = Parts(pool[~held], pool[held], first.test)
        data = cluster_parts(X, labels, parts, sample, None, rng)
        for base in USUAL:
            for arm in ARMS:
                predicted = fit_arm(data, base, arm).predict(data.test[0])
                predictions.setdefault((base, arm), []).append(predicted)
    stacked = {key: np.array(predicted) for key, predicted in predictions.items()}
    return Resampled(labels[first.test], stacked)
