"""From records of trials to the judge's two files: verdicts, and a summary for the page."""

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from deepcac.files.csv_files import write_frame
from deepcac.files.storage import read_json, write_json
from deepcac.judging.resample_scores import mean_scores, resample_scores
from deepcac.judging.trial_record import TrialRecord
from deepcac.judging.verdicts import summary, verdicts
from deepcac_study.judge.power_curve import power_curve
from deepcac_study.judge.trial_files import read_trials
from deepcac_study.records.record import file_digest


def read_records(paths: Iterable[str | os.PathLike[str]]) -> dict[str, dict[str, TrialRecord]]:
    """Read the records of trials, by data set and contender."""
    records: dict[str, dict[str, TrialRecord]] = defaultdict(dict)
    for path in paths:
        record = read_trials(path)
        records[record.about["dataset"]][record.contender] = record
    return dict(records)


def _without_gaps(table: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows as dicts without their NaN values."""
    rows = table.to_dict("records")
    return [{name: value for name, value in row.items() if value == value} for row in rows]


def _generated(records: Mapping[str, TrialRecord]) -> bool:
    return any(record.about["synthetic"] for record in records.values())


def write_judgement(
    csv_path: str | os.PathLike[str],
    summary_path: str | os.PathLike[str],
    trial_paths: Iterable[str | os.PathLike[str]],
    planted_paths: Iterable[str | os.PathLike[str]],
    *,
    margin: float,
    strict: float,
) -> None:
    """Write the verdicts as CSV; their digest, counts, all scores and the power curve as JSON.

    Numbers in the CSV have five decimals. Records are those of
    `deepcac_study.judge.trial_files.run_trials` and `deepcac_study.judge.power.run_planted`;
    margins are as in `verdicts`.
    """
    records = read_records(trial_paths)
    scores = resample_scores(records)
    table = verdicts(scores, margin, strict)
    write_frame(csv_path, table, 5)
    content = {
        "margin": margin,
        "strict_margin": strict,
        "synthetic": [name for name, by_contender in records.items() if _generated(by_contender)],
        "questions": summary(table, margin),
        "scores": _without_gaps(mean_scores(scores)),
        "power": power_curve([read_json(path) for path in planted_paths]),
        "verdicts": file_digest(csv_path),
    }
    write_json(summary_path, content)
