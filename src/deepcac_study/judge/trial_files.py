"""Stored trials of contenders on a feature file: a record of scores, and the predictions."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json, write_table
from deepcac.judging.contenders import Contender
from deepcac.judging.trial_record import TrialRecord, from_content, to_content
from deepcac.judging.trials import Effort, judge_samples, study_resamples
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.trial_risks import with_risks
from deepcac_study.records.record import answers_path, file_digest, machine
from deepcac_study.records.stored import check_place

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
    """Fit and score all trials of contenders on a feature file, and write the records.

    Contenders that are run together share common steps on a resample. The probabilities of every
    trial are written next to the JSON record (`answers_path`). `grouped`: rows of one group, such
    as a patient, stay in one part of a resample.
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
    for path, result in zip(records.values(), results, strict=True):
        record = with_risks(result) if matrix.n_classes == 2 else result
        write_trials(path, replace(record, about=head), features, seconds)


def write_trials(
    path: str | os.PathLike[str],
    record: TrialRecord,
    features: str | os.PathLike[str],
    seconds: float,
) -> None:
    """Write a record of trials and, in a separate file, the probabilities that they predict.

    The record holds the digests of the feature file and of the probabilities.
    """
    write_table(answers_path(path), pa.concat_tables(part.table for part in record.answers))
    about = {
        "inputs": {"features": file_digest(features)},
        "answers": file_digest(answers_path(path)),
        "machine": machine({"total": seconds}, 1, "cpu"),
    }
    write_json(path, {**to_content(record), **about})


def read_trials(path: str | os.PathLike[str]) -> TrialRecord:
    """Read a record of `run_trials`.

    Raises
    ------
    DataError
        It was edited, its path does not fit its content, or the file of probabilities differs.
    """
    content = read_json(path)
    if not content.keys() >= _ENTRIES:
        raise DataError(f"{path}: not a record of trials; run it again")
    check_place(path, content, _PLACE)
    answers = answers_path(path)
    if answers.exists() and file_digest(answers) != content["answers"]:
        raise DataError(f"{answers}: not the answers of its record; delete both and run it again")
    try:
        return from_content(content)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
