"""All contenders on one table in one job: trials, calibration and net benefit in one record."""

import logging
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from deepcac.errors import DataError
from deepcac.files.storage import read_json, write_json
from deepcac.judging.choice import CLUSTERED, TUNED, choose, open_to
from deepcac.judging.contenders import Contender, parse_contender
from deepcac.judging.trial_answers import TEST, TrialAnswers
from deepcac.judging.trials import Effort, run_resample, study_resamples
from deepcac.scoring.calibration import calibration_intercept, calibration_slope
from deepcac.scoring.net_benefit import net_benefit
from deepcac.types import Array, Ids
from deepcac_study.judge.study_rows import read_rows
from deepcac_study.judge.tables.made_with import start_clock
from deepcac_study.records.record import file_digest
from deepcac_study.records.stored import check_place
from deepcac_study.records.written_scores import as_scored, as_written

log = logging.getLogger(__name__)

THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.5])
BY = "log_loss"  # chooses the trials whose risks are described
_ENTRIES = {"dataset", "effort", "contenders", "risks"}
_PLACE = "tables/{dataset}.json"
Record = dict[str, Any]


def run_table(
    features: str | os.PathLike[str],
    record: str | os.PathLike[str],
    *,
    dataset: str,
    contenders: Sequence[str],
    effort: Effort,
    synthetic: bool = False,
    grouped: bool = False,
) -> None:
    """Fit and score all trials of contenders on a table, and write one record.

    The JSON has ``contenders``, by name what `deepcac.judging.trials.judge_samples` says of each;
    of two classes ``risks``, what `risks` says of each resample. Other arguments are those of
    `deepcac_study.judge.trial_files.run_trials`.
    """
    made = start_clock()
    matrix = read_rows(features)
    several = [parse_contender(name) for name in contenders]
    records = {contender.id: _empty(contender, effort) for contender in several}
    described = []
    for sample in study_resamples(matrix, effort, matrix.group if grouped else None):
        answers = {}
        for contender in several:
            contender_record = records[contender.id]
            entry, answers[contender.id] = run_resample(
                sample, contender, contender_record["trials"]
            )
            contender_record["resamples"].append(entry)
        if matrix.n_classes == 2:
            described.append(risks(records, answers))
        log.info("%s: resample %d", dataset, sample.seed)
    written = {
        "dataset": dataset,
        "synthetic": synthetic,
        "n_rows": len(matrix.label),
        "n_features": len(matrix.names),
        "n_classes": matrix.n_classes,
        "effort": effort._asdict(),
        "contenders": records,
        "risks": described,
        "inputs": {"features": file_digest(features)},
    }
    write_json(record, as_written(written) | {"machine": made()})


def _empty(contender: Contender, effort: Effort) -> Record:
    """Return the record of a contender before its first resample."""
    trials = contender.trials(effort.trials_of(contender))
    return {
        "contender": contender.id,
        "arm": contender.arm,
        "learner": contender.learner,
        "trials": trials,
        "resamples": [],
    }


def risks(records: dict[str, Record], answers: dict[str, pa.Table]) -> Record:
    """Describe the test risks of the newest resample, of the trials that log loss chose.

    By contender and choice (tuned; with clusters, two or more) it is what `describe` says.
    """
    newest = {
        name: {**record, "resamples": record["resamples"][-1:]} for name, record in records.items()
    }
    descriptions: Record = {}
    for name, record in newest.items():
        candidates, n_trials = open_to(newest, name), len(record["trials"])
        descriptions[name] = {}
        for choice in (TUNED, CLUSTERED) if record["arm"] else (TUNED,):
            trial = choose(candidates, choice, BY).trials[0]
            source = (name, trial) if trial < n_trials else (record["learner"], trial - n_trials)
            test = TrialAnswers(answers[source[0]]).part(TEST)
            descriptions[name][choice] = describe(test.label, test.risk(source[1]))
    return descriptions


def describe(y: Ids, risk: Array) -> Record:
    """Return calibration (intercept, slope, observed over expected), Brier score, net benefit.

    The net benefit is that at `THRESHOLDS`.
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


def read_table_record(path: str | os.PathLike[str]) -> Record:
    """Read a record of `run_table`; one that is edited, or not of its place, is a `DataError`.

    Of every score of a trial more is better.
    """
    record = read_json(path)
    if not record.keys() >= _ENTRIES:
        raise DataError(f"{path}: not a record of a table; run it again")
    check_place(path, record, _PLACE)
    return as_scored(record)
