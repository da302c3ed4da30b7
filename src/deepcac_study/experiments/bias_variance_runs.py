"""Bias and variance of classifiers with and without class decomposition, as a record."""

import os
import time
from typing import Any

from deepcac.decomposition.training_samples import SAMPLES, resample
from deepcac.files.storage import write_json
from deepcac.scoring.bias_variance import bias_variance
from deepcac_study.experiments.decomposition_runs import read_rows
from deepcac_study.experiments.record import file_digest, machine


def write_bias_variance(
    out: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    dataset: str,
    label: str,
    samples: int = SAMPLES,
    synthetic: bool = False,
    threads: int = 1,
) -> None:
    """Split the error of each base and arm on one data set.

    The claim is in Vilalta, Achari & Eick 2003, section 4.

    Parameters
    ----------
    out : path-like
        JSON to write; ``parts`` has error, bias and variance by base and arm. All of it but
        ``machine`` is the same each time.
    table : path-like
        The rows (`read_rows`).
    dataset, label : str
        Id, and the column with the classes.
    samples : int
        Training samples.
    synthetic : bool
        Whether the rows are generated.
    threads : int
        Of the job; for the record.
    """
    begin = time.process_time()
    found = resample(*read_rows(table, label), samples)
    parts: dict[str, dict[str, dict[str, float]]] = {}
    for (base, arm), predicted in found.predicted.items():
        parts.setdefault(base, {})[arm] = bias_variance(predicted, found.truth)._asdict()
    record: dict[str, Any] = {
        "schema": 1,
        "dataset": dataset,
        "protocol": "sound",
        "synthetic": synthetic,
        "n_samples": samples,
        "n_test": len(found.truth),
        "parts": parts,
        "inputs": {"table": file_digest(table)},
    }
    seconds = {"processor": time.process_time() - begin}
    write_json(out, {**record, "machine": machine(seconds, threads, "cpu")})
