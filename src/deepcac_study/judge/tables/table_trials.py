"""All contenders on one table in one job: trials, calibration and net benefit in one record."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json
from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import parse_contender
from deepcac.judging.trial_answers import TEST
from deepcac.judging.trial_record import (
    TrialRecord,
    from_content,
    join_resamples,
    to_content,
)
from deepcac.judging.trials import Effort, run_resample, study_resamples
from deepcac.scoring.calibration import calibration_intercept, calibration_slope
from deepcac.scoring.net_benefit import net_benefit
from deepcac.types import Array, Ids
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.tables.made_with import start_clock
from deepcac_study.records.record import file_digest
from deepcac_study.records.stored import check_place

log = logging.getLogger(__name__)

THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.5])
BY = "log_loss"  # chooses the trials whose risks are described
_ENTRIES = {"dataset", "effort", "contenders", "risks"}
_PLACE = "tables/{dataset}.json"
Content = dict[str, Any]


def run_table(
    features: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    dataset: str,
    contenders: Sequence[str],
    effort: Effort,
    synthetic: bool = False,
    grouped: bool = False,
) -> None:
    """Fit and score all trials of contenders on a table, and write one record.

    The JSON has ``contenders``, by name the result of `deepcac.judging.trials.judge_samples`; for
    two classes also ``risks``, by resample the result of `risks`. Other arguments are as in
    `deepcac_study.judge.trial_files.run_trials`.
    """
    made = start_clock()
    matrix = read_rows(features)
    several = [parse_contender(name) for name in contenders]
    made_records: dict[str, list[TrialRecord]] = {contender.id: [] for contender in several}
    described = []
    for sample in study_resamples(matrix, effort, matrix.group if grouped else None):
        newest = {
            contender.id: run_resample(
                sample, contender, contender.trials(effort.trials_of(contender))
            )
            for contender in several
        }
        if matrix.n_classes == 2:
            described.append(risks(newest))
        for name, record in newest.items():
            made_records[name].append(replace(record, answers=[]))
        log.info("%s: resample %d", dataset, sample.seed)
    written = {
        "dataset": dataset,
        "synthetic": synthetic,
        "n_rows": len(matrix.label),
        "n_features": len(matrix.names),
        "n_classes": matrix.n_classes,
        "effort": effort._asdict(),
        "contenders": {
            name: to_content(join_resamples(parts)) for name, parts in made_records.items()
        },
        "risks": described,
        "inputs": {"features": file_digest(features)},
    }
    write_json(path, written | {"machine": made()})


def risks(records: Mapping[str, TrialRecord]) -> Content:
    """Describe the test risks of one resample, from the trials chosen by log loss.

    Returns `describe_risks` by contender and choice (tuned; with two clusters or more).
    """
    descriptions: Content = {}
    for name, record in records.items():
        candidates, n_trials = open_to(records, name), len(record.values)
        descriptions[name] = {}
        for choice in (TUNED, CLUSTERED) if record.arm else (TUNED,):
            (trial,) = choose(candidates, choice, BY).trials
            own = trial < n_trials
            source = record if own else records[record.learner]
            test = source.answers[0].part(TEST)
            risk = test.risk(trial if own else trial - n_trials)
            descriptions[name][choice] = describe_risks(test.label, risk)
    return descriptions


def describe_risks(y: Ids, risk: Array) -> Content:
    """Return calibration (intercept, slope, observed over expected), Brier score, net benefit.

    The net benefit is a list over `THRESHOLDS`.
    """
    measures = {
        "intercept": calibration_intercept(y, risk),
        "slope": calibration_slope(y, risk),
        "observed_expected": y.mean() / max(risk.mean(), 1e-7),
        "brier": ((risk - y) ** 2).mean(),
    }
    return {
        **{name: round(float(value), 6) for name, value in measures.items()},
        "net_benefit": net_benefit(y, risk, THRESHOLDS).round(6).tolist(),
    }


def read_table_record(path: str | os.PathLike[str]) -> Content:
    """Read a record of `run_table`; its ``contenders`` become `TrialRecord` objects.

    Raises
    ------
    DataError
        It was edited, or its path does not fit its content.
    """
    content = read_json(path)
    if not content.keys() >= _ENTRIES:
        raise DataError(f"{path}: not a record of a table; run it again")
    check_place(path, content, _PLACE)
    try:
        records = {name: from_content(part) for name, part in content["contenders"].items()}
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return {**content, "contenders": records}
