"""Trials of contenders on a feature file, stored: a record of scores, and the answers beside it."""

import os
import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json, write_table
from deepcac.judging.contenders import Contender
from deepcac.judging.trials import Effort, judge_samples, study_resamples
from deepcac_study.judge.study_files import answers_path
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.trial_risks import add_risks
from deepcac_study.records.record import file_digest, machine
from deepcac_study.records.stored import check_place
from deepcac_study.records.written_scores import as_scored, as_written

_ENTRIES = {"dataset", "contender", "trials", "resamples", "answers"}
_PLACE = "{dataset}/{contender}.json"


def run_trials(
    features: str | os.PathLike[str],
    records: Mapping[Contender, str | os.PathLike[str]],
    *,
    dataset: str,
    effort: Effort,
    synthetic: bool = False,
    grouped: bool = False,
) -> None:
    """Fit and score all trials of contenders on a feature file, and write what they say.

    Contenders that are run together share what they have in common on a resample. The probabilities
    of every trial go beside the JSON record (`answers_path`). `grouped`: rows of one group, those
    of a patient, stay in one part of a resample.
    """
    begin = time.perf_counter()
    matrix = read_rows(features)
    unit = matrix.group if grouped else None
    results = judge_samples(study_resamples(matrix, effort, unit), records, effort)
    seconds = time.perf_counter() - begin
    head = {
        "dataset": dataset,
        "synthetic": synthetic,
        "n_rows": len(matrix.label),
        "n_features": len(matrix.names),
        "n_classes": matrix.n_classes,
    }
    for record, (body, answers) in zip(records.values(), results, strict=True):
        if matrix.n_classes == 2:
            add_risks(body, answers)
        write_trials(record, {**head, **body}, answers, features, seconds)


def write_trials(
    record: str | os.PathLike[str],
    written: dict[str, Any],
    answers: pa.Table,
    features: str | os.PathLike[str],
    seconds: float,
) -> None:
    """Write a record of trials and, beside it, what they answer; both are told by digests."""
    write_table(answers_path(record), answers)
    inputs = {
        "inputs": {"features": file_digest(features)},
        "answers": file_digest(answers_path(record)),
    }
    made = {"machine": machine({"total": seconds}, 1, "cpu")}
    write_json(record, {**as_written(written), **inputs, **made})


def read_trials(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a record of `run_trials`; one that is edited, or not of its place, is a `DataError`.

    So is one beside other answers than its own. Of every score of a trial more is better.
    """
    record = read_json(path)
    if not record.keys() >= _ENTRIES:
        raise DataError(f"{path}: not a record of trials; run it again")
    check_place(path, record, _PLACE)
    answers = answers_path(path)
    if answers.exists() and file_digest(answers) != record["answers"]:
        raise DataError(f"{answers}: not the answers of its record; delete both and run it again")
    return as_scored(record)
